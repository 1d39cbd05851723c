"""The rules: bats, ball, score (specification 2.1 to 2.4 and 2.6), as kernels over one world.

`classic_quirks` restores errors of the published code; each place describes its own.
"""

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.core.seeding import DRAWS, EPISODE, SEED
from interplay.kernels.philox import integer_below, uniform
from interplay.worlds.pong.config import (
    BALL_HEIGHT,
    BALL_WIDTH,
    BAT_HEIGHT,
    BAT_WIDTH,
    BATS,
    BOTTOM,
    BRAKING,
    DOWN,
    DOWN_GENTLY,
    FAST_SERVES,
    FLAT,
    FOLLOWING,
    GENTLE_PUSH,
    GLIDE,
    GLIDING,
    PUSH,
    SEATS,
    SIDEWAYS,
    SMASH,
    TOP,
    UP,
    VARIETY,
    WIDTH,
)

BRAKE_OR_GLIDE = 2  # actions below it slow the bat down
FACES = (float(BATS[0] + BAT_WIDTH), float(BATS[1]))  # x of the edges towards the field
BACKS = (float(BATS[0]), float(BATS[1] + BAT_WIDTH))
MIDDLE = (TOP + BOTTOM) / 2
LEAST_BAT, MOST_BAT = float(TOP), float(BOTTOM - BAT_HEIGHT)  # a bat's top edge
LEAST_BALL, MOST_BALL = float(TOP), float(BOTTOM - BALL_HEIGHT)  # the ball's
SERVE_X, SERVE_Y = (WIDTH - BALL_WIDTH) / 2, MIDDLE - BALL_HEIGHT / 2
REACH = (BAT_HEIGHT + BALL_HEIGHT) / 2  # the offset of a hit with the end of a bat
NONE = -1


# -- helpers ----------------------------------------------------------------------------------------


@kernel
def is_followed(rules, seat):
    """Whether the game moves this bat."""
    return rules.follow_left if seat == 0 else rules.follow_right


@kernel
def pushed(speed, top_speed, action):
    """A bat's speed after an action (specification 2.2)."""
    if action < BRAKE_OR_GLIDE:
        loss = (GLIDING if action == GLIDE else BRAKING) * top_speed
        if loss > abs(speed):
            return 0.0
        return speed - loss if speed > 0.0 else speed + loss
    share = PUSH if action in (DOWN, UP) else GENTLE_PUSH
    if action in (DOWN, DOWN_GENTLY):
        return min(speed + share * top_speed, top_speed)
    return max(speed - share * top_speed, -top_speed)


@kernel
def side_of_line(px, py, qx, qy, x, y):
    """Positive on one side of the line pq, negative on the other, 0 on it."""
    return (qx - px) * (y - py) - (qy - py) * (x - px)


@kernel
def crosses(px, py, qx, qy, ax, ay, bx, by):
    """Whether the segments pq and ab share a point."""
    return (
        side_of_line(ax, ay, bx, by, px, py) * side_of_line(ax, ay, bx, by, qx, qy) <= 0.0
        and side_of_line(px, py, qx, qy, ax, ay) * side_of_line(px, py, qx, qy, bx, by) <= 0.0
    )


@kernel
def sweeps(px, py, qx, qy, ax, ay, bx, by):
    """Whether a corner of the ball, moving from top left p to q, crosses the edge ab."""
    return (
        crosses(px, py, qx, qy, ax, ay, bx, by)
        or crosses(px + BALL_WIDTH, py, qx + BALL_WIDTH, qy, ax, ay, bx, by)
        or crosses(px, py + BALL_HEIGHT, qx, qy + BALL_HEIGHT, ax, ay, bx, by)
        or crosses(px + BALL_WIDTH, py + BALL_HEIGHT, qx + BALL_WIDTH, qy + BALL_HEIGHT, ax, ay, bx, by)
    )


@kernel
def is_near(px, py, qx, qy, seat, bat_y):
    """Whether the bounds of the ball's path and the bat overlap."""
    return (
        min(px, qx) <= BATS[seat] + BAT_WIDTH
        and max(px, qx) + BALL_WIDTH >= BATS[seat]
        and min(py, qy) <= bat_y + BAT_HEIGHT
        and max(py, qy) + BALL_HEIGHT >= bat_y
    )


