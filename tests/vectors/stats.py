#!/usr/bin/env python3
"""Writes stats.txt, which tests/unit/stats.c compares src/stats with.

    tests/vectors/stats.py [DIR]     (default: the directory of this file; needs SciPy and mpmath)

SciPy where it has the test; enumeration in exact fractions where it has none (permutations under ties, the
resolution) and mpmath for the studentized range.  Written from the definitions, not from the C code.
"""
import itertools
import math
import pathlib
import random
import sys
import warnings
from fractions import Fraction

import mpmath
import numpy
from scipy import stats

from phase import Stream

RNG = random.Random(12)


def reals(*values):
    return " ".join(repr(float(v)) for v in values)


def words(values):
    return f"{len(values)} {reals(*values)}"


def draws(n, kind):
    """Values of a kind: without ties, with few or many, all equal, far apart, shifted."""
    return {"real": lambda: [RNG.gauss(0, 1) for _ in range(n)],
            "tied": lambda: [float(RNG.randrange(6)) for _ in range(n)],
            "coin": lambda: [float(RNG.randrange(2)) for _ in range(n)],
            "equal": lambda: [3.0] * n,
            "wide": lambda: [RNG.choice((-1, 1)) * 10 ** RNG.uniform(-9, 12) for _ in range(n)],
            "up": lambda: [float(i + 40 + RNG.randrange(3)) for i in range(n)]}[kind]()


KINDS = ("real", "tied", "coin", "equal", "wide", "up")


# --- permutations, counted one by one ---------------------------------------------------------

def u_of(x, y):
    return sum(Fraction(1, 2) * ((a > b) + (a >= b)) for a in x for b in y)


def deals(x, y):
    pool = list(x) + list(y)
    for chosen in itertools.combinations(range(len(pool)), len(x)):
        inside = set(chosen)
        yield [pool[i] for i in chosen], [v for i, v in enumerate(pool) if i not in inside]


def mwu_exact(x, y):
    middle = Fraction(len(x) * len(y), 2)
    far = abs(u_of(x, y) - middle)
    all_far = [abs(u_of(a, b) - middle) >= far for a, b in deals(x, y)]
    return float(Fraction(sum(all_far), len(all_far)))


def resolution(x, y, alpha):
    """x and y in exact fractions: difference, its p, and the resolution."""
    def gap(a, b):
        return Fraction(sum(a)) / len(a) - Fraction(sum(b)) / len(b)
    sizes = [abs(gap(a, b)) for a, b in deals(x, y)]

    def tail(d):
        return Fraction(sum(s >= d for s in sizes), len(sizes))
    good = [d for d in set(sizes) if tail(d) <= alpha]
    seen = gap(x, y)
    return float(seen), float(tail(abs(seen))), float(min(good)) if good else math.nan


def wilcoxon_exact(d):
    d = [v for v in d if v]
    ranks = [Fraction(int(2 * r), 2) for r in stats.rankdata([abs(v) for v in d])]
    seen = sum(r for r, v in zip(ranks, d) if v > 0)
    middle = sum(ranks) / 2
    sums = [sum(r for r, s in zip(ranks, signs) if s) for signs in itertools.product((0, 1), repeat=len(d))]
    return float(Fraction(sum(abs(s - middle) >= abs(seen - middle) for s in sums), len(sums)))


# --- one section each -------------------------------------------------------------------------

def two_samples(out):
    for (n, m), kx, ky in itertools.product(((1, 1), (1, 5), (2, 3), (5, 5), (6, 4), (7, 7)), KINDS, KINDS):
        x, y = draws(n, kx), draws(m, ky)
        r = stats.mannwhitneyu(x, y, method="asymptotic")
        out.append(f"mwu {words(x)} {words(y)} "
                   f"{reals(r.statistic, r.pvalue, mwu_exact(x, y), u_of(x, y) / (n * m))}")
    for n, m in ((8, 20), (25, 25), (40, 60)):  # without ties SciPy counts, too
        x, y = draws(n, "real"), [v + 0.7 for v in draws(m, "real")]
        r, exact = stats.mannwhitneyu(x, y, method="asymptotic"), stats.mannwhitneyu(x, y, method="exact")
        out.append(f"mwu {words(x)} {words(y)} "
                   f"{reals(r.statistic, r.pvalue, exact.pvalue, r.statistic / (n * m))}")
    for n, kx, ky in ((300, "tied", "coin"), (2500, "real", "up"), (2500, "tied", "tied")):  # too many to count
        x, y = draws(n, kx), draws(n, ky)
        r = stats.mannwhitneyu(x, y, method="asymptotic")
        out.append(f"mwu {words(x)} {words(y)} {reals(r.statistic, r.pvalue, -1, r.statistic / n ** 2)}")


