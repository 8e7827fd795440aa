# SPDX-License-Identifier: GPL-2.0-or-later
"""Hints: which places have one, and what it says."""

from bdannotate.analyses.hints import hints

from screens import EVENTS, HEAD, call, report_of, screen, section, use


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
    assert lines[-1].endswith("; see 1.")


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
    assert hint.use.unused_share < 0.3 and "few bytes of each line" in hint.pattern.brief


def test_a_hint_names_the_lines_of_a_place(tmp_path):
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n"
    body += f"5 {use(1000, 16, 2)}\n6 {use(6000, 16, 2)}\n7 {use(3000, 16, 2)}\n8 {use(10, 16, 2)}\n"
    (hint,) = hints(report_of(body))
    assert [(line.line, round(100 * line.share)) for line in hint.lines] == [(6, 60), (7, 30)]
    assert "Where: 60% of its own loss at main.c:6, 30% at main.c:7." in screen(tmp_path, body, "--hints")


def test_advice_on_data_says_where_it_would_gain_little(tmp_path):
    body = "ob=/home/me/program\nfl=a.c\nfn=main\n"
    waste = f"5 {use(2000, 16, 2)}\n"
    assert "== What to change ==\n1. main (a.c:5)" in screen(tmp_path, body + waste)
    text = screen(tmp_path, body + waste + "6 90000000\n")
    assert "First     instructions: " in text
    assert "== What to change, if anything: misses cost little ==\n1. main (a.c:5)" in text


def with_last_level(cost, misses, unused):
    """The same use of L1, and so many misses of LL with so many bytes of each never used."""
    values = cost.split()[:14]
    values[7] = str(misses)
    return " ".join([*values, f"{1000 * misses} {unused * misses} {misses} {(64 - unused) * misses} {misses}"])


def place(name, cost):
    return call(name, cost, "/home/me/main.c", "/home/me/program") + f"fn={name}\n5 {cost}\nfn=main\n"


def test_hints_are_ranked_by_what_they_are_worth(tmp_path):
    """Fewer bytes of the first level, but each line comes from memory."""
    many, dear = use(5000, 16, 2), with_last_level(use(3000, 16, 2), 3000, 48)
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n1 1\n" + place("many", many) + place("dear", dear)
    lines = section(screen(tmp_path, body), "What to change")
    cycles = 10 * 8000 + 10 * 8000 + 100 * 3000  # use() has ten instructions for each line
    worth = round(75 * (30_000 + 300_000) / cycles)
    assert lines[0] == f"1. dear (main.c:5): at most {worth}% of the cycles, 75% unused"
    assert lines[2] == f"2. many (main.c:5): at most {round(75 * 50_000 / cycles)}% of the cycles, 75% unused; see 1."
    told = screen(tmp_path, body, "--hints")
    assert f"Worth: at most {round(75 * 50_000 / cycles)}% of the estimated cycles." in told


def test_hints_are_sorted_as_the_report_is(tmp_path):
    busy = " ".join(["900000", *use(3000, 16, 2).split()[1:]])
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n1 1\n"
    body += place("many", use(5000, 16, 2)) + place("busy", busy)

    def first(*options):
        return section(screen(tmp_path, body, *options), "What to change")[0].split()[1]

    assert (first(), first("--sort=Ir"), first("--sort=SpLoss1")) == ("many", "busy", "many")


def test_what_ll_has_room_for_does_not_change_advice(tmp_path):
    """The same numbers of L1: with LL's, lines seem to be loaded again and again, or once."""
    said = set()
    for misses in (0, 100, 4000):
        body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n5 "
        (hint,) = hints(report_of(body + with_last_level(use(5000, 16, 2), misses, 48) + "\n"))
        said.add((hint.pattern.brief, hint.pattern.looks, hint.pattern.helps))
    assert len(said) == 1


def test_no_advice_where_lines_are_used_well(tmp_path):
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n"
    text = screen(tmp_path, body + f"5 {use(50_000, 60, 40)}\n")
    assert "What to change" not in text and "stands out" not in text


def test_advice_claims_no_more_than_the_numbers_say():
    """Few bytes of each line are used of a field of many objects, and of a gather by indices, tiles of a
    matrix or arrays one beside another, where an array per field is what there is."""
    (hint,) = hints(report_of(f"ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n5 {use(5000, 8, 1)}\n"))
    assert "per field" not in hint.pattern.brief + hint.pattern.helps
    assert " tile" not in hint.pattern.brief


