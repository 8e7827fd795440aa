# SPDX-License-Identifier: GPL-2.0-or-later
"""Hints and the verdict in JSON."""

import json

from annotating import bd_annotate
from screens import HEAD, HELPER, call, screen, use


BODY = (
    "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n1 1\n"
    + call("fill", use(7000, 16, 2), "/home/me/main.c", "/home/me/program")
    + f"fn=fill\n5 {use(6000, 16, 2)}\n7 {use(1000, 16, 2)}\n"
)


def as_json(tmp_path, body, *arguments):
    return json.loads(screen(tmp_path, body, "--format=json", *arguments))


def test_the_verdict_is_in_every_profile(tmp_path):
    found = as_json(tmp_path, BODY)["verdict"]
    # 7,000 lines for data, 70,000 instructions, a miss of L1 at 10 cycles: 140,001 with the one of main.
    assert (found["cycles"], found["cycle_costs"]) == (140_001, [1, 10, 100])
    assert found["shares"] == {
        "instructions": 70_001 / 140_001, "L1_data": 70_000 / 140_001, "L1_code": 0.0, "LL": 0.0,
        "first_touches": 0.0,
    }
    # 48 of the 64 bytes of each line were never used.
    assert found["first"] == "L1"
    assert abs(found["wasted"] - 0.75 * 70_000 / 140_001) < 1e-9


def test_a_profile_without_misses_has_no_verdict(tmp_path):
    path = tmp_path / "callgrind.out"
    path.write_text("version: 1\nevents: Ir\nfn=main\n1 10\n")
    found = json.loads(bd_annotate("--format=json", path, check=True).stdout)
    assert found["verdict"] is None and "hints" not in found


def test_hints_are_there_where_they_are_asked_for(tmp_path):
    assert "hints" not in as_json(tmp_path, BODY)
    shape = as_json(tmp_path, BODY, "--hints")
    (hint,) = shape["hints"]
    assert (hint["function"], hint["share"], hint["never_used"]) == ("fill", 1.0, 48 * 7000)
    assert shape["functions"][[f["id"] for f in shape["functions"]].index(hint["function_id"])]["name"] == "fill"
    assert hint["lines"] == [
        {"file": "/home/me/main.c", "line": 5, "share": 6 / 7},
        {"file": "/home/me/main.c", "line": 7, "share": 1 / 7},
    ]
    assert "exchange the loops" in hint["helps"] or "store together" in hint["helps"]


def test_hints_in_json_are_those_of_the_text(tmp_path):
    """JSON lists every function, but no hint for what the text thinks too small."""
    small = BODY + "fn=tiny\n9 " + use(60, 16, 2) + "\n" + "fn=small\n9 " + use(65, 16, 2) + "\n"
    text = screen(tmp_path, small, "--hints")
    shape = as_json(tmp_path, small, "--hints")
    assert [hint["function"] for hint in shape["hints"]] == ["fill"]
    assert "1. fill" in text and "2. " not in text.partition("== Hints ==")[2]


def test_changes_of_hints_are_in_the_json_of_a_diff(tmp_path):
    before, after = tmp_path / "before", tmp_path / "after"
    before.write_text(HEAD + BODY)
    after.write_text(HEAD + BODY.replace(use(6000, 16, 2), use(6000, 64, 64)).replace(
        use(1000, 16, 2), use(1000, 64, 64)).replace(use(7000, 16, 2), use(7000, 64, 64)))
    command = ["--diff", "--format=json", before, after]
    assert "hints" not in json.loads(bd_annotate(*command, check=True).stdout)
    output = bd_annotate(*command, "--hints", check=True).stdout
    found = json.loads(output)["hints"]
    assert {"function": "fill", "before": 48 * 7000, "after": 0} in found["never_used"]
    assert [hint["function"] for hint in found["gone"]] == ["fill"]


def test_hints_that_cannot_be_had_are_no_silence(tmp_path):
    path = tmp_path / "callgrind.out"
    path.write_text("version: 1\nevents: Ir\nfn=main\n1 10\n")
    result = bd_annotate("--format=json", "--hints", path, text=True)
    assert result.returncode == 2 and "--hints needs the cache use" in result.stderr


def test_the_helper_has_hints_in_json():
    shape = json.loads(bd_annotate("--format=json", "--hints", HELPER, check=True).stdout)
    assert isinstance(shape["hints"], list) and shape["verdict"]["cycles"] > 0
