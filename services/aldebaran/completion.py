"""`completion bash|zsh`: a script by which the shell completes commands, made from the parser."""

import argparse
import shlex
from collections.abc import Iterator
from typing import Final, Literal, get_args

Shell = Literal["bash", "zsh"]
SHELLS: Final[tuple[Shell, ...]] = get_args(Shell)

_BEFORE: Final[dict[Shell, str]] = {
    "bash": "",
    "zsh": """\
autoload -Uz compinit bashcompinit
(( $+functions[compdef] )) || compinit
bashcompinit
""",
}
"""What a shell needs to take bash's completions."""
_SCRIPT: Final = """\
# Completes `aldebaran`: source <(python -m services.aldebaran completion {shell})
unalias aldebaran 2>/dev/null || :
{before}aldebaran() {{ {command} -m services.aldebaran "$@"; }}
_aldebaran() {{
  local typed="${{COMP_WORDS[*]:1:$((COMP_CWORD-1))}}" current="${{COMP_WORDS[COMP_CWORD]}}"
  case "$typed" in
{cases}
  esac
}}
complete -o default -F _aldebaran aldebaran
"""
_CASE: Final = '    {typed}) COMPREPLY=($(compgen -W "{words}" -- "$current"));;'


def script(parser: argparse.ArgumentParser, command: str, shell: Shell) -> str:
    """Return the script; `command` is the Python that runs us."""
    cases = sorted(_cases(parser, ()), key=lambda case: -len(case[0]))
    lines = [
        _CASE.format(typed=_typed(" ".join(path)), words=" ".join(words)) for path, words in cases
    ]
    told = {"shell": shell, "before": _BEFORE[shell], "command": shlex.quote(command)}
    return _SCRIPT.format(**told, cases="\n".join(lines))


def _typed(path: str) -> str:
    """Return the pattern of what begins with these words; `trace` is no beginning of `traces`."""
    return f'"{path}"|"{path} "*' if path else '""'


def _cases(
    parser: argparse.ArgumentParser, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    words = []
    for action in parser._actions:  # noqa: SLF001 - argparse shows its options in no other way
        words += [option for option in action.option_strings if option.startswith("--")]
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as above
            words += list(action.choices)
            for name, inner in action.choices.items():
                yield from _cases(inner, (*path, name))
    yield path, words