def test_no_advice_claims_an_order_of_addresses():
    """Bytes used and accesses tell nothing of it: it may be strides as well as lists, trees or tables."""
    for row in (use(5000, 8, 1), use(5000, 8, 40), use(5000, 40, 2), use(5000, 60, 8)):
        for hint in hints(report_of(f"ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n5 {row}\n")):
            assert "loop" not in hint.pattern.brief and "stride" not in hint.pattern.brief
            assert hint.pattern.helps.startswith("for strides, ") or "stride" not in hint.pattern.helps


SAMPLED = "Ir Dr Dw I1mr D1mr D1mw AcCost1 SpLoss1 EvLine1 UsByte1"


def sampled_use(lines, used, accesses):
    """The costs of so many lines, as a sampled run has them: without LL, and without counts of accesses to lines."""
    counts = 10 * lines, accesses * lines, 0, 0, lines, 0, 1000 * lines // accesses
    return " ".join(map(str, (*counts, (64 - used) * lines, lines, used * lines)))


def sampled_places(widths):
    """Two functions that lose 480,000 and 96,000 bytes. widths: of the intervals of these, and of all."""
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n1 1\n"
    body += call("lesser", sampled_use(2000, 16, 8), "/home/me/main.c", "/home/me/program")
    body += call("worst", sampled_use(10000, 16, 2), "/home/me/main.c", "/home/me/program")
    body += f"fn=lesser\n5 {sampled_use(2000, 16, 8)}\nfn=worst\n6 {sampled_use(10000, 16, 2)}\n"
    rows = {
        name: f"# ob=/home/me/program\n# fl=/home/me/main.c\n# fn={name}\n# sum=9 {'0 ' * 7}{width} 0 0\n"
        for name, width in widths.items() if name != "all"
    }
    total = f"# all=9 {'0 ' * 7}{widths['all']} 0 0\n" if "all" in widths else ""
    return f"{body}\n# intervals: {9 if total else 1} bursts\n{total}{''.join(rows.values())}"


def test_hints_of_a_sampled_run_say_how_far_they_may_be_off(tmp_path, monkeypatch):
    body = sampled_places({"all": 288000, "worst": 240000, "lesser": 96001})
    found = hints(report_of(body, SAMPLED))
    # Half of 480,000; and more than 96,000, of which nothing is known then.
    assert [(hint.function.name, hint.off) for hint in found] == [("worst", 0.5), ("lesser", None)]
    # 1000 / accesses is counted, the accesses are not.
    assert [(hint.use.accesses_per_line, hint.use.average_accesses) for hint in found] == [(2, 0), (8, 0)]
    monkeypatch.setattr("screens.HEAD", HEAD.replace(EVENTS, SAMPLED))
    text = screen(tmp_path, body)
    assert "Missing    LL, causes and repairs; " in text
    named = [line for line in section(text, "What to change") if line[:1].isdigit()]
    assert named == [
        "1. worst (main.c:6): 83% of the loss (±50%), 75% unused",
        "2. lesser (main.c:5): 17% of the loss (?), 75% unused",
    ]
    # The run that has the repairs is one without --sample.
    assert "valgrind --tool=bdgrind --why=yes --objects=yes ./program  # repairs" in text
    text = screen(tmp_path, body, "--hints")
    assert "Its bytes never used are an estimate, ±50%." in text
    assert "How much it loses is not known: more or longer bursts would say more." in text
    assert "accesses per line: 2.0." in text


def test_a_sampled_run_of_too_few_bursts_names_no_place(tmp_path, monkeypatch):
    body = sampled_places({"worst": 240000})
    assert hints(report_of(body, SAMPLED)) == []
    monkeypatch.setattr("screens.HEAD", HEAD.replace(EVENTS, SAMPLED))
    sentence = (
        "too few bursts to name a place: choose shorter periods (--sample=bursts,<length>,<period>), or run without "
        "--sample"
    )
    assert " ".join(section(screen(tmp_path, body), "What to change")) == sentence
    assert " ".join(section(screen(tmp_path, body, "--hints"), "Hints")).strip() == sentence


def test_lines_that_are_used_a_lot_need_no_count_of_accesses():
    """What is left of 1000 / accesses is 0 then."""
    body = f"ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n5 {sampled_use(5000, 16, 2000)}\n"
    (hint,) = hints(report_of(body, SAMPLED))
    assert hint.use.accesses_per_line == 1000 and "share lines" in hint.pattern.brief
