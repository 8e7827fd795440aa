# SPDX-License-Identifier: GPL-2.0-or-later
"""The description of a command whose options argparse reads."""

from __future__ import annotations

import argparse
from collections.abc import Collection

from .described import Command, Group, Option

_FOLDER_FORMS = frozenset({"DIR"})
_FILE_FORMS = frozenset({"FILE", "PROFILE"})


def described(
    parser: argparse.ArgumentParser, summary: str, flags: Collection[str]
) -> Command:
    """The description of a parser's command. flags: the options with the values yes and no that may be given without a
    value, meaning yes."""
    # argparse has no public access to its groups, but these members have always existed.
    groups = [
        Group(str(group.title), tuple(
            _option(action, flags) for action in group._group_actions if action.option_strings
        ))
        for group in parser._action_groups
    ]
    return Command(
        name=parser.prog,
        summary=summary,
        usage=str(parser.usage),
        description=(str(parser.description),),
        groups=tuple(group for group in groups if group.options),
    )


def _option(action: argparse.Action, flags: Collection[str]) -> Option:
    names = tuple(sorted(action.option_strings, key=lambda name: name.startswith("--")))
    choices = tuple(map(str, action.choices or ()))
    value = str(action.metavar or "|".join(choices))
    form = "[=no]" if names[-1] in flags else f"={value}" if value else ""
    return Option(
        names, form, (action.help or "").replace("%%", "%"), choices,
        takes_file=value in _FILE_FORMS, takes_folder=value in _FOLDER_FORMS,
    )
