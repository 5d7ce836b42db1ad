#!/usr/bin/env python3
"""A maze as a C program: one function a cell, some doors locked.  The same size and seed give the same
maze, bugs and witnesses.

usage: generate.py [--size N] [--seed N] DIR      writes DIR/maze.c

Bugs lie in dead ends, at the distances below; a longer way is a harder bug.
"""
import argparse
import random
from pathlib import Path

SIZE, SEED = 16, 8
DISTANCES = [5, 8, 11, 14, 18, 23, 30, 40, 55, 75]
MOVES = {"n": (0, -1), "e": (1, 0), "s": (0, 1), "w": (-1, 0)}
BACK = {"n": "s", "e": "w", "s": "n", "w": "e"}
KINDS = ["none"] * 6 + ["above", "above", "sum", "equal", "steps"]


class Door:
    """What must follow the letter of the move."""

    def __init__(self, rng, kind):
        self.kind = kind
        self.a, self.b = rng.randrange(8, 248), rng.randrange(256)
        self.word = self.a << 8 | self.b

    def code(self):
        return {"none": "1",
                "above": f"byte(w) > {self.a}",
                "sum": f"((byte(w) + byte(w)) & 0xff) == {self.a}",
                "equal": f"word(w) == {self.word:#06x}",
                "steps": "byte(w) % 16 == w->steps % 16"}[self.kind]

    def key(self, steps):
        return {"none": b"",
                "above": bytes([self.a + 1]),
                "sum": bytes([self.a, 0]),
                "equal": bytes([self.a, self.b]),
                "steps": bytes([steps % 16])}[self.kind]


class Maze:
    def __init__(self, size, seed):
        rng = random.Random(seed * 1000 + size)
        self.size = size
        self.doors = {(x, y): {} for x in range(size) for y in range(size)}
        self.way = {(0, 0): []}  # cell: moves from the start; the maze is a tree
        self.carve(rng)
        self.noisy = {c for c in self.doors if rng.random() < 0.2}
        self.bugs = self.place_bugs(rng)

    def carve(self, rng):
        """Depth first, but going on from a random cell now and then: more dead ends, shorter ways."""
        open_cells = [(0, 0)]
        while open_cells:
            at = open_cells[-1] if rng.random() < 0.75 else rng.choice(open_cells)
            free = [m for m in MOVES if self.beyond(at, m) in self.doors
                    and self.beyond(at, m) not in self.way]
            if not free:
                open_cells.remove(at)
                continue
            move = rng.choice(free)
            to = self.beyond(at, move)
            self.way[to] = self.way[at] + [(at, move)]
            # The way back is open: who walks it proves nothing.
            self.doors[at][move] = Door(rng, rng.choice(KINDS))
            self.doors[to][BACK[move]] = Door(rng, "none")
            open_cells.append(to)

    def beyond(self, cell, move):
        return cell[0] + MOVES[move][0], cell[1] + MOVES[move][1]

    def place_bugs(self, rng):
        dead_ends = [c for c in self.doors if len(self.doors[c]) == 1 and c != (0, 0)]
        rng.shuffle(dead_ends)
        bugs = {}
        for number, distance in enumerate(DISTANCES, 1):
            cell = min((c for c in dead_ends if c not in bugs.values()),
                       key=lambda c: abs(len(self.way[c]) - distance))
            bugs[number] = cell
        return bugs

    def witness(self, number):
        path = self.way[self.bugs[number]]
        return b"".join(move.encode() + self.doors[cell][move].key(step)
                        for step, (cell, move) in enumerate(path, 1))

    def number(self, cell):
        return cell[1] * self.size + cell[0]

    def function(self, cell):
        bug = [f"    CAROL_BUG({n});\n" for n, c in self.bugs.items() if c == cell]
        noise = "    noise(w);\n" if cell in self.noisy else ""
        cases = "".join(f"    case '{m}': return {d.code()} ? {self.number(self.beyond(cell, m))} : -1;\n"
                        for m, d in sorted(self.doors[cell].items()))
        return (f"static int cell_{self.number(cell)}(struct walk *w)\n{{\n" + "".join(bug) + noise +
                f"    switch (byte(w)) {{\n{cases}    default: return -1;\n    }}\n}}\n\n")

    def program(self):
        cells = sorted(self.doors, key=self.number)
        table = "".join(f"    cell_{self.number(c)},\n" for c in cells)
        return (HEAD + "".join(self.function(c) for c in cells) +
                "static int (*const cells[])(struct walk *) = {\n" + table + "};\n" + TAIL)


HEAD = """/* Made by generate.py. */
#include "oracle.h"

#include <stddef.h>
#include <stdint.h>

struct walk {
    const uint8_t *p, *end;
    unsigned steps, kept;
    uint64_t seen[16]; /* sorted */
};

static int byte(struct walk *w)
{
    return w->p < w->end ? *w->p++ : -1;
}

static int word(struct walk *w)
{
    int hi = byte(w), lo = byte(w);
    return lo < 0 ? -1 : hi << 8 | lo;
}

/* Comparisons that lead nowhere: keeps a sorted list of numbers made from the way so far. */
static void noise(struct walk *w)
{
    uint64_t v = (uint64_t)w->steps * 0x9e3779b97f4a7c15u ^ (w->p < w->end ? *w->p * 0x100000001b3u : 0);
    unsigned i = w->kept < 15 ? w->kept++ : 15;
    for (; i > 0 && w->seen[i - 1] > v; i--)
        w->seen[i] = w->seen[i - 1];
    w->seen[i] = v;
}

"""
TAIL = """
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct walk w = {.p = data, .end = data + size};
    carol_input("maze");
    for (int at = 0; at >= 0 && w.steps < 1000;) {
        w.steps++;
        at = cells[at](&w);
    }
    return 0;
}
"""


def main():
    p = argparse.ArgumentParser(description="a maze as a C program")
    p.add_argument("--size", type=int, default=SIZE)
    p.add_argument("--seed", type=int, default=SEED)
    p.add_argument("dir", type=Path)
    a = p.parse_args()
    (a.dir / "maze.c").write_text(Maze(a.size, a.seed).program())


if __name__ == "__main__":
    main()
