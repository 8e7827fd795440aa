#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_site.py OUTPUT

Makes a site of the documents: a page for each, with the other pages beside it and a search, without a server.
cmark-gfm renders them. What they link to and is no document, as a source, is copied, so that each link works offline.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent

# The parts of the site, each with its documents in order: patterns below the top of the sources. The first document
# is the front page; one that no pattern names is in the last part.
PARTS = {
    "The guide": ["docs/guide/README.md", "docs/guide/[0-9]*.md"],
    "Beside the guide": ["docs/callgrind.md", "docs/guide/from-*.md", "docs/guide/words.md", "docs/comparison.md"],
    "Examples": ["docs/example/README.md", "docs/cases/README.md", "docs/cases/*.md", "docs/gallery/*.md"],
    "Reference": [f"docs/{name}.md" for name in (
        "annotate", "why", "objects", "loops", "contexts", "paths", "threads", "machines", "sampling", "ranks",
        "simulation", "web-report", "ci", "format", "annotate-json", "platforms", "releases", "results")],
    "For those who change it": ["README.md", "docs/*.md"],
}


@dataclass
class Section:
    """A heading with the text below it, up to the next one: what the search finds."""

    anchor: str
    heading: str
    text: str


@dataclass
class Page:
    source: Path  # below the top, as docs/why.md
    title: str
    body: str  # HTML
    sections: list[Section]

    @property
    def target(self) -> Path:
        return target_of(self.source)


def target_of(source: Path) -> Path:
    """Where in the site a file of the sources is; documents become pages, and the guide's first one the front page."""
    if source == Path("docs/guide/README.md"):
        return Path("index.html")
    inside = source.relative_to("docs") if source.parts[0] == "docs" else Path("sources") / source
    return inside.with_suffix(".html") if source.suffix == ".md" else inside


def documents() -> dict[str, list[Path]]:
    """The documents of each part, each once."""
    seen: set[Path] = set()
    parts: dict[str, list[Path]] = {}
    for part, patterns in PARTS.items():
        found = [path.relative_to(TOP) for pattern in patterns for path in sorted(TOP.glob(pattern))]
        parts[part] = [path for path in dict.fromkeys(found) if path not in seen]
        seen.update(found)
    return {part: paths for part, paths in parts.items() if paths}


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading, so that links work there and here."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


class Text(HTMLParser):
    """What a reader sees of some HTML."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.feed(markup)

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @classmethod
    def of(cls, markup: str) -> str:
        return re.sub(r"\s+", " ", "".join(cls(markup).words)).strip()


def with_anchors(body: str) -> tuple[str, list[Section]]:
    """The body with an anchor on each heading, and its sections."""
    pieces = re.split(r"(<h[1-6]>.*?</h[1-6]>)", body, flags=re.DOTALL)
    used: dict[str, int] = {}
    sections: list[Section] = []
    out = [pieces[0]]
    for heading, rest in zip(pieces[1::2], pieces[2::2], strict=True):
        text = Text.of(heading)
        name = slug(text)
        count = used.get(name, 0)
        used[name] = count + 1
        anchor = f"{name}-{count}" if count else name
        out += [heading.replace(">", f' id="{anchor}">', 1), rest]
        sections.append(Section(anchor, text, Text.of(rest)))
    return "".join(out), sections


def render(source: Path) -> Page:
    """Raises CalledProcessError."""
    done = subprocess.run(
        ["cmark-gfm", "--extension", "table", "--extension", "autolink", str(TOP / source)],
        capture_output=True, text=True, check=True,
    )
    body, sections = with_anchors(done.stdout)
    return Page(source, sections[0].heading if sections else source.stem, body, sections)


def relative(target: Path, start: Path) -> str:
    return os.path.relpath(target, start.parent)


def linked(page: Page) -> tuple[str, set[Path]]:
    """The body with links that lead within the site, and the files of the sources that these need beside the pages."""
    files: set[Path] = set()

    def change(match: re.Match[str]) -> str:
        attribute, link = match[1], html.unescape(match[2])
        if re.match(r"[a-z]+:", link) or link.startswith("#"):
            return match[0]
        place, _, anchor = link.partition("#")
        named = Path(os.path.normpath(page.source.parent / unquote(place)))
        found = TOP / named
        if found.is_dir():
            named /= "README.md"
            if not (TOP / named).exists():
                return match[0].replace(match[2], "#")
        if named.suffix != ".md":
            files.add(named)
        address = relative(target_of(named), page.target) + (f"#{anchor}" if anchor else "")
        return f'{attribute}="{html.escape(address)}"'

    return re.sub(r'\b(href|src)="([^"]*)"', change, page.body), files


def navigation(parts: dict[str, list[Page]], here: Page) -> Iterator[str]:
    for part, pages in parts.items():
        yield f"<h2>{html.escape(part)}</h2>\n<ul>"
        for page in pages:
            current = ' aria-current="page"' if page is here else ""
            yield f'<li><a href="{relative(page.target, here.target)}"{current}>{html.escape(page.title)}</a></li>'
        yield "</ul>"


def onward(parts: dict[str, list[Page]], here: Page) -> str:
    """Below a chapter of the guide, the one that follows."""
    chapters = parts["The guide"]
    if here not in chapters[:-1]:
        return ""
    after = chapters[chapters.index(here) + 1]
    return f'<p class="next"><a href="{relative(after.target, here.target)}">Next: {html.escape(after.title)}</a></p>'


def whole(parts: dict[str, list[Page]], page: Page, body: str) -> str:
    root = relative(Path("."), page.target)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(page.title)} · bdgrind</title>
<link rel="stylesheet" href="{root}/site.css">
</head>
<body data-root="{root}">
<a class="skip" href="#content">To the text</a>
<nav aria-label="Pages">
<p class="name"><a href="{root}/index.html">bdgrind</a></p>
<input id="search" type="search" placeholder="Search" aria-label="Search" autocomplete="off">
<ol id="found" aria-live="polite"></ol>
<details open id="pages"><summary>Pages</summary>
{chr(10).join(navigation(parts, page))}
</details>
</nav>
<main id="content">
{body}
{onward(parts, page)}
</main>
<script src="{root}/index.js"></script>
<script src="{root}/search.js"></script>
</body>
</html>
"""


def search_index(pages: list[Page]) -> str:
    """[address, title of the page, heading, text] of each section, as a script: from file:// nothing else is read."""
    rows = [
        [f"{page.target}#{section.anchor}", page.title, section.heading, section.text]
        for page in pages for section in page.sections
    ]
    return "var INDEX = " + json.dumps(rows, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/") + ";\n"


def main(output: Path) -> None:
    if shutil.which("cmark-gfm") is None:
        sys.exit("make html: cmark-gfm is missing, which renders the pages; on Debian: apt-get install cmark-gfm")
    parts = {part: [render(path) for path in paths] for part, paths in documents().items()}
    pages = [page for part in parts.values() for page in part]
    new = output.with_name(output.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    files: set[Path] = set()
    for page in pages:
        body, needs = linked(page)
        files |= needs
        place = new / page.target
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(whole(parts, page, body), encoding="utf-8")
    for file in sorted(files):
        place = new / target_of(file)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(TOP / file, place)
    (new / "index.js").write_text(search_index(pages), encoding="utf-8")
    for name in ("site.css", "search.js"):
        shutil.copyfile(HERE / name, new / name)
    shutil.rmtree(output, ignore_errors=True)
    new.rename(output)
    print(f"make html: {len(pages)} pages; open {output / 'index.html'}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
