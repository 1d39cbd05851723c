"""The numbers of the server, once (docs/specs/viewer.md 4.1, 6 and 11)."""

from __future__ import annotations

PROTOCOL = 1  # raised when page and server would no longer understand each other
SUBPROTOCOL = f"interplay.{PROTOCOL}"
TOKEN_BYTES = 24  # 192 bits, new at each start
TICKET_SECONDS = 60.0  # that a browser which was started here has to open the page

MESSAGE_BYTES = 64 * 2**10  # of a message of the page
MESSAGES = 60  # of a page in a second
PONG_SECONDS = 120.0  # in which a page answers a ping: a slow machine, or one that compiles, keeps it waiting
VIOLATED = 1008  # the code of a close: what was said is against the rules
NESTING = 16  # lists and groups of a message inside each other
TARGET_BYTES = 4_096  # of a path with its query
PAGES, SESSIONS = 16, 4
UNSHOWN = 2  # frames on their way to a page
WORDS = 500  # letters of a refusal: what a file says of itself may have a million
EVENTS = 256  # that wait for a page which is slow to fetch them; the oldest are left out

LISTED = 200  # sources in an answer
FOUND = 10_000  # runs, or recordings, that a folder is searched for
DEPTH = 4  # folders inside each other that are searched
READING_SECONDS = 2.0  # that an answer reads recordings for, to list them; the others are for the next one
WALK_SECONDS = 1.0  # that an answer looks through a recording which was not closed, however much it claims
LISTING_SECONDS = 1.0  # between two looks into the folder

WORD_SECONDS = 5.0  # between two words to a trainer that somebody watches
GROWS_SECONDS = 30.0  # for which a recording that was not closed is taken to be still written

POINTS = 2_000  # of a curve, unless another number is asked for
MOST_POINTS = 10_000
MOST_LOG = 2**28  # bytes of a log that are read
MOST_CURVES = 64  # in an answer

TICK_SECONDS = 0.1  # of worlds that stay in view for a frame of a video
VIDEO_FRAMES = 30  # in a second, see World.frames_per_step
SPEEDS = (0.1, 1_000.0)  # ticks in a second; 0: as fast as possible
STEPS = 10_000  # of one message
LATE_SECONDS = 0.25  # that a session catches up; what is more is let go
END_SECONDS = 1.5  # that the end of an episode stays in view
CLOSING_SECONDS = 60.0  # that a recording of what people played has to be completed in, at the end
AGENT_SECONDS = 0.1  # between two accounts of a selected agent
RENEW_SECONDS = 2.0  # between two looks for a newer checkpoint
OBSERVED = 4_096  # numbers of a part of an observation that are told
CELLS = 16_384  # of a picture among them
OVERLAY_SECONDS = 0.5  # between two overlays that are begun
COUNTING_SECONDS = 60.0  # for which an overlay that no page asks for any more goes on counting
MOST_OVERLAYS = 64  # that a page is told of
MANIFESTS = 1_000  # of checkpoints that are read for one look at a recorded agent
STEPPED = 4_096  # ticks from a recorded state on, or of a chunk of actions, that are played again at most; states are 256 apart
COUNTED_SECONDS = (
    1.0  # for which a recording is played again to answer for an overlay; then it tells how far it came
)
COUNTED = 2  # recordings, or overlays of one, whose counting is kept
SUMS = 16  # kept of each, so that one can go back
STEPPING_SECONDS = 2.0  # that a look waits for the one before
