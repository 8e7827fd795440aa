# SPDX-License-Identifier: GPL-2.0-or-later
"""The first screen: what to change and where, in 80 columns and 40 lines."""

import os
import pathlib
import re
import shlex
import stat
import subprocess
import sys

import pytest

from bdannotate.analyses.code_use import code_use
from bdannotate.analyses.cycles import origin
from bdannotate.analyses.hints import hints
from bdannotate.analyses.ownership import Ownership, Reach
from bdannotate.analyses.report import make_report, make_selection
from bdannotate.analyses.startup import above_main
from bdannotate.model.graph import build
from bdannotate.model.profile import Function
from bdannotate.pager import pager
from bdannotate.reading.parser import parse_text

ROOT = pathlib.Path(__file__).resolve().parent.parent
HELPER = ROOT / "tests" / "profiles" / "helper.out"
EVENTS = "Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw AcCost1 SpLoss1 EvLine1 UsByte1 Access1"
EVENTS += " AcCost2 SpLoss2 EvLine2 UsByte2 Access2"
HEAD = f"""version: 1
creator: bdgrind-test
cmd: ./program
desc: I1 cache: 32768 B, 64 B, 8-way associative
desc: D1 cache: 32768 B, 64 B, 8-way associative
desc: LL cache: 8388608 B, 64 B, 16-way associative
positions: line
events: {EVENTS}
"""


def use(lines, used, accesses, code=0):
    """The costs of so many lines loaded for data, each with so many bytes used in so many accesses,
    and of so many lines of code of which half is used."""
    loaded = lines + code
    rareness = 1000 * lines // accesses + 125 * code
    return (
        f"{10 * loaded} {accesses * lines} 0 {code} {lines} 0 0 0 0 {rareness} "
        f"{(64 - used) * lines + 32 * code} {loaded} {used * lines + 32 * code} "
        f"{accesses * lines + 8 * code}"
    )


def call(name, cost, file=None, module=None, count=1):
    head = f"cob={module}\n" if module else ""
    head += f"cfi={file}\n" if file else ""
    return f"{head}cfn={name}\ncalls={count} 1\n1 {cost}\n"


def screen(tmp_path, body, *arguments, environment=None):
    path = tmp_path / "bdgrind.out.1"
    path.write_text(HEAD + body)
    result = subprocess.run(
        [sys.executable, str(ROOT / "bd_annotate"), path.name, "--width=80", *arguments],
        cwd=tmp_path, capture_output=True, text=True, timeout=60,
        env={**os.environ, **(environment or {})},
    )
    assert result.stderr == ""
    return result.stdout


def section(text, title):
    return re.split(r"\n\n(?=== |Next )", text.partition(f"== {title}")[2])[0].split("\n")[1:]


def report_of(body, events=EVENTS, **selection):
    profile = parse_text(HEAD.replace(EVENTS, events) + body)
    chosen = {"show": (), "sort": (), "threshold": 1.0, "inclusive": None, "function": None}
    return make_report(profile, make_selection(profile, **{**chosen, **selection}))


def test_the_top_lines_of_all_files_name_those_inlined_into_main(tmp_path):
    body = "ob=/home/me/program\nfl=/home/me/main.cpp\nfn=main\n"
    body += f"10 {use(100, 64, 64)}\nfi=/home/me/hot.h\n7 {use(9000, 16, 2)}\n"
    body += f"fi=/home/me/warm.h\n3 {use(2000, 16, 2)}\n"
    lines = section(screen(tmp_path, body), "Lines by never used")
    assert [line.split()[-2:] for line in lines[2:]] == [["hot.h:7", "main"], ["warm.h:3", "main"]]


STARTUP = (
    "ob=/lib/ld.so\nfl=???\nfn=0x000000000001ab70\n1 {own}\n"
    "cob=/home/me/program\ncfi=???\ncfn=(below main)\ncalls=1 1\n1 {all}\n"
    "ob=/home/me/program\nfl=???\nfn=(below main)\n1 {own}\n"
    "cob=/lib/libc.so\ncfi=???\ncfn=__libc_start_main@@GLIBC_2.34\ncalls=1 1\n1 {all}\n"
    "ob=/lib/libc.so\nfl=???\nfn=__libc_start_main@@GLIBC_2.34\n1 {own}\n"
    "cob=/home/me/program\ncfi={file}\ncfn={main}\ncalls=1 1\n1 {all}\n"
)


