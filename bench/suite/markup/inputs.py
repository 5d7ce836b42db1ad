#!/usr/bin/env python3
"""Seeds and witnesses of markup.   inputs.py DIR   writes DIR/seeds/* and DIR/witness/ID"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from inputs_kit import write_inputs  # noqa: E402

SEEDS = {
    "plain": b"""<?xml version="1.0"?>
<list><!-- two -->
  <item n="1" unit='&lt;kg&#62;'>one &amp; <b/>more</item>
  <item n="2"><![CDATA[a < b]]></item>
  <?show it?>
</list>
""",
    "names": b"""<a:set xmlns:a="urn:one" xmlns="two">
  <point a:x="4" y="5"/>
  <q:line xmlns:q="urn:three" q:w="2"><a:end/></q:line>
</a:set>
""",
    "types": b"""<!DOCTYPE book [
<!ELEMENT book (title, (part | note)*, end?)>
<!ELEMENT title (#PCDATA)>
<!ATTLIST part id ID #REQUIRED kind (x | y) "x" see IDREF #IMPLIED>
<!ATTLIST note lang NMTOKEN "en" text CDATA #FIXED "t">
]>
<book><title>T</title><part id="p1"/><note lang=" de "/></book>
""",
    "entities": b"""<!DOCTYPE d PUBLIC "-//A//B" "d.dtd" [
<!NOTATION gif PUBLIC "gif">
<!ENTITY who "you &amp; me">
<!ENTITY pic SYSTEM "p.gif" NDATA gif>
<!ENTITY % more "<!ELEMENT d ANY>">
%more;
]>
<d to="&who;">&who;</d>
""",
    "outside": b"""<!DOCTYPE d SYSTEM "d.dtd" [
<!ENTITY part SYSTEM "part">
]>
<d/>
\x0c<?xml encoding="utf-8"?>
<!ELEMENT d EMPTY>
<!ATTLIST d v CDATA "1">
""",
    "latin": b"""<?xml version="1.0" encoding="iso-8859-1" standalone="no"?>
<name>Jos\xe9</name>
""",
    "wide": '\ufeff<?xml version="1.0" encoding="UTF-16"?>\n<w a="é">\u20ac</w>\n'.encode("utf-16-le"),
}

NINE = b" ".join(b'p:%c=""' % c for c in b"abcdefghi")
WITNESSES = {
    "M01": b"<a>&#xFFFE;</a>",
    "M02": b"<a>\xf4\x90\x80\x80</a>",
    "M03": b'<?xml version="1.0" encoding="UTF-16"?><a/>',
    "M04": '\ufeff<?xml version="1.0" encoding="UTF-8"?><a/>'.encode("utf-16-le"),
    "M05": b"<!DOCTYPE a [<!ELEMENT a " + b"(" * 64 + b"b" + b")" * 64 + b">]><a/>",
    "M06": b"<!DOCTYPE a [<!ELEMENT a (b,(c,(d|e,f)))>]><a/>",
    "M07": b'<a xmlns:p="u" xmlns:q="u" p:x="" q:x=""/>',
    "M08": b'<a xmlns:xml="u"/>',
    "M09": b'<a xmlns:p="http://www.w3.org/XML/1998/namespace"/>',
    "M10": b'<!DOCTYPE a [<!NOTATION n SYSTEM "n"><!ENTITY e SYSTEM "e" NDATA n><!ATTLIST a b CDATA "&e;">]><a/>',
    "M11": b"""<?xml version="1.0" standalone="yes"?><!DOCTYPE a [<!ENTITY % p "<!ENTITY e 'x'>">%p;]><a>&e;</a>""",
    "M12": b'<!DOCTYPE a [<!ATTLIST a b NMTOKEN #IMPLIED>]><a b="  "/>',
    "M13": b'<!DOCTYPE a [<!ATTLIST b xmlns:p CDATA "u">]><a xmlns:p="v"><b/></a>',
    "M14": b'<!DOCTYPE a [<!ENTITY e "&f;"><!ENTITY f "&e;">]><a b="&e;"/>',
    "M15": b'<!DOCTYPE a SYSTEM "s"><a/>\x0c<![INCLUDE[<![INCLUDE[]]>]]>',
    "M16": b'<!DOCTYPE a SYSTEM "s"><a/>\x0c<![IGNORE[<![]]>]]>',
    "M17": b"""<!DOCTYPE a [<!ENTITY % x SYSTEM "s"><!ENTITY % p "<!ENTITY e '&#37;x;'>">%p;]><a/>\x0cy""",
    "M18": b'<!DOCTYPE a [<!ATTLIST a i ID #IMPLIED>]><a b="" c="" d="" e="" i="x"/>',
    "M19": b'<!DOCTYPE a [<!ENTITY % p "<!ENTITY e">%p;]><a/>',
    "M20": b'<a xmlns:p="u" ' + NINE + b"/>",
}

write_inputs(SEEDS, WITNESSES)
