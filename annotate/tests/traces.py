# SPDX-License-Identifier: GPL-2.0-or-later
"""Random programs: a trace of calls, returns and costs, what a profiler makes of it, and what is
true of it. The profile is written with everything that the format leaves to the writer."""

import random

FILES = ("a.c", "b.c", "???", "inline.h")
OBJECTS = ("app", "lib.so")


class Trace:
    """A run of a random program of a few functions, with two events. The first is never 0 where
    anything happens, as instructions are."""

    def __init__(self, seed, functions=6, steps=60):
        chance = random.Random(seed)
        names = [
            (chance.choice(OBJECTS), chance.choice(FILES), f"f{number}")
            for number in range(functions)
        ]
        self.self_costs = {}  # (function, file of the code, line) -> [events]
        self.arcs = {}  # (caller, callee, file, line) -> [calls, [events]]
        self.inclusive = {}  # function -> [events], once however deep
        self.contexts = {}  # path of functions -> [calls, [events]]
        self.folded_contexts = {}  # the same, where a path ends at its first visit of a function
        self.totals = [0, 0]
        self._log = []  # (who is on the stack, cost)
        stack = [(names[0], None)]
        self._paths = [((names[0],), (names[0],))]  # of each entry of the stack
        self._visit()
        for _ in range(steps):
            move = chance.random()
            if move < 0.35 and len(stack) < 12:
                caller, callee = stack[-1][0], chance.choice(names)
                file = chance.choice((caller[1], caller[1], "inline.h"))
                arc = (caller, callee, file, chance.randrange(1, 9))
                self.arcs.setdefault(arc, [0, [0, 0]])[0] += 1
                stack.append((callee, arc))
                path, folded = self._paths[-1]
                known = folded.index(callee) if callee in folded else len(folded)
                self._paths.append(((*path, callee), (*folded[:known], callee)))
                self._visit()
                for context in self._here():
                    context[0] += 1
                self._spend(stack, chance)
            elif move < 0.6 and len(stack) > 1:
                stack.pop()
                self._paths.pop()
            else:
                self._spend(stack, chance)

    def _visit(self):
        for contexts, path in zip((self.contexts, self.folded_contexts), self._paths[-1]):
            contexts.setdefault(path, [0, [0, 0]])

    def _here(self):
        path, folded = self._paths[-1]
        return self.contexts[path], self.folded_contexts[folded]

    def _spend(self, stack, chance):
        function = stack[-1][0]
        file = chance.choice((function[1], function[1], "inline.h"))
        cost = [chance.randrange(1, 50), chance.choice((0, 0, chance.randrange(1000)))]
        places = [self.self_costs.setdefault((function, file, chance.randrange(1, 9)), [0, 0])]
        places += [self.arcs[arc][1] for _, arc in stack if arc]
        places += [context[1] for context in self._here()]
        places += [self.totals]
        for on_stack in {function for function, _ in stack}:
            places.append(self.inclusive.setdefault(on_stack, [0, 0]))
        self._log.append((frozenset(function for function, _ in stack), cost))
        for place in places:
            place[0] += cost[0]
            place[1] += cost[1]

    def inclusive_of_group(self, members):
        """What happened while at least one of them was on the stack."""
        spent = [cost for on_stack, cost in self._log if on_stack & members]
        return tuple(map(sum, zip(*spent))) if spent else (0, 0)

    def text(self, seed, parts=1):
        """The profile; in several parts if wanted, with the costs spread over them."""
        chance = random.Random(seed)
        shares = [Writer(chance) for _ in range(parts)]
        for key, cost in self.self_costs.items():
            for writer, part in zip(shares, _split(chance, [0, *cost], parts)):
                writer.lines.append((key, part[1:]))
        for key, (calls, cost) in self.arcs.items():
            for writer, part in zip(shares, _split(chance, [calls, *cost], parts)):
                writer.calls.append((key, part[0], part[1:]))
        return "".join(writer.text(number + 1) for number, writer in enumerate(shares))


def _split(chance, numbers, parts):
    found = []
    for _ in range(parts - 1):
        taken = [chance.randrange(number + 1) for number in numbers]
        found.append(taken)
        numbers = [number - part for number, part in zip(numbers, taken)]
    return [*found, numbers]


class Writer:
    """Writes one part, choosing at random among the ways to say the same."""

    def __init__(self, chance):
        self.chance = chance
        self.lines = []
        self.calls = []
        self.ids = {}
        self.at = 0

    def text(self, part):
        totals = [sum(column) for column in zip(*(cost for _, cost in self.lines))] or [0, 0]
        head = f"# a comment\npart: {part}\npositions: line\nevents: Ir X\n"
        head += f"summary: {totals[0]} {totals[1]}\n"
        functions = {}
        for (function, file, line), cost in self.lines:
            functions.setdefault(function, []).append((file, line, cost, None))
        for (caller, callee, file, line), calls, cost in self.calls:
            functions.setdefault(caller, []).append((file, line, cost, (callee, calls)))
        body = [self._function(function, costs) for function, costs in functions.items()]
        self.chance.shuffle(body)
        # Compressed names must be defined before they are used: only now is the order known.
        text = self._compress("".join(body))
        return f"{head}\n{self._relative(text)}\ntotals: {totals[0]} {totals[1]}\n"

    def _function(self, function, costs):
        module, own_file, name = function
        text = f"ob={module}\nfl={own_file}\nfn={name}\n"
        at = own_file
        for file, line, cost, call in costs:
            if file != at:
                text += f"{self.chance.choice(('fi', 'fe'))}={file}\n"
                at = file
            if call:
                (callee_module, callee_file, callee), calls = call
                if callee_module != module or self.chance.random() < 0.3:
                    text += f"cob={callee_module}\n"
                if callee_file != at or self.chance.random() < 0.3:
                    text += f"{self.chance.choice(('cfi', 'cfl'))}={callee_file}\n"
                text += f"cfn={callee}\ncalls={calls} {self.chance.choice(('1', '+1', '*'))}\n"
            text += f"{line} {cost[0]} {cost[1]}".removesuffix(" 0") + "\n"
        return text + "\n"

    def _compress(self, text):
        kinds = {"ob": "ob", "cob": "ob", "fn": "fn", "cfn": "fn"}
        lines = []
        for line in text.split("\n"):
            key, equals, name = line.partition("=")
            if equals and key != "calls" and self.chance.random() < 0.8:
                table = self.ids.setdefault(kinds.get(key, "fl"), {})
                known = name in table
                number = table.setdefault(name, len(table) + 1)
                line = f"{key}=({number})" + ("" if known else f" {name}")
            lines.append(line)
        return "\n".join(lines)

    def _relative(self, text):
        at = 0
        lines = []
        for line in text.split("\n"):
            position, space, rest = line.partition(" ")
            if position.isdigit():
                number = int(position)
                forms = [f"{number}", f"{number - at:+d}", f"0x{number:x}"]
                forms += ["*"] if number == at else []
                line = f"{self.chance.choice(forms)}{space}{rest}"
                at = number
            lines.append(line)
        return "\n".join(lines)
