# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run says of itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from .errors import ControlError


@dataclass(frozen=True, slots=True)
class Frame:
    """An open call, or the function whose caller is not known."""

    function: str
    calls: int | None = None
    costs: tuple[int, ...] = ()


@dataclass(slots=True)
class Stack:
    title: str  # thread 1
    collecting: bool
    costs: tuple[int, ...] = ()  # where they are separated by thread
    frames: list[Frame] = field(default_factory=list)


@dataclass(slots=True)
class State:
    instrumentation: str = ""
    parts: int = 0
    blocks: int = 0
    events: tuple[str, ...] = ()
    totals: tuple[int, ...] = ()
    stacks: list[Stack] = field(default_factory=list)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))


def parse_frame(text: str, width: int) -> Frame:
    words = text.split(" ", width + 1)
    if len(words) == width + 2 and all(word.isdigit() for word in words[:-1]):
        calls, *costs = map(int, words[:-1])
        return Frame(words[-1], calls, tuple(costs))
    return Frame(text)


def parse_state(text: str) -> State:
    """The answer to `status` or `status stacks`."""
    state = State()
    for line in text.splitlines():
        key, _, value = line.partition(":")
        value = value.strip()
        match key:
            case "instrumentation":
                state.instrumentation = value
            case "parts":
                state.parts = int(value)
            case "blocks":
                state.blocks = int(value)
            case "events":
                state.events = tuple(value.split())
            case "totals":
                state.totals = _numbers(value)
            case "thread" | "handler":
                number, _, collecting = value.partition(" ")
                title = f"thread {number}" if key == "thread" else f"signal handler of {number}"
                state.stacks.append(Stack(title, collecting == "collecting"))
            case "costs":
                state.stacks[-1].costs = _numbers(value)
            case "frame":
                state.stacks[-1].frames.append(parse_frame(value, len(state.events)))
    if not state.events:
        raise ControlError("it does not say what it counts: is it another version of bdgrind?")
    return state
