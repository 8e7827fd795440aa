# SPDX-License-Identifier: GPL-2.0-or-later
"""All sites of a run, grouped by the loops that they are in: how long each group waits for lines depends on what else
the loop does, and so does what changes would save."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ...model.frames import Chains
from ...model.profile import Function, Row
from ...model.rows import Rows, maker
from ...model.why import Distance, Instruction, Order, Reuse
from ...model.work import Estimate
from ..code.inlined_lines import Chooser
from ..code.ownership import Folders, is_foreign
from .loop_nests import LoopPlace, Loops
from .miss_costs import NOTHING_MISSED, Loads
from .overlap import LoopTime
from .site import Change, Level, Site, Walks, constant_step, step_of_some, steps_seen
from .site_rows import SiteRows

_estimate = maker(Estimate)
_NO_DISTANCES = Rows.of(Distance, ())
# A loop that goes through data with small steps brings new lines in at least this many of its iterations.
_ROUNDS = 3
# An inner loop has at least this share of the accesses that seem to be in the outer loop itself.
_SOME = 0.2
# An outer loop sees the first access of each run of the inner one. If it saw more than this many times the runs that
# there can be, the runs of the inner loop were cut into pieces, and most steps are the inner loop's.
_CUT = 4
# Steps of an outer loop may be multiples of the inner step plus a remainder, as a branch may skip other iterations of
# the inner loop in each of its runs. The remainder is the outer step if it is at most 1 / _PART of the inner one.
_PART = 8
_MOST_STEPS = 0.6  # the minimum share of an outer loop's steps that must be known


@dataclass(frozen=True, slots=True)
class Known:
    """Sites of the same run that exist already, so that some of them need not be made again."""

    sites: Sites
    by_number: Mapping[int, Site]


class Sites:
    """The sites of a file, with the loops that they are in.

    loading: those that load lines or are in a chain that others may wait for; what is waited for most comes first.
    """

    def __init__(
        self, rows: SiteRows, loops: Loops, chains: Chains, folders: Folders = Folders(),
        known: Known | None = None, work: Mapping[tuple[Function, int], Estimate] = {},
    ) -> None:
        """known: sites to take over, as `loops` and `chains` say nothing new about them. work: the total nanoseconds of
        instructions, by function and address, where they are known from the code of a loop."""
        self.why = rows.why
        self.loops = loops
        self.work = work
        self.costs = rows.costs
        self._least, self._most = rows.least_costs, rows.most_costs
        self._executed: dict[LoopPlace, int] = {}
        self._rows = rows
        self._has_walks = rows.has("DT2mr")
        self._chains = chains
        self._is_library = folders.is_library
        self._chooser = Chooser(chains, folders.is_library, ())
        self._costs: dict[str, dict[int, Row]] | None = None  # of the loops
        self._known = known.by_number if known else {}
        self._made = self._sites(sorted(rows.loading))
        self._members: dict[LoopPlace | Function, list[Site]] = {}
        for site in self._made.values():
            self._members.setdefault(self._group_of(site), []).append(site)
        # The nanoseconds of work that hides lines of loops, by the function that these are in.
        self._hidden: dict[Function, list[tuple[LoopPlace, float]]] = {}
        self._times: dict[LoopPlace | Function, LoopTime] = {}
        self._set_times()
        self._set_waits(known.sites if known else None)
        self.loading = _sorted(self._made.values())

    @cached_property
    def all(self) -> Sequence[Site]:
        """All sites, also those that load nothing, in the same order. There are many of these, and few reports need
        them."""
        self._made.update(self._sites(self._rows.in_order - self._made.keys()))
        return _sorted(self._made.values())

    def at(self, number: int) -> Site | None:
        """The site of an instruction, by its number in `why.places`; None if nothing is known of it."""
        if number not in self._made and number in self._rows.in_order:
            self._made.update(self._sites([number]))
        return self._made.get(number)

    def _sites(self, numbers: Iterable[int]) -> dict[int, Site]:
        found: dict[int, Site] = {}
        for number in numbers:
            place = self.why.places[number]
            if place is not None:
                found[number] = self._known.get(number) or self._site(number, place)
        return found

    def instructions_of(self, loop: LoopPlace) -> int:
        """How many instructions a loop executed itself, without what it calls; 0 if not known."""
        return sum(self._rows.count(cost, "Ir") for cost in self._costs_of(loop))

    def _costs_of(self, loop: LoopPlace) -> list[Row]:
        """The costs of each instruction of a loop; empty ones if the profile does not have them."""
        if self._costs is None:
            self._costs = self._rows.costs_at(self.loops.all_addresses())
        known = self._costs.get(loop.function.object, {})
        return [known.get(address, ()) for address in self.loops.addresses(loop)]

    def _set_times(self) -> None:
        """Set the work of each group of sites. Work that hides lines of an inner loop does not count in the loops
        around, as it cannot hide more lines there."""
        for where in sorted(self._members, key=lambda one: -one.depth if isinstance(one, LoopPlace) else 0):
            time = self._time(where)
            if isinstance(where, LoopPlace):
                loads = {site.number: site.loads for site in self._members[where]}
                overlap = time.overlap(loads, self.costs.window)
                alone, waiting = (time.waiting(loads, self.costs, is_hidden, overlap) for is_hidden in (False, True))
                hidden = sum(alone.values()) - sum(waiting.values())
                self._hidden.setdefault(where.function, []).append((where, hidden))

    def _time(self, where: LoopPlace | Function) -> LoopTime:
        """The work of a group of sites, once that of the loops within it is known."""
        time = self._times.get(where)
        if time is None:
            loop, function = (where, where.function) if isinstance(where, LoopPlace) else (None, where)
            inner = self._hidden.get(function, ())
            within = sum((much for other, much in inner if loop is None or other.is_within(loop)), 0.0)
            work = self._work(where)
            time = self._times[where] = replace(work, work=max(work.work - within, 0.0)) if within else work
        return time

    def _group_of(self, site: Site) -> LoopPlace | Function:
        """The loop that decides which lines are loaded, if its executed instructions are known; else the function."""
        loop = site.deciding_loop
        return loop if loop is not None and self._instructions_of(loop) else site.place.function

    def _set_waits(self, known: Sites | None) -> None:
        """Set the waits of all sites. known: other sites; groups that they have, too, have their waits already."""
        for where, here in self._members.items():
            if known is not None and known.has_group(where, here, self._times[where]):
                continue
            waiting = [site for site in here if site.loads.matter]
            value, least, most = self._estimates(self._times[where], {site.number: site.loads for site in waiting})
            for site in waiting:
                site.waits = _estimate((value[site.number], least[site.number], most[site.number]))

    def has_group(self, where: LoopPlace | Function, members: Sequence[Site], time: LoopTime) -> bool:
        """Whether the group `where` has exactly these members and this time here."""
        mine = self._members.get(where, [])
        return (
            self._times.get(where) == time and len(mine) == len(members)
            and all(one is other for one, other in zip(mine, members))
        )

    def _estimates(
        self, time: LoopTime, loads: Mapping[int, Loads]
    ) -> tuple[Mapping[int, float], Mapping[int, float], Mapping[int, float]]:
        """The nanoseconds of waiting by the keys of `loads`: the estimate, its lower and its upper bound."""
        overlap = time.overlap(loads, self.costs.window)  # all three are of the same machine
        value, least = (time.waiting(loads, costs, overlap=overlap) for costs in (self.costs, self._least))
        most = time.waiting(loads, self._most, is_hidden=False, overlap=overlap)
        return (
            value, {key: min(least[key], one) for key, one in value.items()},
            {key: max(most[key], one) for key, one in value.items()},
        )

    def saved(
        self, changes: Mapping[int, Change], freed: float = 0.0, loops: Collection[LoopPlace] = ()
    ) -> Estimate:
        """The nanoseconds that changes save in all. changes: by the number of the site. freed: nanoseconds that the
        instructions of `loops` no longer take; several loops become one. What is freed no longer hides lines, so that
        some of it becomes waiting."""
        groups = list(dict.fromkeys(self._group_of(site) for number in changes if (site := self.at(number))))
        together = [where for where in groups if where in loops]
        parts = [self._saved_in([where], changes, 0.0) for where in groups if where not in together]
        parts.append(self._saved_in(together, changes, freed) if together else (freed, freed, freed))
        total, least, most = (sum(part) for part in zip(*parts))
        total = max(total, 0.0)  # fewer lines take no longer
        return Estimate(total, max(min(least, total), 0.0), max(most, total))

    def _saved_in(
        self, groups: Sequence[LoopPlace | Function], changes: Mapping[int, Change], freed: float
    ) -> tuple[float, ...]:
        """The nanoseconds saved if the groups become one: the estimate, its lower and its upper bound."""
        members = {site.number: site for where in groups for site in self._members.get(where, ())}
        for number in changes.keys() - members.keys():
            site = self.at(number)
            if site is not None and self._group_of(site) in groups:
                members[number] = site
        times = [self._time(where) for where in groups]
        now = [
            self._estimates(time, {site.number: site.loads for site in self._members.get(where, ())})
            for where, time in zip(groups, times)
        ]
        one = LoopTime(
            max(sum(time.work for time in times) - freed, 0.0),
            sum(time.instructions for time in times), sum(time.mispredicted for time in times),
        )
        then = self._estimates(one, {
            number: site.changed(changes[number]) if number in changes else site.loads
            for number, site in sorted(members.items())
        })
        return tuple(
            sum(sum(waits.values()) for waits in before) - sum(after.values()) + freed
            for before, after in zip(zip(*now), then)
        )

    def saved_by_order(self, loop: LoopPlace) -> float:
        """The nanoseconds of instructions that are saved if no iteration of a loop waits for earlier ones."""
        value, least = self._work_of(loop)
        return value - least

    def saved_by_fusing(self, loops: Sequence[LoopPlace]) -> float:
        """The nanoseconds of instructions that are saved if loops become one: while an iteration of one of them waits
        for results of earlier ones, the others are executed. 0 if the work of a loop is not known."""
        works = [self._work_of(loop) for loop in loops]
        if not all(value for value, _ in works):
            return 0.0
        together = max(max(value for value, _ in works), sum(least for _, least in works))
        return sum(value for value, _ in works) - together

    def _work_of(self, loop: LoopPlace) -> tuple[float, float]:
        """The nanoseconds of a loop's instructions, as it is, and if no iteration waited for another one. 0 for
        instructions whose work is not known."""
        known = [self.work.get((loop.function, address)) for address in self.loops.addresses(loop)]
        found = [work for work in known if work is not None]
        return sum(work.value for work in found), sum(work.least for work in found)

    def _instructions_of(self, loop: LoopPlace) -> int:
        if loop not in self._executed:
            self._executed[loop] = self.instructions_of(loop)
        return self._executed[loop]

    def _work(self, where: LoopPlace | Function) -> LoopTime:
        """The instructions and the mispredicted branches of a loop, or of a function."""
        each = self.costs.instruction
        if isinstance(where, Function):
            instructions = self._rows.instructions.get(where, 0)
            return LoopTime(instructions * each, instructions, self._rows.mispredictions.get(where, 0.0))
        work = 0.0
        for address, cost in zip(self.loops.addresses(where), self._costs_of(where)):
            known = self.work.get((where.function, address))
            work += self._rows.count(cost, "Ir") * each if known is None else known.value
        return LoopTime(work, self._instructions_of(where), sum(map(self._rows.mispredicted, self._costs_of(where))))

    def _site(self, number: int, place: Instruction) -> Site:
        distances = self._rows.distances.get(number, _NO_DISTANCES)
        reuses = self._rows.reuses.get(number, ())
        orders = self._rows.orders(number)
        stays = self._rows.stays.get(number)
        cost = self._rows.cost(number, place)
        reads, writes, evicted, used_bytes, conflicts = self._rows.of_data(cost)
        misses = self._rows.missed.get(number, NOTHING_MISSED)
        used = used_bytes / evicted if evicted else 0.0
        late = never = None
        if stays and stays[0]:
            late, never = stays[2] / stays[0], stays[3] / stays[0]
            used = used or self.why.line - stays[1] / stays[0]
        accesses = reads + writes if cost else self._estimated_accesses(orders)
        levels = self._levels(orders, accesses)
        if late is not None and never is not None and never < late and 2 * used <= self.why.line:
            levels = self._with_small_steps(number, misses.lines, round(used), levels, reuses)
        return Site(
            number, place, self._where(place), accesses, misses.lines,
            misses.far, conflicts, self.why.line, distances, reuses, levels, used, late, never, self.costs,
            reads > 0, writes > 0, self._in_loop(place, levels[0].loop if levels else None), self._page_walks(cost),
            misses,
        )

    def _page_walks(self, cost: Row) -> Walks | None:
        """The simulated page walks for the data of an instruction; None if its costs do not have them."""
        if not self._has_walks or not cost:
            return None
        base, huge = (
            sum(self._rows.count(cost, f"D{size}2m{kind}") for kind in ("r", "w")) for size in ("T", "H")
        )
        return Walks(base, huge)

    def _estimated_accesses(self, orders: Sequence[Order]) -> int:
        """How often an instruction accessed data, estimated from the sample, as the profile does not have its costs."""
        seen, of = self.why.order_sample
        mine = sum(order.accesses for order in orders if order.inner == 0)
        return round(mine * of / seen) if seen else 0

    def _where(self, place: Instruction) -> tuple[str, int]:
        """The file and line of an instruction in the program's own code, or its own ones if there are none."""
        chain = self._chains.get(place.function.object, {}).get(place.address)
        if not chain:
            return place.file, place.line
        caller = self._chooser.caller(chain)
        if caller is not None and caller.line:
            return caller.file, caller.line
        if place.line and not is_foreign(place.file):
            return place.file, place.line
        own = [one for one in chain if one.line and not is_foreign(one.file)]
        return (own[-1].file, own[-1].line) if own else (place.file, place.line)

    def _in_loop(self, place: Instruction, loop: LoopPlace | None) -> tuple[str, int]:
        """The file and line in the function that contains a loop, if the instruction is from a helper that was inlined
        there; else ("", 0)."""
        chain = self._chains.get(place.function.object, {}).get(place.address)
        if not chain:
            return "", 0
        around = loop.positions[:-1] if loop is not None and loop.function == place.function else None
        if around is None or len(chain) <= len(around) + 1:
            return "", 0
        is_within = all((one.file, one.line) == other for one, other in zip(chain, around))
        here = chain[len(around)]
        return (here.file, here.line) if is_within and not self._is_library(here.file) else ("", 0)

    def _levels(self, orders: Sequence[Order], accesses: int) -> tuple[Level, ...]:
        """The levels of the loop in which the instruction ran most often, and of the loops around it. accesses: those
        in the whole run."""
        innermost = [order for order in orders if order.inner == 0]
        if not innermost:
            return ()
        first = self._innermost(innermost) if len(innermost) > 1 else innermost[0]
        step = constant_step(first, self.why.line)
        if step is None:
            step = step_of_some(first, self.why.line)
        seen = sum(order.accesses for order in innermost)
        levels = [Level(self.loops.of(first.scope), step, first)]
        if len(orders) == 1:
            return tuple(levels)
        while around := self._around(orders, levels, seen / accesses if accesses else 0.0):
            levels.append(around)
        return tuple(levels)

    def _innermost(self, orders: Sequence[Order]) -> Order:
        """The row with most accesses; or that of a loop within its loop, if that has enough of them: if a loop has
        several backward jumps, part of its iterations seem to be outside of it."""
        most = max(orders, key=lambda order: order.accesses)
        loop = self.loops.of(most.scope)
        within = [
            order for order in orders
            if loop is not None and (inner := self.loops.of(order.scope)) is not None and inner.is_within(loop)
            and order.accesses >= _SOME * most.accesses
        ]
        return max(within, key=lambda order: order.accesses, default=most)

    def _with_small_steps(
        self, number: int, lines: int, used: int, levels: tuple[Level, ...], reuses: Sequence[Reuse]
    ) -> tuple[Level, ...]:
        """Add the step of an outer loop where the pieces of the run do not show it: if the loop brings back most lines
        of an instruction, which uses other bytes of them each time, its step is as large as the bytes used."""
        inner = levels[0].step if levels else None
        if inner is None or abs(inner) < self.why.line or levels[0].loop is None:
            return levels
        carried: Counter[LoopPlace] = Counter()
        for row in reuses:
            loop = self.loops.of(row.scope)
            if loop is not None and row.before == number:
                carried[loop] += row.misses
        outer, back = max(carried.items(), key=lambda one: one[1], default=(None, 0))
        if outer is None or 2 * back < lines or not self._is_around(outer, levels[0].loop):
            return levels
        # If the loop went through the same bytes in each iteration, only the first one would bring new lines.
        if (lines - back) * outer.trips < _ROUNDS * lines:
            return levels
        known = [level for level in levels if level.loop == outer]
        if not known:
            order = levels[0].order._replace(
                inner=len(levels), accesses=0, same=0, near=0, forward=0, backward=0, far=0, strides=()
            )
            return (*levels, Level(outer, used, order))
        if known[0].step is not None:
            return levels
        return tuple(replace(level, step=used) if level.loop == outer else level for level in levels)

    def _around(self, orders: Sequence[Order], levels: Sequence[Level], share: float) -> Level | None:
        """The level of the next outer loop; None if there is none. A source loop with several backward jumps appears in
        the pieces of the run as several nested loops: then the outer loop has more loops within, or their runs are cut.
        share: the share of accesses that were seen."""
        last, step = levels[-1].loop, levels[0].step
        found = sorted((
            order for order in orders
            if order.inner >= len(levels) and self._is_around(self.loops.of(order.scope), last)
        ), key=lambda order: (order.inner, -order.accesses))
        if not found:
            return None
        loop = self.loops.of(found[0].scope)
        here = [order for order in found if self.loops.of(order.scope) == loop]
        runs = share * last.entries if last is not None and step else 0.0
        order = next((order for order in here if not 0 < _CUT * runs < order.accesses), None)
        if order is not None and (around := constant_step(order, self.why.line)) is not None:
            return Level(loop, around, order)
        order = order or _without_step(here[0], step or 0)
        is_of_some = step is not None and constant_step(levels[0].order, self.why.line) is None
        besides = _common_remaining_step(order, step or 0) if is_of_some else None
        return Level(loop, _remaining_step(order, step or 0, self.why.line) if besides is None else besides, order)

    def _is_around(self, outer: LoopPlace | None, inner: LoopPlace | None) -> bool:
        if outer is None or inner is None or outer == inner:
            return False
        return inner.depth == 1 or outer.function != inner.function or inner.is_within(outer)