def startup(cost, main="main", file="/home/me/main.c"):
    return STARTUP.format(own="1", all=cost, main=main, file=file)


def test_what_is_above_main_is_one_row(tmp_path):
    cost = use(1000, 16, 2)
    body = startup(cost) + f"ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n5 {cost}\n"
    names = [line[47:] for line in section(screen(tmp_path, body), "Functions")[3:]]
    assert names == ["(above main: 3 functions)", "main  main.c [program]"]
    rows = section(screen(tmp_path, body, "--full-stacks"), "Functions")[3:]
    whole = {line[47:] for line in rows}
    assert {"ld.so+0x1ab70", "(below main)  [program]", "__libc_start_main  [libc.so]"} < whole
    assert "(above main" not in screen(tmp_path, body, "--function=main")


@pytest.mark.parametrize("main, body, above", [
    # A program without symbols: what the C library calls in another object.
    ("0x0000000000001100", "", 3),
    # Fortran's main program is below one of C.
    ("main", "cfn=MAIN__\ncalls=1 1\n1 9\nfn=MAIN__\n2 9\n", 4),
    ("main", "cfn=std::rt::lang_start_internal\ncalls=1 1\n1 9\nfn=std::rt::lang_start_internal\n"
     "cfn=app::main\ncalls=1 1\n1 9\nfn=app::main\n2 9\n", 5),
])
def test_where_a_program_begins(main, body, above):
    text = startup("9", main, "m.c") + f"ob=/home/me/program\nfl=m.c\nfn={main}\n1 1\n{body}"
    assert len(above_main(build(parse_text(HEAD + text)))) == above


def test_threads_begin_at_their_start_routines():
    body = "fl=t.c\nfn=clone\n1 1\n" + call("start_thread", 9) + "fn=start_thread\n1 1\n"
    body += call("work", 8) + "fn=work\n1 8\nfn=start\n1 1\n" + call("main", 9) + "fn=main\n1 9\n"
    found = above_main(build(parse_text(HEAD + body)))
    assert {function.name for function in found} == {"clone", "start_thread", "start"}


def test_a_hint_for_a_library_goes_to_who_calls_it():
    library, own = use(5000, 16, 2), use(6000, 16, 2)
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n1 1\n"
    body += call("fill", own, "/home/me/main.c", "/home/me/program")
    body += f"fn=fill\n3 {use(1000, 16, 2)}\n" + call("malloc", library, "malloc.c", "/lib/libc.so")
    body += "ob=/lib/libc.so\nfl=malloc.c\nfn=malloc\n9 10\n"
    body += call("_int_malloc", library, "malloc.c", "/lib/libc.so")
    body += f"fn=_int_malloc\n99 {library}\n"
    (hint,) = hints(report_of(body))
    assert (hint.function.name, hint.through.name) == ("fill", "malloc")


def test_what_a_library_calls_back_is_no_second_hint():
    """As of OpenMP's parallel regions, which main starts through a library."""
    region = use(5000, 16, 2)
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n1 1\n"
    body += call("GOMP_parallel", region, "???", "/lib/libgomp.so")
    body += "ob=/lib/libgomp.so\nfl=???\nfn=GOMP_parallel\n1 1\n"
    body += call("work", region, "/home/me/main.c", "/home/me/program")
    body += f"ob=/home/me/program\nfl=/home/me/main.c\nfn=work\n7 {region}\n"
    assert [hint.function.name for hint in hints(report_of(body))] == ["work"]


def test_no_advice_on_data_where_code_was_loaded(tmp_path):
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n"
    body += f"5 {use(747, 4, 2, code=159401)}\n"
    assert hints(report_of(body)) == []
    text = screen(tmp_path, body)
    assert "Lines by" not in text
    assert "First     code: 99.5% of L1 misses" in text


def test_the_same_advice_is_given_once(tmp_path):
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n1 1\n"
    for name in ("one", "two"):
        body += call(name, use(5000, 16, 2), "/home/me/main.c", "/home/me/program")
    body += f"fn=one\n5 {use(5000, 16, 2)}\nfn=two\n6 {use(5000, 16, 2)}\n"
    lines = section(screen(tmp_path, body), "What to change")
    assert [line.split(" ")[1] for line in lines if line[:1].isdigit()] == ["one", "two"]
    assert lines[-1].endswith("; as 1.")


