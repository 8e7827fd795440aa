# SPDX-License-Identifier: GPL-2.0-or-later
"""The mode --per-file: the report on many profiles, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from bdcommon import console

from ..analyses.per_file import make_per_file
from ..model.merge import reorder
from ..options import Options
from ..reading.parser import Detail
from ..views import csv_report, json_report, text_report
from ..views.json_values import to_json
from .inputs import Inputs
from .outputs import EXIT_GOOD, selection_of, write_text


def per_file(paths: Sequence[str], options: Options) -> int:
    inputs = Inputs(options)
    profiles = [inputs.profile(path, Detail.FUNCTIONS) for path in paths]
    profiles = [reorder(profile, profiles[0].events) for profile in profiles]
    found = make_per_file(profiles, selection_of(profiles[0], options))
    if options.format == "json":
        console.write_data(to_json(json_report.per_file_json(found)))
    elif options.format == "csv":
        console.write_data([csv_report.per_file_csv(found)])
    else:
        functions = (entry.function for entry, _ in found.functions)
        write_text(lambda page: text_report.per_file_report(found, page), functions, options)
    return EXIT_GOOD
