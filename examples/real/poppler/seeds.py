#!/usr/bin/env python3
"""Writes small PDF files: seeds.py DIR."""
import pathlib
import sys
import zlib


def pdf(*objects):
    """Objects 1, 2, 3, ... with their table; 1 is the catalogue."""
    out, at = b"%PDF-1.5\n", []
    for number, body in enumerate(objects, 1):
        at.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    table = b"xref\n0 %d\n0000000000 65535 f \n" % (len(at) + 1) + b"".join(b"%010d 00000 n \n" % x for x in at)
    return out + table + b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(at) + 1, len(out))


def stream(data, words=b""):
    return b"<<%s/Length %d>>\nstream\n" % (words, len(data)) + data + b"\nendstream"


def page(contents, resources=b"", *more, extra=b""):
    return pdf(b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
               b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<<%s>>%s>>" % (resources, extra),
               contents, *more)


FILES = {
    "path.pdf": page(stream(b"1 0 0 rg 10 10 50 50 re f 0 0 m 9 9 l S q 2 0 0 2 0 0 cm 1 1 5 5 re W n Q")),
    "text.pdf": page(stream(b"BT /F 12 Tf 20 20 Td (text) Tj [(a) -20 (b)] TJ ET"), b"/Font<</F 5 0 R>>",
                     b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding<</Differences[65/A/B]>>>>"),
    "type3.pdf": page(stream(b"BT /F 12 Tf (a) Tj ET"), b"/Font<</F 5 0 R>>",
                      b"<</Type/Font/Subtype/Type3/FontBBox[0 0 9 9]/FontMatrix[.1 0 0 .1 0 0]/FirstChar 97/LastChar 97"
                      b"/Widths[9]/Encoding<</Differences[97/a]>>/CharProcs<</a 6 0 R>>>>", stream(b"9 0 d0 0 0 5 5 re f")),
    "flate.pdf": page(stream(zlib.compress(b"0 1 0 RG 5 5 9 9 re s"), b"/Filter/FlateDecode")),
    "image.pdf": page(stream(b"9 0 0 9 0 0 cm /I Do"), b"/XObject<</I 5 0 R>>",
                      stream(bytes(12), b"/Type/XObject/Subtype/Image/Width 2/Height 2/BitsPerComponent 8/ColorSpace/DeviceRGB")),
    "shading.pdf": page(stream(b"/S sh"), b"/Shading<</S<</ShadingType 2/ColorSpace/DeviceGray/Coords[0 0 9 9]"
                        b"/Function<</FunctionType 2/Domain[0 1]/C0[0]/C1[1]/N 1>>>>>>"),
    "note.pdf": page(stream(b"n"), b"", b"<</Type/Annot/Subtype/Square/Rect[1 1 9 9]/C[1 0 0]>>", extra=b"/Annots[5 0 R]"),
}


def main():
    for name, data in FILES.items():
        (pathlib.Path(sys.argv[1]) / name).write_bytes(data)


main()