def test_members_of_a_cycle_are_listed_and_what_closes_it_is_named(tmp_path):
    body = "fl=a.c\nfn=main\n1 1\n" + call("even", 150) + "fn=even\n1 50\n" + call("odd", 1800)
    body += "fn=odd\n1 50\n" + call("even", 1700, count=25) + call("leaf", 50) + "fn=leaf\n1 50\n"
    text = screen(tmp_path, body, "--show=Ir,Ir:self")
    assert "<cycle 1>: 2 functions call each other, closed by odd -> even (25x)" in text
    rows = section(text, "Functions")[3:-1]
    assert not any("2 functions:" in row for row in rows)
    shares = [float(share) for row in rows for share in re.findall(r"([\d.]+)%", row)]
    assert max(shares) <= 100.0


def test_what_closes_a_cycle_is_named_to_the_end_of_the_line(tmp_path):
    """Of code without a symbol, the object may be cut, but not the address."""
    module, run = "/usr/lib/a-large-library.so.1.2.3", "run_the_statements_of_a_program"
    body = "ob=/usr/bin/program\nfl=???\nfn=main\n0 1\n" + call(run, 1500, module=module)
    body += f"ob={module}\nfn={run}\n0 100\n" + call("0x2adb8", 1400) + "fn=0x2adb8\n0 100\n"
    text = screen(tmp_path, body + call(run, 1300, count=25), "--show=Ir,Ir:self")
    (line,) = re.findall("^<cycle.*$", text, re.MULTILINE)
    assert line.startswith("<cycle 1>: 2 functions, closed by a-large-")
    assert "+0x2adb8 -> run_the_stat" in line and line.endswith(" (25x)") and len(line) <= 80


def test_a_cycle_through_a_dispatcher_names_it():
    """Eight handlers, each of which calls the dispatcher, which calls them all."""
    names = [f"handler{number}" for number in range(8)]
    body = "fl=a.c\nfn=main\n1 1\n" + call("dispatch", 100) + "fn=dispatch\n1 1\n"
    body += "".join(call(name, 10) for name in names)
    body += "".join(f"fn={name}\n1 1\n" + call("dispatch", 9) for name in names)
    graph = build(parse_text(HEAD + body))
    (cycle,) = graph.cycles
    assert len(cycle.members) == 9
    assert [function.name for function in origin(graph, cycle).dispatchers] == ["dispatch"]


def test_objects_without_symbols_are_named_with_what_helps(tmp_path):
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n"
    library = use(9000, 16, 2)
    body += f"5 {use(1000, 16, 2)}\n" + call("0x0000000000000500", library, "???", "/lib/x.so")
    body += f"ob=/lib/x.so\nfl=???\nfn=0x0000000000000500\n0 {library}\n"
    text = screen(tmp_path, body)
    assert "Unknown   90% of the loss is in code without symbols (x.so)" in text
    assert "DEBUGINFOD_URLS" in text
    assert "x.so+0x500" in section(text, "Functions")[-1]
    # main can be changed; the code in x.so, which has more of the loss, cannot.
    assert section(text, "What to change")[0].startswith("1. main")
    assert "Unknown" not in screen(tmp_path, body.replace("0x0000000000000500", "f").replace(
        "fl=???", "fl=/home/me/f.c"))


def test_functions_stand_for_lines_that_are_not_known(tmp_path):
    """Of a program without symbols, the lines of the C library would be all that is listed."""
    libc = use(1000, 16, 2)
    body = "ob=/usr/bin/program\nfl=???\nfn=main\n0 1\n"
    body += call("0x0000000000000500", use(9000, 16, 2), "???", "/usr/lib/library.so.1.2")
    body += call("memcpy", libc, "/build/memcpy.S", "/lib/libc.so")
    body += f"ob=/usr/lib/library.so.1.2\nfl=???\nfn=0x0000000000000500\n0 {use(9000, 16, 2)}\n"
    body += f"ob=/lib/libc.so\nfl=/build/memcpy.S\nfn=memcpy\n30 {libc}\n"
    text = screen(tmp_path, body)
    names = [line.partition("(no lines)  ")[2] for line in section(text, "Lines by never used")[2:]]
    assert names == ["main through memcpy", "library.so.1.2+0x500"]


LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6"


def test_what_the_c_library_costs_counts_for_the_line_that_calls_it(tmp_path):
    """memcmp has more of the loss than what calls it, of a library that is stripped."""
    compare, sort = use(9000, 16, 2), use(2000, 16, 2)
    program, library = "/usr/bin/program", "/usr/lib/library.so.1.2"
    body = f"ob={program}\nfl=???\nfn=0x400\n0 1\n" + call("0x500", compare, "???", library)
    body += f"ob={library}\nfl=???\nfn=0x500\n0 {sort}\n"
    body += call("__memcmp_avx2_movbe", compare, "../memcmp.S", LIBC, 7)
    body += f"ob={LIBC}\nfl=../memcmp.S\nfn=__memcmp_avx2_movbe\n414 {compare}\n"
    text = screen(tmp_path, body)
    (line,) = section(text, "Lines by never used")[2:]
    assert line.split("  ")[-1] == "library.so.1.2+0x500 through memcmp"
    assert re.search(r" 100\.0%", line), "both together"
    # Asked for by name, it is there with its own costs.
    (line,) = section(screen(tmp_path, body, "--function=memcmp"), "Lines by never used")[2:]
    assert line.endswith("  memcmp.S:414  __memcmp_avx2_movbe")


@pytest.mark.parametrize("name, is_runtime", [
    ("libc.so.6", True), ("libc-2.31.so", True), ("ld-linux-x86-64.so.2", True), ("ld-2.31.so", True),
    ("ld-musl-x86_64.so.1", True), ("libstdc++.so.6.0.30", True), ("libgomp.so.1.0.0", True),
    ("vgpreload_core-amd64-linux.so", True), ("libcrypto.so.3", False), ("libmagic.so.1", False),
    ("libsqlite3.so.0.8.6", False), ("libc", False), ("ld", False), ("???", False), ("", False),
])
def test_what_belongs_to_the_runtime(name, is_runtime):
    function = Function(f"/usr/lib/{name}", "???", "f")
    assert (Ownership({function: ()}).reach(function) is Reach.RUNTIME) == is_runtime


def test_a_runtime_whose_source_is_here_can_be_changed(tmp_path):
    source = tmp_path / "malloc.c"
    source.write_text("")
    function = Function("/home/me/libc.so.6", str(source), "malloc")
    assert Ownership({function: ()}).reach(function) is Reach.OWN


@pytest.mark.parametrize("back", [False, True])
def test_a_call_into_the_c_library_with_a_line(tmp_path, back):
    """What calls back stays where it is, as its costs are those of others, too."""
    cost, source = use(9000, 16, 2), "/home/me/main.c"
    body = f"ob=/home/me/program\nfl={source}\nfn=main\n"
    body += f"5 {use(4000, 16, 2)}\n" + call("fill", cost, source) + f"fn=fill\n8 {use(100, 16, 2)}\n"
    body += f"cob={LIBC}\ncfi=sort.c\ncfn=qsort\ncalls=1 1\n8 {cost}\n"
    body += f"ob={LIBC}\nfl=sort.c\nfn=qsort\n9 {cost}\n"
    if back:
        body += call("compare", "1", source, "/home/me/program")
        body += f"ob=/home/me/program\nfl={source}\nfn=compare\n20 1\n"
    lines = [re.split(" {2,}", line)[-2:] for line in section(screen(tmp_path, body), "Lines")[2:]]
    if back:
        assert lines == [["main.c:5", "main"], ["sort.c:9", "qsort"]]
    else:
        assert lines == [["main.c:8", "fill through qsort"], ["main.c:5", "main"]]


def test_lines_without_a_name_are_ranked_with_those_that_have_one(tmp_path):
    body = "ob=/usr/bin/program\nfl=???\nfn=main\n0 1\n" + call("0x500", use(9000, 16, 2))
    body += f"fn=0x500\n0 {use(9000, 16, 2)}\nfn=named\n0 {use(1000, 16, 2)}\n"
    rows = section(screen(tmp_path, body), "Lines by never used")[2:]
    assert [row.split("  ")[-1] for row in rows] == ["program+0x500", "named"]


