#!/usr/bin/env python3
"""Seeds and witnesses of proto.   inputs.py DIR   writes DIR/seeds/* and DIR/witness/ID"""
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from inputs_kit import write_inputs  # noqa: E402

NONCE = 0x01020304


def message(kind, data=b""):
    head = struct.pack(">BH", kind, len(data))
    return head + bytes([head[0] ^ head[1] ^ head[2]]) + data


def hello(version=1, features=3, nonce=NONCE):
    return message(0x01, struct.pack(">BHI", version, features, nonce))


def login(user=1, wrong=0, nonce=NONCE):
    token = ((nonce ^ nonce >> 16) * 31 + 7) & 0xffff
    return message(0x02, struct.pack(">BH", user, token ^ wrong))


def opened(channel, name=65, window=100):
    return message(0x10, struct.pack(">BBH", channel, name, window))


def write(channel, seq, at, data):
    return message(0x11, struct.pack(">BHI", channel, seq, at) + data)


def grant(channel, more):
    return message(0x12, struct.pack(">BI", channel, more))


def closed(channel):
    return message(0x13, bytes([channel]))


def fragment(more, data):
    return message(0x20, bytes([more]) + data)


START = hello() + login()

SEEDS = {
    "login": START + message(0x7f),
    "write": START + opened(1) + write(1, 1, 0, b"data") + closed(1) + message(0x7f),
    "fragments": START + fragment(1, b"ab") + fragment(0, b"c"),
}

WITNESSES = {
    "D01": hello(version=0),
    "D02": hello() + login(user=0),
    "D03": START + opened(1) + opened(1),
    "D04": START + opened(1) + grant(1, 0xffffffff),
    "D05": START + opened(1) + write(1, 1, 0xffffffff, b"xy"),
    "D06": START + opened(1) + closed(1) + closed(1),
    "D07": START + opened(1) + write(1, 1, 0, b"x") + closed(1) + message(0x14, b"\x01\x42"),
    "D08": hello() + login(wrong=1) * 3 + login(),
    "D09": START + opened(1) + opened(2) + hello(),
    "D10": START + b"".join(opened(i) for i in range(8)),
    "D11": START + opened(1) + write(1, 0x9000, 0, b"x" * 17) + write(1, 1, 0, b"x"),
    "D12": START + fragment(1, b"12345678") + message(0x21, b"\0\0\0\x09") + fragment(0, b"9"),
    "D13": START + opened(1, window=1) + grant(1, 1) * 2 + write(1, 1, 0, b"xxxx"),
    "D14": START + fragment(1, b"x" * 200) + fragment(0, b"x" * 57),
}

write_inputs(SEEDS, WITNESSES)
