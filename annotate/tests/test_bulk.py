# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines that are read many at once say what they say one by one; so do errors."""

import pathlib
import random

import pytest

from bdannotate.model.errors import ProfileError
from bdannotate.reading import parser
from bdannotate.reading.parser import Detail

from test_fuzz import damaged
from traces import Trace

PROFILES = sorted((pathlib.Path(__file__).resolve().parent / "profiles").glob("*.out"))
# Lines of a block; with one, no call or jump has its second line in it.
SIZES = (1, 2, 7, 1000)


def read(text, detail, size):
    """All that a profile says, in its order; or what is wrong with it."""
    lines = text.split("\n")
    reader = parser._Parser("test", detail)
    try:
        for start in range(0, len(lines), size):
            reader.feed(lines[start:start + size])
        profile = reader.finish()
    except ProfileError as error:
        return str(error)
    return (
        profile.parts, list(profile.calls.items()), list(profile.instruction_calls.items()),
        [(place, list(rows.items())) for place, rows in profile.lines.items()],
        [(place, list(rows.items())) for place, rows in profile.instructions.items()],
        list(profile.jumps.items()), profile.beginnings, profile.origins, profile.hot, profile.hot_calls,
    )


@pytest.mark.parametrize("detail", list(Detail))
@pytest.mark.parametrize("path", PROFILES, ids=[path.stem for path in PROFILES])
def test_blocks_of_any_size_say_the_same(path, detail):
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    first, *others = (read(text, detail, size) for size in SIZES)
    assert not isinstance(first, str)
    assert all(other == first for other in others)


@pytest.mark.parametrize("detail", list(Detail))
def test_random_programs_say_the_same(detail):
    for seed in range(30):
        text = Trace(seed).text(seed, 1 + seed % 3)
        first, *others = (read(text, detail, size) for size in SIZES)
        assert all(other == first for other in others), seed


def test_errors_are_the_same_with_their_lines():
    found = set()
    for number in range(300):
        chance = random.Random(number)
        path = PROFILES[number % len(PROFILES)]
        text = damaged(path.read_bytes(), chance).decode("utf-8", "surrogateescape")
        first, *others = (read(text, Detail.INSTRUCTIONS, size) for size in SIZES)
        assert all(other == first for other in others), number
        if isinstance(first, str):
            found.add(first.partition(": ")[2][:20])
    assert len(found) > 10


HEAD = "positions: instr line\nevents: Ir Dr\nob=app\nfl=a.c\nfn=f\n"


def test_costs_outside_of_functions_are_said_before_what_is_wrong_behind_them():
    text = HEAD + "0x10 1 5\n+1 * 2\nfl=b.c\n+1 +1 7\njcnd=nonsense\n* *\n"
    for size in SIZES:
        assert read(text, Detail.INSTRUCTIONS, size) == "test:9: costs outside of a function"


def test_positions_below_0_are_said_with_their_lines():
    text = HEAD + "0x10 1 5\n" + "+1 * 2\n" * 5 + "-99 * 2\n0x10 1 1\n"
    for size in SIZES:
        assert read(text, Detail.INSTRUCTIONS, size) == "test:12: the relative position leads below 0"


def test_addresses_above_64_bits_are_read():
    address = 10 ** 30
    text = HEAD + f"0x10 1 5\n{address} 1 5\n+1 1 2\n"
    for size in SIZES:
        (_, rows), = read(text, Detail.INSTRUCTIONS, size)[4]
        assert [at for at, _ in rows] == [0x10, address, address + 1]


@pytest.mark.parametrize(("jump", "numbers"), [
    ("jump=3 +4 *", (0x14, 1, False, 3, 3)), ("jcnd=3/4 -2 0x2", (0xE, 2, True, 3, 4)),
    ("jcnd=0x3/0x4 0x20 7", (0x20, 7, True, 3, 4)), ("jump=3  20\t+1 ", (20, 2, False, 3, 3)),
    ("jump=3", None), ("jump= +4 *", None), ("jump=3/4 +4 *", None), ("jcnd=3 +4 *", None), ("jcnd=3/ +4 *", None),
    ("jcnd=3/4 +4", None), ("jcnd=3/4 +-4 *", None), ("jcnd=3/4 4x *", None), ("jcnd=-3/4 +4 *", None),
    ("jump=3 +4 * *", None), ("jump=\u0663 +4 *", None),
])
def test_what_jumps_state_is_read_later_but_checked_at_once(jump, numbers):
    lines = ["positions: instr line", "events: Ir", "ob=lib", "fl=a.c", "fn=f", "0x10 1 5", jump, "* *"]
    found = [read("\n".join(lines), Detail.INSTRUCTIONS, size) for size in SIZES]
    if numbers is None:
        assert found[0].startswith("test:7: ") and set(found) == {found[0]}
    else:
        address, line, *others = numbers
        for (*_, jumps, _, _, _, _) in found:
            ((one, count),) = jumps
            assert (one.target_address, one.target_line, one.conditional, *count) == (address, line, *others)