def test_what_the_report_is_sorted_by_is_shown_first(tmp_path):
    """As the first screen says: see --sort=Ir."""
    body = "ob=/home/me/program\nfl=a.c\nfn=main\n"
    body += f"5 {use(2000, 16, 2)}\n6 90000000\n" + call("f", "100")
    text = screen(tmp_path, body + "fn=f\n9 100\n")
    assert "see --sort=Ir" in text and "a.c:6" not in text
    text = screen(tmp_path, body + "fn=f\n9 100\n", "--sort=Ir")
    first, second = section(text, "Lines by instr.")[2:]
    assert first.endswith(" a.c:6  main") and second.endswith(" a.c:5  main")
    names, sides, _, row = section(text, "Functions by Ir:incl")
    assert names.split()[:4] == ["instr.", "instr.", "never", "used"]
    assert sides.split()[:3] == ["incl", "self", "incl"]
    assert row.split()[:4] == ["90.0M", "100.0%", "90.0M", "100.0%"]
    text = screen(tmp_path, body + "fn=f\n9 100\n", "--sort=Ir", "--show=SpLoss1")
    assert section(text, "Functions")[0].split() == ["never", "used"]


def test_the_c_library_is_listed_where_nobody_else_is_charged(tmp_path):
    """As the dynamic linker's work before the program begins is: last, and no place for a hint."""
    linker, own = use(9000, 16, 2), use(1000, 16, 2)
    body = "ob=/lib64/ld-linux-x86-64.so.2\nfl=rtld.c\nfn=_dl_start\n1 1\n" + call("relocate", linker)
    body += f"fn=relocate\n301 {linker}\n" + STARTUP.format(
        own=1, all=own, main="main", file="???") + f"ob=/home/me/program\nfl=???\nfn=0x500\n0 {own}\n"
    text = screen(tmp_path, body)
    assert [line.split("  ")[-1] for line in section(text, "Lines by never used")[2:]] == [
        "program+0x500", "relocate"]
    assert [line for line in section(text, "What to change") if line[:1].isdigit()] == [
        "1. program+0x500: 10% of the loss, 75% unused"]


def test_how_the_runtime_begins_is_no_row_of_its_own(tmp_path):
    cost = use(9000, 16, 2)
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n1 1\n"
    body += call("pthread_create", cost, "???", LIBC) + f"ob={LIBC}\nfl=???\nfn=pthread_create\n0 1\n"
    body += call("clone", cost) + "fn=clone\n0 1\n" + call("0x77", cost, "???", "/lib/libgomp.so.1.0.0")
    body += "ob=/lib/libgomp.so.1.0.0\nfl=???\nfn=0x77\n0 1\n"
    body += call("work", cost, "/home/me/main.c", "/home/me/program")
    body += f"ob=/home/me/program\nfl=/home/me/main.c\nfn=work\n7 {cost}\n"
    assert "libgomp" not in "".join(section(screen(tmp_path, body), "Functions"))
    assert "libgomp" in "".join(section(screen(tmp_path, body, "--limit=all"), "Functions"))


def test_code_of_the_c_library_comes_behind_what_can_be_changed():
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n"
    events = "Ir I1mr D1mr D1mw ILmr DLmr DLmw SpLoss1 UsByte1 SpLossD1 UsByteD1"
    cost = "1000 {} 0 0 0 0 0 64 64 1 1"
    body += f"5 {cost.format(100)}\nob={LIBC}\nfl=malloc.c\nfn=malloc\n9 {cost.format(900)}\n"
    found = code_use(report_of(body, events))
    assert [function.name for function, _ in found.functions] == ["main", "malloc"]


def test_code_without_a_name_is_asked_for_as_it_is_shown(tmp_path):
    lost = use(9000, 16, 2)
    body = startup(lost, main="0x0000000000001100", file="???")
    body += "ob=/home/me/program\nfl=???\nfn=0x0000000000001100\n0 1\n"
    body += call("0x0000000000000500", lost, "???", "/usr/lib/a-library-with-a-long-name.so.1.2.3")
    body += f"ob=/usr/lib/a-library-with-a-long-name.so.1.2.3\nfl=???\nfn=0x0000000000000500\n0 {lost}\n"
    text = screen(tmp_path, body)
    assert "Next  bd_annotate --tree=both '--function=\\+0x500$' bdgrind.out.1" in text
    for pattern in (r"\+0x500$", r"^a-library.*\.3\+0x500$", "0500$"):
        rows = section(screen(tmp_path, body, f"--function={pattern}"), "Functions")[3:]
        assert [row.split("  ")[-1] for row in rows] == ["a-library-with-a-long-name.so+0x500"], pattern


