# SPDX-License-Identifier: GPL-2.0-or-later
"""Compiles small programs whose debug information is read."""

import itertools
import shutil
import subprocess

import pytest


TYPE_UNITS, SPLIT = "-fdebug-types-section", "-gsplit-dwarf"


def compilers(names):
    """With all forms of debug information that are read."""
    forms = [(4,), (5,), (4, TYPE_UNITS), (5, TYPE_UNITS), (5, SPLIT), (5, SPLIT, TYPE_UNITS)]
    for name, (dwarf, *options) in itertools.product(names, forms):
        mark = () if shutil.which(name) else pytest.mark.skip(reason=f"{name} is missing")
        known = "".join(options)
        yield pytest.param((name, f"-gdwarf-{dwarf}", *options), marks=mark, id=f"{name}-dwarf-{dwarf}{known}")


def compiled(folder, compiler, text, name="program", *options):
    compiler = (compiler,) if isinstance(compiler, str) else compiler
    source = folder / f"{name}.{'cpp' if '++' in compiler[0] else 'c'}"
    source.write_text(text)
    target = folder / name
    subprocess.run([*compiler, "-O0", *options, "-o", target, source], cwd=folder, check=True)
    return str(target)
