# SPDX-License-Identifier: GPL-2.0-or-later
"""Why lines were loaded: what lies beside the profiles, and what is asked of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..analyses.curve import Curve, curve, with_what_only_they_call
from ..analyses.report import FunctionPattern, Report, function_pattern
from ..model.errors import UserError
from ..model.profile import Function, Profile
from ..model.why import Instruction, Why
from ..reading.load import load_why
from ..reading.why import why_path
from .inputs import Inputs


def why_if_readable(paths: Sequence[str], profile: Profile, inputs: Inputs) -> Why | None:
    """None unless all profiles have such a file. Those that cannot be read, or are of another run, are
    left out, with a note."""
    if any(why_path(path) is None for path in paths):
        return None
    try:
        return load_why(paths, profile, inputs.renaming)
    except UserError as error:
        inputs.say_notes([f"why lines were loaded is left out: {error}"])
        return None


@dataclass(frozen=True, slots=True)
class NamedCurve:
    name: str  # what was asked for; empty: the program
    functions: int  # of how many functions it is; 0: of all
    only_called: int  # how many of them are called by the others alone
    curve: Curve


def named_curve(paths: Sequence[str], made: Report, inputs: Inputs) -> NamedCurve | None:
    """What --curve asks for."""
    asked = inputs.options.curve
    if asked is None:
        return None
    why = load_why(paths, made.profile, inputs.renaming)
    if inputs.separation:
        why = _in_frames(why, made.profile)
    if not asked:
        return NamedCurve("", 0, 0, curve(why))
    pattern = FunctionPattern(function_pattern(asked))
    named = [function for function in made.graph.functions if pattern.matches(function)]
    if not named:
        raise UserError(f"--curve={asked}: no function has such a name")
    wanted = with_what_only_they_call(made.graph, named)
    places = {
        number for number, place in enumerate(why.places) if place and place.function in wanted
    }
    return NamedCurve(asked, len(named), len(wanted) - len(named), curve(why, places.__contains__))


def _in_frames(why: Why, profile: Profile) -> Why:
    """With the loops and inlined functions that instructions are in, where these are functions."""
    frames: Mapping[tuple[str, int], Function] = {
        (place.function.object, address): place.function
        for place, instructions in profile.instructions.items() for address in instructions
    }

    def renamed(place: Instruction | None) -> Instruction | None:
        if place is None:
            return None
        return place._replace(
            function=frames.get((place.function.object, place.address), place.function)
        )

    return replace(why, places=tuple(map(renamed, why.places)))