def test_code_without_symbols_is_a_place_of_a_program_that_has_hardly_any():
    """Else what all of it costs would be a fault of the last function with a name above it."""
    lost = use(9000, 16, 2)
    body = "ob=/usr/bin/program\nfl=???\nfn=main\n0 1\n" + call(
        "parse", use(10000, 16, 2), "???", "/usr/bin/program")
    body += "fn=parse\n0 1\n" + call("0x500", use(10000, 16, 2), "???", "/usr/bin/program")
    body += f"fn=0x500\n0 {lost}\n" + call("fill", use(1000, 16, 2), "???", "/usr/bin/program")
    body += f"fn=fill\n0 {use(1000, 16, 2)}\n"
    found = hints(report_of(body))
    # What has a name can be looked up, and comes first.
    assert [(hint.function.name, hint.below and hint.below.name) for hint in found] == [
        ("fill", None), ("0x500", "parse"),
    ]


def test_advice_on_a_function_is_about_its_worst_line():
    """Two lines of which one uses all that it loads, and the other a few bytes."""
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n"
    body += f"5 {use(20000, 64, 64)}\n9 {use(9000, 8, 1)}\n"
    (hint,) = hints(report_of(body))
    assert hint.line[:2] == ("/home/me/main.c", 9)
    assert hint.use.unused_share < 0.3 and "few bytes of a line" in hint.pattern.brief


def test_data_makes_room_where_code_costs_more(tmp_path):
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n1 1\n"
    costs = {f"f{number}": use(2000, 16, 2) for number in range(9)}
    costs["parse"] = use(10, 16, 2, code=90_000)
    for number, (name, cost) in enumerate(costs.items()):
        body += call(name, cost, "/home/me/main.c", "/home/me/program")
        body += f"fn={name}\n{number}0 {cost}\nfn=main\n"
    text = screen(tmp_path, body)
    assert "First     code:" in text
    assert len(section(text, "Lines")) == 2 + 2
    assert sum(line[:1].isdigit() for line in section(text, "What to change")) == 1
    assert text.count("\n") <= 40


def test_a_hint_names_the_lines_of_a_place(tmp_path):
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n"
    body += f"5 {use(1000, 16, 2)}\n6 {use(6000, 16, 2)}\n7 {use(3000, 16, 2)}\n8 {use(10, 16, 2)}\n"
    (hint,) = hints(report_of(body))
    assert [(line.line, round(100 * line.share)) for line in hint.lines] == [(6, 60), (7, 30)]
    assert "Where: 60% of its own at main.c:6, 30% at main.c:7." in screen(tmp_path, body, "--hints")


def test_which_level_comes_first(tmp_path):
    def estimate(l1_misses, last_misses, instructions=10000):
        row = f"{instructions} 5000 0 0 {l1_misses} 0 0 {last_misses} 0"
        return screen(tmp_path, f"fl=a.c\nfn=main\n1 {row}\n")

    assert "First     L1: " in estimate(3000, 10)
    assert "; all data fits LL" in " ".join(estimate(3000, 10).split())
    assert "First     instructions: " in estimate(3, 0)
    text = estimate(2_000_000, 1_000_000)  # of 64 B: more than LL holds
    assert "First     LL: " in text
    assert "Estimate  120M cycles (Ir + 10 L1m + 100 LLm): 0% instr., 17% L1, 83% LL" in text


def costs(ir, d1, last, loss, last_loss):
    """A row of data misses, without accesses, and of bytes of 64 never used per line loaded."""
    return f"{ir} {ir} 0 0 {d1} 0 0 {last} 0 0 {loss} {d1} {64 * d1 - loss} 0 0 {last_loss} {last} " \
        f"{64 * last - last_loss} 0"


