# SPDX-License-Identifier: GPL-2.0-or-later
"""Completion for bash. It needs nothing of the package bash-completion, which only finds it.

Bash splits words at `=`: --format=te comes as three words, and what is completed is the last.
"""

from __future__ import annotations

from collections.abc import Iterator

from bdcommon.described import Command, Option

_HEAD = """\
# bash completion for {name}; made from its table of options

_{name}()
{{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
    COMPREPLY=()
    if [[ $word == = ]]; then
        word= before+==
    elif [[ $before == = ]]; then
        before=${{COMP_WORDS[COMP_CWORD-2]}}=
    fi
    case $before in
"""
_TAIL = """\
    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W '{options}' -- "$word"))
        if [[ ${{COMPREPLY-}} == *= ]]; then
            compopt -o nospace
        fi
    fi
}}

complete -o bashdefault -o default -F _{name} {name}
"""


def bash_completion(command: Command) -> str:
    words = [word for option in command.options() for word in _words(option)]
    return _HEAD.format(name=command.name) + _cases(command) + _TAIL.format(
        name=command.name, options=" ".join(words)
    )


def _words(option: Option) -> Iterator[str]:
    for name in option.names:
        needs_value = option.form.startswith("=") and name.startswith("--")
        yield f"{name}=" if needs_value else name


def _cases(command: Command) -> str:
    """What stands before a value, and what the value can be; alike options together."""
    cases: dict[str, list[str]] = {}
    for option in command.options():
        if not option.takes_value:
            continue
        patterns = cases.setdefault(_values(option), [])
        for name in option.names:
            if not option.form.startswith("["):
                patterns.append(name)
            if name.startswith("--") or option.form.startswith(" "):
                patterns.append(f"{name}=")
    return "".join(
        f"        {'|'.join(patterns)})\n            {values}\n            return ;;\n"
        for values, patterns in cases.items()
    )


def _values(option: Option) -> str:
    if option.choices:
        return f"COMPREPLY=($(compgen -W '{' '.join(option.choices)}' -- \"$word\"))"
    if option.takes_folder:
        return 'COMPREPLY=($(compgen -d -- "$word"))'
    if option.takes_file:
        return ":  # readline completes files"
    return "compopt +o default +o bashdefault"
