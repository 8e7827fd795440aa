# SPDX-License-Identifier: GPL-2.0-or-later
"""The files beside profiles that are merged, too: how each kind is read, added up and written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

from ..model.context_check import run_violation
from ..model.context_cut import cut
from ..model.contexts import ContextTree, merge
from ..model.errors import UserError
from ..model.merge import Renaming, rename_function
from ..model.profile import Profile
from ..reading.columns import path_beside
from ..reading.contexts import PREFIX as CONTEXTS
from ..reading.contexts import read_contexts
from .contexts_file import contexts_text
from .file_head import MergedHead


class Beside(Protocol):
    """what: in sentences; prefix: of the files' names. Things of one kind are handed on as they are."""

    what: str
    prefix: str

    def read(self, path: str, profile: Profile, renaming: Renaming) -> Any:
        """What is beside this profile, which was read from there; what is of another run is a UserError."""

    def joined(self, things: Sequence[Any]) -> Any:
        """Added up, and cut to the size that such files have."""

    def text(self, thing: Any, head: MergedHead) -> Iterator[bytes]:
        """The merged file."""


class _Contexts:
    what = "context trees"
    prefix = CONTEXTS

    def read(self, path: str, profile: Profile, renaming: Renaming) -> ContextTree:
        tree = read_contexts(_path(path, self.prefix))
        if problem := run_violation(tree, profile):
            raise UserError(f"{problem}: remove or rename it")
        if renaming.files or renaming.functions:
            tree = merge([tree], lambda function: rename_function(function, renaming))
        return replace(tree, parts=tree.parts[:1])

    def joined(self, things: Sequence[ContextTree]) -> ContextTree:
        if len(things) == 1:
            return things[0]
        tree = merge(things)
        return cut(replace(tree, parts=tree.parts[:1]))

    def text(self, thing: ContextTree, head: MergedHead) -> Iterator[bytes]:
        return contexts_text(thing, head)


MERGED_BESIDE: tuple[Beside, ...] = (_Contexts(),)


def _path(profile: str, prefix: str) -> str:
    path = path_beside(profile, prefix)
    if path is None:
        raise UserError(f"{written_beside(profile, prefix)} is not there any more")
    return path


def written_beside(profile: str, prefix: str) -> str:
    """The name of a file beside a profile that is to be written."""
    folder, name = os.path.split(profile)
    return os.path.join(folder, prefix + name)
