# SPDX-License-Identifier: GPL-2.0-or-later
"""--format=markdown: a report as a comment on a change."""

from annotating import bd_annotate
from screens import HEAD, call, screen, use

BODY = (
    "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n1 1\n"
    + call("fill<int>(T*)", use(7000, 16, 2), "/home/me/main.c", "/home/me/program")
    + f"fn=fill<int>(T*)\n5 {use(6000, 16, 2)}\n7 {use(1000, 16, 2)}\n"
)


def as_markdown(tmp_path, body, *arguments):
    return screen(tmp_path, body, "--format=markdown", *arguments)


def unfenced(text):
    """The lines that Markdown reads as such."""
    fence, kept = "", []
    for line in text.splitlines():
        if fence:
            fence = "" if line == fence else fence
        elif line.startswith("```"):
            fence = line.removesuffix("text")
        else:
            kept.append(line)
    assert not fence
    return kept


def test_the_answer_is_in_the_open_and_the_rest_is_folded(tmp_path):
    lines = unfenced(as_markdown(tmp_path, BODY))
    assert lines[0].startswith("- **Profile**: bdgrind.out.1")
    assert any(line.startswith("- **First**: L1: data never used costs") for line in lines)
    assert "### What to change" in lines
    (hint,) = (line for line in lines if line.startswith("1. "))
    assert hint.startswith("1. **fill") and "main.c:5" in hint
    before = lines[: lines.index("### What to change")]
    assert sum("<details>" in line for line in before) == sum("</details>" in line for line in before)
    assert any("<summary>Functions by SpLoss1:incl" in line for line in lines)


def test_nothing_is_said_of_commands_that_a_comment_cannot_run(tmp_path):
    assert "\nNext" in screen(tmp_path, BODY)
    assert "\nNext" not in as_markdown(tmp_path, BODY)


def test_names_are_no_markup(tmp_path):
    evil = "<img src=x>|`a`*b*_c_[d](e)@@GLIBC_2.14&lt;#1~~"
    body = BODY.replace("fill<int>(T*)", evil)
    lines = "\n".join(unfenced(as_markdown(tmp_path, body)))
    for active in ("<img", "`a`", "*b*", "_c_", "[d](e)", "@@", "&lt;\\#", "~~"):
        assert active not in lines, active
    assert "&lt;img src=x&gt;" in lines and "&#64;&#64;GLIBC" in lines and "&amp;lt;\\#1" in lines


def test_a_fence_is_longer_than_those_in_names(tmp_path):
    body = BODY.replace("fill<int>(T*)", "a````b")
    text = as_markdown(tmp_path, body, "--full-names")
    assert "`````text" in text and "a````b" in text
    assert all("a````b" not in line for line in unfenced(text))


def test_escape_characters_do_not_reach_a_comment(tmp_path):
    body = BODY.replace("fill<int>(T*)", "a\x1b[31mb")
    assert "\x1b" not in as_markdown(tmp_path, body)


def test_hints_are_a_list_with_all_their_sentences(tmp_path):
    lines = unfenced(as_markdown(tmp_path, BODY, "--hints"))
    start = lines.index("<details><summary>Hints</summary>")
    assert lines[start + 2].startswith("1. **fill")
    assert any(line.startswith("   Never used: 336k bytes, 100.0% of the program's") for line in lines)


def test_other_tables_stay_as_they_are(tmp_path):
    text = as_markdown(tmp_path, BODY, "--tree=caller")
    assert "<details><summary>Callers (&lt;) and callees (&gt;)</summary>" in text


def test_a_comparison_is_markdown_too(tmp_path):
    before, after = tmp_path / "before", tmp_path / "after"
    before.write_text(HEAD + BODY)
    after.write_text(HEAD + BODY.replace(use(6000, 16, 2), use(5000, 16, 2)))
    text = bd_annotate("--format=markdown", "--diff", before, after, text=True, check=True).stdout
    assert text.startswith("- **Before**: ") and "<details><summary>Functions</summary>" in text
    text = bd_annotate("--format=markdown", "--per-file", before, after, text=True, check=True).stdout
    assert text.startswith("- **Profiles**: ")
