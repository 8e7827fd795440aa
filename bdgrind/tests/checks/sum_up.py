# SPDX-License-Identifier: GPL-2.0-or-later
"""sum_up.py FOLDER KIND...: what became of all tests, one line per kind and a last one for all of them.

FOLDER/check-KIND.xml has the results of a kind, in JUnit's form. The status is 1 if a test has failed, or if a kind
has none that passed (it did not run to its end, or all of it was skipped), or if more than a tenth of a kind was
skipped for want of a package. Any reason for a skip counts as that, unless it begins with NO_PACKAGE_HELPS: so a
reason that was not thought about can only fail too much.
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

# What the machine is or allows: its processor, its kernel, who runs the tests.
NO_PACKAGE_HELPS = "no package helps: "
# pytest writes what is expected to fail as a skipped test of this type.
EXPECTED_FAILURE = "pytest.xfail"
# Of a kind, at most one in so many.
TOLERATED = 10


@dataclass(frozen=True, slots=True)
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    wants: Counter[str] = field(default_factory=Counter)  # of the skipped ones: what packages they want

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
            self.wants + other.wants,
        )

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"

    @property
    def wants_too_much(self) -> bool:
        return self.wants.total() * TOLERATED > self.passed + self.failed + self.skipped


def has_run(case: ElementTree.Element) -> bool:
    """A test that was switched off is listed, too."""
    return case.get("status") != "notrun"


def is_skipped(case: ElementTree.Element) -> bool:
    return not has_run(case) or case.get("result") == "skipped" or case.find("skipped") is not None


def is_failed(case: ElementTree.Element) -> bool:
    return case.find("failure") is not None or case.find("error") is not None


def want(case: ElementTree.Element) -> str | None:
    """The package that a skipped test wants; None if none would help."""
    skipped = case.find("skipped")
    if not has_run(case) or (skipped is not None and skipped.get("type") == EXPECTED_FAILURE):
        return None
    said = "" if skipped is None else skipped.get("message", "")
    # GoogleTest puts the place in front; pytest elsewhere.
    reason = re.sub(r"^\S+:\d+\n", "", said)
    return None if reason.startswith(NO_PACKAGE_HELPS) else " ".join(reason.split()) or "no reason is given"


def read(path: Path) -> Counts:
    """Those of one kind; none at all if it was not run to its end."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return Counts()
    cases = list(root.iter("testcase"))
    failed = sum(map(is_failed, cases))
    skipped = [case for case in cases if is_skipped(case) and not is_failed(case)]
    wants = Counter(wanted for case in skipped if (wanted := want(case)) is not None)
    return Counts(len(cases) - failed - len(skipped), failed, len(skipped), wants)


def main(arguments: list[str]) -> int:
    if len(arguments) < 2:
        print("Usage: sum_up.py FOLDER KIND...", file=sys.stderr)
        return 2
    folder, *kinds = arguments
    counts = {kind: read(Path(folder) / f"check-{kind}.xml") for kind in kinds}
    width = max(map(len, kinds))
    for kind, each in counts.items():
        print(f"{kind:{width}}  {each}")
        if each.wants_too_much:
            for wanted, number in each.wants.most_common():
                print(f"{'':{width}}  {number} skipped: {wanted}")
    total = sum(counts.values(), Counts())
    # What a whole kind would have told is not known.
    idle = [kind for kind, each in counts.items() if each.passed + each.failed == 0]
    wanting = [kind for kind, each in counts.items() if each.wants_too_much and kind not in idle]
    said = f"; DID NOT RUN: {', '.join(idle)}" if idle else ""
    said += f"; PACKAGES ARE MISSING: {', '.join(wanting)}" if wanting else ""
    print(f"{total}{said}")
    return 1 if total.failed or idle or wanting else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
