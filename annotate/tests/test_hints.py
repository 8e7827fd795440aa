# SPDX-License-Identifier: GPL-2.0-or-later
"""Hints: which places have one, and what it says."""

from bdannotate.analyses.hints import hints

from screens import call, report_of, screen, section, use


def test_a_hint_for_a_library_goes_to_who_calls_it():
    library, own = use(5000, 16, 2), use(6000, 16, 2)
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n1 1\n"
    body += call("fill", own, "/home/me/main.c", "/home/me/program")
    body += f"fn=fill\n3 {use(1000, 16, 2)}\n" + call("malloc", library, "malloc.c", "/lib/libc.so")
    body += "ob=/lib/libc.so\nfl=malloc.c\nfn=malloc\n9 10\n"
    body += call("_int_malloc", library, "malloc.c", "/lib/libc.so")
    body += f"fn=_int_malloc\n99 {library}\n"
    (hint,) = hints(report_of(body))
    assert (hint.function.name, hint.through.name) == ("fill", "malloc")


def test_what_a_library_calls_back_is_no_second_hint():
    """As of OpenMP's parallel regions, which main starts through a library."""
    region = use(5000, 16, 2)
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n1 1\n"
    body += call("GOMP_parallel", region, "???", "/lib/libgomp.so")
    body += "ob=/lib/libgomp.so\nfl=???\nfn=GOMP_parallel\n1 1\n"
    body += call("work", region, "/home/me/main.c", "/home/me/program")
    body += f"ob=/home/me/program\nfl=/home/me/main.c\nfn=work\n7 {region}\n"
    assert [hint.function.name for hint in hints(report_of(body))] == ["work"]


def test_no_advice_on_data_where_code_was_loaded(tmp_path):
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n"
    body += f"5 {use(747, 4, 2, code=159401)}\n"
    assert hints(report_of(body)) == []
    text = screen(tmp_path, body)
    assert "Lines by" not in text
    assert "First     code: 99.5% of L1 misses" in text


def test_the_same_advice_is_given_once(tmp_path):
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n1 1\n"
    for name in ("one", "two"):
        body += call(name, use(5000, 16, 2), "/home/me/main.c", "/home/me/program")
    body += f"fn=one\n5 {use(5000, 16, 2)}\nfn=two\n6 {use(5000, 16, 2)}\n"
    lines = section(screen(tmp_path, body), "What to change")
    assert [line.split(" ")[1] for line in lines if line[:1].isdigit()] == ["one", "two"]
    assert lines[-1].endswith("; as 1.")


def test_code_without_symbols_is_a_place_of_a_program_that_has_hardly_any():
    """Else what all of it costs would be a fault of the last function with a name above it."""
    lost = use(9000, 16, 2)
    body = "ob=/usr/bin/program\nfl=???\nfn=main\n0 1\n" + call(
        "parse", use(10000, 16, 2), "???", "/usr/bin/program")
    body += "fn=parse\n0 1\n" + call("0x500", use(10000, 16, 2), "???", "/usr/bin/program")
    body += f"fn=0x500\n0 {lost}\n" + call("fill", use(1000, 16, 2), "???", "/usr/bin/program")
    body += f"fn=fill\n0 {use(1000, 16, 2)}\n"
    found = hints(report_of(body))
    # What has a name can be looked up, and comes first.
    assert [(hint.function.name, hint.below and hint.below.name) for hint in found] == [
        ("fill", None), ("0x500", "parse"),
    ]


def test_advice_on_a_function_is_about_its_worst_line():
    """Two lines of which one uses all that it loads, and the other a few bytes."""
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n"
    body += f"5 {use(20000, 64, 64)}\n9 {use(9000, 8, 1)}\n"
    (hint,) = hints(report_of(body))
    assert hint.line[:2] == ("/home/me/main.c", 9)
    assert hint.use.unused_share < 0.3 and "few bytes of a line" in hint.pattern.brief


def test_a_hint_names_the_lines_of_a_place(tmp_path):
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n"
    body += f"5 {use(1000, 16, 2)}\n6 {use(6000, 16, 2)}\n7 {use(3000, 16, 2)}\n8 {use(10, 16, 2)}\n"
    (hint,) = hints(report_of(body))
    assert [(line.line, round(100 * line.share)) for line in hint.lines] == [(6, 60), (7, 30)]
    assert "Where: 60% of its own at main.c:6, 30% at main.c:7." in screen(tmp_path, body, "--hints")


def test_advice_on_data_says_where_it_would_gain_little(tmp_path):
    body = "ob=/home/me/program\nfl=a.c\nfn=main\n"
    waste = f"5 {use(2000, 16, 2)}\n"
    assert "== What to change ==\n1. main (a.c:5)" in screen(tmp_path, body + waste)
    text = screen(tmp_path, body + waste + "6 90000000\n")
    assert "First     instructions: " in text
    assert "== What to change, if anything: misses cost little ==\n1. main (a.c:5)" in text
