"""What the checks found: every check has a name, counts how often it looked, and says what differs."""
import math


class Report:
    def __init__(self):
        self.looks = {}  # check -> how many values it compared
        self.wrong = []  # (check, what differs)

    def check(self, name, good, what):
        self.looks[name] = self.looks.get(name, 0) + 1
        if not good:
            self.wrong.append((name, what() if callable(what) else what))

    def same(self, name, where, logged, computed):
        self.check(name, logged == computed, lambda: f"{where}: logged {logged}, computed {computed}")

    def close(self, name, where, logged, computed):
        """Two computations of one real number: equal but for rounding."""
        self.check(name, math.isclose(logged, computed, rel_tol=1e-9, abs_tol=1e-11),
                   lambda: f"{where}: logged {logged!r}, computed {computed!r}")

    def text(self, limit=40):
        lines = [f"{name}: {what}" for name, what in self.wrong[:limit]]
        if len(self.wrong) > limit:
            lines.append(f"... and {len(self.wrong) - limit} more")
        return "\n".join(lines)
