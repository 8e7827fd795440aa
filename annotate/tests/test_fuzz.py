# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged profiles: a report or one sentence, never a traceback, never a hang. The damage is the
same in every run; a failure prints its number."""

import pathlib
import random
import time

import pytest

from bdannotate.cli import main

PROFILES = sorted((pathlib.Path(__file__).resolve().parent / "profiles").glob("*.out"))
REPORTS = (
    ["--tree=both", "--files"],
    ["--annotate", "--threshold=0"],
    ["--instructions"],
    ["--structure"],
    ["--hints", "--show=Ir,Ir:self", "--sort=Ir:self:0.1"],
    ["--check"],
    ["--format=json"],
    ["--format=csv", "--inclusive=no"],
)
PER_REPORT = 50
SECONDS = 10


def damaged(data, chance):
    """Bytes and lines changed, removed, repeated or moved; sometimes cut off."""
    for _ in range(chance.randrange(1, 6)):
        lines = data.split(b"\n")
        at = chance.randrange(len(lines))
        match chance.randrange(8):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, chance.choice(lines))
            case 2:
                lines[at] = bytes(chance.randrange(256) for _ in range(chance.randrange(40)))
            case 3 if lines[at]:
                line = bytearray(lines[at])
                line[chance.randrange(len(line))] = chance.randrange(256)
                lines[at] = bytes(line)
            case 4:
                other = chance.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
            case 5:
                words = lines[at].split(b" ")
                words[chance.randrange(len(words))] = chance.choice(
                    [b"", b"-1", b"+0", b"*", b"0x", b"9" * 30, b"1e5", b"(3)", b"=", b"\x00"]
                )
                lines[at] = b" ".join(words)
            case 6:
                key = chance.choice([b"fn", b"cfn", b"calls", b"fl", b"ob", b"jump", b"events: A"])
                lines.insert(at, key + b"=" + chance.choice([b"", b"(1)", b"(77) x", b"1 1", b"x"]))
            case _ if chance.random() < 0.2:
                return b"\n".join(lines)[: chance.randrange(len(data) + 1)]
        data = b"\n".join(lines)
    return data


@pytest.mark.parametrize("report", REPORTS, ids=[report[0] for report in REPORTS])
def test_damage(report, tmp_path, capfdbinary):
    statuses = set()
    for number in range(PER_REPORT):
        chance = random.Random(f"{report} {number}")
        path = tmp_path / "damaged.out"
        profile = chance.choice(PROFILES)
        if report in (["--instructions"], ["--structure"]):
            profile = PROFILES[0].parent / "instructions.out"
        path.write_bytes(damaged(profile.read_bytes(), chance))
        start = time.monotonic()
        status = main([*report, str(path)])
        output, errors = capfdbinary.readouterr()
        statuses.add(status)
        assert time.monotonic() - start < SECONDS, number
        assert status in (0, 1, 2), number
        assert b"Traceback" not in errors, number
        if status:
            assert errors.count(b"\n") == 1 and errors.startswith(b"bd_annotate: "), number
        if status == 2:
            assert output == b"", number
    # Damage that is always, or never, noticed would test nothing.
    assert len(statuses) > 1
