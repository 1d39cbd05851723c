"""The werewolf game again: slow, obvious, one game, plain Python. The fast world must equal this twin.

Readings where the rule book leaves freedom, or where this twin follows the fast world:

* an actor without a target sleeps: a seer that knows all species, a witch without a usable potion;
* seers, guards, witches and dying hunters act without words: only symbol 0 is legal;
* of several names of a seer, a guard, a witch or a hunter the first counts; each illegal one is replaced and counted;
* potions and shots write no board, so "the last phase's board" stays the one before them;
* victims of potions and shots are neither "last eaten" nor "last executed";
* `max_days` cuts all present players; with `end_with_bootstrap` the last vote's victim ends with its death;
* an execution without a choice sets "last executed" to nobody; so does a quiet night for "last eaten";
* an execution needs its quota before ties matter: a shared top below it is no revote;
* `tie_rate`, `margin` and `vote_entropy` cover every count, also one that leads to a revote or chooses nobody; `tie_rate` counts
  those decided by a draw;
* `accord`, `suicide`, `day_drift`, `bussing` and the charges belong to the concluding vote; comparisons with talk belong to the vote
  right after the talk, as both stand on their boards (a pass and a hidden name are no names);
* `repetition_distance` compares numbers of repeated names; `set_difference` is the names on only one of two rows over the
  names on both;
* `follow` counts, for each voter that switched to a name and each other voter, whether the other voted for that name.
"""
