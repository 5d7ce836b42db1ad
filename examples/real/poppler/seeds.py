#!/usr/bin/env python3
"""Writes small PDF documents: seeds.py DIR."""
import pathlib
import sys

PAGE = "/Type /Page /Parent 2 0 R /MediaBox [0 0 72 72] /Contents 4 0 R"


def stream(data, words=""):
    return f"<< /Length {len(data)} {words} >> stream\n".encode() + data + b"\nendstream"


def pdf(*objects):
    """Objects from number 1 on, with their table at the end."""
    out, places = b"%PDF-1.7\n", []
    for i, o in enumerate(objects):
        places.append(len(out))
        out += f"{i + 1} 0 obj\n".encode() + (o if isinstance(o, bytes) else f"<< {o} >>".encode()) + b"\nendobj\n"
    table = "".join(f"{p:010} 00000 n \n" for p in places)
    tail = f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n{table}trailer\n<< /Size {len(places) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return out + tail.encode()


def document(content, resources="", *more, root="", page="", words=""):
    """One page; further objects have numbers from 5 on."""
    return pdf(f"/Type /Catalog /Pages 2 0 R {root}", "/Type /Pages /Kids [3 0 R] /Count 1", f"{PAGE} /Resources << {resources} >> {page}",
               stream(content, words), *more)


def image(data, filters, bits=8, space="/DeviceGray", more=""):
    words = f"/Type /XObject /Subtype /Image /Width 8 /Height 8 /BitsPerComponent {bits} /ColorSpace {space} /Filter {filters} {more}"
    return document(b"72 0 0 72 0 0 cm /I Do", "/XObject << /I 5 0 R >>", stream(data, words))


LINES = b"q 1 0 0 RG 2 w [4 2] 0 d 10 10 m 60 10 l 60 60 30 70 10 60 c h S 0.5 g 20 20 20 20 re f* Q"
SHADING = "/Shading << /S << /ShadingType 2 /ColorSpace /DeviceRGB /Coords [0 0 72 72] /Function << /FunctionType 2 /Domain [0 1] /C0 [1 0 0] /C1 [0 0 1] /N 1 >> >> >>"
TYPE3 = "/Type /Font /Subtype /Type3 /FontBBox [0 0 10 10] /FontMatrix [0.1 0 0 0.1 0 0] /CharProcs << /a 6 0 R >> /FirstChar 97 /LastChar 97 /Widths [10] /Encoding << /Type /Encoding /Differences [97 /a] >>"
FILES = {
    "lines.pdf": document(LINES),
    "text.pdf": document(b"BT /F 12 Tf 10 30 Td (Hello) Tj [(a) -50 (b)] TJ ET", "/Font << /F 5 0 R >>", "/Type /Font /Subtype /Type1 /BaseFont /Helvetica"),
    "type3.pdf": document(b"BT /F 12 Tf 10 30 Td (aaa) Tj ET", "/Font << /F 5 0 R >>", TYPE3, stream(b"10 0 0 0 10 10 d1 0 0 8 8 re f")),
    "shading.pdf": document(b"/S sh", SHADING),
    "hex.pdf": document(LINES.hex().encode() + b">", words="/Filter /ASCIIHexDecode"),
    "runs.pdf": image(bytes([193, 0x55, 128]), "/RunLengthDecode"),
    "fax.pdf": image(bytes([0xFF, 0xFF, 0xE0, 0x01, 0x00, 0x10]), "/CCITTFaxDecode", 1, more="/DecodeParms << /K -1 /Columns 8 /Rows 8 >>"),
    "lzw.pdf": image(bytes([0x80, 0x00, 0x20, 0x50, 0x38, 0x10, 0x10]), "/LZWDecode", more="/DecodeParms << /Predictor 12 /Columns 8 >>"),
    "flate.pdf": image(b"\x78\x01\x01\x40\x00\xbf\xff" + bytes(range(64)) + bytes.fromhex("aa2407e1"), "/FlateDecode"),
    "jbig2.pdf": image(bytes.fromhex("00000000300001000000130000000800000008000000000000000000000001"), "/JBIG2Decode", 1),
    "form.pdf": document(b"", "", "/Type /Annot /Subtype /Widget /FT /Btn /T (b) /Rect [10 10 30 30] /AP << /N 6 0 R >>",
                         stream(b"0 0 20 20 re S", "/Type /XObject /Subtype /Form /BBox [0 0 20 20]"),
                         root="/AcroForm << /Fields [5 0 R] >> /Outlines << /First 5 0 R >>", page="/Annots [5 0 R]"),
}


def main():
    for name, data in FILES.items():
        (pathlib.Path(sys.argv[1]) / name).write_bytes(data)


main()
