# SPDX-License-Identifier: GPL-2.0-or-later
"""Code without symbols or lines."""

from screens import call, screen, section, startup, use


def test_objects_without_symbols_are_named_with_what_helps(tmp_path):
    body = "ob=/home/me/program\nfl=/home/me/main.c\nfn=main\n"
    library = use(9000, 16, 2)
    body += f"5 {use(1000, 16, 2)}\n" + call("0x0000000000000500", library, "???", "/lib/x.so")
    body += f"ob=/lib/x.so\nfl=???\nfn=0x0000000000000500\n0 {library}\n"
    text = screen(tmp_path, body)
    assert "Unknown   90% of the loss is in code without symbols (x.so)" in text
    assert "DEBUGINFOD_URLS" in text
    assert "x.so+0x500" in section(text, "Functions")[-1]
    # main can be changed; the code in x.so, which has more of the loss, cannot.
    assert section(text, "What to change")[0].startswith("1. main")
    assert "Unknown" not in screen(tmp_path, body.replace("0x0000000000000500", "f").replace(
        "fl=???", "fl=/home/me/f.c"))


def test_code_without_a_name_is_asked_for_as_it_is_shown(tmp_path):
    lost = use(9000, 16, 2)
    body = startup(lost, main="0x0000000000001100", file="???")
    body += "ob=/home/me/program\nfl=???\nfn=0x0000000000001100\n0 1\n"
    body += call("0x0000000000000500", lost, "???", "/usr/lib/a-library-with-a-long-name.so.1.2.3")
    body += f"ob=/usr/lib/a-library-with-a-long-name.so.1.2.3\nfl=???\nfn=0x0000000000000500\n0 {lost}\n"
    text = screen(tmp_path, body)
    assert "Next  bd_annotate --tree=both --function=2 bdgrind.out.1" in text
    text = screen(tmp_path, body, "--sort=SpLoss1")
    assert "Next  bd_annotate --tree=both '--function=\\+0x500$' bdgrind.out.1" in text
    for pattern in (r"\+0x500$", r"^a-library.*\.3\+0x500$", "0500$"):
        rows = section(screen(tmp_path, body, f"--function={pattern}"), "Functions")[3:]
        assert [row.split("  ")[-1] for row in rows] == ["a-library-with-a-long-name.so+0x500"], pattern
