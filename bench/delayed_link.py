"""One end of a link between two network namespaces on which every packet takes a while; as root, see `bench.trust_losses`.

python -m bench.delayed_link FD ADDRESS MILLISECONDS makes the device of one end in its namespace; the other end has the other socket.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import queue
import socket
import struct
import subprocess
import sys
import threading
import time

NAME = "delayed"  # the device
_MTU = 9000  # bytes
_SET, _TUN, _PLAIN = 0x400454CA, 0x0001, 0x1000  # TUNSETIFF, IFF_TUN, IFF_NO_PI of linux/if_tun.h


def main(end: socket.socket, address: str, delay: float) -> None:
    """Carries packets until the other end is closed.

    Args:
        delay: seconds of a packet, one way.
    """
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, _SET, struct.pack("16sH22x", NAME.encode(), _TUN | _PLAIN))
    for words in (
        ("address", "add", address, "dev", NAME),
        ("link", "set", NAME, "up", "mtu", str(_MTU)),
    ):
        subprocess.run(["ip", *words], check=True)
    waiting: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()

    def read() -> None:
        while True:
            packet = os.read(device, _MTU)
            waiting.put((time.monotonic() + delay, packet))

    def send() -> None:
        while True:
            due, packet = waiting.get()
            time.sleep(max(due - time.monotonic(), 0.0))
            end.send(packet)

    for work in (read, send):
        threading.Thread(target=work, daemon=True).start()
    while packet := end.recv(_MTU):
        with contextlib.suppress(OSError):  # the link is cut
            os.write(device, packet)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), sys.argv[2], float(sys.argv[3]) / 1000)
