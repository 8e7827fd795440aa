# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine for tests: runs loops written in Python, and writes the profile and the file on why lines were
loaded that a run of the tool would, by docs/format.md. It looks through lists where the tool is clever."""

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from contextlib import contextmanager

from why_files import DISTANCES, ORDERS, REUSES, STAYS, WhyFile, bucket

LINE = 64
EVENTS = ("Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw", "AcCostD1", "SpLossD1", "EvLineD1",
          "UsByteD1", "AccessD1", "AcCost1", "SpLoss1", "EvLine1", "UsByte1", "Access1", "DLconf")
SOURCE = "/src/prog.c"
HEAD = "creator: bdgrind-1\npid: 7\ncmd: prog\npart: 1"


class Lru:
    """Distances of all lines that were ever touched."""

    def __init__(self):
        self.times = {}
        self.sorted = []
        self.now = 0

    def touch(self, line):
        """How many others were touched since; None: never."""
        self.now += 1
        before = self.times.get(line)
        distance = None
        if before is not None:
            at = bisect_left(self.sorted, before)
            distance = len(self.sorted) - at - 1
            del self.sorted[at]
        self.times[line] = self.now
        insort(self.sorted, self.now)
        return distance


class Machine:
    """Instructions are lines of SOURCE; functions are numbers from 1, main the first."""

    def __init__(self, sets=16, ways=4, ll_lines=4096, functions=("main", "work")):
        self.sets, self.ways, self.ll_lines = sets, ways, ll_lines
        self.functions = functions
        self.lru, self.ll = Lru(), Lru()
        self.d1 = [[] for _ in range(sets)]  # lines, the newest first
        self.loader, self.evictor, self.used, self.stays = {}, {}, {}, defaultdict(list)
        self.scopes = [("call", 1, 0, 0)]  # the calls and loops that are open
        self.entered = [0]
        self.distances, self.reuses, self.costs = Counter(), {}, defaultdict(Counter)
        self.lost = defaultdict(Counter)
        self.orders, self.positions, self.depends = {}, {}, {}
        self.runs = [object()]

    @contextmanager
    def call(self, function, line):
        self.scopes.append(("call", function, 0, line))
        self.entered.append(self.lru.now + 1)
        self.runs.append(object())
        yield
        self._close()

    def loop(self, values, line):
        self.scopes.append(("loop", self._function(), line, line))
        self.entered.append(self.lru.now + 1)
        for value in values:
            self.runs.append(object())
            yield value
            self.runs.pop()
        self._close()

    def _close(self):
        closed = self.scopes.pop()
        self.entered.pop()
        if closed[0] == "call":
            self.runs.pop()

    def _function(self):
        return next(scope[1] for scope in reversed(self.scopes) if scope[0] == "call")

    def read(self, line, address, size=8, depends=1, on=0):
        self._access(line, address, size, "D1mr", "DLmr", depends, on)

    def write(self, line, address, size=8):
        self._access(line, address, size, "D1mw", "DLmw", 1, 0)

    def compute(self, line, instructions):
        self.costs[self._function(), line]["Ir"] += instructions

    def _access(self, line, address, size, miss, last_miss, depends, on):
        place = self._function(), line
        cost = self.costs[place]
        cost["Ir"] += 2
        cost["Dr" if miss == "D1mr" else "Dw"] += 1
        self._order(place, address, depends, on)
        missed = False
        first = address // LINE
        for number in range(first, (address + size - 1) // LINE + 1):
            begin, end = max(address, number * LINE), min(address + size, (number + 1) * LINE)
            if self._touch(place, number, cost, last_miss):
                missed = True
            self.used[number] |= ((1 << (end - begin)) - 1) << (begin - number * LINE)
        cost[miss] += missed

    def _touch(self, place, number, cost, last_miss):
        mine = self.d1[number % self.sets]
        last = self.lru.times.get(number)
        distance = self.lru.touch(number)
        if number in mine:
            mine.remove(number)
            mine.insert(0, number)
            return False
        of_ll = self.ll.touch(number)
        last_level = of_ll is None or of_ll >= self.ll_lines
        cost[last_miss] += last_level
        self.distances[place, bucket(distance), "misses"] += 1
        self.distances[place, bucket(distance), "last"] += last_level
        cause = 1 if distance is None else 2 if distance >= self.sets * self.ways else 3
        scope = None
        if distance is not None:
            scope = next(scope for scope, entered in zip(reversed(self.scopes), reversed(self.entered))
                         if entered <= last)
        key = place, self.loader.get(number), self.evictor.get(number), scope, cause
        sums = self.reuses.setdefault(key, [0, 0, 0])
        for index, more in enumerate((1, int(last_level), distance or 0)):
            sums[index] += more
        if len(mine) == self.ways:
            gone = mine.pop()
            self.evictor[gone] = place
            self._leave(gone)
        self.loader[number] = place
        self.used[number] = 0
        mine.insert(0, number)
        return True

    def _leave(self, number):
        used = self.used[number]
        self.stays[number].append((self.loader[number], used))
        cost = self.costs[self.loader[number]]
        size = bin(used).count("1")
        for event, more in (("EvLine", 1), ("UsByte", size), ("SpLoss", LINE - size), ("Access", 1)):
            cost[f"{event}D1"] += more
            cost[f"{event}1"] += more

    def _order(self, place, address, depends, on):
        """Of the innermost loop, and of those around: their first accesses."""
        loops = []
        for scope in reversed(self.scopes):
            if scope[0] == "call" and loops:
                break
            if scope[0] == "loop":
                loops.append(scope)
        for inner, scope in enumerate(loops[:3]):
            depth = self.scopes.index(scope)
            # What has begun once more since the access before is what tells first ones.
            iteration = tuple(map(id, self.runs))
            key = place, scope, inner
            row = self.orders.setdefault(key, {"accesses": 0, "strides": Counter(), "kinds": Counter(), "runs": 0})
            self.depends[place] = depends, on
            within = self._entries(inner, loops)
            before = self.positions.get(key)
            if before is not None and before[0] == within and inner:
                continue
            row["accesses"] += 1
            around = self.entered[depth]
            if before is not None and before[2] == around:
                step = address - before[1]
                kind = "same" if not step else "near" if abs(step) < LINE else "far"
                if abs(step) >= LINE and step == before[3]:
                    kind = "forward" if step > 0 else "backward"
                row["kinds"][kind] += 1
                row["runs"] += step != before[3]
                if step:
                    row["strides"][step] += 1
                self.positions[key] = within, address, around, step
            else:
                self.positions[key] = within, address, around, None
            del iteration

    def _entries(self, inner, loops):
        """When the loop within was entered: the accesses of a run of it are one."""
        if not inner:
            return None
        return self.entered[self.scopes.index(loops[inner - 1])]

    def files(self, folder, objects=None):
        """The profile, and what lies beside it."""
        for mine in self.d1:
            for number in list(mine):
                self._leave(number)
        places = sorted({key[0] for key in self.distances} | {key[0] for key in self.orders})
        numbers = {place: number for number, place in enumerate(places, 1)} | {None: 0}
        scopes = sorted({key[1] for key in self.orders} | {key[3] for key in self.reuses if key[3]})
        known = {scope: number for number, scope in enumerate(scopes, 1)} | {None: 0}
        sections = [
            ("distances", DISTANCES, sorted(
                (numbers[place], at, misses, self.distances[place, at, "last"])
                for (place, at, what), misses in self.distances.items() if what == "misses"
            )),
            ("reuses", REUSES, sorted(
                (numbers[place], numbers[before], numbers[evictor], known[scope], cause, *sums)
                for (place, before, evictor, scope, cause), sums in self.reuses.items()
            )),
            ("orders", ORDERS, sorted(self._orders(numbers, known))),
            ("stays", STAYS, sorted(self._stays(numbers))),
        ]
        functions = [("/bin/prog", SOURCE, 10 * number, name) for number, name in enumerate(self.functions, 1)]
        texts = [
            f"call {function}" if kind == "call" else f"loop {function} 1 {line} {16 * line}"
            for kind, function, line, _ in scopes
        ]
        desc = (f"\ndesc: D1 cache: {self.sets * self.ways * LINE} B, {LINE} B, {self.ways}-way associative"
                f"\ndesc: LL cache: {self.ll_lines * LINE} B, {LINE} B, 8-way associative")
        file = WhyFile(
            functions, [(function, SOURCE, line, 16 * line) for function, line in places], texts, sections,
            head=HEAD + desc, block=50, sample="500 500",
            **{"d1-lines": self.sets * self.ways, "ll-lines": self.ll_lines, "sets": self.sets},
        )
        (folder / "why.p.out").write_bytes(file.bytes())
        (folder / "p.out").write_text(self._profile(desc))
        return str(folder / "p.out")

    def _orders(self, numbers, known):
        for (place, scope, inner), row in self.orders.items():
            kinds = row["kinds"]
            strides = [number for pair in row["strides"].most_common(3) for number in pair]
            depends, on = self.depends[place] if not inner else (0, 0)
            yield (
                numbers[place], known[scope], inner, row["accesses"], 0, 0, kinds["same"], kinds["near"],
                kinds["forward"], kinds["backward"], kinds["far"], row["runs"],
                *(strides + [0] * (6 - len(strides))), depends, numbers.get((place[0], on), 0),
                0 if inner else row["accesses"],
            )

    def _stays(self, numbers):
        sums = defaultdict(lambda: [0, 0, 0, 0])
        for stays in self.stays.values():
            ever = 0
            for _, used in stays:
                ever |= used
            for place, used in stays:
                late = bin(ever & ~used).count("1")
                unused = LINE - bin(used).count("1")
                for index, more in enumerate((1, unused, late, unused - late)):
                    sums[place][index] += more
        return [(numbers[place], 0, *row) for place, row in sums.items()]

    def _profile(self, desc):
        text = f"# callgrind format\nversion: 1\n{HEAD}{desc}\npositions: instr line\nevents: {' '.join(EVENTS)}\n"
        text += f"ob=/bin/prog\nfl={SOURCE}\n"
        totals = Counter()
        rows = defaultdict(list)
        for (function, line), cost in self.costs.items():
            totals.update(cost)
            rows[function].append(f"{16 * line:#x} {line} " + " ".join(str(cost[event]) for event in EVENTS))
        for number, name in enumerate(self.functions, 1):
            text += "\n".join([f"fn={name}", *rows.get(number, ())]) + "\n"
            if number == 1:
                for callee in range(2, len(self.functions) + 1):
                    cost = Counter()
                    for (function, _), own in self.costs.items():
                        if function == callee:
                            cost.update(own)
                    text += f"cfn={self.functions[callee - 1]}\ncalls=1 {160 * callee:#x} {10 * callee}\n"
                    text += f"0x{callee:x} {callee} " + " ".join(str(cost[event]) for event in EVENTS) + "\n"
        return text + "totals: " + " ".join(str(totals[event]) for event in EVENTS) + "\n"
