# SPDX-License-Identifier: GPL-2.0-or-later
"""The oracle itself, on traces small enough to follow by hand."""

from __future__ import annotations

from cache_oracle import Geometry, simulate

ONE_SET = Geometry(128, 2, 64)  # two lines
BIG = Geometry(64 * 64, 64, 64)  # one set of 64 lines


def totals(trace: str, d1: Geometry = ONE_SET, ll: Geometry = BIG) -> dict[str, int]:
    values = simulate([f"{line}\n".encode() for line in trace.split(";")], ONE_SET, d1, ll)
    return {event: value for event, value in values.items() if value}


def test_one_byte_of_one_line() -> None:
    usage = {"AcCost": 1000, "SpLoss": 63, "EvLine": 1, "UsByte": 1, "Access": 1}
    expected = {f"{event}{level}": value for event, value in usage.items() for level in ("1", "D1", "2", "DL")}
    assert totals(" L 1000,1") == {"Dr": 1, "D1mr": 1, "DLmr": 1, **expected}


def test_a_modify_is_one_access_and_a_write() -> None:
    result = totals(" M 1000,8; L 1008,8")
    assert (result["Dr"], result["Dw"], result["D1mw"], result["Access1"]) == (1, 1, 1, 2)
    assert "D1mr" not in result


def test_an_access_over_three_lines_is_one_miss_and_three_loads() -> None:
    result = totals(" L 103f,66", d1=BIG)
    assert (result["Dr"], result["D1mr"], result["DLmr"]) == (1, 1, 1)
    assert (result["EvLine1"], result["Access1"]) == (3, 3)
    assert (result["UsByte1"], result["SpLoss1"]) == (1 + 64 + 1, 63 + 0 + 63)


def test_the_least_recently_used_line_leaves() -> None:
    # set: 1000 | 1000 1040 | 1040 1000 | 1000 1080 (1040 left) | 1000 hits | 1040 misses
    result = totals(" L 1000,4; L 1040,4; L 1000,4; L 1080,4; L 1000,4; L 1040,4")
    assert (result["D1mr"], result["DLmr"], result["EvLine1"]) == (4, 3, 4)


def test_access_cost_is_rounded_per_line() -> None:
    result = totals(";".join([" L 1000,8"] * 3 + [" L 1040,8"] * 1001))
    assert result["AcCost1"] == 1000 // 3 + 1000 // 1001
    assert result["Access1"] == 1004


def test_usage_merges_into_the_last_level() -> None:
    # The line is loaded twice into D1, each time another half of it is used.
    result = totals(" L 1000,32; L 1040,64; L 1080,64; L 1020,32")
    assert result["SpLoss1"] == 32 + 32
    assert "SpLoss2" not in result
    assert (result["EvLine1"], result["EvLine2"], result["Access2"]) == (4, 3, 4)


def test_a_last_level_line_takes_over_what_a_live_copy_has_gathered() -> None:
    # LL has one line. Loading 1040 evicts 1000 from it while D1 still holds 1000 with 16 bytes
    # used; the 16 bytes of the later hit, which LL never hears of, count in D1 only.
    result = totals(" L 1000,16; L 1040,64; L 1010,16", ll=Geometry(64, 1, 64))
    assert (result["D1mr"], result["DLmr"]) == (2, 2)
    assert (result["SpLoss1"], result["SpLoss2"]) == (32, 48)
    assert (result["Access1"], result["Access2"]) == (3, 2)


def test_sets_need_not_be_a_power_of_two() -> None:
    three_sets = Geometry(3 * 64, 1, 64)
    # Lines 0 and 3 share a set; 1 and 2 have one each.
    result = totals(" L 0,4; L 40,4; L 80,4; L c0,4; L 0,4; L 40,4; L 80,4", d1=three_sets)
    assert result["D1mr"] == 5


def test_an_instruction_counts_once_per_line_it_touches() -> None:
    # Four bytes in the first line, one in the second; I1 and D1 do not share lines.
    result = totals("I  103c,5; L 103c,4")
    assert (result["Ir"], result["I1mr"], result["ILmr"], result["D1mr"]) == (1, 1, 1, 1)
    assert (result["EvLine1"], result["EvLine2"], result["Access2"]) == (3, 2, 3)
    assert result["SpLoss2"] == 60 + 63


def test_shorter_lines_below_hear_of_their_own_bytes_only() -> None:
    # A D1 line of 64 bytes covers two LL lines of 32, of which LL holds one. Reading across their
    # border loads both, the second evicts the first, each with 4 bytes used by one access.
    result = totals(" L 101c,8; L 103c,4", d1=Geometry(64, 1, 64), ll=Geometry(32, 1, 32))
    assert (result["D1mr"], result["DLmr"], result["EvLine1"], result["EvLine2"]) == (1, 1, 1, 2)
    assert (result["SpLoss1"], result["Access1"]) == (64 - 12, 2)
    # The second one is still there when the D1 line is flushed: 4 + 4 bytes, 2 accesses.
    assert (result["SpLoss2"], result["Access2"]) == (28 + 24, 1 + 2)


def test_lines_of_different_sizes_merge_by_bytes() -> None:
    # D1 lines of 32 bytes are halves of an LL line.
    result = totals(" L 1000,4; L 1020,8; L 1040,4", d1=Geometry(64, 2, 32))
    assert (result["EvLine1"], result["SpLoss1"]) == (3, 28 + 24 + 28)
    assert (result["EvLine2"], result["SpLoss2"], result["Access2"]) == (2, 52 + 60, 3)
