#!/usr/bin/env python3
"""Writes one small, valid Ogg Vorbis stream: a channel, two codebooks, a floor, a residue, a mapping, a mode, two audio packets.

    vorbis_seed.py FILE

Put together from the format's public specification; nothing in it is unusual."""
import struct
import sys


class Bits:
    """Vorbis packs numbers from the lowest bit on."""

    def __init__(self):
        self.value = self.n = 0

    def put(self, *fields):
        for width, number in fields:
            self.value |= number << self.n
            self.n += width
        return self

    def bytes(self):
        return self.value.to_bytes((self.n + 7) // 8, "little")


def codebook(bits, dimensions, lookup):
    """Two entries of one bit each."""
    bits.put((24, 0x564342), (16, dimensions), (24, 2), (1, 0), (1, 0), (5, 0), (5, 0))
    if lookup:  # two values, 0 and 1
        bits.put((4, 1), (32, 0), (32, 788 << 21 | 1), (4, 0), (1, 0), (1, 0), (1, 1))
    else:
        bits.put((4, 0))


def setup():
    b = Bits().put((8, 1))
    codebook(b, 1, lookup=False)
    codebook(b, 1, lookup=True)
    b.put((6, 0), (16, 0))  # no time domain transform
    b.put((6, 0), (16, 1), (5, 1), (4, 0), (3, 0), (2, 0), (8, 1), (2, 0), (4, 4), (4, 5))  # a floor of type 1
    b.put((6, 0), (16, 1), (24, 0), (24, 16), (24, 7), (6, 0), (8, 0), (3, 1), (1, 0), (8, 1))  # a residue of type 1
    b.put((6, 0), (16, 0), (1, 0), (1, 0), (2, 0), (8, 0), (8, 0), (8, 0))  # a mapping
    b.put((6, 0), (1, 0), (16, 0), (16, 0), (8, 0), (1, 1))  # a mode, and the end
    return b"\x05vorbis" + b.bytes()


def audio(level):
    """A packet: floor, then two partitions of eight values."""
    return Bits().put((1, 0), (1, 1), (8, level), (8, level + 3), (1, 1), (1, 0), (8, 0x5A), (1, 1), (8, 0x0F)).bytes()


def page(number, kind, position, *packets):
    sizes = b"".join(b"\xff" * (len(p) // 255) + bytes([len(p) % 255]) for p in packets)
    head = b"OggS\0" + bytes([kind]) + struct.pack("<qIII", position, 1, number, 0) + bytes([len(sizes)]) + sizes
    whole = head + b"".join(packets)
    crc = 0
    for byte in whole:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ 0x04C11DB7 if crc >> 31 else crc << 1) & 0xFFFFFFFF
    return whole[:22] + struct.pack("<I", crc) + whole[26:]


def stream():
    identification = b"\x01vorbis" + struct.pack("<IBIiiiBB", 0, 1, 8000, 0, 0, 0, 0x86, 1)
    comment = b"\x03vorbis" + struct.pack("<II", 0, 0) + b"\x01"
    return (page(0, 2, 0, identification) + page(1, 0, 0, comment, setup()) + page(2, 4, 32, audio(40), audio(60)))


if __name__ == "__main__":
    with open(sys.argv[1], "wb") as file:
        file.write(stream())
