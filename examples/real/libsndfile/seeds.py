#!/usr/bin/env python3
"""Writes small sound files of several formats: seeds.py DIR."""
import pathlib
import struct
import sys

PCM = struct.pack("<32h", *[(i * 2654435) % 65536 - 32768 for i in range(32)])


def chunk(name, data, order="<"):
    return name + struct.pack(order + "I", len(data)) + data + b"\0" * (len(data) % 2)


def wav(tag, bits, data, extra=b""):
    block = bits // 8 if tag != 17 else 36
    form = struct.pack("<HHIIHH", tag, 1, 8000, 8000 * max(bits // 8, 1), block, bits) + extra
    info = chunk(b"LIST", b"INFO" + chunk(b"INAM", b"name\0\0"))
    return b"RIFF" + struct.pack("<I", 0) + b"WAVE" + chunk(b"fmt ", form) + info + chunk(b"data", data)


def aiff():
    rate = struct.pack(">HQ", 0x400B, 0xFA00 << 48)
    body = chunk(b"COMM", struct.pack(">hIh", 1, 32, 16) + rate, ">") + chunk(b"NAME", b"name", ">")
    return b"FORM" + struct.pack(">I", 100 + len(PCM)) + b"AIFF" + body + chunk(b"SSND", bytes(8) + PCM, ">")


def caf():
    desc = struct.pack(">d4sIIIII", 8000.0, b"lpcm", 0, 2, 1, 1, 16)
    return (b"caff" + struct.pack(">HH", 1, 0) + b"desc" + struct.pack(">q", len(desc)) + desc
            + b"data" + struct.pack(">qI", len(PCM) + 4, 0) + PCM)


FILES = {
    "pcm.wav": wav(1, 16, PCM), "ulaw.wav": wav(7, 8, PCM), "float.wav": wav(3, 32, PCM),
    "ima.wav": wav(17, 4, bytes(72), struct.pack("<HH", 2, 65)),
    "sun.au": b".snd" + struct.pack(">5I4s", 28, len(PCM), 3, 8000, 1, b"text") + PCM,
    "adpcm.au": b".snd" + struct.pack(">5I4s", 28, len(PCM), 23, 8000, 1, b"text") + PCM,
    "pcm.aiff": aiff(), "pcm.caf": caf(),
    "voice.voc": b"Creative Voice File\x1a" + struct.pack("<HHH", 26, 0x010A, 0x1129) + b"\x01" + struct.pack("<I", 34)[:3] + b"\x83\0" + PCM[:32] + b"\0",
}


def main():
    for name, data in FILES.items():
        (pathlib.Path(sys.argv[1]) / name).write_bytes(data)


main()