@kernel
def front_offset(px, py, vx, vy, seat, bat_y, quirk):
    """Centre of the ball minus centre of the bat when the ball touches the bat's face.

    The quirk extrapolates backwards along the path, and on the right measures from the ball's far edge.
    """
    front = px if seat == 0 or quirk else px + BALL_WIDTH
    duration = (FACES[seat] - front) / vx
    if quirk:
        return py - duration * vy + BALL_HEIGHT / 2 - (bat_y + BAT_HEIGHT / 2)
    # If only the ball's rear passes the face in this step, its front passed it earlier: clip to this step and to the bat's ends.
    offset = py + max(duration, 0.0) * vy + BALL_HEIGHT / 2 - (bat_y + BAT_HEIGHT / 2)
    return min(max(offset, -REACH), REACH)


@kernel
def bounced(speed, offset, still, quirk):
    """The ball's |vx| and vy off a bat (specification 2.3). The quirk sends it up from exactly -0.25."""
    angle = offset / (BAT_HEIGHT / 2)
    across = speed * SMASH if not still and abs(angle) >= 1.0 else speed
    sideways = speed if still else speed * SIDEWAYS
    if angle > FLAT:
        return across, sideways
    if angle < -FLAT or (quirk and angle == -FLAT):
        return across, -sideways
    return across, 0.0


# -- phases -----------------------------------------------------------------------------------------


@phase
def draw_unit(state, w):
    """The next uniform number of the world's stream."""
    drawn = uniform(state.stream[w, SEED], state.stream[w, EPISODE], state.stream[w, DRAWS])
    state.stream[w, DRAWS] += np.uint64(1)
    return drawn


@phase
def draw_below(state, w, bound):
    """The next integer below `bound` of the world's stream."""
    drawn = integer_below(state.stream[w, SEED], state.stream[w, EPISODE], state.stream[w, DRAWS], bound)
    state.stream[w, DRAWS] += np.uint64(1)
    return drawn


@phase
def move_bat(state, w, seat, action):
    """Applies the action to a bat's speed and position; a bat stops at the border."""
    bat = state.bat[w, seat]
    speed = pushed(bat.speed, bat.top_speed, action)
    y = bat.y + speed
    if y > MOST_BAT or y < LEAST_BAT:
        y = min(max(y, LEAST_BAT), MOST_BAT)
        speed = 0.0
    bat.y, bat.speed = y, speed


@phase
def follow_ball(state, rules, w, seat):
    """Moves a followed bat a whole step towards an approaching ball's centre, else towards the field's middle.

    A bat level with the ball moves up.
    """
    bat, ball = state.bat[w, seat], state.ball[w]
    centre, stride = bat.y + BAT_HEIGHT / 2, FOLLOWING * rules.ball_speed
    if (ball.vx < 0.0) == (seat == 0):
        speed = stride if centre < ball.y + BALL_HEIGHT / 2 else -stride
    else:
        speed = stride if centre < MIDDLE else (-stride if centre > MIDDLE else 0.0)
    bat.y = min(max(bat.y + speed, LEAST_BAT), MOST_BAT)
    bat.speed = speed