def _sorted(sites: Iterable[Site]) -> list[Site]:
    return sorted(sites, key=lambda site: (-site.waits.value, -site.time, site.number))


def _without_step(order: Order, step: int) -> Order:
    """The row of an outer loop, without the steps that are the inner loop's."""
    times = sum(count for one, count in order.strides if one == step)
    near, forward, backward = (
        times if is_its else 0 for is_its in (
            order.near >= times, order.near < times and step > 0, order.near < times and step < 0
        )
    )
    return order._replace(
        accesses=order.accesses - times, near=order.near - near, forward=max(order.forward - forward, 0),
        backward=max(order.backward - backward, 0),
        strides=tuple((one, count) for one, count in order.strides if one != step),
    )


def _remaining_step(order: Order, inner: int, line: int) -> int | None:
    """The step in bytes of an outer loop. If the step of the inner one is a line or more, it is the remainder by which
    the outer steps differ from multiples of it. None if that is not small, or if most steps are not known."""
    if abs(inner) < line:
        return constant_step(order, line)
    parts = ((step + abs(inner) // 2) % abs(inner) - abs(inner) // 2 for step, _ in order.strides)
    known = sum(times for _, times in order.strides)
    most = max(parts, key=abs, default=line)
    is_small = abs(most) < line and _PART * abs(most) <= abs(inner)
    return most if is_small and known >= _MOST_STEPS * steps_seen(order) > 0 else None


def _common_remaining_step(order: Order, inner: int) -> int | None:
    """The same for an inner loop that skips some of its iterations. Then only few of the many outer steps are known;
    all of these must differ by the same remainder from multiples of the inner step. None if they do not."""
    parts = {(step + abs(inner) // 2) % abs(inner) - abs(inner) // 2 for step, _ in order.strides}
    return parts.pop() if len(parts) == 1 and len(order.strides) > 1 and _PART * abs(max(parts)) <= abs(inner) else None


def busiest(sites: Sequence[Site]) -> Function:
    """The function whose sites have most of the time."""
    times: Counter[Function] = Counter()
    for site in sites:
        times[site.place.function] += round(1000 * site.time)
    return max(sorted(times), key=lambda function: times[function])


def by_loop(sites: Sequence[Site]) -> Mapping[LoopPlace, list[Site]]:
    """The sites by their innermost loop, without those that are in no known loop."""
    found: dict[LoopPlace, list[Site]] = {}
    for site in sites:
        if site.inner is not None and site.inner.loop is not None:
            found.setdefault(site.inner.loop, []).append(site)
    return found
