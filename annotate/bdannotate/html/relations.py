# SPDX-License-Identifier: GPL-2.0-or-later
"""Which columns of a table predict another one well, by the relations between events that docs/simulation.md states.
Only the size of a page depends on this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

# For each cache: its misses of code, data read and data written; and the suffixes of the events of loaded lines, for
# all lines and for lines of data.
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
    """The columns, at most two, by which to sort the rows before this column is written: rows with equal values in them
    mostly have equal or similar values in this one. Empty if there are none."""
    kind, colon, event = name.rpartition(":")
    found = tuple(_whole(kind + colon, one, known) for one in _ORDERS.get(event, ()))
    first = [one for one in found if one in known]
    return tuple(first) if found[:1] == tuple(first[:1]) else ()


def sum_for(name: str, columns: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """The columns, with weights, whose weighted sum equals this column in most rows. Empty if there are none."""
    kind, colon, event = name.rpartition(":")
    if event.startswith("UsByte"):
        lines, lost = (f"{kind}{colon}{one}{event.removeprefix('UsByte')}" for one in ("EvLine", "SpLoss"))
        size = _line_size(columns.get(lines, ()), columns.get(lost, ()), columns[name])
        return {lines: size, lost: -1} if size else {}
    found = {kind + colon + one: weight for one, weight in _SUMS.get(event, {}).items()}
    return found if all(one in columns for one in found) else {}


def _line_size(lines: Sequence[int], lost: Sequence[int], used: Sequence[int]) -> int:
    """The bytes of a cache line, from the first row with a loaded line; 0 if no row has one."""
    return next(((more + less) // count for count, more, less in zip(lines, lost, used) if count), 0)


def _whole(kind: str, event: str, known: Set[str] | Mapping[str, object]) -> str:
    """The column of costs of this kind for an event, unless only the table's own column of that name is known."""
    if kind + event in known or event not in known:
        return kind + event
    return event
