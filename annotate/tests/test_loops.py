# SPDX-License-Identifier: GPL-2.0-or-later
"""Control flow, loops and frames, against what is worked out from random walks by plain means."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bdannotate.model.flow import BasicBlock, Flow, flows
from bdannotate.model.frames import Kind, Position, frames_of, nest_of
from bdannotate.model.profile import Function
from bdannotate.model.regions import find_regions
from bdannotate.reading.parser import Detail, parse_text

F = Function("app", "a.c", "f")
STEPS = 400


class Machine:
    """A function of random instructions, and a walk through it: its addresses in their order."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        size = rng.randint(2, 25)
        self.kinds = [rng.choice(["plain", "plain", "plain", "jcc", "jcc", "jmp", "call", "rep"])
                      for _ in range(size)]
        # An indirect jump has several targets, any other jump one.
        self.targets = [
            rng.sample(range(size), rng.choice([1, 1, min(3, size)])) if kind == "jmp"
            else [rng.randrange(size)] for kind in self.kinds
        ]
        self.walks = [self._walk(rng, size) for _ in range(rng.randint(1, 3))]

    def _walk(self, rng: random.Random, size: int) -> list[int]:
        at, seen = 0, []
        while at < size and len(seen) < STEPS:
            seen.append(at)
            if self.kinds[at] == "jmp" or (self.kinds[at] == "jcc" and rng.random() < 0.6):
                at = rng.choice(self.targets[at])
            elif self.kinds[at] != "rep" or rng.random() < 0.5:
                at += 1
        return seen

    def ways(self) -> Counter[tuple[int, int]]:
        return Counter(way for walk in self.walks for way in zip(walk, walk[1:]))

    def profile(self) -> str:
        """As the tool writes it. A stub's instruction is charged to each call."""
        lines = ["positions: instr line", "events: Ir", "ob=app", "fl=a.c", "fn=f"]
        executed = Counter(at for walk in self.walks for at in walk)
        for at, count in sorted(executed.items()):
            is_call = self.kinds[at] == "call"
            lines.append(f"{4 * at:#x} {at + 1} {count * (2 if is_call else 1)}")
            if is_call:
                lines += ["cfn=g", f"calls={count} 0x1000 1", f"{4 * at:#x} {at + 1} {5 * count}"]
        for (source, target), count in sorted(self.ways().items()):
            if self.kinds[source] in ("jcc", "jmp", "rep") and target != source + 1:
                number = f"jump={count}" if self.kinds[source] == "jmp" else (
                    f"jcnd={count}/{executed[source]}"
                )
                lines += [f"{number} {4 * target:#x} {target + 1}", f"{4 * source:#x} {source + 1}"]
        return "\n".join(lines) + "\n"

    def flow(self) -> Flow:
        return flows(parse_text(self.profile(), Detail.INSTRUCTIONS), [F])[F]


seeds = st.integers(0, 2**32)