def resolutions(out):
    for n, m in ((1, 1), (1, 19), (2, 3), (5, 5), (4, 8), (6, 6)):
        for unit, top in ((1, 1), (1, 3), (1, 12), (Fraction(1, 10), 30), (Fraction(1, 8), 500), (1, 0)):
            x, y = ([unit * RNG.randrange(top + 1) for _ in range(k)] for k in (n, m))
            for alpha in (Fraction(1, 20), Fraction(1, 4)):
                r = resolution(x, y, alpha)
                out.append(f"resolution {words(x)} {words(y)} {reals(alpha, *r)}")


def signs(out):
    for w, l in ((0, 0), (1, 0), (0, 1), (6, 0), (7, 0), (4, 0), (3, 4), (5, 5), (12, 3), (60, 40), (700, 801),
                 (1000, 0), (9000, 9500), (3, 10007)):
        k, n = min(w, l), w + l
        term = tail = 1
        for i in range(1, k + 1):  # C(n, i), summed
            term = term * (n - i + 1) // i
            tail += term
        out.append(f"sign {w} {l} {reals(min(1, Fraction(2 * tail, 2 ** n)))}")


def binomials(out):
    for n, k in ((1, 0), (1, 1), (8, 7), (8, 8), (10, 0), (10, 3), (24, 2), (100, 5), (100, 37), (532, 49), (2000, 130)):
        for p in (Fraction(1, 20), Fraction(1, 2), Fraction(7, 8)):
            tail = sum(math.comb(n, i) * p ** i * (1 - p) ** (n - i) for i in range(k, n + 1))
            out.append(f"binomial {k} {n} {reals(p, tail)}")


def corrections(out):
    for n in (1, 2, 3, 9, 54):
        for _ in range(4):
            p = [RNG.choice((RNG.random(), RNG.random() ** 6, 0.0, 1.0, 0.01)) for _ in range(n)]
            order = sorted(range(n), key=p.__getitem__)
            out.append(f"holm {words(p)} " + " ".join(repr(max(min(1.0, (n - k) * p[j]) for k, j in enumerate(
                order[:order.index(i) + 1]))) for i in range(n)))


def signed_ranks(out):
    for n in (1, 2, 3, 6, 10, 13):
        for kind in KINDS:
            d = [v - 1 if kind == "coin" else v - 2 if kind == "tied" else v for v in draws(n, kind)]
            left = [v for v in d if v]
            if not left:
                out.append(f"wilcoxon {words(d)} 0.0 1.0 1.0")
                continue
            untied = len(set(map(abs, left))) == len(left)
            r = stats.wilcoxon(left, method="exact" if untied else "asymptotic", correction=True)
            out.append(f"wilcoxon {words(d)} {reals(r.statistic, r.pvalue, wilcoxon_exact(d))}")
    for n in (30, 50, 51, 400, 900):
        d = [v + 0.2 for v in draws(n, "real")]
        exact = stats.wilcoxon(d, method="exact").pvalue if n <= 500 else -1
        r = stats.wilcoxon(d, method="exact" if n <= 50 else "asymptotic", correction=True)
        out.append(f"wilcoxon {words(d)} {reals(r.statistic, r.pvalue, exact)}")


