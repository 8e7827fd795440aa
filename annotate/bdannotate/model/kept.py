# SPDX-License-Identifier: GPL-2.0-or-later
"""What is computed once, when it is first asked for, of objects of which there are tens of thousands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

_Value = TypeVar("_Value")


class kept(Generic[_Value]):
    """As functools.cached_property, but without a lock, and without a dictionary for each object: the value becomes an
    attribute like others, which share the names of one class as long as there are at most 30."""

    def __init__(self, made: Callable[[Any], _Value]) -> None:
        self._made = made
        self._name = made.__name__
        self.__doc__ = made.__doc__

    @overload
    def __get__(self, one: None, owner: type) -> kept[_Value]: ...

    @overload
    def __get__(self, one: object, owner: type) -> _Value: ...

    def __get__(self, one: object | None, owner: type) -> kept[_Value] | _Value:
        if one is None:
            return self
        value = self._made(one)
        object.__setattr__(one, self._name, value)  # those of frozen classes, too
        return value
