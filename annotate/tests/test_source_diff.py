# SPDX-License-Identifier: GPL-2.0-or-later
"""--diff with --annotate and --hints: lines of two versions side by side, and what became of hints."""

import pathlib
import re

import pytest
from hypothesis import given, strategies as st

from bdannotate.analyses.comparison.line_match import LinePair, match_by_number, match_lines
from annotating import bd_annotate

ROOT = pathlib.Path(__file__).resolve().parent.parent

BEFORE = """\
int sum(int* p) {
    int total = 0;
    for (int i = 0; i < 9; i++)
        total += p[16 * i];
    return total;
}
"""
# A line more at the top, the loop in braces, the access replaced.
AFTER = """\
#include <stddef.h>
int sum(int* p) {
    int total = 0;
    for (int i = 0; i < 9; i++) {
        total += p[i];
    }
    return total;
}
"""


def diff(cwd, *arguments):
    result = bd_annotate("--diff", "before.out", "after.out", "--color=no", *arguments, cwd=cwd, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def profile(source, costs, function="sum"):
    lines = "".join(f"{line} {cost}\n" for line, cost in costs.items())
    return f"events: Ir\nfl={source}\nfn={function}\n{lines}"


@pytest.fixture(name="folder")
def fixture_folder(tmp_path):
    for name, text in (("old", BEFORE), ("new", AFTER)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "sum.c").write_text(text)
    return tmp_path


def shown_lines(report):
    """Number before, number after, sign and text of each source line, with what stands before."""
    found = re.findall(
        r"^(.*?)  +(?:(\d+) )?(?: *(\d+))? ([-+ ]) ( *\S.*)$", report.partition("== Source")[2],
        re.MULTILINE,
    )
    return [(costs.split(), old, new, sign, text.strip()) for costs, old, new, sign, text in found]


# --- Lines ----------------------------------------------------------------------------------------


def test_lines_are_matched_by_what_they_say():
    assert match_lines(BEFORE.split("\n"), AFTER.split("\n")) == [
        (None, 1), (1, 2), (2, 3), (3, None), (4, None), (None, 4), (None, 5), (None, 6), (5, 7),
        (6, 8), (7, 9),
    ]
    assert match_lines(["a", "  b"], ["\tb"]) == [(1, None), (2, 1)]


@given(st.lists(st.sampled_from("abc{}")), st.lists(st.sampled_from("abc{}")))
def test_every_line_is_there_once_and_in_order(before, after):
    pairs = match_lines(before, after)
    assert [pair.before for pair in pairs if pair.before] == [*range(1, len(before) + 1)]
    assert [pair.after for pair in pairs if pair.after] == [*range(1, len(after) + 1)]
    for pair in pairs:
        if pair.before and pair.after:
            assert before[pair.before - 1] == after[pair.after - 1]


def test_without_another_version_lines_are_matched_by_number():
    assert match_by_number(2) == [LinePair(1, 1), LinePair(2, 2)]


# --- --annotate -----------------------------------------------------------------------------------


@pytest.mark.parametrize("names, arguments", [
    (("old/sum.c", "new/sum.c"), []),
    (("sum.c", "sum.c"), ["-I", "new", "--include-before", "old"]),
    (("/gone/a/sum.c", "/gone/b/sum.c"), ["-I", "new", "--include-before=old"]),
    (("new/sum.c", "new/sum.c"), ["--include-before=old"]),  # the same place, one after the other
])
def test_costs_stand_beside_the_lines_of_both_versions(names, arguments, folder):
    (folder / "before.out").write_text(profile(names[0], {2: 100, 3: 400, 4: 2000, 5: 100}))
    (folder / "after.out").write_text(profile(names[1], {3: 100, 4: 400, 5: 500, 7: 100}))
    report = diff(folder, "--annotate", "--context=0", *arguments)
    assert f"== Source: {names[1]} ==" in report
    assert "Only one version" not in report
    sources = report.partition("== Source: ")[2]
    rows = [line.split(maxsplit=7) for line in sources.split("\n") if "total += p" in line]
    assert rows == [
        ["2,000", "0", "-2,000", "-100.0%", "4", "-", "total", "+= p[16 * i];"],
        ["0", "500", "+500", "new", "5", "+", "total", "+= p[i];"],
    ]
    # What is the same in both, with the same cost, is not shown.
    assert "int total" not in sources and "return total" not in sources


def test_lines_that_only_moved_did_not_change(folder):
    (folder / "before.out").write_text(profile("old/sum.c", {2: 100, 5: 1000}))
    (folder / "after.out").write_text(profile("new/sum.c", {3: 100, 7: 1000}))
    report = diff(folder, "--annotate")
    assert "none with a line that changed by this much" in report
    assert "== Totals ==\nnothing changed\n" in report


def test_one_version_for_both_is_said(folder):
    (folder / "before.out").write_text(profile("old/sum.c", {4: 2000}))
    (folder / "after.out").write_text(profile("old/sum.c", {4: 500, 99: 700}))
    report = diff(folder, "--annotate", "--context=0")
    assert "Only one version of this file was found, so lines are matched by number" in report
    assert re.search(r"2,000 +500 +-1,500 +-75.0% +4 4   +total \+= p\[16 \* i\];", report)
    assert re.search(r"0 +700 +\+700 +new +<line unknown, or past the end of the file>", report)


def test_files_with_other_names_are_matched_by_their_functions(folder):
    (folder / "old" / "sum.c").rename(folder / "old" / "slow.c")
    (folder / "before.out").write_text(profile("old/slow.c", {4: 2000}))
    (folder / "after.out").write_text(profile("new/sum.c", {5: 500}))
    report = diff(folder, "--annotate")
    assert re.findall("== Source: (.*) ==", report) == ["new/sum.c"]
    assert "before: old/slow.c\n" in report


def test_a_source_that_is_not_there_is_listed_with_its_change(folder):
    (folder / "before.out").write_text(profile("gone.c", {4: 2000}))
    (folder / "after.out").write_text(profile("gone.c", {4: 500}))
    report = diff(folder, "--annotate")
    assert re.search(r"2,000 +500 +-1,500 +-75.0% +gone.c: not found", report)


# --- Totals and hints -----------------------------------------------------------------------------


def test_totals_list_what_changed_only(folder):
    head = "events: Ir Dr Dw\nfl=old/sum.c\nfn=sum\n"
    (folder / "before.out").write_text(f"{head}1 100 7 9\n")
    (folder / "after.out").write_text(f"{head}1 90 7 8\n")
    totals = diff(folder).partition("== Totals ==")[2].partition("\n== ")[0]
    assert re.findall(r"^ *(\d+) +(\d+) .*?  (Ir|Dr|Dw) ", totals, re.MULTILINE) == [
        ("100", "90", "Ir"), ("9", "8", "Dw"),
    ]
    assert "more changed" not in totals


def test_totals_count_what_changed_hardly(folder):
    head = "events: Ir Dr Dw\nfl=old/sum.c\nfn=sum\n"
    (folder / "before.out").write_text(f"{head}1 1000000 7000 9\n")
    (folder / "after.out").write_text(f"{head}1 1000400 7004 9\n")
    totals = diff(folder).partition("== Totals ==")[2].partition("\n== ")[0]
    assert "Ir" not in totals and " 7,004 " in totals
    assert totals.rstrip().endswith("\n1 more changed by less than 0.05%")
    (folder / "after.out").write_text(f"{head}1 1000400 7000 9\n")
    assert "nothing changed by 0.05% or more" in diff(folder)


def section(report, title):
    return report.partition(f"== {title} ==\n")[2].partition("\n== ")[0]


GOOD = "1 10000 0 64000 1000 16000 62500"
BAD = "1 10000 56000 8000 1000 2000 500000"
WORSE = "1 10000 60000 4000 1000 1000 1000000"


def use(**functions):
    """A program whose main calls these functions, with events Ir, SpLoss1, UsByte1 and so on."""
    text = "events: Ir SpLoss1 UsByte1 EvLine1 Access1 AcCost1\nfl=old/sum.c\nfn=main\n1 100\n"
    for name, costs in functions.items():
        text += f"cfn={name}\ncalls=1 1\n{costs}\n"
    for name, costs in functions.items():
        text += f"fn={name}\n{costs}\n"
    return text


def test_hints_that_remain_say_which_way_they_went(folder):
    """Both still have a hint; the one has lost nearly nine tenths of its loss, the other has more than before."""
    (folder / "before.out").write_text(use(less=BAD, more="1 10000 56000 8000 1000 2000 500000"))
    after = use(less="1 10000 7840 1120 140 280 70000", more="1 10000 78400 11200 1400 2800 700000")
    (folder / "after.out").write_text(after)
    report = diff(folder, "--hints")
    assert re.findall(r"^\d\. (\w+)", section(report, "Hints that shrank"), re.MULTILINE) == ["less"]
    assert re.findall(r"^\d\. (\w+)", section(report, "Hints that grew"), re.MULTILINE) == ["more"]
    assert "as before" not in report.partition("== Hints that are gone ==")[2]


def test_hints_are_gone_new_or_as_before(folder):
    (folder / "before.out").write_text(use(repaired=BAD, broken=GOOD, kept=BAD))
    (folder / "after.out").write_text(use(repaired=GOOD, broken=BAD, kept=WORSE))
    report = diff(folder, "--hints")
    gone = section(report, "Hints that are gone")
    assert re.fullmatch(r"repaired .*: 56.0k bytes never used before, 0 now\.\n", gone)
    new = section(report, "Hints that are new")
    assert re.findall(r"^\d\. (\w+)", new, re.MULTILINE) == ["broken"]
    assert "Change: 0 bytes never used before, 56.0k now." in new
    kept = section(report, "Hints that are unchanged")
    assert re.findall(r"^\d\. (\w+)", kept, re.MULTILINE) == ["kept"]
    assert "Change: 56.0k bytes never used before, 60.0k now." in kept
    assert "Looks like: few bytes of each line are used" in kept