@pytest.mark.parametrize("rows, first", [
    # Streams miss most cycles away in LL, where they use all; what helps is to load less into L1.
    ({5: costs(90_000_000, 5_000_000, 300_000, 300_000_000, 0),
      7: costs(0, 700_000, 700_000, 0, 0)},
     "L1: data never used costs 19% of the cycles, 100% at a.c:5"),
    # The same with what LL loads.
    ({5: costs(90_000_000, 5_000_000, 300_000, 300_000_000, 0),
      7: costs(0, 700_000, 700_000, 0, 40_000_000)},
     "LL: data never used costs 25% of the cycles, 70% at a.c:7 (--sort=DLm)"),
    # Hardly anything is loaded in vain: then the level that costs more.
    ({5: costs(90_000_000, 5_000_000, 300_000, 3_000_000, 0),
      7: costs(0, 700_000, 700_000, 0, 0)},
     "LL: its misses cost 40% of the cycles, 70% at a.c:7 (--sort=DLm)"),
    ({5: costs(90_000_000, 5_000_000, 300_000, 3_000_000, 0)},
     "L1: its data misses cost 29% of the cycles, 100% at a.c:5"),
])
def test_first_is_where_a_change_helps_most(tmp_path, rows, first):
    body = "ob=/home/me/program\nfl=a.c\nfn=main\n"
    text = screen(tmp_path, body + "".join(f"{line} {row}\n" for line, row in rows.items()))
    said = re.search(r"^First +(.*(?:\n {10}.*)*)", text, re.MULTILINE)
    assert re.sub(r"\s+", " ", said[1]) == first


def test_advice_on_data_says_where_it_would_gain_little(tmp_path):
    body = "ob=/home/me/program\nfl=a.c\nfn=main\n"
    waste = f"5 {use(2000, 16, 2)}\n"
    assert "== What to change ==\n1. main (a.c:5)" in screen(tmp_path, body + waste)
    text = screen(tmp_path, body + waste + "6 90000000\n")
    assert "First     instructions: " in text
    assert "== What to change, if anything: misses cost little ==\n1. main (a.c:5)" in text


def test_the_costs_in_the_estimate_are_an_option(tmp_path):
    body = "fl=a.c\nfn=main\n1 10000 5000 0 0 300 0 0 10 0\n"
    text = screen(tmp_path, body, "--cycle-costs=2,20,300", "--show=CEst", "--exact")
    assert "(2 Ir + 20 L1m + 300 LLm)" in text
    assert re.search(r"29,000 100\.0%  main", text)


def test_rare_use_is_not_labelled_as_its_opposite(tmp_path):
    misleading = "event: AcCost1 : L1 cost of rare use (1000 per access of a line)\n"
    text = screen(tmp_path, misleading + f"fl=a.c\nfn=main\n1 {use(200, 16, 2)}\n", "--totals")
    assert "per access" not in text
    assert "1000 / accesses, added up over the lines that left L1" in text


def test_rows_are_limited_and_the_rest_is_counted(tmp_path):
    body = "fl=a.c\nfn=main\n" + "".join(f"{line} {use(300, 16, 2)}\n" for line in range(1, 31))
    body += "".join(f"fn=f{number}\n99 {use(500, 16, 2)}\n" for number in range(30))
    text = screen(tmp_path, body)
    assert "== Lines by never used; 26 more: --limit=all ==" in text
    assert len(section(text, "Lines")) == 2 + 5
    rest = re.search(r"Functions by .*; (\d+) more: --limit=all ==", text)
    assert int(rest[1]) + len(section(text, "Functions")) - 3 == 31
    few = screen(tmp_path, body, "--limit=3")
    assert (len(section(few, "Lines")), len(section(few, "Functions"))) == (2 + 3, 3 + 3)
    everything = screen(tmp_path, body, "--limit=all")
    assert len(section(everything, "Functions")) == 3 + 31
    assert "more: --limit" not in everything


@pytest.mark.parametrize("limit", ["0", "-1", "x", ""])
def test_a_limit_that_is_none(limit):
    command = [sys.executable, str(ROOT / "bd_annotate"), f"--limit={limit}", str(HELPER)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout) == (2, "")
    assert "must be a number of rows, or all" in result.stderr


LONG = "ns::" + "Template<std::vector<int, std::allocator<int> > >::" * 5 + "member(int, char)"


