# SPDX-License-Identifier: GPL-2.0-or-later
"""Other programs that read what a stranger may have made end when they take too much."""

import errno
import shutil
import subprocess
import sys

import pytest
from bdannotate.analyses.code.instructions import _pieces, disassemble
from bdcommon import auxiliary
from bdcommon.auxiliary import Dialog, ToolError, answer_of

ENDLESS = "while True: print('x' * 1000)"


def answer(program, text="", seconds=30):
    return answer_of([sys.executable, "-c", program], text, seconds)


def test_an_answer():
    assert answer("print(input()[::-1])", "text") == "txet\n"


def test_what_it_says_is_bounded(monkeypatch):
    monkeypatch.setattr(auxiliary, "_MOST_OUTPUT", 1 << 20)
    with pytest.raises(ToolError, match="it said more than 1 MiB"):
        answer(ENDLESS)


def test_its_memory_is_bounded(monkeypatch):
    wait = "import time; time.sleep(1); "  # it is limited a moment after its beginning
    assert answer(wait + "print(len(bytearray(1 << 28)))") == f"{1 << 28}\n"
    monkeypatch.setattr(auxiliary, "_MOST_MEMORY", 1 << 27)
    with pytest.raises(ToolError, match="it ended with status 1"):
        answer(wait + "print(len(bytearray(1 << 28)))")


def test_its_time_is_bounded():
    with pytest.raises(ToolError, match="it took longer than 1 seconds"):
        answer("import time; time.sleep(60)", seconds=1)


@pytest.mark.parametrize("has_function", [True, False])
def test_on_an_old_kernel_its_time_is_bounded_too(monkeypatch, has_function):
    if has_function:
        def refuse(_):
            raise OSError(errno.ENOSYS, "Function not implemented")
        monkeypatch.setattr(auxiliary.os, "pidfd_open", refuse)
    else:
        monkeypatch.delattr(auxiliary.os, "pidfd_open")
    assert answer("print(input()[::-1])", "text") == "txet\n"
    with pytest.raises(ToolError, match="it took longer than 1 seconds"):
        answer("import time; time.sleep(60)", seconds=1)


def test_one_that_ends_at_once_has_answered():
    assert [answer_of(["true"], "", 30) for _ in range(20)] == [""] * 20


def test_one_that_is_not_there_is_said():
    with pytest.raises(ToolError, match="No such file"):
        answer_of(["/nowhere/tool"], "", 30)


@pytest.mark.parametrize("addresses, pieces", [
    ([], []), ([16], [(16, 32)]), ([16, 20, 20 + (1 << 14)], [(16, 16420)]),
    ([16, 20, 21 + (1 << 14)], [(16, 36), (16405, 16421)]),
])
def test_what_is_disassembled_at_a_time(addresses, pieces):
    assert list(_pieces(addresses)) == pieces
    assert list(_pieces(addresses, 1 << 15)) == ([(addresses[0], addresses[-1] + 16)] if addresses else [])


@pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("objdump"), reason="gcc or objdump is missing")
def test_each_instruction_alone_is_as_among_all(tmp_path):
    (tmp_path / "f.c").write_text("long f(long a, long b) { while (a < b) a += a % b; return a * 123456789; }")
    path = str(tmp_path / "f.o")
    subprocess.run(["gcc", "-O1", "-c", "-o", path, "f.c"], cwd=tmp_path, check=True)
    told = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, check=True, encoding="utf-8"
    ).stdout
    lines = [line.split(":\t") for line in told.splitlines() if ":\t" in line]
    texts = {int(address, 16): text.expandtabs(8) for address, text in lines}
    assert len(texts) > 5
    assert disassemble(path, texts) == texts
    for address, text in texts.items():
        assert disassemble(path, [address]) == {address: text}


# Answers each line with itself, twice, and an empty line.
ECHO = "import sys\nfor line in sys.stdin: print(line + line, flush=True)"


def dialog(program):
    return Dialog([sys.executable, "-c", program])


def test_a_dialog_goes_on_where_it_was():
    one = dialog("import sys\nfor number, line in enumerate(sys.stdin): print(number, line, flush=True)")
    assert one.answers(["a", "b"], 30) == "0 a\n\n1 b\n\n"
    assert one.answers([], 30) == ""
    assert one.answers(["c"], 30) == "2 c\n\n"
    one.close()


@pytest.mark.parametrize("lines", [["0x12"] * 20_000, ["x" * 10_000] * 3, ["x" * 4095] * 3])
def test_a_dialog_of_many_or_long_lines(lines):
    one = dialog(ECHO)
    assert one.answers(lines, 60) == "".join(f"{line}\n{line}\n\n" for line in lines)
    one.close()


def test_an_empty_line_may_come_in_parts():
    slow = "for part in ('a\\n', '\\n', 'b', '\\n\\n'): sys.stdout.write(part), sys.stdout.flush(), time.sleep(0.1)"
    one = dialog(f"import sys, time\nfor line in sys.stdin:\n    {slow}")
    assert one.answers(["1", "2"], 30) == "a\n\nb\n\n"
    one.close()


def test_a_dialog_that_ends_has_said_less():
    assert dialog("print(input() + '\\n')").answers(["a", "b"], 30) == "a\n\n"
    with pytest.raises(ToolError, match="it ended with status 3"):
        dialog("input(); exit(3)").answers(["a"], 30)


def test_a_dialog_is_bounded(monkeypatch):
    with pytest.raises(ToolError, match="it took longer than 1 seconds"):
        dialog("import time; time.sleep(60)").answers(["a"], 1)
    monkeypatch.setattr(auxiliary, "_MOST_OUTPUT", 1 << 20)
    with pytest.raises(ToolError, match="it said more than 1 MiB"):
        dialog(ENDLESS).answers(["a"], 30)
    monkeypatch.setattr(auxiliary, "_MOST_MEMORY", 1 << 27)
    with pytest.raises(ToolError, match="it ended with status 1"):
        dialog("input(); bytearray(1 << 28)").answers(["a"], 30)


@pytest.mark.parametrize("lines, said", [(1, "more answers"), (20_000, "more answers"), (20_000, "longer than 1 s")])
def test_a_dialog_with_more_answers_than_questions_ends(lines, said):
    """As names in debug information may have empty lines in them."""
    text = "print('a\\n\\n' * 100_000)" if said == "more answers" else "time.sleep(60)"
    with pytest.raises(ToolError, match=said):
        dialog(f"import time; {text}; time.sleep(60)").answers(["0x123456789"] * lines, 1 if "longer" in said else 30)


def test_a_dialog_that_cannot_be_limited_ends(monkeypatch):
    started = []
    popen = subprocess.Popen

    def refuse(pid):
        raise PermissionError(1, "Operation not permitted")

    def start(*given, **more):
        started.append(popen(*given, **more))
        return started[0]

    monkeypatch.setattr(auxiliary.subprocess, "Popen", start)
    monkeypatch.setattr(auxiliary, "_limit", refuse)
    with pytest.raises(ToolError, match="Operation not permitted"):
        dialog("import time; time.sleep(60)")
    assert started[0].returncode is not None


def test_a_dialog_with_what_is_not_there_is_said():
    with pytest.raises(ToolError, match="No such file"):
        Dialog(["/nowhere/tool"])
