# SPDX-License-Identifier: GPL-2.0-or-later
"""How it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .errors import ControlError
from .state import Stack, State

# Of these, the ones that were counted stand beside calls where -e names none.
STACK_EVENTS = ("Ir", "SpLoss1", "SpLoss2")


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """All columns but the last are numbers, aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths)]
        yield "  " + "  ".join([*cells, row[-1]]).rstrip()


def shown_events(state: State, wanted: Sequence[str]) -> list[int]:
    for name in wanted:
        if name not in state.events:
            raise ControlError(f"{name} is not counted; the run counts {', '.join(state.events)}")
    return [state.events.index(name) for name in wanted]


def show_state(state: State) -> Iterator[str]:
    parts = "1 part" if state.parts == 1 else f"{state.parts} parts"
    yield f"  instrumentation {state.instrumentation}, {parts} written, {state.blocks:,} blocks run"
    for stack in state.stacks:
        yield f"  {stack.title}: {'collecting' if stack.collecting else 'not collecting'}"


def show_totals(state: State, wanted: Sequence[str]) -> Iterator[str]:
    columns = [("total", state.totals)]
    columns += [(stack.title, stack.costs) for stack in state.stacks if stack.costs]
    rows = [[*(title for title, _ in columns), "event"]]
    for index in shown_events(state, wanted or state.events):
        rows.append([*(f"{costs[index]:,}" for _, costs in columns), state.events[index]])
    yield from table(rows)


def show_stack(stack: Stack, state: State, wanted: Sequence[str]) -> Iterator[str]:
    names = wanted or [name for name in STACK_EVENTS if name in state.events]
    indices = shown_events(state, names)
    rows = [["calls", *names, f"function, in {stack.title}"]]
    for frame in stack.frames:
        if frame.calls is None:
            rows.append(["", *("" for _ in names), frame.function])
        else:
            costs = [f"{frame.costs[index]:,}" for index in indices]
            rows.append([f"{frame.calls:,}", *costs, frame.function])
    yield from table(rows)
