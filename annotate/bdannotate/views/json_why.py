# SPDX-License-Identifier: GPL-2.0-or-later
"""Curves and repairs as JSON, by the schema that docs/annotate-json.md describes."""

from __future__ import annotations

from ..analyses.data.object_labels import label
from ..analyses.misses.curve import Curve, Point
from ..analyses.repairs.choice import Repairs
from ..analyses.repairs.repair import Repair
from .curve import NamedCurve, sentence
from .json_values import Json, text


def named_curve_json(found: NamedCurve) -> Json:
    """A curve, and what it is about; for functions, also that of their own code."""
    return {
        "of": "data" if found.data else "functions" if found.functions else "program",
        "name": text(found.name) or None,
        "number": found.data or found.functions or None,
        "has_all_calls": found.is_inclusive,
        **_curve(found.curve),
        "own": None if found.own is None else _curve(found.own),
    }


def _curve(found: Curve) -> dict[str, Json]:
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


def repairs_json(found: Repairs) -> Json:
    """The repairs, the best first, each with its alternatives."""
    return [
        {**_repair(repair), "alternatives": [
            _repair(other) for other in found.alternatives.get(number, ())
        ]}
        for number, repair in enumerate(found.list)
    ]


def _repair(repair: Repair) -> dict[str, Json]:
    before, after, line = repair.before, repair.after, repair.line
    saves: dict[str, Json] = {
        "L1 misses": {"before": before.lines, "after": after.lines},
        "L1 bytes": {"before": line * before.lines, "after": line * after.lines},
        "LL misses": {"before": before.last_level, "after": after.last_level},
        "LL bytes": {"before": line * before.last_level, "after": line * after.last_level},
    }
    if repair.walks:
        saves["page walks"] = {"before": repair.walks[0], "after": repair.walks[1]}
    if repair.transfers:
        saves["transfers"] = {"before": repair.transfers[0], "after": repair.transfers[1]}
    return {
        "remedy": repair.remedy.value,
        "function": text(repair.function.name),
        "file": text(repair.file),
        "lines": list(repair.lines),
        "object": text(label(repair.group)) if repair.group else None,
        "saves": saves,
        "share": repair.share,
        "seconds": repair.saved.value * 1e-9,
        "least": repair.saved.least * 1e-9,
        "most": repair.saved.most * 1e-9,
        "evidence": [text(one) for one in repair.evidence],
        "code": [text(one) for one in repair.code],
        "not_known": text(repair.unknown) or None,
    }
