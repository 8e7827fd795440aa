# SPDX-License-Identifier: GPL-2.0-or-later
"""Gate: phrases that readers stumble over, in documents, in what is printed, and in comments; and words with two
meanings."""

from __future__ import annotations

import re
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
# A phrase, and what to write instead.
PHRASES = {
    "nobody": "no code, no one; or say it in the passive",
    "somebody": "another user, someone; or say it in the passive",
    "whoever": "the caller, the reader, code that",
    "(?:told|tells?) apart": "separate, distinguish",
    "(?:told|tells?) (?:them|it|data|threads|groups|objects) apart": "separate, distinguish",
    "(?:kept|keeps?) apart": "separate",
    "(?:kept|keeps?) (?:them|it|data|threads|groups|objects|costs|calls) apart": "separate",
    "of which it holds": "if",
    "as at first": "as before",
    "none of our business": "not checked",
    "does not go with": "cannot be combined with",
    "tells? of another run": "is from another run",
    "in the order of memory": "in memory order",
    "stands there twice": "appears twice",
    "how many of LL": "how many LL misses",
}
# Between words may be the end of a line, of a comment or a string, too.
_GAP = r"""["'\s]+(?:(?://|#|f?["'])\s*)*"""
_FOUND = [
    (re.compile(rf"\b{phrase.replace(' ', _GAP)}\b", re.IGNORECASE), instead) for phrase, instead in PHRASES.items()
]
_FOLDERS = (
    "docs", "annotate/bdannotate", "annotate/bdcommon", "annotate/bdcontrol", "annotate/tests", "annotate/web/src",
    "annotate/web/tests", "bdgrind",
)
_SUFFIXES = {".md", ".py", ".h", ".c", ".cpp", ".S", ".ts", ".tsx"}
# Shell scripts, which have no suffix.
_SCRIPTS = [TOP / "quickstart", TOP / ".ci" / "run", *(TOP / "bdgrind" / "tests" / "checks").iterdir()]
# Cases quote what was printed then, and this file has the phrases themselves.
_UNREAD = {"cases", Path(__file__).name}


def stumbles(text: str) -> list[str]:
    """As "line: 'words'; write: what instead"."""
    return [
        f"{text.count(chr(10), 0, match.start()) + 1}: '{' '.join(match[0].split())}'; write: {instead}"
        for pattern, instead in _FOUND for match in pattern.finditer(text)
    ]


def test_what_is_found() -> None:
    assert len(stumbles("// Costs are told\n// apart, by nobody.")) == 2
    assert len(stumbles('"it does not go "\n"with the other"')) == 1
    assert stumbles("Keep what is used here apart from the rest; elements lie far apart.") == []


def test_readers_do_not_stumble() -> None:
    files = [path for folder in _FOLDERS for path in (TOP / folder).rglob("*") if path.suffix in _SUFFIXES]
    read = [path for path in [*files, *TOP.glob("*.md")] if not _UNREAD & set(path.relative_to(TOP).parts)]
    assert {path.suffix for path in read} == _SUFFIXES
    read += [path for path in _SCRIPTS if path.is_file() and path not in read and path.suffix in ("", ".sh")]
    assert [f"{path.relative_to(TOP)}:{one}" for path in sorted(read) for one in stumbles(path.read_text())] == []


def defined(text: str) -> list[str]:
    """The words that the rows of a glossary's table define, in their order; a row may define several."""
    table = text.partition("\n| word | meaning |\n|---|---|\n")[2].partition("\n\n")[0]
    assert table, "there is no table of words"
    words = [row.split("|")[1].partition("(")[0] for row in table.splitlines()]
    return [word.strip() for cell in words for word in cell.split(",")]


def test_each_word_is_explained_once() -> None:
    words = [
        word for name in ("docs/design.md", "docs/guide/words.md") for word in defined((TOP / name).read_text())
    ]
    assert len(words) > 60
    assert sorted({word for word in words if words.count(word) > 1}) == []
