# SPDX-License-Identifier: GPL-2.0-or-later
"""What machines of tests run: programs with a known fault, and the same repaired. main is function 1, work,
with the loops, function 2."""

import random
from contextlib import contextmanager

A, B, C = 0x100000, 0x200000, 0x300000


@contextmanager
def work(machine):
    with machine.call(2, 9):
        yield


def steps(machine, number):
    return machine.loop(range(number), 8)


def product(machine, repaired, size=40):
    def row(matrix, i, j):
        return matrix + (i * (size + 4) + j) * 8

    with work(machine):
        for i in machine.loop(range(size), 31):
            if repaired:
                for k in machine.loop(range(size), 32):
                    machine.read(34, row(A, i, k))
                    for j in machine.loop(range(size), 33):
                        machine.read(35, row(B, k, j))
                        machine.write(36, row(C, i, j))
            else:
                for j in machine.loop(range(size), 32):
                    for k in machine.loop(range(size), 33):
                        machine.read(34, row(A, i, k))
                        machine.read(35, row(B, k, j))
                    machine.write(36, row(C, i, j))


def transpose(machine, repaired, size=40):
    def step(i, j):
        machine.read(35, A + (i * size + j) * 8)
        machine.write(36, B + (j * size + i) * 8)

    with work(machine):
        if not repaired:
            for i in machine.loop(range(size), 31):
                for j in machine.loop(range(size), 32):
                    step(i, j)
            return
        for row in machine.loop(range(0, size, 8), 31):
            for column in machine.loop(range(0, size, 8), 32):
                for i in machine.loop(range(row, row + 8), 33):
                    for j in machine.loop(range(column, column + 8), 34):
                        step(i, j)


def passes(machine, repaired, size=1600):
    def first(i):
        machine.read(33, A + i * 8)
        machine.write(34, A + i * 8)

    def second(i):
        machine.read(35, A + i * 8)
        machine.read(36, B + i * 8)

    def third(i):
        machine.read(37, A + i * 8)

    for _ in steps(machine, 3):
        with work(machine):
            if repaired:
                for i in machine.loop(range(size), 30):
                    first(i)
                    second(i)
                    third(i)
            else:
                for line, part in ((30, first), (31, second), (32, third)):
                    for i in machine.loop(range(size), line):
                        part(i)


def fat(machine, repaired, size=400):
    for _ in steps(machine, 4):
        with work(machine):
            for i in machine.loop(range(size), 31):
                machine.read(32, A + (i * 16 if repaired else i * 128))
                machine.read(33, A + (i * 16 + 8 if repaired else i * 128 + 120))


def columns(machine, repaired, size=128):
    for _ in steps(machine, 4):
        with work(machine):
            for i in machine.loop(range(size), 31):
                for column in range(6):
                    machine.read(32 + column, A + i * 8 + column * (size * 16 + 64 * repaired))


def rows(machine, repaired):
    """A column whose rows are a power of two apart, some bytes further each time: conflicts by stride."""
    for _ in steps(machine, 2):
        with work(machine):
            for j in machine.loop(range(32), 31):
                for i in machine.loop(range(20), 32):
                    machine.read(33, A + i * (1024 + 64 * repaired) + j * 8)


def window(machine, repaired, columns=40, rows=60):
    """Down columns, where each result needs three neighbours, and a value that is always the same."""
    def result(x, y):
        machine.read(33, C)
        for i in machine.loop(range(3), 34):
            machine.read(35, A + y * 960 + (x + i) * 16, size=16)
        machine.write(36, B + y * 320 + x * 8)

    with work(machine):
        if repaired:
            for y in machine.loop(range(rows), 32):
                for x in machine.loop(range(columns), 31):
                    result(x, y)
        else:
            for x in machine.loop(range(columns), 31):
                for y in machine.loop(range(rows), 32):
                    result(x, y)


def table(machine, repaired):
    chance = random.Random(1)
    keys = [chance.randrange(20000) for _ in range(2000)]
    with work(machine):
        for i in machine.loop(range(len(keys) - 8), 31):
            if repaired:
                machine.read(33, A + keys[i + 8] * 8)
            machine.read(32, A + keys[i] * 8)
            machine.compute(32, 300)


