# SPDX-License-Identifier: GPL-2.0-or-later
"""Of debug information of many units, little is read."""

import shutil
import subprocess

import pytest
from bdannotate.model.data_types import VariableName, WantedTypes
from bdannotate.reading import debug_types, dwarf

UNITS = 40


@pytest.mark.skipif(not shutil.which("cc"), reason="cc is missing; on Debian: apt-get install gcc")
@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_only_the_units_with_the_variables_are_read(tmp_path, monkeypatch, version):
    pytest.importorskip("elftools", reason="pyelftools is missing; on Debian: apt-get install python3-pyelftools")
    from elftools.dwarf import dwarfinfo

    for number in range(UNITS):
        (tmp_path / f"{number}.c").write_text(f"struct of{number} {{ long key; char name[{number}]; }} v{number}[3];")
    (tmp_path / "main.c").write_text("int main(void) { return 0; }")
    sources = ["main.c", *(f"{number}.c" for number in range(UNITS))]
    subprocess.run(["cc", f"-gdwarf-{version}", "-o", "program", *sources], cwd=tmp_path, check=True)
    read, made = [], []
    table, structs = dwarfinfo.AbbrevTable, dwarfinfo.DWARFStructs
    monkeypatch.setattr(dwarfinfo, "AbbrevTable", lambda *given, **more: read.append(1) or table(*given, **more))
    inner = getattr(structs, "__wrapped__", structs)
    monkeypatch.setattr(dwarfinfo, "DWARFStructs", lambda *given, **more: made.append(1) or inner(*given, **more))
    sizes = [8 + (number + 7) // 8 * 8 for number in (8, 16)]
    wanted = {VariableName(f"v{number}", 3 * size, False) for number, size in zip((8, 16), sizes)}
    found = debug_types._read(str(tmp_path / "program"), WantedTypes(frozenset(), frozenset(wanted), frozenset()))
    types = {variable.symbol: kind.name for variable, (kind,) in found.variables.items()}
    assert types == {"v8": "of8", "v16": "of16"}
    # A unit of the compiler's start files may have an address that looks like one of them.
    assert len(read) <= 2 + 2
    assert len(made) <= 4


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("version", [4, 5])
def test_only_the_units_with_the_whole_name_are_read(tmp_path, monkeypatch, compiler, version):
    """Most units of C++ programs have some pair or vector."""
    pytest.importorskip("elftools", reason="pyelftools is missing; on Debian: apt-get install python3-pyelftools")
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is missing; on Debian: apt-get install {compiler.replace('clang++', 'clang')}")
    (tmp_path / "pair.h").write_text("template <class A, class B> struct pair { A first; B second; };\n")
    (tmp_path / "main.cpp").write_text("int main() {}\n")
    for number in range(8):
        (tmp_path / f"{number}.cpp").write_text(
            f"#include \"pair.h\"\nstruct of{number} {{ char name[{number + 1}]; }};\n"
            f"pair<unsigned long, of{number}> v{number};\n"
        )
    sources = ["main.cpp", *(f"{number}.cpp" for number in range(8))]
    subprocess.run([compiler, f"-gdwarf-{version}", "-o", "program", *sources], cwd=tmp_path, check=True)
    walked = []
    walk = dwarf.Units.walk

    def counted(self, entry, *given):
        walked.append(entry.cu.cu_offset)
        return walk(self, entry, *given)

    monkeypatch.setattr(dwarf.Units, "walk", counted)
    monkeypatch.setattr(debug_types, "bounded", lambda work, what: work())
    path = str(tmp_path / "program")
    names = {f"pair<unsigned long, of{number}>" for number in (3, 6)}
    found = debug_types.read_types({path: WantedTypes(frozenset(names))})
    assert {name: [one.size for one in found.named[path, name]] for name in names} == {
        f"pair<unsigned long, of{number}>": [8 + (number + 1 + 7) // 8 * 8] for number in (3, 6)
    }
    assert len(set(walked)) == 2


@pytest.mark.skipif(not shutil.which("g++"), reason="g++ is missing; on Debian: apt-get install g++")
def test_a_type_of_a_unit_that_was_not_read_has_its_scopes(tmp_path):
    """Units refer to types of others after optimization of whole programs, and in files that dwz has made smaller."""
    pytest.importorskip("elftools", reason="pyelftools is missing; on Debian: apt-get install python3-pyelftools")
    (tmp_path / "a.cpp").write_text("namespace ns { struct Item { long key; }; }\nns::Item one;\nint main() {}\n")
    subprocess.run(["g++", "-g", "-o", "program", "a.cpp"], cwd=tmp_path, check=True)
    with debug_types.with_debug_information(str(tmp_path / "program")) as elf:
        info = debug_types.dwarf_of(elf)
        units = dwarf.Units(info, None, lambda top: info)
        (unit,) = units
        (item,) = (one for one in unit.iter_DIEs() if one.tag == "DW_TAG_structure_type")
        assert units.qualified_name(item) == "ns::Item"
