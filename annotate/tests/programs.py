# SPDX-License-Identifier: GPL-2.0-or-later
"""Compiles small programs whose debug information is read."""

import itertools
import shutil
import subprocess

import pytest


def compilers(names):
    for name, dwarf in itertools.product(names, (4, 5)):
        mark = () if shutil.which(name) else pytest.mark.skip(reason=f"{name} is missing")
        yield pytest.param((name, f"-gdwarf-{dwarf}"), marks=mark, id=f"{name}-dwarf-{dwarf}")


def compiled(folder, compiler, text, name="program", *options):
    compiler = (compiler,) if isinstance(compiler, str) else compiler
    source = folder / f"{name}.{'cpp' if '++' in compiler[0] else 'c'}"
    source.write_text(text)
    target = folder / name
    subprocess.run([*compiler, "-O0", *options, "-o", target, source], check=True)
    return str(target)
