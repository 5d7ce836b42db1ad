"""A headless Chromium driven over the WebDriver protocol, with nothing but the standard library.

    with Browser() as b:
        b.open("file:///tmp/page.html")
        b.run("return document.title")
        b.errors()         # what the console complained about
        b.fetched()        # every address asked for since the last call, the page's own too
"""
import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
         "--hide-scrollbars"]
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key of an element's number in the protocol


def is_here():
    return shutil.which("chromium") and shutil.which("chromedriver")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Browser:
    def __init__(self, width=1200, height=900):
        self.profile = tempfile.mkdtemp(prefix="carol-browser-")
        self.base = f"http://127.0.0.1:{free_port()}"
        self.process = subprocess.Popen(["chromedriver", f"--port={self.base.rsplit(':', 1)[1]}"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        options = {"args": FLAGS + [f"--user-data-dir={self.profile}", f"--window-size={width},{height}"],
                   "binary": shutil.which("chromium")}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options,
                  "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        self.session = ""
        for _ in range(600):
            try:
                self.session = "/session/" + self.ask("/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.05)
        self.open("about:blank")
        self.fetched()  # Chromium's own page of the new window

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.ask(self.session, method="DELETE")
        finally:
            self.process.terminate()
            self.process.wait()
            shutil.rmtree(self.profile, ignore_errors=True)

    def ask(self, path, data=None, method=None):
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(self.base + path, body, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()[:600]) from error

    def open(self, address):
        self.ask(self.session + "/url", {"url": str(address)})

    def run(self, script, *args):
        return self.ask(self.session + "/execute/sync", {"script": script, "args": list(args)})

    def cdp(self, command, **params):
        return self.ask(self.session + "/goog/cdp/execute", {"cmd": command, "params": params})

    def size(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, media="", scheme="light"):
        self.cdp("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def keys(self, text):
        """To what has the focus."""
        element = self.ask(self.session + "/element/active")[ELEMENT]
        self.ask(f"{self.session}/element/{element}/value", {"text": text})

    def mouse(self, *steps):
        """Each step is where to go, (x, y), or "down" or "up"."""
        actions = [{"type": "pointerMove", "duration": 0, "x": int(s[0]), "y": int(s[1])} if isinstance(s, tuple)
                   else {"type": "pointerDown" if s == "down" else "pointerUp", "button": 0} for s in steps]
        self.ask(self.session + "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]})

    def box(self, selector):
        """Left, top, width, height of the first such element, which is brought into view."""
        return self.run("const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'center', behavior: 'instant'}); "
                        "const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]", selector)

    def picture(self, path):
        data = self.ask(self.session + "/screenshot")
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def log(self, kind):
        return self.ask(self.session + "/se/log", {"type": kind})

    def errors(self):
        return [line["message"] for line in self.log("browser") if line["level"] in ("SEVERE", "WARNING")]

    def fetched(self):
        messages = [json.loads(line["message"])["message"] for line in self.log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


TINY = ("return Array.from(document.querySelectorAll('svg text')).filter(t => t.checkVisibility() && "
        "t.getBoundingClientRect().height < 9).length")


def faults(b, path):
    """What is wrong with a page in a file, wide and narrow: complaints, what it fetches, what sticks out, what is tiny."""
    b.fetched()
    b.errors()
    b.open(path.as_uri())
    found = [f"fetched {a}" for a in b.fetched() if not a.startswith(("data:", path.as_uri()))] + b.errors()
    for width in (1200, 400):
        b.size(width, 900)
        over, tiny = b.run("return document.documentElement.scrollWidth - innerWidth"), b.run(TINY)
        found += [f"{over} px too wide at {width}"] * (over > 0) + [f"{tiny} tiny labels at {width}"] * (tiny > 0)
    b.size(1200, 900)
    return found
