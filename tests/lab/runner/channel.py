# The frames Dom0 sends over the second serial port (see dom0/report.c).
# SPDX-License-Identifier: LGPL-2.1-or-later
import re
import zlib

HEAD = re.compile(rb"\x01([a-z]+) (\S+) (\d+) ([0-9a-f]{8})\n")


class Channel:
    """Reads the file QEMU writes as it grows; yields what is whole and fits its checksum."""

    def __init__(self, path):
        self.path = path
        self.at = 0
        self.rest = b""
        self.damaged = 0

    def frames(self):
        try:
            with open(self.path, "rb") as file:
                file.seek(self.at)
                data = file.read()
        except FileNotFoundError:
            return
        self.at += len(data)
        self.rest += data
        while True:
            head = HEAD.search(self.rest)
            if not head:
                return
            size, end = int(head[3]), head.end() + int(head[3])
            if len(self.rest) < end + 1:
                return
            payload = self.rest[head.end():end]
            if zlib.crc32(payload) != int(head[4], 16) or self.rest[end:end + 1] != b"\n":
                # Not a frame after all, or bytes were lost: go on behind its first byte.
                self.damaged += 1
                self.rest = self.rest[head.start() + 1:]
                continue
            self.rest = self.rest[end + 1:]
            assert size == len(payload)
            yield head[1].decode(), head[2].decode(), payload.decode("utf-8", "replace")