def chain(machine, repaired, size=500):
    order = list(range(size))
    if not repaired:
        random.Random(1).shuffle(order)
    for _ in steps(machine, 4):
        with work(machine):
            for i in machine.loop(order, 31):
                where = A + (i * 16 if repaired else i * 64)
                machine.read(32, where, depends=3, on=32)
                machine.read(33, where + 8, depends=4, on=32)


def places(machine, _repaired, size=500):
    """A chain through the numbers of a table, as of equal hashes: two bytes say which place comes next."""
    order = list(range(size))
    random.Random(1).shuffle(order)
    for _ in steps(machine, 4):
        with work(machine):
            for i in machine.loop(order, 31):
                machine.read(32, A + i * 64, size=2, depends=3, on=32)


def neighbours(machine, _repaired, size=700):
    """A list whose elements were made one after the other, of several sizes."""
    sizes = [112, 144, 208]
    with_gaps = [A + sum(sizes[at % 3] for at in range(i)) for i in range(size)]
    for _ in steps(machine, 4):
        with work(machine):
            for where in machine.loop(with_gaps, 31):
                machine.read(32, where, depends=3, on=32)


def pooled(machine, repaired, size=600):
    """A list through elements of a pool, some of which are others': steps are multiples of an element."""
    chance = random.Random(1)
    mine = [i for i in range(size) if chance.random() < 0.5]
    for _ in steps(machine, 4):
        with work(machine):
            for i in machine.loop(mine, 31):
                where = A + i * (16 if repaired else 192)
                machine.read(32, where, depends=3, on=32)
                machine.read(33, where + (8 if repaired else 120), depends=4, on=32)


def tree(machine, _repaired, depth=13, searches=1500, line=32):
    """Searches in a tree whose nodes lie anywhere."""
    places = list(range(2**depth))
    chance = random.Random(1)
    chance.shuffle(places)
    for _ in steps(machine, searches):
        with work(machine):
            node = 1
            for _ in machine.loop(range(depth), line - 1):
                machine.read(line, A + places[node] * 64, depends=3, on=line)
                node = min(2 * node + chance.randrange(2), 2**depth - 1)


def split_and_tree(machine, _repaired):
    """Little that can be saved, and much that cannot."""
    chain(machine, False, size=200)
    tree(machine, False, searches=600, line=52)


def stream_and_chain(machine, _repaired):
    order = list(range(500))
    random.Random(1).shuffle(order)
    for _ in steps(machine, 4):
        with work(machine):
            for i in machine.loop(order, 31):
                machine.read(32, A + i * 64, depends=3, on=32)
            for i in machine.loop(range(8000), 30):
                machine.read(33, B + i * 8)


def first_of_each(machine, _repaired, size=500):
    order = list(range(size))
    random.Random(1).shuffle(order)
    for i in steps(machine, 4 * size):
        with work(machine):
            for _ in machine.loop(range(1), 31):
                machine.read(32, A + order[i % size] * 64, depends=3, on=32)


def called_columns(machine, _repaired):
    """The column of a matrix, some times over; which one it is, the caller says."""
    for j in steps(machine, 8):
        with work(machine):
            for _ in machine.loop(range(8), 31):
                for i in machine.loop(range(20), 32):
                    machine.read(33, A + i * 1024 + j * 8)


def rounds(machine, repaired, parts=4, size=640):
    """Passes over data that LL has nearly room for."""
    part = 4 * size // (parts if repaired else 1)
    with work(machine):
        for first in machine.loop(range(0, 4 * size, part), 30):
            for _ in machine.loop(range(8), 31):
                for i in machine.loop(range(first, first + part), 32):
                    machine.read(33, A + i * 32, size=32)


def lookups(machine, _repaired, size=1280):
    """Anywhere in a table that LL has nearly room for."""
    chance = random.Random(1)
    with work(machine):
        for _ in machine.loop(range(8 * size), 31):
            machine.read(32, A + chance.randrange(size) * 64)


def pages(machine, _repaired, size=4000):
    for _ in steps(machine, 4):
        with work(machine):
            for i in machine.loop(range(size), 31):
                machine.read(32, A + i * 4160)


def stream(machine, _repaired, size=1600):
    for _ in steps(machine, 4):
        with work(machine):
            for i in machine.loop(range(size), 31):
                machine.read(32, A + i * 8)
                machine.write(33, B + i * 8)


def small(machine, _repaired):
    for _ in steps(machine, 100):
        with work(machine):
            for i in machine.loop(range(200), 31):
                machine.read(32, A + i * 8)
