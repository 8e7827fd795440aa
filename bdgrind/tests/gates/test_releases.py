# SPDX-License-Identifier: GPL-2.0-or-later
"""Gate: the version is the same wherever it is written (docs/releases.md)."""

from __future__ import annotations

import re
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
# A file, and where the version stands in it.
WRITTEN = {
    "configure.ac": r"^AC_INIT\(\[bdgrind\], \[(.+?)\]",
    "annotate/bdcommon/__init__.py": r'^__version__ = "(.+)"$',
    "NEWS": r"\Abdgrind (\S+)\n=+\n",  # the newest release comes first
}


def version(text: str, pattern: str) -> str:
    (found,) = re.findall(pattern, text, re.MULTILINE)
    assert isinstance(found, str)
    return found


def test_the_newest_release_is_read() -> None:
    assert version("bdgrind 1.2.0\n====\n\nbdgrind 1.1.0\n====\n", WRITTEN["NEWS"]) == "1.2.0"


def test_versions_agree() -> None:
    versions = {name: version((TOP / name).read_text(), pattern) for name, pattern in WRITTEN.items()}
    assert re.fullmatch(r"\d+\.\d+\.\d+", versions["configure.ac"])
    assert set(versions.values()) == {versions["configure.ac"]}, versions
