# SPDX-License-Identifier: GPL-2.0-or-later
"""How many lines caches of other sizes would load, from the distances at which D1 missed.

A fully associative cache with LRU replacement misses a line again if at least as many other lines as it holds were
touched since. Distances are known for what D1 missed, so sizes begin with D1's. What only a set-associative D1 misses,
at shorter distances, larger sizes do not miss. A run may also know the distances of hits from some size on; then sizes
begin there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...model.why import Why, bucket_start

LARGEST = 1 << 30
# A step between two sizes is part of a knee if at least this share of the misses that can go goes there.
_STEP = 0.1
# The minimum share of the misses that can go for a knee to be reported.
_KNEE = 0.2
# Data fits a size if its misses are at most this many times those of the largest cache.
_FITS = 1.05
# A curve is flat if a larger cache would save less than this share of the misses of the largest one.
_FLAT = 0.05


@dataclass(frozen=True, slots=True)
class Point:
    size: int  # of the cache, in bytes
    misses: int
    loaded: int  # bytes of the misses' lines


@dataclass(frozen=True, slots=True)
class Knee:
    """Two sizes between which many misses go."""

    before: Point
    after: Point


@dataclass(frozen=True, slots=True)
class Curve:
    """The misses by the size of the cache. points: those of D1's size and of powers of two above it and, if hits are
    known, below it. d1: that of D1's size. steps: all that are known, in quarter powers of two. fits: the smallest size
    that has hardly more misses than the largest cache; None if the smallest one has hardly more."""

    points: tuple[Point, ...]
    d1: Point
    steps: tuple[Point, ...]
    first_touches: int
    knees: tuple[Knee, ...]
    fits: Point | None


# The number of misses by the bucket of their distance.
Histogram = Mapping[int, int]


def curve_of(found: Histogram, why: Why, hits: Histogram | None = None) -> Curve:
    """The curve of misses that D1 had. why: the file that describes D1. hits: those of D1, for sizes below it."""
    everything = sum(found.values())
    first_touches = found.get(0, 0)

    def point(lines: int, misses: int) -> Point:
        return Point(lines * why.line, misses, misses * why.line)

    def beyond(bucket: int, one: Histogram) -> int:
        return sum(misses for number, misses in one.items() if number >= bucket)

    steps = []
    if hits is not None:
        for bucket, lines in _bounds(why.least_distance - 1, why.d1_lines - 1):
            steps.append(point(lines, first_touches + beyond(bucket, found) + beyond(bucket, hits)))
    d1 = point(why.d1_lines, everything)
    steps.append(d1)
    for bucket, lines in _bounds(why.d1_lines, LARGEST // why.line):
        steps.append(point(lines, first_touches + beyond(bucket, found)))
    points = tuple(one for one in steps if one is d1 or one.size & (one.size - 1) == 0)
    knees = tuple(_knees(steps))
    least = steps[-1].misses
    fits = None
    if steps[0].misses > least * (1 + _FLAT):
        fits = next(one for one in steps if one.misses <= least * _FITS)
    return Curve(points, d1, tuple(steps), first_touches, knees, fits)


def _bounds(least: int, most: int) -> Iterator[tuple[int, int]]:
    """The buckets, and for each the size in lines, more than `least` and at most `most`, of a cache that misses exactly
    what is in this bucket and in those above."""
    bucket = 1
    while (lines := bucket_start(bucket)) <= most:
        # The lowest buckets are narrower than a line, so that several begin with the same distance.
        if lines > least and lines >= 2:
            yield bucket, lines
        bucket += 1


def _knees(steps: Sequence[Point]) -> Iterator[Knee]:
    """The knees of a curve: adjacent steps with many misses are combined into one."""
    can_go = steps[0].misses - steps[-1].misses
    if can_go <= _FLAT * steps[-1].misses:
        return
    start: Point | None = None
    for one, other in zip(steps, (*steps[1:], steps[-1])):
        if one.misses - other.misses >= _STEP * can_go:
            start = start or one
        elif start is not None:
            if start.misses - one.misses >= _KNEE * can_go:
                yield Knee(start, one)
            start = None
