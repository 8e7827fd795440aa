# SPDX-License-Identifier: GPL-2.0-or-later
"""sum_up.py FOLDER KIND...: what became of all tests, one line per kind and a last one for all of them.

FOLDER/check-KIND.xml has the results of a kind, in JUnit's form. The status is 1 if a test has failed, or if a kind
has none that passed: it did not run to its end, or all of it was skipped.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped
        )

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def has_run(case: ElementTree.Element) -> bool:
    """A test that was switched off is listed, too."""
    return case.get("status") != "notrun"


def is_skipped(case: ElementTree.Element) -> bool:
    return not has_run(case) or case.get("result") == "skipped" or case.find("skipped") is not None


def is_failed(case: ElementTree.Element) -> bool:
    return case.find("failure") is not None or case.find("error") is not None


def read(path: Path) -> Counts:
    """Those of one kind; none at all if it was not run to its end."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return Counts()
    cases = list(root.iter("testcase"))
    failed = sum(map(is_failed, cases))
    skipped = sum(is_skipped(case) and not is_failed(case) for case in cases)
    return Counts(len(cases) - failed - skipped, failed, skipped)


def main(arguments: list[str]) -> int:
    if len(arguments) < 2:
        print("Usage: sum_up.py FOLDER KIND...", file=sys.stderr)
        return 2
    folder, *kinds = arguments
    counts = {kind: read(Path(folder) / f"check-{kind}.xml") for kind in kinds}
    width = max(map(len, kinds))
    for kind, each in counts.items():
        print(f"{kind:{width}}  {each}")
    total = sum(counts.values(), Counts())
    # What a whole kind would have told is not known.
    idle = [kind for kind, each in counts.items() if each.passed + each.failed == 0]
    print(f"{total}" + (f"; DID NOT RUN: {', '.join(idle)}" if idle else ""))
    return 1 if total.failed or idle else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