def trends(out):
    sizes = [(n, kx, ky) for n in (2, 3, 5, 9, 33) for kx in KINDS for ky in KINDS]
    for n, kx, ky in sizes + [(34, "real", "real"), (34, "real", "tied"), (200, "tied", "real"), (1000, "up", "real")]:
        x, y = draws(n, kx), draws(n, ky)
        r = stats.kendalltau(x, y)
        out.append(f"kendall {words(x)} {words(y)} {reals(r.statistic, r.pvalue)}")
        slope = [math.nan] * 4
        if len(set(x)) > 1:
            s = stats.theilslopes(y, x, 0.95, method="joint")
            slope = [s.slope, s.intercept, s.low_slope, s.high_slope]
        out.append(f"sen {words(x)} {words(y)} {reals(*slope)}")
    for n in (34, 60, 150):  # all in order, and all but one pair
        x, y = list(range(n)), list(range(n))
        out.append(f"kendall {words(x)} {words(y)} {reals(1, stats.kendalltau(x, y).pvalue)}")
        y[3], y[4] = 4, 3
        r = stats.kendalltau(x, y)
        out.append(f"kendall {words(x)} {words(y)} {reals(r.statistic, r.pvalue)}")


def mann_kendall(out):
    """S is tau-b's; its variance under ties is that of Kendall's test with one untied series."""
    for n in (2, 3, 10, 84, 85, 300):
        for kind in KINDS:
            x = draws(n, kind)
            s = sum(numpy.sign(b - a) for a, b in itertools.combinations(x, 2))
            ties = [x.count(v) for v in set(x)]
            var = Fraction(n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties), 18)
            z = float(s - numpy.sign(s)) / math.sqrt(var) if var else 0.0
            out.append(f"mann-kendall {words(x)} "
                       f"{reals(z, 2 * stats.norm.sf(abs(z)), stats.theilslopes(x).slope)}")


def survival(out):
    def group(n, kind):
        t = {"real": lambda: RNG.expovariate(1), "tied": lambda: float(RNG.randrange(1, 6)),
             "equal": lambda: 4.0}[kind]
        share = RNG.choice((0, 0.3, 0.9, 1))
        return [t() for _ in range(n)], [RNG.random() < share for _ in range(n)]

    def censored(g):
        return stats.CensoredData.right_censored(*g)

    def curve(g):
        sf = stats.ecdf(censored(g)).sf
        median = next((t for t, p in zip(sf.quantiles, sf.probabilities) if p <= 0.5 + 1e-12), math.nan)
        until = max(g[0]) * 0.8
        rmst, before, height = 0.0, 0.0, 1.0
        for t, p in [(t, p) for t, p in zip(sf.quantiles, sf.probabilities) if t < until] + [(until, 0)]:
            rmst, before, height = rmst + height * (t - before), t, p
        return f"{len(sf.quantiles)} " + " ".join(
            reals(t, p) for t, p in zip(sf.quantiles, sf.probabilities)) + f" {reals(median, until, rmst)}"

    def text(g):
        return f"{len(g[0])} " + " ".join(f"{t!r} {int(not c)}" for t, c in zip(*g))
    for n, m in ((1, 1), (1, 4), (3, 3), (10, 10), (40, 25)):
        for kx, ky in itertools.product(("real", "tied", "equal"), repeat=2):
            x, y = group(n, kx), group(m, ky)
            out.append(f"km {text(x)} {curve(x)}")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                r = stats.logrank(censored(x), censored(y))
            z, p = (0.0, 1.0) if math.isnan(r.statistic) else (r.statistic, r.pvalue)
            out.append(f"logrank {text(x)} {text(y)} {reals(float(z) ** 2, p)}")


def range_tail(q, k):
    """P(range > q) of k normals: the smallest at z, the others above it, not all within q.  a^(k-1) - b^(k-1) is
    written as (a - b) times a sum, for nothing may cancel; quad's error is absolute, hence the scale."""
    scale = mpmath.exp(q * q / 4)

    def upper(z):
        return mpmath.erfc(z / mpmath.sqrt(2)) / 2

    def density(z):
        a, beyond = upper(z), upper(z + q)
        return scale * mpmath.npdf(z) * beyond * mpmath.fsum(a ** i * (a - beyond) ** (k - 2 - i) for i in range(k - 1))
    return k * mpmath.quad(density, mpmath.linspace(-q - 14, 14, 15 + int(q))) / scale


