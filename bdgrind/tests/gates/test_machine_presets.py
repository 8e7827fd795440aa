# SPDX-License-Identifier: GPL-2.0-or-later
"""Each number in the tables of --machine and --tlb stands in docs/machines.md, with where it is from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[3]
_CACHES = ("I1", "D1", "L2", "LL")
_END = r"(?:,\s*CoherenceProtocol::k\w+)?\),\n"  # of a preset


def _product(text: str) -> int:
    value = 1
    for factor in text.split("*"):
        value *= {"kKiB": 1 << 10, "kMiB": 1 << 20}.get(factor.strip()) or int(factor)
    return value


def _presets() -> dict[str, tuple[dict[str, str], str]]:
    """By name: the caches as options have them, and what LL is."""
    text = (SOURCE / "bdgrind" / "tool" / "machine_presets.cpp").read_text()
    geometry = r"\{([\d *a-zA-Z]+), (\d+), (\d+)(?:, \{ReplacementPolicy::k\w+\})?\}"
    known = {
        name: f"{_product(size)},{ways},{line}"
        for name, size, ways, line in re.findall(rf"CacheGeometry (k\w+){geometry}", text)
    }
    assert len(known) == 5
    known["kNoCache"] = "none"
    found = {}
    rows = re.findall(
        rf'BD_PRESET\("([^"]+)", "[^"]+", "([^"]+)",\s*\{{(.*?)\}}, k\w+Tlbs{_END}', text, re.DOTALL
    )
    for name, last_level, caches in rows:
        texts = [
            known[word] if word else f"{_product(size)},{ways},{line}"
            for word, size, ways, line in re.findall(rf"\b(k\w+Ways|k\w+Trees?|kNoCache)\b|{geometry}", caches)
        ]
        i1, d1, ll, l2 = texts
        found[name] = dict(zip(_CACHES, (i1, d1, l2, ll), strict=True)), last_level
    assert len(found) == text.count("BD_PRESET(") - 1
    return found


def _models() -> dict[str, list[str]]:
    """By name: the vendor, and the models as the documentation has them."""
    text = (SOURCE / "bdgrind" / "tool" / "machine_presets.cpp").read_text()
    row = re.compile(r"\{\{k(\w+), (\w+), (\w+)\}, (\w+), \"([^\"]+)\"\}")
    found: dict[str, list[str]] = {}
    for vendor, family, first, last, name in row.findall(text):
        models = first if first == last else f"{first}-{last}"
        if name in found:
            found[name][1] += f", {models}"
        else:
            prefix = "" if family == "0" else f"{int(family, 0):#x}: "
            found[name] = [{"Amd": "AMD"}.get(vendor, vendor), prefix + models]
    return found


def _tlbs() -> dict[tuple[str, str], list[str]]:
    """By name and size of pages: the TLBs as entries and ways, in the order of the documentation."""
    text = (SOURCE / "bdgrind" / "tool" / "machine_presets.cpp").read_text()
    sizes = {}
    for name, both in re.findall(r"constexpr TlbGeometries (k\w+)\{(.*?)\}\};\n", text, re.DOTALL):
        sizes[name] = re.findall(
            r"\{(\d+), \{(\d+, \d+)\}, \{(\d+, \d+)\}, \{(\d+, \d+)\}, \{(\d+, \d+)?\}", f"{both}}}}}"
        )
        assert len(sizes[name]) == 2, name
    found = {}
    for preset, name in re.findall(rf'BD_PRESET\("([^"]+)".*?, (k\w+Tlbs){_END}', text, re.DOTALL):
        for bits, *tlbs in sizes[name]:
            unit = f"{1 << int(bits) - 20} MiB" if int(bits) >= 20 else f"{1 << int(bits) - 10} KiB"
            found[preset, unit] = [tlb.replace(" ", "") or "shared" for tlb in tlbs]
    return found


def _rows(heading: str) -> list[list[str]]:
    """The cells of the table's rows below a heading, the first one without its quotes."""
    text = (SOURCE / "docs" / "machines.md").read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| `")
    ]
    return [[row[0].strip("`"), *row[1:]] for row in rows]


def _documented() -> dict[str, list[str]]:
    """By name: the cells of its row behind it."""
    return {row[0]: row[1:] for row in _rows("Presets") if len(row) == 8}


def test_every_preset_is_documented_with_its_sources() -> None:
    presets, documented = _presets(), _documented()
    assert len(presets) >= 14 and presets.keys() == documented.keys()
    for name, (caches, last_level) in presets.items():
        *geometries, what, _unknown, sources = documented[name]
        assert geometries == list(caches.values()), name
        assert what == last_level.partition(";")[0], name
        assert len(sources) > 10, f"{name}: where are these numbers from?"


def test_models_of_presets_are_documented_with_their_sources() -> None:
    documented = {row[0]: row[1:] for row in _rows("Presets") if len(row) == 4}
    assert all(sources for *_, sources in documented.values())
    assert {name: row[:-1] for name, row in documented.items()} == _models()
    assert documented.keys() == _presets().keys()


@pytest.mark.parametrize(("kind", "word"), [("kVictim", "exclusive"), ("kIncludes", "inclusive")])
def test_presets_with_inclusion_are_documented(kind: str, word: str) -> None:
    text = (SOURCE / "bdgrind" / "tool" / "machine_presets.cpp").read_text()
    names = [row.partition('"')[0] for row in text.split('BD_PRESET("')[1:] if f"{kind}}}," in row]
    documented = (SOURCE / "docs" / "machines.md").read_text()
    sentence = re.search(rf"LL\s+of\s+these\s+presets\s+is\s+{word}: (.*?)\.", documented, re.DOTALL)
    assert sentence is not None and re.findall(r"`([^`]+)`", sentence[1]) == names and len(names) >= 2


@pytest.mark.parametrize(("kind", "policy"), [("k32KiBTree", "tree-plru"), ("k48KiBTrees", "lru3plru4")])
def test_presets_with_a_policy_are_documented(kind: str, policy: str) -> None:
    text = (SOURCE / "bdgrind" / "tool" / "machine_presets.cpp").read_text()
    written = {"tree-plru": "kTreePlru", "lru3plru4": "kLru3Plru4"}[policy]
    assert re.search(rf"CacheGeometry {kind}\{{.*\{{ReplacementPolicy::{written}\}}\}};", text)
    names = [row.partition('"')[0] for row in text.split('BD_PRESET("')[1:] if re.search(rf"\{{k\w+, {kind},", row)]
    documented = (SOURCE / "docs" / "machines.md").read_text()
    sentence = re.search(rf"D1\s+of\s+these\s+presets\s+has\s+`{policy}`: (.*?)\.", documented, re.DOTALL)
    assert sentence is not None and re.findall(r"`([^`]+)`", sentence[1]) == names and names
    assert text.count(kind) == 1 + len(names), "only D1 has a policy"


def test_all_tlbs_of_presets_are_documented_with_their_sources() -> None:
    tlbs = _tlbs()
    documented = {}
    for name, sizes, *geometries, _unknown, source in _rows("TLBs"):
        assert source, f"{name}: where are these numbers from?"
        for size in sizes.split(", "):
            documented[name, size] = geometries
    assert len(tlbs) == 2 * len(_presets())
    assert documented == tlbs
