#!/usr/bin/env python3
"""Seeds and witnesses of script.   inputs.py DIR   writes DIR/seeds/* and DIR/witness/ID"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from inputs_kit import write_inputs  # noqa: E402

SEEDS = {
    "array": b"""var a = [3, 1, 2];
a.sort(function (x, y) { return x - y; });
a.map(function (x) { return a.push(x); });
a.slice(1).join("-");
a.pop();
""",
    "object": b"""var o = {x: 1, y: 2, z: [4]};
for (var k in o)
    o[k] += 1;
Object.defineProperty(o, "w", {get: function () { return this.x; }});
o.w;
Object.freeze(o);
""",
    "text": b"""var s = "caf\\u00e9 \\x41";
for (var i = 0; i < 3; i++)
    s = s.concat("b", i);
s.replace(/([a-f]+)\\d/g, "<$1>").split("<");
/(\\w+) \\1/i.test(s);
""",
    "json": b"""var t = JSON.parse('{"a": [1, 2], "b": {"c": null}}', function (k, v) {
    this.n = k;
    return v;
});
t.d = t.a;
t.a[1] = 7;
delete t.n;
JSON.stringify(t, null, 1);
""",
    "date": b"""var d = new Date(2016, 4, 8, 12);
d.setFullYear(2019);
d.setHours(d.getHours() + 36);
d.toISOString();
""",
    "number": b"""var n = 2e7 / 3;
n.toString(16);
(n / 3).toFixed(2);
parseInt("-7f", 16) >>> 2;
""",
    "flow": b"""function f(n) {
    "use strict";
    while (n) {
        try {
            if (n > 2) throw n;
            break;
        } catch (e) {
            n--;
            continue;
        } finally {
            n--;
        }
    }
    return n;
}
f(5);
""",
    "choice": b"""function g(x) {
    switch (typeof x) {
    case "number": return -x;
    case "string": break;
    default: x = !x;
    }
    return [x, x && g];
}
g(1) + g("s") + g({});
""",
}

WITNESSES = {
    "S01": b"!" * 120 + b"1",
    "S02": b"/[b-a]/",
    "S03": b"/(a*)\\1*/",
    "S04": b"var a = [1]; a.push(a); JSON.stringify(a)",
    "S05": b"var o = Object.freeze({a: 1}); Object.defineProperty(o, 'a', {get: g}); function g() {}",
    "S06": b"(-1e-9).toString(3)",
    "S07": b"new Date(2016, 1, 29).setFullYear(2019)",
    "S08": b"var o = {a: 1, b: 2, c: 3}; for (var k in o) delete o.b",
    "S09": b"var a = [1, 2, 3]; a.map(function () { a.length = 1 })",
    "S10": b"var a = [3, 2, 1]; delete a[1]; a.sort(function (x, y) { a.length = 9; return x - y })",
    "S11": b"JSON.parse('[1, 2]', function (k, v) { this.length = 1; return v })",
    "S12": b"""while (1) try { throw 1 } catch (e) {
    try { throw 2 } catch (e) { break } finally { 3 }
} finally { 4 }""",
}

write_inputs(SEEDS, WITNESSES)
