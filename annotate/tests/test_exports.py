# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles in the forms of other programs: nothing is lost or made up, and their readers agree."""

import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter

import pytest
from hypothesis import given, strategies as st

from bdannotate.exports.firefox import firefox
from bdannotate.exports.formats import FORMATS
from bdannotate.exports.request import make_request
from bdannotate.exports.stacks import stacks
from bdannotate.model.check import check
from bdannotate.model.errors import UserError
from bdannotate.model.frames import Position
from bdannotate.model.merge import Renaming, project
from bdannotate.reading.load import load_contexts as load_renamed
from bdannotate.reading.parser import parse_text

from context_files import ContextFile, of_paths
from traces import Trace

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROFILES = sorted((ROOT / "tests" / "profiles").glob("*.out"))
HELPER = ROOT / "tests" / "profiles" / "helper.out"

seeds = st.integers(0, 2**32)


def load_contexts(path):
    found = load_renamed(str(path), parse_text(path.read_text()), Renaming((), ()))
    assert found.note == ""
    return found.tree


def exported(profile, form, events=(), threshold=1.0):
    return "".join(FORMATS[form].pieces(make_request(profile, events, threshold)))


def run(*arguments):
    command = [sys.executable, str(ROOT / "bd_annotate"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def known(profile):
    """Costs and calls, under the name that a function without a file or object gets."""
    def named(function):
        return tuple(name or "???" for name in function)

    lines = {}
    for place, rows in profile.lines.items():
        for line, row in rows.items():
            lines[named(place.function), place.file or "???", line] = row
    calls = {
        (named(site.caller), named(site.callee), site.file or "???", site.line): call
        for site, call in profile.calls.items()
    }
    return lines, calls


# --- callgrind ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_the_callgrind_form_says_all_that_the_profile_does(path):
    profile = parse_text(path.read_text())
    again = parse_text(exported(profile, "callgrind", profile.events[-1:]))
    assert again.events == (profile.events[-1], *profile.events[:-1])
    assert known(project(again, profile.events)) == known(profile)
    assert dict(again.formulas) == dict(profile.formulas)
    assert check(again).violation == check(profile).violation


@given(seeds, seeds, st.integers(1, 3))
def test_the_callgrind_form_of_random_programs(seed, spelling, parts):
    profile = parse_text(Trace(seed).text(spelling, parts))
    assert known(parse_text(exported(profile, "callgrind", ("Ir", "X")))) == known(profile)


def test_chosen_events_come_first_and_no_count_is_left_out():
    text = exported(parse_text(HELPER.read_text()), "callgrind", ("LLm", "DLmr"))
    (events,) = re.findall(r"^events: (.*)$", text, re.MULTILINE)
    assert events.split()[:3] == ["LLm", "DLmr", "Ir"]
    rows = re.findall(r"^\d+ (.*)$", text, re.MULTILINE)
    assert len(rows) > 10
    assert {len(row.split()) for row in rows} == {len(events.split())}
    assert "event: LLm : Misses of the last level\n" in text
    assert "\nsummary: 2010 2000 100000 " in text


# --- Paths ----------------------------------------------------------------------------------------


@given(seeds)
def test_paths_cost_what_they_really_did(seed):
    """The trace knows each path that was taken. Only names tell functions apart here, as they do
    in flame graphs."""
    trace = Trace(seed)
    request = make_request(parse_text(trace.text(seed)), ("Ir", "X"), 0)
    total = [0, 0]
    for stack in stacks(request):
        total = [old + new for old, new in zip(total, stack.row)]
        path = tuple(frame.name for frame in stack.frames)
        if path[0].startswith("<cycle"):
            continue
        own = [0, 0]
        for functions, (_, costs) in trace.contexts.items():
            names = tuple(function[2] for function in functions)
            if names == path or stack.frames[-1].has_callees and names[: len(path)] == path:
                own = [old + new for old, new in zip(own, costs)]
        assert tuple(own) == stack.row, path
    assert total == trace.totals


def test_paths_end_where_callers_mix():
    result = run(HELPER, "--export=folded", "--events=Ir")
    assert result.stdout == (
        "(below main) 100\n"
        "(below main);main 900\n"
        "(below main);main;columns 10000\n"
        "(below main);main;columns;fetch 40000\n"
        "(below main);main;once 1000\n"
        "(below main);main;once;fetch 8000\n"
        "(below main);main;rows 10000\n"
        "(below main);main;rows;fetch 30000\n"
    )
    assert result.stderr == ""
    result = run(ROOT / "tests" / "profiles" / "recursion.out", "--export=folded")
    assert result.stdout == "main 10\nmain;walk [and callees] 20\nmain;even [and callees] 610\n"
    assert "paths are certain for 2% of Ir: they end where" in result.stderr


def with_tree(folder, trace, recursion="apart", **more):
    """The profile of a trace with its context tree beside it."""
    path = folder / "bdgrind.out.1"
    path.write_text(trace.text(0))
    tree = of_paths(["Ir", "X"], trace.contexts, recursion, **more)
    (folder / "contexts.bdgrind.out.1").write_bytes(tree.bytes())
    return path


@given(seeds)
def test_paths_of_a_context_tree_are_exact(seed):
    trace = Trace(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = with_tree(pathlib.Path(folder), trace)
        request = make_request(parse_text(path.read_text()), ("X", "Ir"), 0, load_contexts(path))
        found = {}
        for stack in stacks(request):
            names = tuple((frame.object, frame.file, frame.name) for frame in stack.frames)
            assert names not in found
            found[names] = stack.row
    expected = {
        path: (costs[1], costs[0]) for path, (_, costs) in trace.contexts.items() if any(costs)
    }
    assert found == expected


def test_a_context_tree_is_found_and_needs_no_note(tmp_path):
    trace = Trace(5)
    path = with_tree(tmp_path, trace)
    exact = run(path, "--export=folded", "--events=Ir")
    assert (exact.returncode, exact.stderr) == (0, "")
    by_names = Counter()
    for functions, (_, costs) in trace.contexts.items():
        by_names[";".join(function[2] for function in functions)] += costs[0]
    shown = Counter()
    for line in exact.stdout.splitlines():
        names, _, count = line.rpartition(" ")
        shown[names] += int(count)
    assert shown == +by_names
    (tmp_path / "contexts.bdgrind.out.1").unlink()
    assert "(--context-tree=yes does)" in run(path, "--export=folded").stderr


def test_a_context_tree_of_another_run_is_left_out(tmp_path):
    with_tree(tmp_path, Trace(6))
    path = tmp_path / "bdgrind.out.1"
    path.write_text(Trace(7).text(0))
    result = run(path, "--export=folded")
    assert result.returncode == 0
    note, uncertain = result.stderr.splitlines()
    assert re.fullmatch(
        r"bd_annotate: note: .*/contexts\.bdgrind\.out\.1: Ir: the tree has [\d,]+, but the profile "
        r"[\d,]+: it is of another run, and left out", note,
    )
    assert "(--context-tree=yes does)" in uncertain
    (tmp_path / "contexts.bdgrind.out.1").unlink()
    assert run(path, "--export=folded").stdout == result.stdout


def test_what_a_context_tree_had_no_room_for_is_said():
    events, functions = ["Ir"], [("", "a.c", 3, "main")]
    nodes = [(0, 0, 0, (0,)), (1, 1, 1, (30,)), (2, 0, 0, (70,))]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "p"
        path.write_text("events: Ir\nfl=a.c\nfn=main\n1 30\nfn=rest\n1 70\n")
        (path.parent / "contexts.p").write_bytes(
            ContextFile(events, functions, ["thread 1"], nodes).bytes()
        )
        result = run(path, "--export=folded")
    assert result.stdout == "main 30\nmain;(other paths) 70\n"
    assert "70% of Ir is in '(other paths)'" in result.stderr


def fields(data):
    """Keys and values of a message of protocol buffers: numbers and bytes."""
    def varint():
        nonlocal at
        found = shift = 0
        while True:
            byte = data[at]
            at += 1
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found

    at, result = 0, {}
    while at < len(data):
        key = varint()
        value = varint()
        if key & 7 == 2:
            at += value
            value = data[at - value : at]
        else:
            assert key & 7 == 0
        result.setdefault(key >> 3, []).append(value)
    return result


def test_the_pprof_form_has_all_events_and_the_lines_of_calls(tmp_path):
    """main calls f twice, from lines 7 and 8."""
    functions = [("/bin/program", "a.c", 3, "main"), ("/bin/program", "b.c", 40, "f")]
    nodes = [
        (0, 0, 0, (0, 0), ("", 0, 0)), (1, 1, 1, (300, 1), ("", 0, 0)),
        (2, 2, 1, (20, 0), ("a.c", 7, 0)), (2, 2, 2, (1, 128), ("a.c", 8, 0)),
    ]
    path = tmp_path / "p"
    path.write_text("events: Ir Dr\nob=/bin/program\nfl=a.c\nfn=main\n3 300 1\nfl=b.c\nfn=f\n1 21 128\n")
    tree = ContextFile(["Ir", "Dr"], functions, ["thread 1"], nodes)
    (tmp_path / "contexts.p").write_bytes(tree.bytes())
    target = tmp_path / "p.pb.gz"
    assert run(path, "--export=pprof", "-o", target).stderr == ""
    again = tmp_path / "again.pb.gz"
    run(path, "--export=pprof", "-o", again)
    assert again.read_bytes() == target.read_bytes()

    profile = fields(gzip.decompress(target.read_bytes()))
    texts = [text.decode() for text in profile[6]]
    names = [texts[fields(each)[1][0]] for each in profile[1]]
    assert names == ["Ir", "Dr"] and texts[profile[14][0]] == "Ir"
    functions = {
        (found := fields(each))[1][0]: (texts[found[2][0]], texts[found[4][0]], found[5][0])
        for each in profile[5]
    }
    locations = {}
    for each in profile[4]:
        found = fields(each)
        line = fields(found[4][0])
        locations[found[1][0]] = (functions[line[1][0]], line.get(2, [0])[0])
    main, callee = ("main", "a.c", 3), ("f", "b.c", 40)
    samples = []
    for each in profile[2]:
        found = fields(each)
        samples.append(([locations[n] for n in unpacked(found[1][0])], unpacked(found[2][0])))
    assert samples == [
        ([(main, 0)], [300, 1]),
        ([(callee, 0), (main, 7)], [20, 0]),
        ([(callee, 0), (main, 8)], [1, 128]),
    ]
    assert [texts[fields(each)[5][0]] for each in profile[3]] == ["/bin/program"]


@pytest.mark.parametrize("main", ["main", "0x500"])
def test_what_pprof_takes_for_the_program(main):
    """The first object, which the dynamic linker's would be, as it runs first."""
    profile = parse_text(
        "cmd: program -x\nevents: Ir\nob=/lib/ld.so\nfl=???\nfn=0x9\n1 1\ncob=/bin/program\n"
        f"cfn={main}\ncalls=1 1\n1 2\nob=/bin/program\nfn={main}\n1 2\n"
    )
    data = b"".join(FORMATS["pprof"].pieces(make_request(profile, ("Ir",), 1)))
    message = fields(gzip.decompress(data))
    assert [message[6][fields(each)[5][0]] for each in message[3]] == [b"/bin/program", b"/lib/ld.so"]


def test_code_without_a_name_has_its_objects():
    profile = parse_text("events: Ir\nob=/lib/a.so\nfl=???\nfn=0x0000000000000500\n1 9\n")
    for form in ("folded", "dot", "speedscope"):
        assert "a.so+0x500" in exported(profile, form, ("Ir",), 1)
    assert "fn=(1) 0x0000000000000500\n" in exported(profile, "callgrind", ("Ir",), 1)


INLINED = """events: Ir Dr
positions: instr line
ob=/bin/program
fl=a.c
fn=main
0x10 3 5 1
0x14 3 2 0
0x18 7 1 0
cfn=f
calls=2 0x40 9
0x18 7 8 6
fi=h.h
0x1c 50 30 2
fe=a.c
fn=f
0x40 9 8 6
totals: 46 9
"""
# Of main's instructions, two of line 3 are its own; the call is in inner, inlined into outer,
# which main calls in line 4; and 0x1c is in outer itself.
CHAINS = {"/bin/program": {
    0x18: (Position("main", "a.c", 4), Position("outer", "h.h", 40), Position("inner", "h.h", 7)),
    0x1C: (Position("main", "a.c", 4), Position("outer", "h.h", 50)),
}}


def inlined_request(form, tmp_path, sites=True):
    """main calls f from one place."""
    functions = [("/bin/program", "a.c", 2, "main"), ("/bin/program", "a.c", 9, "f")]
    nodes = [
        (0, 0, 0, (0, 0)), (1, 1, 1, (38, 3)), (2, 2, 2, (8, 6)),
    ]
    if sites:
        places = [("", 0, 0), ("", 0, 0), ("h.h", 7, 0x18)]
        nodes = [(*node, place) for node, place in zip(nodes, places)]
    path = tmp_path / "p"
    path.write_text(INLINED)
    tree = ContextFile(["Ir", "Dr"], functions, ["thread 1"], nodes)
    (tmp_path / "contexts.p").write_bytes(tree.bytes())
    profile = parse_text(INLINED)
    return make_request(profile, ("Ir", "Dr"), 0, load_contexts(path), chains=CHAINS)


@pytest.mark.parametrize("sites", [True, False])
def test_inlined_functions_are_frames_where_they_are_known(tmp_path, sites):
    request = inlined_request("pprof", tmp_path, sites)
    found = {
        tuple((frame.name, line, frame.is_inlined) for frame, line in zip(stack.frames, stack.lines)):
        stack.row
        for stack in stacks(request)
    }
    inner = (("outer", 40, True), ("inner", 7, True))
    assert found == {
        (("main", 3, False),): (7, 1),
        (("main", 4, False), *inner): (1, 0),
        (("main", 4, False), ("outer", 50, True)): (30, 2),
        (("main", 4 if sites else 0, False), *(inner if sites else ()), ("f", 9, False)): (8, 6),
    }


def test_costs_of_a_function_with_several_paths_are_not_shared_out(tmp_path):
    """What main's instructions cost is the sum of both threads."""
    functions = [("/bin/program", "a.c", 2, "main"), ("/bin/program", "a.c", 9, "f")]
    nodes = [
        (0, 0, 0, (0, 0)), (1, 1, 1, (30, 2)), (2, 2, 2, (8, 6)),
        (0, 1, 0, (0, 0)), (1, 1, 1, (8, 1)),
    ]
    path = tmp_path / "p"
    path.write_text(INLINED)
    tree = ContextFile(["Ir", "Dr"], functions, ["thread 1", "thread 2"], nodes)
    (tmp_path / "contexts.p").write_bytes(tree.bytes())
    request = make_request(
        parse_text(INLINED), ("Ir",), 0, load_contexts(path), chains=CHAINS
    )
    found = [([frame.name for frame in stack.frames], *stack.row) for stack in stacks(request)]
    assert found == [
        (["thread 1", "main"], 30), (["thread 1", "main", "f"], 8), (["thread 2", "main"], 8),
    ]


def test_the_pprof_form_has_a_line_for_each_inlined_function(tmp_path):
    request = inlined_request("pprof", tmp_path)
    data = gzip.decompress(b"".join(FORMATS["pprof"].pieces(request)))
    profile = fields(data)
    texts = [text.decode() for text in profile[6]]
    names = {(found := fields(each))[1][0]: texts[found[2][0]] for each in profile[5]}
    locations = {
        (found := fields(each))[1][0]: [
            (names[(line := fields(part))[1][0]], line[2][0]) for part in found[4]
        ]
        for each in profile[4]
    }
    samples = [
        [locations[number] for number in unpacked(fields(each)[1][0])] for each in profile[2]
    ]
    assert [[("f", 9)], [("inner", 7), ("outer", 40), ("main", 4)]] in samples


def table_checked(table):
    assert {len(column) for name, column in table.items() if isinstance(column, list)} == {
        table["length"]
    }
    return table


def firefox_threads(document):
    """The thread's name, and the paths with their weights. Everything refers to what is there."""
    shared = document["shared"]
    texts = shared["stringArray"]
    places, frames, functions, sources, resources = (
        table_checked(shared[f"{name}"])
        for name in ("stackTable", "frameTable", "funcTable", "sources", "resourceTable")
    )
    table_checked(shared["nativeSymbols"])
    table_checked(shared["sourceLocationTable"])

    def function(number):
        resource, source = functions["resource"][number], functions["source"][number]
        return (
            texts[resources["name"][resource]] if resource >= 0 else "",
            "???" if source is None else texts[sources["filename"][source]],
            texts[functions["name"][number]],
        )

    paths = []
    for number, (frame, offset) in enumerate(zip(places["frame"], places["prefixOffset"])):
        assert 0 <= offset <= number
        around = paths[number - offset] if offset else ()
        depth = frames["inlineDepth"][frame]
        paths.append((*around, (function(frames["func"][frame]), frames["line"][frame], depth)))
    threads = []
    for thread in document["threads"]:
        samples = table_checked(thread["samples"])
        table_checked(thread["markers"])
        assert samples["time"] == sorted(samples["time"]) and samples["time"][0] == 0
        assert samples["time"][-1] < 1000
        assert len(set(samples["time"])) == samples["length"]
        threads.append((
            thread["name"], samples["weightType"],
            {paths[stack]: weight for stack, weight in zip(samples["stack"], samples["weight"])},
        ))
        assert len(threads[-1][2]) == samples["length"]
    return threads


@given(seeds)
def test_the_firefox_form_has_a_thread_per_event(seed):
    trace = Trace(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = with_tree(pathlib.Path(folder), trace)
        request = make_request(parse_text(path.read_text()), ("X", "Ir"), 0, load_contexts(path))
    document = json.loads("".join(firefox(request)))
    assert document["meta"]["preprocessedProfileVersion"] == 70
    for (name, _, found), event in zip(firefox_threads(document), (1, 0)):
        assert name.startswith(f"{'Ir X'.split()[event]}: ")
        assert {tuple(function for function, _, _ in path): cost for path, cost in found.items()} == {
            path: costs[event] for path, (_, costs) in trace.contexts.items() if costs[event]
        }


def test_the_firefox_form_tells_inlined_functions_by_their_depth(tmp_path):
    document = json.loads("".join(firefox(inlined_request("firefox", tmp_path))))
    (_, _, found), _ = firefox_threads(document)
    of_f = next(path for path in found if path[-1][0][2] == "f")
    assert [(function[2], line, depth) for function, line, depth in of_f] == [
        ("main", 4, 0), ("outer", 40, 1), ("inner", 7, 2), ("f", 9, 0),
    ]
    assert sum(found.values()) == 46


def unpacked(data):
    found, number, shift = [], 0, 0
    for byte in data:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(number)
            number = shift = 0
    return found


def test_names_cannot_break_the_lines_of_folded_stacks():
    profile = parse_text("events: Ir\nfn=a;b\x1b[2J c\n1 5\n")
    assert exported(profile, "folded") == "a:b?[2J c 5\n"


# --- Graphs ---------------------------------------------------------------------------------------


def test_the_graph_leaves_out_what_is_below_the_threshold():
    profile = parse_text(HELPER.read_text())
    all_of_it = exported(profile, "dot", ("Ir",), 0)
    assert len(re.findall(r"^  n\d+ \[", all_of_it, re.MULTILINE)) == 6
    most = exported(profile, "dot", ("Ir",), 10)
    assert len(re.findall(r"^  n\d+ \[", most, re.MULTILINE)) == 5
    assert r'[label="columns\n50.0k (50.0%) with callees\n10.0k (10.0%) itself"' in most
    assert r'[label="40.0k (40.0%)\n8,000 calls", penwidth=2.60]' in most


def test_calls_within_recursion_have_no_cost_in_the_graph():
    profile = parse_text((ROOT / "tests" / "profiles" / "recursion.out").read_text())
    assert re.search(r'n\d -> n\d \[label="\d+ calls?", style=dashed\]', exported(profile, "dot"))


def test_the_graph_of_contexts_has_a_node_for_each_path(tmp_path):
    """main calls f and g, which calls f: of 100 in all, 40 by one path and 55 by the other."""
    functions = [("", "a.c", 1, name) for name in ("main", "f", "g")]
    nodes = [
        (0, 0, 0, (0,)), (1, 1, 0, (4,)), (2, 2, 7, (40,)), (2, 3, 1, (1,)), (3, 2, 3, (55,)),
    ]
    path = tmp_path / "p"
    path.write_text("events: Ir\nfl=a.c\nfn=main\n1 4\nfn=f\n1 95\nfn=g\n1 1\n")
    (tmp_path / "contexts.p").write_bytes(
        ContextFile(["Ir"], functions, ["thread 1"], nodes).bytes()
    )
    drawn = run(path, "--export=dot-contexts", "--threshold=20").stdout
    assert re.findall(r'^  n(\d) \[label="([^\\]*)\\n(\S+) ', drawn, re.MULTILINE) == [
        ("0", "thread 1", "100"), ("1", "main", "100"), ("2", "f", "40"), ("3", "g", "56"),
        ("4", "f", "55"),
    ]
    assert re.findall(r'^  n(\d) -> n(\d) \[label="([^"]*)"', drawn, re.MULTILINE) == [
        ("0", "1", ""), ("1", "2", "7 calls"), ("1", "3", "1 call"), ("3", "4", "3 calls"),
    ]
    (tmp_path / "contexts.p").unlink()
    refused = run(path, "--export=dot-contexts")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "needs a context tree beside each profile" in refused.stderr


# --- The command ----------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments, message", [
    (["--export=callgrind", "--events=Foo"], "event 'Foo' is unknown, or a ratio; there are Ir Dr"),
    (["--export=callgrind", "--events=D1rate"], "event 'D1rate' is unknown, or a ratio"),
    (["--export=callgrind", "--events=Ir,Ir"], "--events names an event twice"),
    (["--export=folded", "--events=Ir,Dr"], "--export=folded holds one event"),
    (["--export=callgrind", "-o", "/missing/x"], "/missing/x: No such file or directory"),
    (["--export=callgrind", "-o", "/dev/full"], "/dev/full: No space left on device"),
    (["--export=nothing"], "invalid choice: 'nothing'"),
    (["--export=pprof"], "--export=pprof is no text: say with -o where it goes"),
    (["--events=Ir"], "--events is for --export"),
    (["-o", "x"], "--output is for --export"),
    (["--export=dot", "--hints"], "--hints does not go with --export"),
    (["--export=dot", "--format=json"], "--format does not go with --export"),
])
def test_mistakes_are_one_sentence(arguments, message):
    result = run(HELPER, *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert message in result.stderr and result.stderr.count("\n") == 1


def test_the_default_event_is_that_of_the_report():
    profile = parse_text(HELPER.read_text())
    assert make_request(profile, (), 1).metrics[0].name == "SpLoss1"
    of_data = parse_text("events: Ir SpLoss1 SpLossD1\nfn=f\n1 1 2 3\n")
    assert make_request(of_data, (), 1).metrics[0].name == "SpLossD1"
    with pytest.raises(UserError):
        make_request(profile, ("Unused1",), 1)


# --- Readers --------------------------------------------------------------------------------------


@pytest.fixture(name="read_by_speedscope")
def fixture_read_by_speedscope():
    npm = shutil.which("npm")
    root = npm and subprocess.run([npm, "root", "-g"], capture_output=True, text=True).stdout.strip()
    bundles = list(pathlib.Path(root or "/missing").glob("speedscope/dist/release/speedscope-*.js"))
    if not bundles:
        pytest.skip("speedscope is missing; with node: npm install -g speedscope")

    def read(path):
        command = ["node", str(ROOT / "tests" / "readers" / "speedscope.js"), bundles[0], path]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert result.returncode == 0, result.stderr[-2000:]
        return [json.loads(line) for line in result.stdout.splitlines()]

    return read


def test_speedscope_reads_the_callgrind_form(read_by_speedscope, tmp_path):
    path = tmp_path / "callgrind.out.1"
    assert run(HELPER, "--export=callgrind", "--events=DLmr,SpLoss1", "-o", path).stderr == ""
    profile = parse_text(path.read_text())
    found = read_by_speedscope(path)
    assert [shown["name"] for shown in found] == [
        f"callgrind.out.1 -- {event}" for event in profile.events
    ]
    for shown, total in zip(found, profile.totals()):
        assert (shown["not_numbers"], round(shown["total"])) == (0, total)
    # What the form is for: with trailing zeros left out, it shows NaN.
    assert any(shown["not_numbers"] for shown in read_by_speedscope(HELPER))


def test_speedscope_reads_its_own_form(read_by_speedscope, tmp_path):
    path = tmp_path / "profile.speedscope.json"
    run(HELPER, "--export=speedscope", "--events=Ir,SpLoss1", "-o", path)
    instructions, loss = read_by_speedscope(path)
    assert (instructions["name"], instructions["total"]) == ("Ir: Instructions executed", 100_000)
    assert instructions["self"]["fetch"] == 78_000
    assert (loss["total"], loss["self"]["fetch"]) == (448_320, 448_320)


def test_firefox_profiler_reads_its_form(tmp_path):
    program = shutil.which("profiler-cli")
    if not program:
        pytest.skip("profiler-cli is missing; with node 24: npm install -g @firefox-devtools/profiler-cli")
    path = tmp_path / "profile.json"
    assert run(HELPER, "--export=firefox", "--events=Ir,SpLoss1", "-o", path).returncode == 0
    words = ["--session", "bdgrind"]
    # It asks a server, which it would start itself but gives half a second only.
    environment = {**os.environ, "HOME": str(tmp_path)}
    server = subprocess.Popen(
        [program, "--daemon", path, *words], env=environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )

    def asked(*question):
        return subprocess.run(
            [program, *question, *words], capture_output=True, text=True, timeout=60,
            env=environment,
        )

    try:
        end = time.monotonic() + 60
        while (threads := asked("thread", "list")).returncode != 0:
            assert server.poll() is None and time.monotonic() < end, threads.stderr
        assert "SpLoss1: " in threads.stdout
        for thread, total, fetch in (("t-0", 100_000, 78_000), ("t-1", 448_320, 448_320)):
            answer = asked("thread", "functions", "--thread", thread, "--json")
            assert answer.returncode == 0, answer.stderr
            known = {found["name"]: found for found in json.loads(answer.stdout)["functions"]}
            root = known["(below main)"]
            assert (root["totalSamples"], root["totalPercentage"]) == (total, 100)
            assert sum(
                found["selfSamples"] for name, found in known.items() if name.startswith("fetch")
            ) == fetch
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()


def test_pprof_reads_its_form(tmp_path):
    if not shutil.which("go"):
        pytest.skip("go is missing; on Debian: apt-get install golang-go")
    path = tmp_path / "p.pb.gz"
    assert run(HELPER, "--export=pprof", "-o", path).stderr == ""
    profile = parse_text(HELPER.read_text())
    environment = {
        **os.environ, "HOME": str(tmp_path), "GOFLAGS": "-mod=mod", "GOCACHE": str(tmp_path / "go"),
        "GOTOOLCHAIN": "local", "PPROF_TMPDIR": str(tmp_path),
    }

    def shown(*options):
        words = ["go", "tool", "pprof", *options, str(path)]
        return subprocess.run(
            words, capture_output=True, text=True, env=environment, check=True, timeout=60
        ).stdout

    kinds = re.search(r"^Samples:\n(.*)$", shown("-raw"), re.MULTILINE)[1].split()
    main = "SpLoss1/bytes[dflt]"
    assert kinds[0] == main
    assert sorted(kind.partition("/")[0] for kind in kinds) == sorted(profile.events)
    top = shown("-top", "-sample_index=Ir", "-unit=count", "-nodefraction=0")
    # As in the folded form: fetch has 40,000 + 8,000 + 30,000 below its three callers.
    assert re.search(r"^ +78000 78\.00% .* fetch$", top, re.MULTILINE), top
    assert re.search(r"100000 total", top)


def test_gprof2dot_reads_the_callgrind_form(tmp_path):
    program = shutil.which("gprof2dot")
    if not program:
        pytest.skip("gprof2dot is missing; with Python: pip install gprof2dot")
    path = tmp_path / "callgrind.out.1"
    run(HELPER, "--export=callgrind", "--events=D1mr", "-o", path)
    graph = subprocess.run(
        [program, "-f", "callgrind", path], capture_output=True, text=True, check=True
    ).stdout
    # It shows the first event only: of 9,000 misses, columns has 8,000 below itself.
    assert re.search(r'columns"? \[.*label="[^"]*columns\\n88\.\d+%\\n\(0\.00%\)', graph), graph


def test_graphviz_draws_the_graph(tmp_path):
    if not shutil.which("dot"):
        pytest.skip("dot is missing; on Debian: apt-get install graphviz")
    for name in ('fetch "quoted" \\ <b>', "fetch\\n", 'fetch"];n0->n0;'):
        profile = parse_text(HELPER.read_text().replace("fetch", name))
        drawn = subprocess.run(
            ["dot", "-Tplain"], input=exported(profile, "dot", ("Ir",), 0), capture_output=True,
            text=True, check=True,
        )
        assert drawn.stderr == ""
        assert len(re.findall(r"^node ", drawn.stdout, re.MULTILINE)) == 6
        assert len(re.findall(r"^edge ", drawn.stdout, re.MULTILINE)) == 7
