# SPDX-License-Identifier: GPL-2.0-or-later
"""The five lines at the top of a comparison; rows and columns of its lists."""

import re

import pytest
from annotating import bd_annotate

EVENTS = "Ir SpLoss1 UsByte1 EvLine1 Access1 AcCost1"


def program(functions, calls=(), file="sum.c", **files):
    """main calls all functions that no other calls. A function has so many bytes never used, of its own."""
    called = {callee for _, callee in calls}
    below = {name: [callee for caller, callee in calls if caller == name] for name in functions}

    def inclusive(name):
        return functions[name] + sum(map(inclusive, below[name]))

    def call(name):
        return f"cfi={files.get(name, file)}\ncfn={name}\ncalls=1 1\n2 0 {inclusive(name)} 0 0 0 0\n"

    text = f"events: {EVENTS}\nfl={file}\nfn=main\n1 0 0 0 0 0 0\n"
    text += "".join(call(name) for name in functions if name not in called)
    for name, loss in functions.items():
        text += f"fl={files.get(name, file)}\nfn={name}\n3 0 {loss} 0 0 0 0\n" + "".join(map(call, below[name]))
    return text


def diff(folder, before, after, *arguments):
    (folder / "before.out").write_text(before)
    (folder / "after.out").write_text(after)
    words = ["--diff", "before.out", "after.out", "--width=100", "--sort=SpLoss1", *arguments]
    result = bd_annotate(*words, cwd=folder, text=True)
    assert result.returncode == 0
    return result.stdout, result.stderr


def summary(folder, before, after, *arguments):
    text = diff(folder, before, after, *arguments)[0].partition("== Summary ==\n")[2].partition("\n\n")[0]
    return dict(re.split(" {2,}", line, maxsplit=1) for line in text.splitlines())


def test_better_and_worse_are_named_with_their_own_costs(tmp_path):
    before = program({"good": 50_000, "bad": 1_000, "same": 9_000, "small": 100})
    after = program({"good": 20_000, "bad": 21_000, "same": 9_000, "small": 200})
    found = summary(tmp_path, before, after)
    assert found["Never used"] == "60.1k -> 50.2k (-16.5%) SpLoss1; 100.0% of what was loaded"
    assert (found["Better"], found["Worse"]) == ("good -30.0k", "bad +20.0k")
    assert "Moved" not in found


def test_nothing_that_matters_is_said_so(tmp_path):
    before = program({"a": 50_000})
    found = summary(tmp_path, before, program({"a": 50_100}))
    assert found["Better"] == found["Worse"] == "nothing by 1% of the total or more"


def test_what_was_inlined_has_moved(tmp_path):
    before = program({"outer": 10_000, "inner": 40_000}, [("outer", "inner")])
    after = program({"outer": 50_000})
    found = summary(tmp_path, before, after)
    assert found["Moved"] == "40.0k from inner to outer"
    assert found["Better"] == found["Worse"] == "nothing by 1% of the total or more"


def test_what_was_inlined_and_improved_is_both(tmp_path):
    before = program({"outer": 10_000, "inner": 40_000}, [("outer", "inner")])
    after = program({"outer": 40_000})
    found = summary(tmp_path, before, after)
    assert (found["Moved"], found["Better"]) == ("30.0k from inner to outer", "inner -10.0k")


def test_a_renamed_function_has_moved(tmp_path):
    found = summary(tmp_path, program({"old_name": 40_000}), program({"new_name": 40_000}))
    assert found["Moved"] == "40.0k from old_name to new_name"


def test_strangers_do_not_take_over_from_each_other(tmp_path):
    """Neither calls the other, and they lie in different files."""
    before = program({"one": 40_000, "two": 0}, two="other.c")
    after = program({"one": 0, "two": 40_000}, two="other.c")
    found = summary(tmp_path, before, after)
    assert (found["Better"], found["Worse"]) == ("one -40.0k", "two +40.0k")
    assert "Moved" not in found


def test_what_only_shrank_has_not_moved(tmp_path):
    """Both have costs before and after."""
    before = program({"outer": 30_000, "inner": 30_000}, [("outer", "inner")])
    after = program({"outer": 45_000, "inner": 15_000}, [("outer", "inner")])
    assert "Moved" not in summary(tmp_path, before, after)


def test_what_moved_does_not_top_the_list(tmp_path):
    before = program({"outer": 10_000, "inner": 40_000, "other": 9_000}, [("outer", "inner")])
    after = program({"outer": 50_000, "other": 3_000})
    rows = diff(tmp_path, before, after, "--sort=SpLoss1:self")[0].partition("== Functions ==")[2].partition("\n\n")[0]
    names = re.findall(r"  (outer|inner|other)\b.*", rows)
    assert names[0] == "other"
    assert "inner (now in outer)" in re.sub(" +", " ", rows) or re.search(r"inner .*\(now in outer\)", rows)
    assert re.search(r"outer .*\(from inner\)", rows)


@pytest.mark.parametrize("arguments, shown", [((), 10), (("--limit=3",), 3), (("--limit=all",), 16)])
def test_rows_are_limited(tmp_path, arguments, shown):
    names = [f"f{number}" for number in range(15)]
    before = program({name: 1_000 for name in names})
    text = diff(tmp_path, before, program({name: 2_000 for name in names}), *arguments)[0]
    title, _, rest = text.partition("== Functions")[2].partition(" ==\n")
    assert len(re.findall(r"\+100\.0%", rest.partition("\n\n")[0])) == shown
    assert title == ("" if shown == 16 else f"; {16 - shown} more: --limit=all")


def test_columns_that_were_asked_for_are_not_lost_in_silence(tmp_path):
    before, after = program({"a": 50_000}), program({"a": 20_000})
    columns = "--show=SpLoss1,UsByte1,EvLine1,Access1,AcCost1,Ir"
    _, said = diff(tmp_path, before, after, columns, "--width=60")
    assert said.startswith("bd_annotate: no room for ") and "--width=N" in said
    assert diff(tmp_path, before, after, columns, "--width=300")[1] == ""
    assert diff(tmp_path, before, after, "--width=60")[1] == ""


def test_the_totals_of_all_events_come_last(tmp_path):
    text, _ = diff(tmp_path, program({"a": 50_000}), program({"a": 20_000}))
    titles = re.findall(r"== (\w+)", text)
    assert titles == ["Summary", "Functions", "Calls", "Totals"]


def test_what_only_one_run_defines_by_its_own_events_is_left_out(tmp_path):
    """As of runs with --cores=threads and without."""
    usual = program({"work": 5})
    formulas = "event: Xfer = A + B : both\nevent: More = Xfer + Ir : more\nevent: Kept = 2 SpLoss1 : kept\n"
    wider = re.sub(r"(?m)^(\d+ \d+ \d+ 0 0 0 0)$", r"\1 3 2", program({"work": 9}).replace(EVENTS, f"{EVENTS} A B"))
    assert wider.count(" 3 2\n") == 3
    for first, second, name in ((usual, formulas + wider, "after"), (formulas + wider, usual, "before")):
        told, noted = diff(tmp_path, first, second, "--show=Kept")
        assert f"only {name}.out counts A B: not compared" in noted and "Kept" in told
        assert "Xfer" not in told and "More" not in told
