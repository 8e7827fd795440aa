# SPDX-License-Identifier: GPL-2.0-or-later
"""The web report."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from bdcommon import __version__

from ..analyses.beyond import given_back
from ..analyses.code.report import Report, make_report
from ..analyses.code.structure import Structure, structures
from ..analyses.repairs.unshare import with_unshare
from ..html.numbers import Numbers
from ..html.page import page
from ..html.page_code import page_code
from ..html.page_data import page_data
from ..html.page_frames import entries_with_frames
from ..html.subject import Subject, of_sum, of_two, without_code
from ..options import Options
from ..reading.load import with_costs
from ..reading.parser import Detail
from ..views.json_values import text
from .inputs import Inputs
from .objects import compared_objects_of_page, objects_of_page, with_sharing
from .outputs import EXIT_GOOD, write_file
from .paths import paths_of_page
from .ranks import ranks_of_page
from .sharing import sharing_with_types
from .why import why_of_page

# Of how many data with most transfers between cores the page has types.
_MOST_TYPES = 8


def html(paths: Sequence[str], options: Options, target: str) -> int:
    paths = paths if options.mode == "diff" else with_costs(paths)
    subject, numbers = _subject(paths, options)
    data = page_data(subject, numbers, options.include, options.sources, f"bd_annotate {__version__}")
    names = [os.path.basename(path) for path in paths]
    title = " and ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
    write_file(target, page(data, text(title)))
    return EXIT_GOOD


def _subject(paths: Sequence[str], options: Options) -> tuple[Subject, Numbers]:
    """What the page is about, and the numbers by which the tables refer to functions and files that are packed already.
    It has no code: that is most of a large profile, and nothing else needs it."""
    inputs = Inputs(options)
    profiles = [
        inputs.with_estimate(inputs.profile_of_functions(path, Detail.INSTRUCTIONS))
        for path in paths
    ]
    if options.mode == "diff":
        two = profiles[0], profiles[1]
        trees = inputs.trees(paths, profiles)
        objects = compared_objects_of_page(paths, two, inputs)
        subject = of_two(*two, (trees[0], trees[1]), objects)
    else:
        # Only the call refers to the trees, so that they are freed when their costs are packed.
        subject = of_sum(profiles, inputs.trees(paths, profiles))
    numbers = Numbers(subject.functions)
    subject = replace(subject, code=page_code(subject, numbers))
    if options.mode != "diff":
        subject = replace(subject, objects=objects_of_page(paths, subject.report.profile, inputs))
    reported = paths[1:] if options.mode == "diff" else paths
    known = subject.objects.objects if subject.objects else None
    why = why_of_page(reported, subject.report, known, inputs)
    sharing, types = sharing_with_types(reported, subject.report.profile, known, inputs, _MOST_TYPES)
    if subject.objects is not None and sharing is not None:
        subject = replace(subject, objects=with_sharing(subject.objects, sharing, types))
    if why is not None and why.repairs is not None and sharing is not None:
        why = replace(why, repairs=with_unshare(why.repairs, sharing))
    flow = ranks = None
    if options.mode != "diff":
        flow, ranks = (of_page(paths, subject.report, inputs) for of_page in (paths_of_page, ranks_of_page))
    subject = replace(subject, why=why, sharing=sharing, paths=flow, ranks=ranks)
    subject = replace(subject, costed=_costed(subject, inputs), structures=_structures(subject, inputs))
    inputs.say_notes([
        f"the page shows {event} below 0 as 0; the lists of bd_annotate show the real value"
        for event in given_back(profiles)
    ])
    return without_code(subject), numbers


def _structures(subject: Subject, inputs: Inputs) -> tuple[Structure, ...]:
    entries = entries_with_frames(subject)
    if not entries:
        return ()
    side = subject.sides[0]
    chains = inputs.inlined_chains(side.profile, [entry.function for entry in entries])
    return tuple(structures(side.profile, side.graph, entries, chains))


def _costed(subject: Subject, inputs: Inputs) -> Report:
    """The report as on a terminal, so that page and terminal agree on what to look at first."""
    report, why = subject.report, subject.why
    if why is not None and why.costs is not None:
        report = make_report(why.costs, report.selection, inputs.folders)
    return inputs.with_inlined_lines(report)