@pytest.mark.parametrize("arguments", [
    [], ["--tree=both"], ["--files"], ["--hints"], ["--totals"], ["--exact"], ["--full-stacks"],
    ["--show=SpLoss1,SpLoss1:self,Unused1,Ir,Dr,Dw,D1mr,D1mw,AccLine1"], ["--limit=all"],
], ids=" ".join)
@pytest.mark.parametrize("width", [80, 60])
def test_nothing_is_wider_than_the_page(tmp_path, arguments, width):
    cost = use(9_000_000, 16, 2)
    where = "/home/me/" + "folder/" * 20 + "source.cpp"
    body = startup(cost, file=where) + f"ob=/home/me/program\nfl={where}\nfn=main\n5 {cost}\n"
    body += call(LONG, cost, where) + f"fn={LONG}\n7 {cost}\n" + call("other", cost)
    body += f"fn=other\n9 {cost}\n" + call(LONG, cost)
    text = screen(tmp_path, body, *arguments, f"--width={width}")
    assert [line for line in text.split("\n") if len(line) > width] == []
    assert "member" in text


def test_the_screen_of_a_large_program_is_a_screen(tmp_path):
    body = startup(use(900000, 16, 2)) + "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n5 9\n"
    for number in range(40):
        cost = use(10000 + number, 16, 2 if number % 2 else 9)
        body += call(f"f{number}", cost) + f"fn=f{number}\n{number + 1} {cost}\n" + "fn=main\n"
    text = screen(tmp_path, body + "9 9\n")
    assert text.count("\n") <= 40
    assert len(section(text, "Functions")) >= 3 + 4


def test_the_commands_for_what_is_next_work_as_they_are_printed(tmp_path):
    body = startup(use(900, 16, 2)) + "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n"
    name = "A<int>::operator()(char const*)"
    body += f"1 9\n{call(name, use(900, 16, 2))}fn={name}\n5 {use(900, 16, 2)}\n"
    text = screen(tmp_path, body)
    last = text[text.index("\nNext  ") + 1 :].split("\n")
    commands = [line[6:].split("  #")[0] for line in last if line]
    assert [shlex.split(command)[:2] for command in commands] == [
        ["bd_annotate", "--tree=both"], ["bd_annotate", "--annotate"], ["bd_annotate", "--hints"],
        ["kcachegrind", "bdgrind.out.1"],
    ]
    for command in commands[:3]:
        words = [sys.executable, str(ROOT / "bd_annotate"), *shlex.split(command)[1:]]
        result = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert (result.returncode, result.stderr) == (0, "")
        assert "A<int>::operator()" in result.stdout


@pytest.mark.parametrize("environment, command", [
    ({"BD_PAGER": "mine -x", "PAGER": "other"}, ["mine", "-x"]),
    ({"PAGER": "other"}, ["other"]),
    ({"BD_PAGER": "", "PAGER": "other"}, []),
    ({"PAGER": "cat"}, []),
    ({"PAGER": "'"}, []),
    ({"BD_PAGER": "missing"}, []),
    ({"TERM": "dumb", "PAGER": "other"}, []),
    ({}, ["less"]),
])
def test_which_pager(monkeypatch, environment, command):
    monkeypatch.setattr("shutil.which", lambda name: None if name == "missing" else f"/bin/{name}")
    assert pager(environment) == command


def test_a_pager_gets_the_report_on_a_terminal_only(tmp_path):
    mine = tmp_path / "mine"
    mine.write_text(f"#!/bin/sh\necho \"$LESS\" >{tmp_path}/options\ncat >{tmp_path}/paged\n")
    mine.chmod(mine.stat().st_mode | stat.S_IXUSR)
    command = f"{sys.executable} {ROOT}/bd_annotate {HELPER}"
    environment = {k: v for k, v in os.environ.items() if k != "LESS"} | {"BD_PAGER": str(mine)}
    subprocess.run(
        [sys.executable, "-c", "import pty, sys; pty.spawn(['sh', '-c', sys.argv[1]])", command],
        env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=True,
    )
    assert "What to change" in (tmp_path / "paged").read_text()
    assert (tmp_path / "options").read_text() == "FRX\n"
    (tmp_path / "paged").unlink()
    subprocess.run(command.split(), env=environment, capture_output=True, timeout=60, check=True)
    assert not (tmp_path / "paged").exists()
