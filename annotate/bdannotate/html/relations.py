# SPDX-License-Identifier: GPL-2.0-or-later
"""Which columns of a table tell much of another one: what docs/simulation.md says of events, by their names. Nothing
depends on it but how many bytes a page takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

# Misses of each cache, of code and of data, and the endings of the events of the lines that they bring: of both, and
# of data alone.
_CACHES = (
    ("I1mr", "D1mr", "D1mw", "1", "D1"), ("I2mr", "D2mr", "D2mw", "L2", "D2"), ("ILmr", "DLmr", "DLmw", "2", "DL"),
)


def _orders() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {
        "Dr": ("Ir", "frame"), "Dw": ("Ir", "frame"),
        "TEst": ("Ir",), "TLeast": ("Ir",), "TMost": ("Ir",),
    }
    for *_, both, data in _CACHES:
        for kind in (both, data):
            found |= {
                f"SpLoss{kind}": (f"EvLine{kind}",), f"Access{kind}": (f"EvLine{kind}",),
                f"AcCost{kind}": (f"EvLine{kind}", f"Access{kind}"),
            }
    return found


def _sums() -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for code, read, written, both, data in _CACHES:
        found[f"EvLine{both}"] = {code: 1, read: 1, written: 1}
        found[f"EvLine{data}"] = {read: 1, written: 1}
    return found


_ORDERS, _SUMS = _orders(), _sums()


def order_for(name: str, known: Set[str] | Mapping[str, object]) -> tuple[str, ...]:
    """The columns, two at most, by which the rows of this one are put in an order, the first one first: where they have
    the same there, they have much the same here. Empty if there are none."""
    kind, colon, event = name.rpartition(":")
    found = tuple(_whole(kind + colon, one, known) for one in _ORDERS.get(event, ()))
    first = [one for one in found if one in known]
    return tuple(first) if found[:1] == tuple(first[:1]) else ()


def sum_for(name: str, columns: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """The columns that this one is the sum of, but for few rows, each times a weight. Empty if there are none."""
    kind, colon, event = name.rpartition(":")
    if event.startswith("UsByte"):
        lines, lost = (f"{kind}{colon}{one}{event.removeprefix('UsByte')}" for one in ("EvLine", "SpLoss"))
        size = _line_size(columns.get(lines, ()), columns.get(lost, ()), columns[name])
        return {lines: size, lost: -1} if size else {}
    found = {kind + colon + one: weight for one, weight in _SUMS.get(event, {}).items()}
    return found if all(one in columns for one in found) else {}


def _line_size(lines: Sequence[int], lost: Sequence[int], used: Sequence[int]) -> int:
    """Bytes of a line, by the first row that has one; 0 if there is none."""
    return next(((more + less) // count for count, more, less in zip(lines, lost, used) if count), 0)


def _whole(kind: str, event: str, known: Set[str] | Mapping[str, object]) -> str:
    """Costs of the same kind; else a column of the table's own."""
    if kind + event in known or event not in known:
        return kind + event
    return event
