# SPDX-License-Identifier: GPL-2.0-or-later
"""python3 -m manual man|bash|zsh COMMAND, with docs and annotate as PYTHONPATH."""

from __future__ import annotations

import sys

from .bash import bash_completion
from .commands import pages
from .roff import manual_page
from .zsh import zsh_completion


def main(kind: str, name: str) -> None:
    page = pages()[name]
    match kind:
        case "man":
            text = manual_page(page)
        case "bash":
            text = bash_completion(page.command)
        case _:
            text = zsh_completion(page.command)
    sys.stdout.buffer.write(text.encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
