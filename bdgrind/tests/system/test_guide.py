# SPDX-License-Identifier: GPL-2.0-or-later
"""What the guide tells the reader to type prints what the guide says.

All chapters but the costliest; that, too, with BDGRIND_LONG in the environment, which `make check-long` sets.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from harness import SOURCE, VALGRIND

GUIDE = SOURCE / "docs" / "guide"
sys.path.insert(0, str(GUIDE))

import chapters as guide  # noqa: E402

LONG = bool(os.environ.get("BDGRIND_LONG"))
COSTLY = {"05-loops"}  # a third of the processor time of all
CHAPTERS = sorted(GUIDE.glob("[0-9]*.md"))


@pytest.mark.parametrize("chapter", CHAPTERS, ids=[path.stem for path in CHAPTERS])
def test_a_chapter_is_true(chapter: Path, tmp_path: Path) -> None:
    if chapter.stem in COSTLY and not LONG:
        pytest.skip("make check-long runs this chapter")
    if need := guide.missing(chapter):
        pytest.skip(f"{need} is missing")
    assert any(guide.commands(chapter)), "a chapter without commands"
    guide.prepare(tmp_path, (VALGRIND, SOURCE / "annotate"))
    faults = guide.check(chapter, tmp_path)
    assert not faults, "\n\n".join(faults)


def test_the_first_page_lists_all_chapters_in_their_order() -> None:
    listed = [line.partition("](")[2].partition(")")[0]
              for line in (GUIDE / "README.md").read_text().splitlines() if line[:1].isdigit()]
    assert listed == [path.name for path in CHAPTERS]


@pytest.mark.parametrize(
    ("wanted", "got", "equal"),
    [
        (["a 100", "..."], ["a 104", "b"], True),
        (["a 100"], ["a 106"], False),
        (["2.0041e+09"], ["1.021e+09"], False),
        (["a 0.3%", "b 7"], ["a 0.4%", "b 8"], True),
        (["a 0.3%"], ["a 0.5%"], False),
        (["a 100"], ["a 100", "b"], False),
        (["a", "...", "c"], ["a", "b", "b", "c"], True),
        (["a", "...", "c"], ["a", "b"], False),
        (["==1== x"], ["==22222== x"], True),
        (["317M 96.2%  gather"], ["317M  96.2%  gathers"], False),
        (["305M 96.2%    48   0.0%  gather"], ["305M 96.2%    32   0.0%  gather"], True),
        (["305M 96.2%    48   0.0%  gather"], ["305M 96.2%     0         gather"], True),
        (["305M 96.2%    48   0.0%  gather"], ["305M 96.2%    48   0.1%  gather"], False),
        (["305M 96.2%    48   0.0%  gather"], ["305M 96.2%  3.1M   1.2%  gather"], False),
        (["L1 6k -> 2k (-60.9%); LL 72.4k -> 72.4k (0.0%)"], ["L1 6k -> 2k (-60.9%); LL 72.4k (as before)"], True),
        (["LL 72.4k -> 72.4k (0.0%)"], ["LL 72.4k -> 72.3k (-0.0%)"], True),
        (["LL 72.4k -> 72.4k (0.0%)"], ["LL 72.4k -> 72.5k (+0.1%)"], False),
        (["LL 72.4k (as before)"], ["LL 90.4k (as before)"], False),
        ([], ["what it did not print before"], False),
        (["    0 :####:1122"], ["    0 :####:2+12"], True),
        (["    0 :####:1122"], ["    0 :###1:1122"], False),
    ],
)
def test_what_is_compared(wanted: list[str], got: list[str], equal: bool) -> None:
    assert (guide.difference(wanted, got, 0.05) == "") == equal
