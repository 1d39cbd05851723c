"""Constants of the server (docs/specs/viewer.md 4.1, 6 and 11)."""

from __future__ import annotations

PROTOCOL = 2  # raised with every incompatible change of page and server
SUBPROTOCOL = f"interplay.{PROTOCOL}"
TOKEN_BYTES = 24  # 192 bits, new at each start
TICKET_SECONDS = 60.0  # in which a browser started by the server has to open the page

MESSAGE_BYTES = 64 * 2**10  # of a message of the page
MESSAGES = 60  # of a page per second
PONG_SECONDS = 120.0  # to answer a ping; long, for slow machines and compilation
VIOLATED = 1008  # close code: policy violation
NESTING = 16  # nested lists and mappings of a message
TARGET_BYTES = 4_096  # of a path with its query
PAGES, SESSIONS = 16, 4
UNSHOWN = 2  # frames sent to a page and not drawn yet
WORDS = 500  # characters of an error message, which may quote a file
EVENTS = 5_000  # queued for a page, as many as it keeps; also other messages; the oldest are dropped

LISTED = 200  # sources in an answer
FOUND = 10_000  # runs, and recordings, of a folder
DEPTH = 4  # nested folders that are searched
READING_SECONDS = 2.0  # spent on recordings for one listing; the rest is left to the next one
WALK_SECONDS = 1.0  # spent on the chunks of a recording that was not closed
LISTING_SECONDS = 1.0  # between two searches of the folder

WORD_SECONDS = 5.0  # between two notifications of a trainer
GROWS_SECONDS = 30.0  # after its last change, an unclosed recording counts as still written

POINTS = 2_000  # of a curve by default
MOST_POINTS = 10_000
MOST_LOG = 2**28  # bytes of a log that are read
LOG_SECONDS = 300.0  # for which a log that no page requests is kept; pages request theirs every few seconds
MOST_CURVES = 64  # in an answer

TICK_SECONDS = 0.1  # at least, of a tick by default
VIDEO_FRAMES = 30  # per second, see World.frames_per_step
SPEEDS = (0.1, 1_000.0)  # ticks per second; 0: as fast as possible
STEPS = 10_000  # of one message
LATE_SECONDS = 0.25  # of delay that a session catches up; more is dropped
END_SECONDS = 1.5  # for which the end of an episode stays in view
CLOSING_SECONDS = 60.0  # to complete a recording at the end
AGENT_SECONDS = 0.1  # between two descriptions of a selected agent
RENEW_SECONDS = 2.0  # between two searches for a newer checkpoint
OBSERVED = 4_096  # numbers of a part of an observation that are sent
CELLS = 16_384  # of a part that is a picture
OVERLAY_SECONDS = 0.5  # between two starts of overlays
COUNTING_SECONDS = 60.0  # for which an overlay goes on counting without a page
MOST_OVERLAYS = 64  # offered to a page
MISSED_SECONDS = 10.0  # before a checkpoint that was in no run is looked for again
MANIFESTS = 1_000  # of checkpoints read for one request on a recorded agent
STEPPED = 4_096  # most ticks replayed from a recorded state or of a chunk of actions; states are 256 apart
COUNTED_SECONDS = 1.0  # of replay for one answer on an overlay, which reports its progress
COUNTED = 2  # recordings, or overlays of one, with kept counters
SUMS = 16  # kept of each counter, to go back
STEPPING_SECONDS = 2.0  # that a request waits for the one before
