# SPDX-License-Identifier: GPL-2.0-or-later
"""Links of the documents lead somewhere: to a file of the sources, and a heading in it; and so do those of the site."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

TOP = Path(__file__).resolve().parents[3]
DOCUMENTS = sorted([*TOP.glob("*.md"), *(TOP / "docs").rglob("*.md")])
MADE = TOP / "docs" / "html"

# A link, or a picture; not in code.
LINK = re.compile(r"\]\(([^()\s]+)\)")


def prose(text: str) -> str:
    """Without code, whose brackets are no links."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(?: {4}|\t).*$", "", text, flags=re.MULTILINE)
    return re.sub(r"`[^`]*`", "", text)


def anchors(path: Path) -> set[str]:
    """Of headings, as GitHub names them: in lower case, with hyphens for blanks, and without other signs."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = "".join(each for each in plain.lower() if each.isalnum() or each in " -_").replace(" ", "-")
        while name in found:
            name += "-1"
        found.add(name)
    return found


def test_links_of_documents_lead_to_files_and_headings() -> None:
    assert len(DOCUMENTS) > 20
    broken = []
    for document in DOCUMENTS:
        for link in LINK.findall(prose(document.read_text(encoding="utf-8"))):
            if re.match(r"[a-z]+:", link):
                continue
            place, _, anchor = link.partition("#")
            target = (document.parent / unquote(place)) if place else document
            if not target.exists():
                broken.append(f"{document.relative_to(TOP)}: {link}: there is no such file")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                broken.append(f"{document.relative_to(TOP)}: {link}: there is no such heading")
    assert broken == []


class Page(HTMLParser):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("href", "src") and value is not None:
                self.links.append(value)
            elif name == "id" and value is not None:
                self.names.add(value)


def test_links_of_the_site_lead_somewhere(tmp_path: Path) -> None:
    if shutil.which("cmark-gfm") is None:
        pytest.skip("cmark-gfm is missing; on Debian: apt-get install cmark-gfm")
    site = tmp_path / "html"
    subprocess.run([sys.executable, "-B", TOP / "docs" / "site" / "make_site.py", site], check=True)
    pages = {path: Page(path) for path in site.rglob("*.html")}
    assert len([path for path in DOCUMENTS if "docs" in path.parts]) <= len(pages)
    broken = []
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            place, _, anchor = link.partition("#")
            target = (path.parent / unquote(place)).resolve() if place else path
            assert site in (target, *target.parents), f"{path}: {link} leaves the site"
            if not target.is_file() or (anchor and target in pages and anchor not in pages[target].names):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []
