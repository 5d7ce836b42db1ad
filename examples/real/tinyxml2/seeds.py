#!/usr/bin/env python3
"""Writes small XML files: seeds.py DIR."""
import pathlib
import sys

FILES = {
    "tree": '<?xml version="1.0"?><a b="1"><c>2.5</c><c d=\'true\'/></a>',
    "text": "<a>&lt;x&gt; &#65;&#x42; &amp; y<![CDATA[<raw>]]></a>",
    "notes": "<!-- note --><!DOCTYPE a><a><!-- in --><b/></a>",
}


def main():
    for name, text in FILES.items():
        (pathlib.Path(sys.argv[1]) / name).write_text(text)


main()
