# SPDX-License-Identifier: GPL-2.0-or-later
"""What the files of a run say about each instruction that loads lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from functools import cached_property
from operator import itemgetter

from ...model.code import costs_at
from ...model.machine import Machine
from ...model.profile import Function, Profile, Row
from ...model.rows import Rows
from ...model.why import Depends, Instruction, Order, Reuse, Why, by_place
from .miss_costs import MISPREDICTED, MissCosts, Rounds, missed_by_place

# The events that sites are made of. Other costs of their instructions would take most of the memory.
_EVENTS = (
    "Ir", "Dr", "Dw", "EvLineD1", "UsByteD1", "DLconf", "Bcm", "Bim", "DT2mr", "DT2mw", "DH2mr", "DH2mw",
)
# Those of them that the use of an instruction's data is told by.
_OF_DATA = ("Dr", "Dw", "EvLineD1", "UsByteD1", "DLconf")
_NO_DATA = (0,) * len(_OF_DATA)


class SiteRows:
    """The rows of the files by instruction. Instructions are known by their numbers in `why.places`."""

    def __init__(self, why: Why, profile: Profile, machine: Machine) -> None:
        """machine: the machine that times are estimated for."""
        self.why = why
        caches = why.d1_lines * why.line, why.ll_lines * why.line
        self.costs = MissCosts(machine, *caches)
        self.least_costs, self.most_costs = (
            MissCosts(machine, *caches, rounds) for rounds in (Rounds.LEAST, Rounds.MEDIAN)
        )
        self._profile = profile
        known = [event for event in _EVENTS if event in profile.events]
        self._events = {event: number for number, event in enumerate(known)}
        self._columns = [profile.events.index(event) for event in known]
        # Behind the costs of an instruction, a 0 stands for events that the profile does not have.
        self._of_data: Callable[[Row], Row] = itemgetter(*(self._events.get(event, -1) for event in _OF_DATA))
        self.reuses: dict[int, list[Reuse]] = {}
        for row in why.reuses or ():
            self.reuses.setdefault(row.place, []).append(row)
        self._orders = why.orders or Rows.of(Order, ())
        self._orders_of: dict[int, list[int]] = {}  # the numbers of their rows
        for at, number in enumerate(self._orders.columns[0]):
            self._orders_of.setdefault(number, []).append(at)
        self.stays: dict[int, list[int]] = {}
        for stay in why.stays or ():
            sums = self.stays.setdefault(stay.place, [0, 0, 0, 0])
            for index, count in enumerate(stay[2:]):
                sums[index] += count
        self.distances = by_place(why.distances)
        self.missed = missed_by_place(why.distances)
        # The instructions that load lines or are in a chain that others may wait for.
        self.loading = self.distances.keys() | self._in_chains()
        self._costs = self._costs_of(self.loading)

    @property
    def in_order(self) -> Set[int]:
        """The instructions whose order of addresses is known."""
        return self._orders_of.keys()

    def _in_chains(self) -> set[int]:
        places, depends = (self._orders.columns[Order._fields.index(name)] for name in ("place", "depends"))
        return {place for place, one in zip(places, depends) if one is Depends.CHAIN}

    def orders(self, number: int) -> list[Order]:
        """The rows about the order of an instruction's addresses."""
        return [self._orders[at] for at in self._orders_of.get(number, ())]

    @cached_property
    def instructions(self) -> Mapping[Function, int]:
        """How many instructions each function executed itself."""
        return self._of_functions("Ir")

    @cached_property
    def mispredictions(self) -> Mapping[Function, float]:
        """The mispredicted branches of each function itself, as `mispredicted` counts them."""
        return {function: MISPREDICTED * count for function, count in self._of_functions("Bcm", "Bim").items()}

    def mispredicted(self, cost: Row) -> float:
        """How many branches a current processor would mispredict; 0 if the run did not simulate branch prediction."""
        return MISPREDICTED * (self.count(cost, "Bcm") + self.count(cost, "Bim"))

    def _of_functions(self, *events: str) -> dict[Function, int]:
        """The sum of these events of each function itself; none if the profile has none of them."""
        columns = [self._columns[self._events[event]] for event in events if event in self._events]
        found: dict[Function, int] = {}
        for place, rows in self._profile.lines.items() if columns else ():
            own = sum([row[column] for row in rows.values() for column in columns])
            found[place.function] = found.get(place.function, 0) + own
        return found

    def costs_at(self, wanted: Mapping[str, Set[int]]) -> dict[str, dict[int, Row]]:
        """The costs of the wanted addresses, both by object file; for `count`."""
        return costs_at(self._profile.instructions, wanted, self._columns)

    def cost(self, number: int, place: Instruction) -> Row:
        """The costs of an instruction, for `count`; empty if the profile does not have them."""
        function, _, _, address = place
        costs = self._costs if number in self.loading else self._other_costs
        return costs.get(function.object, {}).get(address, ())

    @cached_property
    def _other_costs(self) -> dict[str, dict[int, Row]]:
        """Those of instructions that load nothing. They are many, and rarely needed."""
        return self._costs_of(self.in_order - self.loading)

    def _costs_of(self, numbers: Iterable[int]) -> dict[str, dict[int, Row]]:
        wanted: dict[str, set[int]] = {}
        for number in numbers:
            place = self.why.places[number]
            if place is not None:
                wanted.setdefault(place.function.object, set()).add(place.address)
        return self.costs_at(wanted)

    def of_data(self, cost: Row) -> Row:
        """The counts of data in such costs (_OF_DATA); 0 if these are empty, and of events that the profile does not
        have."""
        return self._of_data((*cost, 0)) if cost else _NO_DATA

    def has(self, event: str) -> bool:
        """Whether the profile has an event."""
        return event in self._events

    def count(self, cost: Row, event: str) -> int:
        """The count of an event in such costs; 0 if these are empty or the profile does not have the event."""
        number = self._events.get(event)
        return cost[number] if cost and number is not None else 0
