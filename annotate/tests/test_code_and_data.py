# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles in which code and data lose separately: data comes first, code has advice of its own."""

import pathlib

from bdannotate.analyses.code.report import make_report, make_selection
from bdannotate.analyses.code_use import code_use
from bdannotate.analyses.hints import hints
from bdannotate.reading.parser import parse_text
from annotating import bd_annotate

ROOT = pathlib.Path(__file__).resolve().parent.parent
USE = ("AcCost", "SpLoss", "EvLine", "UsByte", "Access")
EVENTS = "Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw"
EVENTS += "".join(f" {name}{level}" for level in ("1", "D1", "2", "DL") for name in USE)
HEAD = f"""version: 1
creator: bdgrind-test
cmd: ./program
desc: D1 cache: 32768 B, 64 B, 8-way associative
desc: LL cache: 8388608 B, 64 B, 16-way associative
positions: line
event: SpLossI1 = SpLoss1 - SpLossD1 : L1 code bytes loaded but never used
event: SpLossIL = SpLoss2 - SpLossDL : LL code bytes loaded but never used
events: {EVENTS}
ob=/home/me/program
fl=/home/me/main.c
"""


def costs(code_lines, code_used, data_lines, data_used):
    """Of lines loaded once each, with so many of their 64 bytes used, in one access."""
    data = [1000 * data_lines, (64 - data_used) * data_lines, data_lines, data_used * data_lines,
            data_lines]
    code = [1000 * code_lines, (64 - code_used) * code_lines, code_lines, code_used * code_lines,
            code_lines]
    both = [a + b for a, b in zip(data, code)]
    row = [20 * (code_lines + data_lines), data_lines, 0, code_lines, data_lines, 0, 0, 0, 0]
    return " ".join(map(str, [*row, *both, *data]))


def body(interpret, walk):
    return f"fn=interpret\n5 {interpret}\nfn=walk\n9 {walk}\n"


# Code that hardly fits I1, and a walk over data; both lose as many bytes.
BODY = body(costs(9000, 16, 10, 64), costs(10, 64, 9000, 16))


def report(text):
    profile = parse_text(HEAD + text)
    return make_report(profile, make_selection(
        profile, show=(), sort=(), threshold=1.0, inclusive=None, function=None))


def screen(tmp_path, text, *arguments):
    path = tmp_path / "bdgrind.out.1"
    path.write_text(HEAD + text)
    result = bd_annotate(path.name, "--width=80", *arguments, cwd=tmp_path, text=True)
    assert not result.stderr or result.stderr.startswith("bd_annotate: no room for "), result.stderr
    assert result.returncode == 0
    assert all(len(line) <= 80 for line in result.stdout.splitlines())
    return result.stdout


def section(text, title):
    return text.partition(f"== {title}")[2].split("\n\n")[0].split("\n")[1:]


def test_lists_rank_by_what_data_loses(tmp_path):
    text = screen(tmp_path, BODY)
    functions = [line.split()[-3] for line in section(text, "Functions")[3:]]
    assert functions == ["walk"], "interpret's data is used whole"
    assert "walk" in section(text, "Lines by never used")[2]
    # 9,000 lines with 48 bytes never used, and 10 with none, of 9,010 of 64 bytes.
    assert f"{100 * 9000 * 48 / (9010 * 64):.1f}% unused" in text


def test_hints_on_data_are_not_given_for_code():
    assert [hint.function.name for hint in hints(report(BODY))] == ["walk"]


def test_code_has_a_section_of_its_own(tmp_path):
    rows = section(screen(tmp_path, BODY), "Code that misses I1")
    assert rows[2].split()[:4] == ["9,000", "99.9%", "432k", "75.0%"]
    assert rows[2].endswith("interpret")
    assert "split off cold code" in rows[-1]


def test_code_that_is_used_whole_is_too_much():
    found = code_use(report(body(costs(9000, 60, 10, 64), costs(10, 64, 9000, 16))))
    assert found and "more code is in use than I1 holds" in found.helps


def test_code_that_hardly_misses_is_not_mentioned(tmp_path):
    text = body(costs(100, 16, 10, 64), costs(10, 64, 9000, 16))
    assert code_use(report(text)) is None
    assert "Code that misses" not in screen(tmp_path, text)


def test_sums_and_shares_of_either_kind_can_be_shown(tmp_path):
    lines = screen(
        tmp_path, BODY, "--show=SpLossI1:self,UnusedI1:self,SpLossD1:self,UnusedD1:self"
    )
    rows = [line.split() for line in lines.splitlines() if line.endswith("main.c [program]")]
    assert ["432,000", "100.0%", "75.0%", "0", "interpret"] in [
        row[:5] for row in rows
    ]
