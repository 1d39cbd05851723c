"""Matrix games: small tests of what a learner can do (memory, coordination, credit assignment)."""

from interplay.core.spec import WorldSpec

_TRAINING = {"num_worlds": 64, "network": {"kind": "mlp"}}
# One step is an episode, and its reward has a standard deviation of 10: short rollouts, rewards scaled down for the critic.
_CREDIT_TRAINING = {**_TRAINING, "ppo": {"rollout": 16, "reward_scale": 0.1}}
_HERE = "interplay.worlds.matrix"

SPECS = (
    WorldSpec(
        id="matrix/recall",
        summary="a cue in the first step, a choice after ten more: name the cue; solved with memory alone",
        make=f"{_HERE}.world:RecallWorld",
        settings=f"{_HERE}.config:RecallSettings",
        policies=f"{_HERE}.policies:RECALL",
        training=_TRAINING,
    ),
    WorldSpec(
        id="matrix/climbing",
        summary="the climbing game of Claus & Boutilier (1998): a team of two, the best pair beside the worst",
        make=f"{_HERE}.world:ClimbingWorld",
        settings=f"{_HERE}.config:ClimbingSettings",
        policies=f"{_HERE}.policies:CLIMBING",
        training={**_TRAINING, "ppo": {"reward_scale": 0.1}},  # payoffs of -30 to 11
    ),
    WorldSpec(
        id="matrix/rock-paper-scissors",
        summary="rock, paper, scissors: self-play against the latest opponent cycles, a league finds one third each",
        make=f"{_HERE}.world:RockPaperScissorsWorld",
        settings=f"{_HERE}.config:RockPaperScissorsSettings",
        policies=f"{_HERE}.policies:ROCK_PAPER_SCISSORS",
        training={**_TRAINING, "ppo": {"rollout": 16}},  # one step is an episode
    ),
    WorldSpec(
        id="matrix/credit",
        summary="each names its own cue for a team reward, in which an offset of all cues hides each agent's share",
        make=f"{_HERE}.world:CreditWorld",
        settings=f"{_HERE}.config:CreditSettings",
        policies=f"{_HERE}.policies:CREDIT",
        training=_CREDIT_TRAINING,
    ),
)