def step_ways(flow: Flow) -> Counter[tuple[int, int]]:
    """How often control went from instruction to instruction, by their numbers in the machine."""
    found: Counter[tuple[int, int]] = Counter()
    number = [step.address // 4 for step in flow.steps]
    for block, ways in zip(flow.blocks, flow.successors):
        for index in range(block.first, block.last):
            found[number[index], number[index + 1]] += flow.executed[index]
        for target, count in ways.items():
            found[number[block.last], number[flow.blocks[target].first]] += count
    return found


@given(seeds)
def test_the_flow_is_what_was_walked(seed):
    machine = Machine(seed)
    walked = Counter({(a, b): n for (a, b), n in machine.ways().items() if a != b})
    assert step_ways(machine.flow()) == walked


def graph_flow(edges: dict[int, dict[int, int]], size: int) -> Flow:
    """A flow of blocks with nothing in them."""
    blocks = tuple(BasicBlock(number, number) for number in range(size))
    successors = tuple(edges.get(number, {}) for number in range(size))
    return Flow((), (1,) * size, blocks, successors, (1,) + (0,) * (size - 1))


def dominated(edges: dict[int, dict[int, int]], size: int, by: int) -> set[int]:
    """What cannot be reached from block 0 without passing through `by`."""
    reached, work = {0} - {by}, [0] if by else []
    while work:
        for target in edges.get(work.pop(), {}):
            if target not in reached and target != by:
                reached.add(target)
                work.append(target)
    return set(range(size)) - reached


def natural_loops(edges: dict[int, dict[int, int]], size: int) -> dict[int, set[int]]:
    """By the textbook: for each jump back to what dominates it, all that leads to the jump."""
    loops: dict[int, set[int]] = {}
    for source, ways in edges.items():
        for header in ways:
            if source in dominated(edges, size, header):
                inside, work = loops.setdefault(header, {header}), [source]
                while work:
                    block = work.pop()
                    if block not in inside:
                        inside.add(block)
                        work += [other for other, out in edges.items() if block in out]
    return loops


@st.composite
def graphs(draw):
    """All blocks are reached from block 0, which nothing jumps to."""
    size = draw(st.integers(2, 9))
    edges = {number: {} for number in range(size)}
    for number in range(1, size):
        edges[draw(st.integers(0, number - 1))][number] = 1
    pairs = st.tuples(st.integers(0, size - 1), st.integers(1, size - 1))
    for source, target in draw(st.lists(pairs, max_size=12)):
        edges[source][target] = 1
    return edges, size


@given(graphs())
def test_regions_with_one_header_are_the_natural_loops(graph):
    edges, size = graph
    regions = find_regions(graph_flow(edges, size))
    for number, region in enumerate(regions):
        if region.parent is not None:
            assert region.parent < number
            assert region.blocks < regions[region.parent].blocks
        if not region.is_irreducible:
            assert region.blocks <= dominated(edges, size, region.headers[0])
    expected = natural_loops(edges, size)
    if not any(region.is_irreducible for region in regions):
        assert {region.headers[0]: set(region.blocks) for region in regions} == expected
    # All that can be left and come back to is in a region.
    looping = {block for inside in expected.values() for block in inside}
    assert looping <= {block for region in regions for block in region.blocks}


@given(seeds)
def test_loops_are_entered_and_passed_as_in_the_walk(seed):
    machine = Machine(seed)
    flow = machine.flow()
    for region in find_regions(flow):
        inside = {
            flow.steps[index].address // 4
            for block in region.blocks
            for index in range(flow.blocks[block].first, flow.blocks[block].last + 1)
        }
        entries = sum(
            at in inside and (index == 0 or walk[index - 1] not in inside)
            for walk in machine.walks
            for index, at in enumerate(walk)
        )
        assert region.entries == entries
        if region.is_irreducible:
            continue
        header = flow.steps[flow.blocks[region.headers[0]].first].address // 4
        passed = sum(
            at == header and walk[index - 1 : index] != [header]
            for walk in machine.walks
            for index, at in enumerate(walk)
        )
        assert region.passed == passed


@given(seeds, st.integers(0, 3))
def test_frames_conserve(seed, depth):
    """Whatever the chains, all costs are in one frame, and no frame costs more than is around."""
    machine = Machine(seed)
    rng = random.Random(seed)
    profile = parse_text(machine.profile(), Detail.INSTRUCTIONS)
    flow = flows(profile, [F])[F]
    chains = {}
    for step in flow.steps:
        names = [F.name, *(rng.choice("gh") for _ in range(rng.randint(0, depth)))]
        chains[step.address] = tuple(Position(name, "a.c", rng.randint(1, 2)) for name in names)
    calls = {}
    for key, call in profile.instruction_calls.items():
        calls.setdefault(key.address, []).append((key.callee, call))
    root = frames_of(F, flow, chains, calls)
    own = sum(step.cost[0] for step in flow.steps)
    below = sum(call.cost[0] for made in calls.values() for _, call in made)
    total, work = 0, [root]
    while work:
        frame = work.pop()
        total += frame.self_cost[0]
        inner = sum(one.inclusive[0] for one in frame.frames)
        made = sum(one.call.cost[0] for one in frame.calls)
        assert frame.inclusive[0] == frame.self_cost[0] + inner + made
        work += frame.frames
    assert (total, root.inclusive[0]) == (own, own + below)
    assert root.entries == len(machine.walks)


def frames(text: str, chains=None):
    profile = parse_text("positions: instr line\nevents: Ir\nob=app\nfl=a.c\nfn=f\n" + text,
                         Detail.INSTRUCTIONS)
    return frames_of(F, flows(profile, [F])[F], chains or {}, {})


def nest(text: str):
    profile = parse_text("positions: instr line\nevents: Ir\nob=app\nfl=a.c\nfn=f\n" + text,
                         Detail.INSTRUCTIONS)
    return nest_of(F, flows(profile, [F])[F], {})


# Three instructions, executed 10 times: the last one jumps back to the first.
LOOP = "0x10 5 10\n0x14 6 10\n0x18 4 10\njcnd=9/10 0x10 5\n0x18 4\n0x1c 8 1\n"


def test_a_loop_is_named_by_the_test_at_its_end():
    (loop,) = frames(LOOP).frames
    assert (loop.kind, loop.file, loop.line, loop.entries) == (Kind.LOOP, "a.c", 4, 1)
    assert [(part.address, part.iterations) for part in loop.parts] == [(0x10, 10)]


def test_a_loop_is_named_by_the_test_at_its_beginning():
    text = "0x10 4 11\njcnd=1/11 0x1c 8\n0x10 4\n0x14 5 10\n0x18 6 10\njump=10 0x10 4\n0x18 6\n"
    (loop,) = frames(text + "0x1c 8 1\n").frames
    assert (loop.line, loop.entries, loop.parts[0].iterations) == (4, 1, 10)


def test_a_loop_that_needs_to_be_jumped_back_to_only_has_its_test_at_the_end():
    text = "0xc 3 2\n0x10 5 10\n0x14 4 10\njcnd=2/10 0x20 8\n0x14 4\n0x18 4 8\njump=8 0x10 5\n0x18 4\n"
    (loop,) = frames(text + "0x20 8 2\n").frames
    assert (loop.line, loop.entries, loop.parts[0].iterations) == (4, 2, 10)


def test_what_is_executed_first_may_be_a_loops_test():
    """In optimised code it often is. The line of `{` is that of what is saved on the stack."""
    text = "0x8 4 1\n0xc 3 1\n" + LOOP
    (loop,) = frames(text).frames
    assert loop.line == 4


def test_what_a_loop_begins_with_may_have_the_line_of_another_one():
    """Compilers leave out where a line begins anew; Fortran's do."""
    other = "0x20 4 10\n0x24 9 10\n0x28 8 10\njcnd=9/10 0x20 4\n0x28 8\n0x2c 11 1\n"
    first, second = frames("0xc 2 1\n" + LOOP + other).frames
    assert (first.line, second.line) == (4, 8)


def test_a_loop_does_not_begin_before_the_one_around():
    """What it begins with may have the line of earlier code that computes the same, such as a constant or a place."""
    text = (
        "0x8 6 4\n0xc 5 4\njcnd=3/4 0x8 6\n0xc 5\n"  # a loop of lines 5 and 6
        "0x10 10 2\n0x14 6 6\n0x18 12 6\n0x1c 11 6\njcnd=4/6 0x14 6\n0x1c 11\n"
        "0x20 9 2\njcnd=1/2 0x10 10\n0x20 9\n0x24 14 1\n"
    )
    first, outer = frames("0x4 2 1\n" + text).frames
    (inner,) = outer.frames
    assert (first.line, outer.line, inner.line) == (5, 9, 11)
    assert [loop.line for loop in nest("0x4 2 1\n" + text).loops] == [5, 9, 11]


def test_copies_of_a_loop_have_its_line():
    """As of one that was unrolled, with the rest behind it."""
    other = "0x20 5 10\n0x24 6 10\n0x28 4 10\njcnd=9/10 0x20 5\n0x28 4\n0x2c 11 1\n"
    (loop,) = frames("0xc 2 1\n" + LOOP + other).frames
    assert (loop.line, len(loop.parts)) == (4, 2)


def test_in_a_function_of_one_line_a_loop_has_that_line():
    (loop,) = frames("0xc 3 1\n0x10 3 10\n0x14 3 10\njcnd=9/10 0x10 3\n0x14 3\n").frames
    assert loop.line == 3


def test_in_an_inlined_function_a_loop_may_be_all_there_is():
    """Of the function itself, nothing stands before it."""
    chain = {
        address: (Position("f", "a.c", 20), Position("g", "a.h", line))
        for address, line in ((0xC, 4), (0x10, 5), (0x14, 6), (0x18, 4))
    }
    (call,) = frames("0xc 4 1\n" + LOOP, chain).frames
    (loop,) = call.frames
    assert (call.name, loop.file, loop.line) == ("g", "a.h", 4)


def test_without_lines_a_loop_is_known_by_its_address():
    (loop,) = frames("0x10 0 10\n0x12 0 10\njcnd=9/10 0x10 0\n0x12 0\n0x14 0 1\n").frames
    assert (loop.name, loop.line) == ("0x10", 0)


@pytest.mark.parametrize("moved_in", [False, True])
def test_a_loop_belongs_to_the_inlined_function_of_its_jump_back(moved_in):
    """One instruction of another function among nine does not change that; the loop has it."""
    instructions = [f"{0x10 + 4 * index:#x} 5 10\n" for index in range(9)]
    text = "".join(instructions) + "0x34 4 10\njcnd=9/10 0x10 5\n0x34 4\n0x38 8 1\n"
    inlined = (Position("f", "a.c", 20), Position("g", "a.c", 5))
    chains = {0x10 + 4 * index: inlined for index in range(10)}
    if moved_in:
        chains[0x20] = (Position("f", "a.c", 21),)
    (call,) = frames(text, chains).frames
    (loop,) = call.frames
    assert (call.kind, call.name, call.line) == (Kind.INLINED, "g", 20)
    assert (loop.kind, loop.self_cost, loop.frames) == (Kind.LOOP, (100,), ())


def test_a_comparison_that_was_inlined_does_not_own_the_loop():
    text = "0x10 7 10\n0x14 30 10\n0x18 30 10\njcnd=9/10 0x10 7\n0x18 30\n0x1c 8 1\n"
    compare = (Position("f", "a.c", 6), Position("operator!=", "a.h", 30))
    chains = {0x10: (Position("f", "a.c", 7),), 0x14: compare, 0x18: compare}
    (loop,) = frames(text, chains).frames
    assert (loop.kind, loop.line, loop.self_cost) == (Kind.LOOP, 6, (10,))
    assert [(inner.name, inner.self_cost) for inner in loop.frames] == [("operator!=", (20,))]
