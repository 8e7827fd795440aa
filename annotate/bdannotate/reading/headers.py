# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the `key: value` lines of a profile, a set for each part."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..model.errors import FormatProblem
from ..model.profile import StatedTotal, Part, Row

_TEXT_KEYS = frozenset({"creator", "pid", "cmd", "part", "thread", "target", "arch"})
_POSITION_KINDS = frozenset({"instr", "bb", "line"})
_HEADER = re.compile(r"([A-Za-z]+):(.*)", re.DOTALL)
_EVENT = re.compile(r"\s*([^\s=:]+)\s*(?:=\s*([^:]*?)\s*)?(?::\s*(.*?)\s*)?")

# Keys that may follow the costs without beginning another part.
CLOSING_KEYS = frozenset({"summary", "totals"})

_KNOWN_KEYS = _TEXT_KEYS | CLOSING_KEYS | {"version", "desc", "positions", "event", "events"}


@dataclass(slots=True)
class Headers:
    """The headers read so far. A part inherits those that it does not repeat."""

    texts: dict[str, str] = field(default_factory=dict)
    descriptions: list[tuple[str, str]] = field(default_factory=list)
    titles: dict[str, str] = field(default_factory=dict)
    formulas: dict[str, str] = field(default_factory=dict)
    positions: tuple[str, ...] = ("line",)
    events: tuple[str, ...] = ()
    stated_totals: list[StatedTotal] = field(default_factory=list)

    def start_part(self) -> None:
        self.descriptions = []
        self.stated_totals = []
        self.texts.pop("thread", None)

    def read(self, key: str, value: str, line: int) -> None:
        value = value.strip()
        if key in _TEXT_KEYS:
            self.texts[key] = value
        elif key == "version":
            if value != "1":
                raise FormatProblem(f"format version {value} is unknown (1 is known)")
        elif key == "desc":
            name, _, text = value.partition(":")
            self.descriptions.append((name.strip(), text.strip()))
        elif key == "positions":
            self._read_positions(value)
        elif key == "event":
            self._read_event(value)
        elif key == "events":
            self._read_events(value)
        elif key in CLOSING_KEYS:
            self._read_stated_total(key, value, line)
        else:
            raise FormatProblem(f"unknown header '{key}:'")

    def part(self, source: str, sums: Row) -> Part:
        return Part(
            source=source,
            creator=self.texts.get("creator", ""),
            pid=self.texts.get("pid", ""),
            command=self.texts.get("cmd", ""),
            part=self.texts.get("part", ""),
            thread=self.texts.get("thread", ""),
            descriptions=tuple(self.descriptions),
            sums=sums,
            stated_totals=tuple(self.stated_totals),
        )

    def _read_positions(self, value: str) -> None:
        kinds = tuple(value.split())
        for kind in kinds:
            if kind not in _POSITION_KINDS:
                raise FormatProblem(f"position '{kind}' is unknown (instr, bb and line are known)")
        if not kinds or len(set(kinds)) < len(kinds):
            raise FormatProblem("positions: needs different kinds out of instr, bb, line")
        self.positions = kinds

    def _read_event(self, value: str) -> None:
        match = _EVENT.fullmatch(value)
        if not match:
            raise FormatProblem("event: needs a name, and '= formula' or ': long name'")
        name, formula, title = match.groups()
        if not name.isprintable():
            raise FormatProblem("event: the name has characters that cannot be printed")
        if formula:
            self.formulas[name] = formula
        if title:
            self.titles[name] = title

    def _read_events(self, value: str) -> None:
        events = tuple(value.split())
        if not events:
            raise FormatProblem("events: names no events")
        if not all(event.isprintable() for event in events):
            raise FormatProblem("events: names an event with characters that cannot be printed")
        if len(set(events)) < len(events):
            raise FormatProblem("events: names an event twice")
        self.events = events

    def _read_stated_total(self, key: str, value: str, line: int) -> None:
        words = value.split()
        if not self.events:
            raise FormatProblem(f"{key}: comes before events:")
        if not all(word.isascii() and word.removeprefix("-").isdigit() for word in words):
            raise FormatProblem(f"{key}: has something that is not a count")
        if len(words) > len(self.events):
            raise FormatProblem(f"{key}: has {len(words)} counts for {len(self.events)} events")
        counts = tuple(map(int, words))
        row = counts + (0,) * (len(self.events) - len(counts))
        self.stated_totals.append(StatedTotal(key, line, row, len(counts)))


def split_header(text: str) -> tuple[str, str] | None:
    """Key and value of a header line, or None for any other line."""
    match = _HEADER.match(text)
    return (match[1], match[2]) if match else None


def is_known(key: str) -> bool:
    return key in _KNOWN_KEYS
