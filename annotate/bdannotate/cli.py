# SPDX-License-Identifier: GPL-2.0-or-later
"""The command bd_annotate. Its exit status is 0 if all is well, 1 if a check failed, and 2 for an error."""

from __future__ import annotations

from collections.abc import Sequence

from bdcommon import console
from bdcommon.console import EXIT_ERROR

from .model.errors import UserError, is_out_of_memory
from .options import Options, parse_options
from .reading import kept
from .reading.inlined import end_symbolizers
from .reading.load import default_profile


# Of more, what is kept would only push out what was kept before.
_MOST_KEPT_PROFILES = 8


def main(argv: Sequence[str]) -> int:
    try:
        return console.guarded("bd_annotate", lambda: _main(argv))
    finally:
        end_symbolizers()


def _main(argv: Sequence[str]) -> int:
    try:
        return _run(parse_options(argv))
    except UserError as error:
        console.say(f"bd_annotate: {error}")
        return EXIT_ERROR
    except (MemoryError, SystemError) as error:
        if not is_out_of_memory(error):
            raise
        console.say("bd_annotate: there is not enough memory for so large a profile")
        return EXIT_ERROR


def _run(options: Options) -> int:
    paths = options.profiles or (default_profile(),)
    kept.turn(options.keep_read and options.mode != "merge" and len(paths) <= _MOST_KEPT_PROFILES)
    # Only what is wanted is loaded: all of it takes longer than most of what is done then.
    if options.html is not None:
        from .modes.html import html
        return html(paths, options, options.html)
    match options.mode:
        case "check":
            from .modes.check import check
            return max(check(path) for path in paths)
        case "diff":
            from .modes.diff import diff
            return diff(paths, options)
        case "per-file":
            from .modes.per_file import per_file
            return per_file(paths, options)
        case "merge":
            from .modes.merge import merge
            return merge(paths, options)
        case "export":
            from .modes.export import export
            return export(paths, options)
        case _:
            from .modes.report import report
            return report(paths, options)
