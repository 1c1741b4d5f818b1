#!/usr/bin/env python3
# A relay of limited rate. SPDX-License-Identifier: LGPL-2.1-or-later
"""usage: slow_link.py PORT TARGET-PORT BYTES-A-SECOND

Passes what comes in at PORT on to TARGET-PORT, both on 127.0.0.1, each direction at most so fast; little is stored."""
import socket
import sys
import threading
import time

PIECE = 65536


def pump(source, sink, rate):
    free_at = time.monotonic()
    try:
        while True:
            data = source.recv(PIECE)
            if not data:
                break
            free_at = max(free_at, time.monotonic() - 0.01) + len(data) / rate
            delay = free_at - time.monotonic()
            if delay > 0:
                time.sleep(delay)
            sink.sendall(data)
    except OSError:
        pass
    try:
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def main():
    port, target, rate = (int(a) for a in sys.argv[1:4])
    with socket.create_server(("127.0.0.1", port)) as server:
        for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            server.setsockopt(socket.SOL_SOCKET, option, 1 << 19)
        print("ready", flush=True)
        while True:
            one, _ = server.accept()
            two = socket.create_connection(("127.0.0.1", target))
            for pair in ((one, two), (two, one)):
                threading.Thread(target=pump, args=(*pair, rate), daemon=True).start()


if __name__ == "__main__":
    main()