@phase
def move_ball(state, rules, w):
    """Moves the ball one step: reflected at top and bottom, returned by a bat in its path."""
    ball, quirk = state.ball[w], rules.classic_quirks
    px, py = ball.x, ball.y
    x, y, vx, vy = px + ball.vx, py + ball.vy, ball.vx, ball.vy
    # Mirror the start of the path too, so that the path is straight.
    if vy < 0.0 and y <= LEAST_BALL:
        y, py, vy = 2 * LEAST_BALL - y, 2 * LEAST_BALL - py, -vy
    elif vy > 0.0 and y >= MOST_BALL:
        y, py, vy = 2 * MOST_BALL - y, 2 * MOST_BALL - py, -vy
    seat = 0 if vx < 0.0 else 1
    bat_y = state.bat[w, seat].y
    if is_near(px, py, x, y, seat, bat_y):
        face, back, end = FACES[seat], BACKS[seat], bat_y + BAT_HEIGHT
        hit, offset = True, 0.0
        if sweeps(px, py, x, y, face, bat_y, face, end):
            offset = front_offset(px, py, vx, vy, seat, bat_y, quirk)
        elif vy > 0.0 and sweeps(px, py, x, y, back, bat_y, face, bat_y):
            offset = -REACH
        elif vy < 0.0 and sweeps(px, py, x, y, back, end, face, end):
            offset = REACH
        else:
            hit = False
        if hit:
            # The quirk reads the left bat's speed, whichever was hit, and may put the ball beyond the border.
            still = state.bat[w, 0 if quirk else seat].speed == 0.0
            across, vy = bounced(rules.ball_speed, offset, still, quirk)
            vx = across if seat == 0 else -across
            x = face if seat == 0 else face - BALL_WIDTH
            y = bat_y + BAT_HEIGHT / 2 + offset - BALL_HEIGHT / 2
            if not quirk:
                y = min(max(y, LEAST_BALL), MOST_BALL)
    ball.x, ball.y, ball.vx, ball.vy = x, y, vx, vy


@phase
def serve(state, rules, w, loser):
    """Serves from the middle towards the loser of the point; after a round without one in a random direction.

    With `randomize` the height, the slope and at times the speed are drawn. The quirk serves to the scorer then.
    """
    ball, speed = state.ball[w], rules.ball_speed
    ball.x, ball.y = SERVE_X, SERVE_Y
    vx, vy = speed, speed
    if rules.randomize:
        ball.y = LEAST_BALL + draw_unit(state, w) * (MOST_BALL - LEAST_BALL)
        vy = speed * draw_below(state, w, 3)
        if draw_unit(state, w) < FAST_SERVES:
            vx = speed * SMASH
    if loser == NONE:
        receiver = draw_below(state, w, SEATS)
    else:
        receiver = 1 - loser if rules.randomize and rules.classic_quirks else loser
    ball.vx = -vx if receiver == 0 else vx
    ball.vy = -vy if draw_below(state, w, 2) == 0 else vy
    ball.round_step = 0


@phase
def begin_game(state, outputs, rules, w):
    """Resets points and bats, and serves; a seat moved by the game does not act."""
    state.ball[w].rounds = 0
    for seat in range(SEATS):
        bat = state.bat[w, seat]
        bat.points, bat.speed = 0, 0.0
        bat.y = MIDDLE - BAT_HEIGHT / 2
        bat.top_speed = rules.left_speed if seat == 0 else rules.right_speed
        if rules.randomize:
            bat.y = LEAST_BAT + draw_unit(state, w) * (MOST_BAT - LEAST_BAT)
            spread = VARIETY[0] + draw_unit(state, w) * (VARIETY[1] - VARIETY[0])
            bat.top_speed = rules.ball_speed * spread
        outputs.acting[w, seat] = not is_followed(rules, seat)
    serve(state, rules, w, NONE)


@phase
def score(state, outputs, rules, w):
    """Gives the point, serves anew, and ends the game after the last round."""
    ball = state.ball[w]
    ball.round_step += 1
    loser = NONE
    if ball.x < 0.0:
        loser = 0
    elif ball.x + BALL_WIDTH > WIDTH:
        loser = 1
    elif ball.round_step <= rules.round_steps:
        return
    if loser != NONE:
        state.bat[w, 1 - loser].points += 1
        outputs.reward[w, 1 - loser] = 1.0
        outputs.reward[w, loser] = -1.0
    ball.rounds += 1
    serve(state, rules, w, loser)
    if ball.rounds >= rules.rounds:
        outputs.over[w] = True
        for seat in range(SEATS):
            outputs.acting[w, seat] = False
            outputs.terminated[w, seat] = True


@phase
def play_step(state, outputs, rules, action, w):
    """One step of one world."""
    for seat in range(SEATS):
        if is_followed(rules, seat):
            follow_ball(state, rules, w, seat)
        else:
            move_bat(state, w, seat, action[w, seat])
    move_ball(state, rules, w)
    score(state, outputs, rules, w)
