# SPDX-License-Identifier: GPL-2.0-or-later
"""How many lines caches of other sizes would load: from the distances at which D1 missed.

A fully associative cache that drops the line whose last touch is oldest misses a line again if as many
others as it holds, or more, were touched since. Distances are known of what D1 has missed, so sizes
begin with D1's. Of what a set-associative D1 has missed too early, larger sizes are free.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...model.why import Why, bucket_start

LARGEST = 1 << 30
# A size from which on a part of the misses as large as this goes within a step is a knee.
_STEP = 0.1
# Knees with less of all that can go are not worth a sentence.
_KNEE = 0.2
# What is within this of the least fits.
_FITS = 1.05
# Fewer misses than this share above the first touches are nothing that a larger cache would save.
_FLAT = 0.05


@dataclass(frozen=True, slots=True)
class Point:
    size: int  # of the cache, in bytes
    misses: int
    loaded: int  # bytes


@dataclass(frozen=True, slots=True)
class Knee:
    """Between two sizes, so many misses go."""

    before: Point
    after: Point


@dataclass(frozen=True, slots=True)
class Curve:
    """points are those of D1's size and of powers of two above it; steps are all that are known, in
    quarter powers of two. fits is the size from which on hardly a line is loaded more often than in
    the largest cache; None if hardly any is in D1."""

    points: tuple[Point, ...]
    steps: tuple[Point, ...]
    first_touches: int
    knees: tuple[Knee, ...]
    fits: Point | None


# Misses by the bucket of their distance.
Histogram = Mapping[int, int]


def curve_of(found: Histogram, why: Why) -> Curve:
    """Of these misses, of D1 as that file describes it."""
    everything = sum(found.values())
    steps = [Point(why.d1_lines * why.line, everything, everything * why.line)]
    for bucket, lines in _bounds(why.d1_lines, LARGEST // why.line):
        left = found.get(0, 0) + sum(
            misses for number, misses in found.items() if number >= bucket
        )
        steps.append(Point(lines * why.line, left, left * why.line))
    points = tuple(
        point for point in steps if point is steps[0] or point.size & (point.size - 1) == 0
    )
    knees = tuple(_knees(steps))
    least = steps[-1].misses
    fits = None
    if everything > least * (1 + _FLAT):
        fits = next(point for point in steps if point.misses <= least * _FITS)
    return Curve(points, tuple(steps), found.get(0, 0), knees, fits)


def _bounds(least: int, most: int) -> Iterator[tuple[int, int]]:
    """Buckets, and the lines of a cache that misses what is in them and above, and nothing else."""
    bucket = 1
    while (lines := bucket_start(bucket)) <= most:
        # Up to 2^(3/4) lines, buckets begin with the same distance.
        if lines > least and lines >= 2:
            yield bucket, lines
        bucket += 1


def _knees(steps: Sequence[Point]) -> Iterator[Knee]:
    """Sizes at which many misses go, put together where they follow each other."""
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