def blocks(out):
    for k, n in ((2, 5), (3, 1), (3, 4), (5, 9), (8, 9), (20, 30)):
        for kind in KINDS:
            groups = [draws(n, kind) for _ in range(k)]
            rows = list(zip(*groups))
            rank = numpy.mean([stats.rankdata([-v for v in row]) for row in rows], axis=0)
            if all(len(set(row)) == 1 for row in rows):
                chi2, p = 0.0, 1.0
            elif k > 2:
                chi2, p = stats.friedmanchisquare(*groups)
            else:  # the sign test's chi-square; SciPy wants three
                w, l = (sum(c * a > c * b for a, b in rows) for c in (1, -1))
                chi2 = (w - l) ** 2 / (w + l)
                p = stats.chi2.sf(chi2, 1)
            unit = math.sqrt(k * (k + 1) / (12 * n))
            gap = float(rank[0] - rank[1])
            pair = float(range_tail(mpmath.mpf(abs(gap)) / unit, k)) if gap else 1.0
            out.append(f"friedman {k} {n} {reals(*(v for g in groups for v in g), *rank, chi2, p, pair)}")
    for k in (2, 3, 5, 10, 40):
        for q in (0.01, 0.5, 2, 3.3, 6, 12, 20):
            out.append(f"range {k} {reals(q, range_tail(mpmath.mpf(q), k))}")
        for p in (0.1, 0.05, 0.01, 0.001):
            near = float(stats.studentized_range.isf(p, k, 1e6))
            point = mpmath.findroot(lambda q, k=k, p=p: range_tail(q, k) - p, near, tol=1e-30)
            out.append(f"point {k} {reals(p, point)}")
    for df in (1, 2, 3, 7, 24, 99):
        for x in (0.0, 1e-8, 0.3, 5, 40, 150, 900):
            out.append(f"chi2 {df} {reals(x, stats.chi2.sf(x, df))}")


def bootstrap(out):
    """The same draws from the same generator; SciPy's interval, from its own, must be close."""
    for (n, m), kind, median in itertools.product(((1, 0), (2, 0), (9, 0), (12, 15), (30, 30)), KINDS[:4], (False, True)):
        x, y = draws(n, kind), draws(m, kind)
        of, seed, level, times = (numpy.median if median else numpy.mean), RNG.randrange(2 ** 64), 0.9, 400
        rng = Stream(seed, "bootstrap")
        found = []
        for _ in range(times):
            a = of([x[rng.below(n)] for _ in range(n)])
            found.append(a - (of([y[rng.below(m)] for _ in range(m)]) if m else 0))
        low, high = numpy.quantile(found, [(1 - level) / 2, (1 + level) / 2])
        if n > 8 and kind == "real":
            r = stats.bootstrap((x, y) if m else (x,), lambda *g: of(g[0]) - (of(g[1]) if m else 0),
                                vectorized=False, confidence_level=level, method="percentile", n_resamples=4000)
            ours, theirs = high - low, r.confidence_interval.high - r.confidence_interval.low
            assert 0.75 < ours / theirs < 1.33, (ours, theirs)
        out.append(f"bootstrap {words(x)} {words(y)} {int(median)} {level!r} {times} {seed} "
                   f"{reals(of(x) - (of(y) if m else 0), low, high)}")


def students(out):
    for df in (1, 2, 3, 4, 9, 10, 99, 1000):
        for p in (0.001, 0.05, 0.3, 0.9):
            out.append(f"student {df} {reals(p, stats.t.isf(p / 2, df))}")


def main():
    directory = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    out = []
    mpmath.mp.dps = 20
    warnings.filterwarnings("ignore", message=".*constant.*")
    for section in (two_samples, resolutions, signs, corrections, signed_ranks, trends, mann_kendall, survival, blocks,
                    bootstrap, binomials, students):
        section(out)
        print(section.__name__, len(out), file=sys.stderr)
    (directory / "stats.txt").write_text("\n".join(out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
