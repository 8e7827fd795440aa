# SPDX-License-Identifier: GPL-2.0-or-later
"""Which functions are asked for: by number, by the profile's names, and by those that reports show."""

import re
import shlex

import pytest

from annotating import bd_annotate
from screens import HEAD, call, screen, section, startup, use

LONG = "ns::Table<char const*, ns::Comparator<char const*> >::Node<int>::next(char const*, bool) const"
OTHER = "ns::Table<char const*, ns::Comparator<char const*> >::Node<int>::next_of(int)"


def body():
    text = startup(use(9000, 16, 2)) + "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n1 9\n"
    for name, lines in ((LONG, 6000), (OTHER, 2000), ("operator+(int)", 700)):
        text += call(name, use(lines, 16, 2)) + f"fn={name}\n{lines} {use(lines, 16, 2)}\nfn=main\n"
    return text


def run(tmp_path, *arguments):
    (tmp_path / "bdgrind.out.1").write_text(HEAD + body())
    return bd_annotate("--width=80", *arguments, cwd=tmp_path, text=True)


def listed(text):
    return [line for line in section(text, "Functions")[3:] if line]


def test_commands_for_what_is_next_choose_one_function_and_are_whole(tmp_path):
    """Of two functions with long names that begin alike."""
    text = screen(tmp_path, body())
    commands = [line[6:].split("  #")[0] for line in text[text.index("\nNext  ") + 1 :].split("\n") if line]
    command = next(one for one in commands if "--annotate" in one)
    assert re.search(r" --function=\d+ ", command) and len(command) <= 74
    result = bd_annotate(*shlex.split(command)[1:], cwd=tmp_path, text=True)
    assert result.returncode == 0
    (row,) = listed(result.stdout)
    assert "::next" in row and "next_of" not in row
    # Where rows have other numbers, by a name that fits this function only.
    text = screen(tmp_path, body(), "--sort=Ir", "--width=200")
    command = next(line[6:].split("  #")[0] for line in text.split("\n") if " --annotate " in line)
    result = bd_annotate(*shlex.split(command)[1:], cwd=tmp_path, text=True)
    assert "--function=^" in shlex.join(shlex.split(command)).replace("'", "")
    assert len(listed(result.stdout)) == 1, result.stdout


def test_a_number_is_that_of_a_row(tmp_path):
    rows = listed(screen(tmp_path, body(), "--limit=all"))
    numbers = [re.search(r"  (\d+) (\S+)", row) for row in rows]
    assert [found and found[1] for found in numbers] == [None, "1", "2", "3", "4"]
    for row, number in zip(rows[1:], range(1, 5)):
        (chosen,) = listed(screen(tmp_path, body(), f"--function={number}"))
        # Cut to different lengths, as the list is longer; the last part of the name is whole.
        name = re.search(r"\d (?:\S+::)?([\w+]+)", row[40:])[1]
        assert re.search(rf"(?:::|  ){re.escape(name)}(?:  |$)", chosen), (chosen, row)
    result = run(tmp_path, "--function=7")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "bd_annotate: --function=7: the list of functions has rows 1 to 4\n"
    assert "4 operator+" in rows[-1]


@pytest.mark.parametrize("name, number", [
    ("^ns::Table<char const*, ns::Comparator<char const*> >::Node<int>::next(char const*, bool) const$", 0),
    ("ns::Table<char const*, ns::Comparator<char const*>>::Node<int>::next", 1),
    ("ns::Table<..>::Node<..>::next", 1), ("^main$", 1), ("operator+", 1), ("Node<int>::next", 2),
])
def test_names_as_they_are_shown(tmp_path, name, number):
    result = run(tmp_path, f"--function={name}")
    rows = [row for row in listed(result.stdout) if row != "none that match"]
    assert (result.returncode, len(rows)) == (0, number), result


def test_conditions_know_names_as_they_are_shown(tmp_path):
    for name in (LONG, "ns::Table<..>::Node<..>::next"):
        result = run(tmp_path, f"--fail-if=self SpLoss1 of {name} > 1k")
        assert result.returncode == 1 and "failed: SpLoss1 of" in result.stderr
    result = run(tmp_path, "--fail-if=SpLoss1 of nothing > 1k")
    assert result.returncode == 2 and "there is no function 'nothing'" in result.stderr


def test_numbers_are_those_of_a_report(tmp_path):
    (tmp_path / "bdgrind.out.2").write_text(HEAD + body())
    result = run(tmp_path, "--diff", "bdgrind.out.1", "bdgrind.out.2", "--function=2")
    assert result.returncode == 2 and "numbers are rows of a report" in result.stderr
    result = run(tmp_path, "--function=a(")
    assert result.returncode == 2 and "is not a regular expression" in result.stderr
