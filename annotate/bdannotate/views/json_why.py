# SPDX-License-Identifier: GPL-2.0-or-later
"""Curves and repairs as JSON, by the schema that docs/annotate-json.md describes."""

from __future__ import annotations

from ..analyses.curve import Curve, Point
from .curve import sentence
from .json_values import Json


def curve_json(found: Curve) -> Json:
    return {
        "points": [_point(point) for point in found.points],
        "first_touches": found.first_touches,
        "knees": [
            {"before": _point(knee.before), "after": _point(knee.after)} for knee in found.knees
        ],
        "fits": _point(found.fits) if found.fits else None,
        "says": sentence(found) if found.points[0].misses else None,
    }


def _point(point: Point) -> Json:
    return {"size": point.size, "misses": point.misses, "loaded": point.loaded}
