# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines that threads take from each other, from the files beside the profiles."""

from __future__ import annotations

from collections.abc import Sequence

from ..analyses.data.sharing import SharingReport, report_sharing
from ..analyses.types.shared_fields import with_fields
from ..analyses.types.typed_groups import GroupTypes
from ..model.errors import UserError
from ..model.objects import Objects
from ..model.profile import Profile
from ..reading.load import load_sharing
from ..reading.machine import reference_machine
from ..reading.sharing import sharing_path
from .inputs import Inputs
from .objects import types_of_groups


def shares_lines(paths: Sequence[str]) -> bool:
    """Whether all profiles have such a file beside them."""
    return all(sharing_path(path) is not None for path in paths)


def sharing_of(
    paths: Sequence[str], whole: Profile, objects: Objects | None, inputs: Inputs, most_types: int | None = 0
) -> SharingReport | None:
    """The sharing beside the profiles; None if there is none. whole: the sum of the profiles. most_types: of how many
    data, most transfers first, types are looked for, which can take long; None: of all. If it cannot be read, it raises
    UserError with --sharing; otherwise it is None with a note."""
    return sharing_with_types(paths, whole, objects, inputs, most_types)[0]


def sharing_with_types(
    paths: Sequence[str], whole: Profile, objects: Objects | None, inputs: Inputs, most_types: int | None
) -> tuple[SharingReport | None, GroupTypes]:
    """The same, with the types that were looked for."""
    if not inputs.options.sharing and not shares_lines(paths):
        return None, GroupTypes()
    try:
        found = report_sharing(
            load_sharing(paths, whole, inputs.renaming), objects, (inputs.machine or reference_machine()).transfer
        )
    except UserError as error:
        if inputs.options.sharing:
            raise
        inputs.say_notes([f"lines that threads share are left out: {error}"])
        return None, GroupTypes()
    groups = [
        data.group for data in found.data[:most_types]
        if data.group is not None and any(line.objects for line in data.lines)
    ]
    types = types_of_groups(groups, whole, inputs) if groups else GroupTypes()
    return with_fields(found, types.known), types
