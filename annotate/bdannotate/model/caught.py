# SPDX-License-Identifier: GPL-2.0-or-later
"""The places at which a function went on after calls that ended with an exception, or with a long jump.

A profile does not state them. It shows how often each call did not return, and how often each handler was entered; if
both are equal and nothing else is possible, the call led to the handler. A call that is only reached through a handler
is considered when the ways to that handler are known. If no way is found, the handler is entered from nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


class Reach:
    """The steps that control can reach by the known ways: by jumps, and by going on to the next step."""

    def __init__(
        self, jumps: Iterable[tuple[int, int, int]], falls: Sequence[int], begin: Iterable[int]
    ) -> None:
        self._targets: dict[int, list[int]] = {}
        for source, target, _ in jumps:
            self._targets.setdefault(source, []).append(target)
        self._falls = falls
        self._reached: set[int] = set()
        for index in begin:
            self.add(index)

    def has(self, index: int) -> bool:
        return index in self._reached

    def add(self, index: int) -> None:
        work = [index]
        while work:
            step = work.pop()
            if step not in self._reached:
                self._reached.add(step)
                work += self._targets.get(step, ())
                if step < len(self._falls) and self._falls[step]:
                    work.append(step + 1)


def caught_ways(
    lost: dict[int, int], handlers: dict[int, tuple[int, int]], reach: Reach
) -> list[tuple[int, int, int]]:
    """The ways from calls to handlers: source, target and count of each. lost: how often each call did not return.
    handlers: how often each one was reached other than by jumps, with and without what may have come from the
    instruction before it. Both lose the entries for which ways are found."""
    found: list[tuple[int, int, int]] = []
    while lost and handlers:
        reached = {source: count for source, count in lost.items() if reach.has(source)}
        pair = _next(reached, handlers)
        if pair is None:
            break
        sources, handler = pair
        del handlers[handler]
        found += [(source, handler, lost.pop(source)) for source in sources]
        reach.add(handler)
    return found


def _next(
    lost: Mapping[int, int], handlers: Mapping[int, tuple[int, int]]
) -> tuple[list[int], int] | None:
    """The calls that lead to a handler, and that handler, if no other pairing is possible; None if there is none."""
    for handler, counts in handlers.items():
        for count in counts:
            alike = [index for index in lost if lost[index] == count and index != handler]
            rivals = [other for other, numbers in handlers.items() if count in numbers]
            if len(alike) == len(rivals) == 1:
                return alike, handler
            if len(handlers) == 1 and sum(lost.values()) == count:
                return list(lost), handler
    return None
