"""An external simulator written from `docs/remote.md` alone, without any of our code, that misbehaves on demand.

``python raw_program.py FAULT``: counts steps; the observation is the number of the step, the action is ignored.
"""

import json
import os
import socket
import struct
import sys
import time

FAULT = sys.argv[1] if len(sys.argv) > 1 else "none"
HELLO = {
    "type": "hello",
    "protocol": 1,
    "token": os.environ["INTERPLAY_REMOTE_TOKEN"],
    "program": "raw 1",
    "agents": {"counter": {"observation": {"low": [0, None], "high": [100, None]}, "action": {"choices": 2}}},
}


def frame(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">I", len(data)) + data


def state(step: int, **changes: object) -> dict:
    agent = {"observation": [step, -0.5], "reward": 1, "done": step == 50, "info": {}} | changes
    return {"type": "state", "step": step, "agents": {"counter": agent}}


def hello() -> bytes:
    message = dict(HELLO)
    if FAULT == "wrong version":
        message["protocol"] = 99
    if FAULT == "wrong token":
        message["token"] = "guess"
    if FAULT == "no token":
        del message["token"]
    if FAULT == "no agents":
        message["agents"] = {}
    if FAULT == "odd agent id":
        message["agents"] = {"a\nb\x1b[31m": HELLO["agents"]["counter"]}
    if FAULT == "everybody's id":
        message["agents"] = {"__all__": HELLO["agents"]["counter"]}
    if FAULT == "twice the same agent":
        agent = json.dumps(HELLO["agents"])[1:-1]
        return frame(json.dumps(message | {"agents": 0})[:-2] + "{" + agent + "," + agent + "}}")
    if FAULT == "endless choice":
        message["agents"] = {"counter": {"observation": {"choices": (1 << 63) - 1}, "action": {"choices": 2}}}
    if FAULT == "upside-down space":
        message["agents"] = {"counter": {"observation": {"low": [3], "high": [1]}, "action": {"choices": 2}}}
    return frame(json.dumps(message))


def answer(step: int) -> bytes:
    """The answer to a step; most faults show at step 3."""
    if step != 3:
        return frame(json.dumps(state(step)))
    changed = {
        "NaN": state(step, observation=[float("nan"), 0]),
        "infinite reward": state(step, reward=float("inf")),
        "wrong shape": state(step, observation=[1, 2, 3]),
        "no row": state(step, observation={"x": 1}),
        "text for a number": state(step, observation=["1", 2]),
        "bool for a number": state(step, observation=[True, 2]),
        "out of range": state(step, observation=[101, 0]),
        "done is a number": state(step, done=0),
        "missing agent": {"type": "state", "step": step, "agents": {}},
        "missing field": {"type": "state", "step": step},
        "no step": {"type": "state", "agents": state(step)["agents"]},
        "wrong step": state(2),
        "wrong type": {"type": "stat", "step": step},
        "reports an error": {"type": "error", "message": "out of\nfuel \x1b[31m" + "!" * 1000},
        "no object": [1, 2],
    }
    if FAULT in changed:
        return frame(json.dumps(changed[FAULT]))
    return {
        "garbage": b"HTTP/1.1 200 OK\r\n\r\n",
        "no JSON": frame("not json"),
        "no UTF-8": struct.pack(">I", 2) + b"\xff\xfe",
        "huge number": frame('{"type":"state","step":3,"agents":{"counter":{"observation":[1e999,0]}}}'),
        "huge whole number": frame(json.dumps(state(step, observation=[10**400, 0]))),
        "endless digits": frame('{"type":"state","step":' + "9" * 5000 + "}"),
        "infinite info": frame('{"type":"state","step":3,"agents":{"counter":{"info":{"x":[0,-1e999]}}}}'),
        "twice the same name": frame(
            '{"type":"state","step":3,"agents":{"counter":{"reward":1,"reward":2}}}'
        ),
        "nested": frame(json.dumps(state(step, info={"x": json.loads("[" * 200 + "]" * 200)}))),
        "deep": frame('{"type":' + "[" * 100_000),
        "empty": struct.pack(">I", 0),
        "too large": struct.pack(">I", 1 << 31) + b"x" * 1000,
        "too short": struct.pack(">I", 1000) + b"{}",
        "twice": frame(json.dumps(state(step))) * 2,
    }.get(FAULT, frame(json.dumps(state(step))))


def main() -> None:
    if FAULT == "dies at once":
        sys.exit(3)
    if FAULT == "never connects":
        time.sleep(60)
    with socket.create_connection(("127.0.0.1", int(os.environ["INTERPLAY_REMOTE_PORT"]))) as sock:
        if FAULT == "says nothing":
            time.sleep(60)
        if FAULT == "garbage hello":
            sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
            time.sleep(60)
        sock.sendall(hello())
        stream = sock.makefile("rb")
        step = 0
        while header := stream.read(4):
            request = json.loads(stream.read(struct.unpack(">I", header)[0]))
            if request["type"] == "close":
                if FAULT == "ignores close":
                    time.sleep(60)
                return
            if request["type"] == "hello":
                continue
            step = 0 if request["type"] == "reset" else step + 1
            if (FAULT, step) in (("hangs on reset", 0), ("hangs on step", 3)):
                time.sleep(60)
            if (FAULT, step) == ("dies mid-episode", 3):
                os._exit(7)
            if (FAULT, step) == ("crashes", 3):
                os.abort()
            if (FAULT, step) == ("hangs up", 3):
                sock.shutdown(socket.SHUT_RDWR)
                time.sleep(60)
            if (FAULT, step) == ("drips", 3):
                for byte in answer(step):
                    sock.sendall(bytes([byte]))
                    time.sleep(0.1)
            sock.sendall(answer(step))
            if (FAULT, step) == ("stops listening", 2):
                time.sleep(60)


main()
