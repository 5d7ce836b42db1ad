"""What the tests of the live page share: asking it, reading Prometheus's text and server-sent events.

Everything here is written from the formats' definitions, and shares nothing with Carol's code.
"""
import http.client
import re
import socket
import time
from urllib.parse import urlsplit

URL = re.compile(r"^http://(?:127\.0\.0\.1|\[::1\]):\d+/[0-9a-f]{32}/$", re.MULTILINE)


def url_in(text):
    """The address in what carol printed: a line of its own."""
    found = URL.search(text)
    return found.group(0) if found else None


class Site:
    def __init__(self, url):
        parts = urlsplit(url)
        self.url, self.host, self.port = url, parts.hostname, parts.port
        self.token = parts.path.strip("/")

    def ask(self, path, headers=None, method="GET", timeout=60):
        """(status, headers, body) of one request, on a connection of its own."""
        c = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            c.request(method, path, headers=headers or {})
            r = c.getresponse()
            return r.status, {k.lower(): v for k, v in r.getheaders()}, r.read()
        finally:
            c.close()

    def get(self, name, **how):
        return self.ask(f"/{self.token}/{name}", **how)

    def body(self, name):
        return self.get(name)[2].decode()

    def raw(self, data, timeout=60):
        """All that comes back on a connection on which just that was sent."""
        with socket.create_connection((self.host, self.port), timeout=timeout) as s:
            got = b""
            try:
                s.sendall(data)
                while part := s.recv(65536):
                    got += part
            except OSError:
                pass
            return got

    def connect(self):
        return socket.create_connection((self.host, self.port), timeout=60)


class Events:
    """Reads /events from one connection: (event, id, data), as the HTML standard interprets the stream."""

    def __init__(self, site, last=None):
        self.c = http.client.HTTPConnection(site.host, site.port, timeout=60)
        self.c.request("GET", f"/{site.token}/events", headers={"Last-Event-ID": last} if last else {})
        self.response = self.c.getresponse()
        self.comments = 0

    def next(self):
        """The next event; None: the stream has ended."""
        event, ident, data = "message", None, []
        while line := self.response.readline():
            line = line.rstrip(b"\n").decode()
            if line == "":
                if data:
                    return event, ident, "\n".join(data)
                event, data = "message", []
            elif line.startswith(":"):
                self.comments += 1
            else:
                name, _, value = line.partition(":")
                value = value[1:] if value.startswith(" ") else value
                if name == "event":
                    event = value
                elif name == "id":
                    ident = value
                elif name == "data":
                    data.append(value)
        return None

    def until(self, good, patience=60):
        """The first event that is good; None: none came."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            e = self.next()
            if e is None or good(e):
                return e
        return None

    def close(self):
        self.c.close()


NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"^({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)$")


def prometheus(text):
    """{(name, label text): value}, {name: type}; ValueError where it is not the text format 0.0.4."""
    values, types, helps = {}, {}, set()
    if not text.endswith("\n"):
        raise ValueError("the last line has no end")
    for line in text[:-1].split("\n"):
        if m := re.match(rf"^# HELP ({NAME}) (.*)$", line):
            if m[1] in helps:
                raise ValueError(f"two HELP of {m[1]}")
            helps.add(m[1])
        elif m := re.match(rf"^# TYPE ({NAME}) (counter|gauge)$", line):
            if m[1] in types or m[1] not in helps:
                raise ValueError(f"TYPE of {m[1]} is out of place")
            types[m[1]] = m[2]
        elif m := SAMPLE.match(line):
            key = (m[1], m[2] or "")
            if key in values or m[1] not in types or m[1] != list(types)[-1]:
                raise ValueError(f"a sample is out of place: {line}")
            if (types[m[1]] == "counter") != m[1].endswith("_total"):
                raise ValueError(f"{m[1]} is a {types[m[1]]}")
            values[key] = float(m[3])
        else:
            raise ValueError(f"not understood: {line!r}")
    return values, types
