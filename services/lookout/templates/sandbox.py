"""Renders a template's text within limits: of what it may say, of its work, of what it makes."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any, Final, cast

from jinja2 import (
    StrictUndefined,
    Template,
    TemplateError,
    TemplateSyntaxError,
    Undefined,
    nodes,
    pass_context,
)
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from services.contracts.records import TEXT_LIMIT_CHARACTERS
from services.lookout.templates.budget import Budget, TooMuch, add, compute, steps_of
from services.lookout.templates.filters import FILTERS
from services.lookout.templates.grammar import complaints
from services.lookout.templates.rendering import Links
from services.lookout.templates.view import AlertView

RANGE_LIMIT: Final = 1000
MADE_LIMIT_CHARACTERS: Final = 4 * TEXT_LIMIT_CHARACTERS
"""A text that is longer than what is kept is made whole, so that the link at its end is there."""

_BUDGET: Final = "_budget"
_EACH: Final = "_each"
_FOUND: Final = (
    "; what the SQL returns is in key, labels and values, the rule's text in values.rule"
)
_TESTS: Final = frozenset(
    (
        *("defined", "undefined", "none", "number", "string", "mapping", "iterable", "true"),
        *("false", "odd", "even", "in", "==", "!=", "<", "<=", ">", ">="),
        *("eq", "ne", "lt", "le", "gt", "ge"),
    )
)


class Broken(Exception):
    """A template that fails: its line (from 1) and the reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


class _Sandbox(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "%", "**"))

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Fields of an alert by their name, never methods."""
        if isinstance(obj, dict):
            return self.getitem(obj, attribute)
        if isinstance(obj, AlertView | Links):
            return self._field(obj, attribute)
        if isinstance(obj, LoopContext | Undefined):
            return super().getattr(obj, attribute)
        return self._missing(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Items of texts, lists and objects."""
        if isinstance(obj, dict | list | tuple | str):
            try:
                return obj[argument]
            except (LookupError, TypeError):
                pass
        return self._missing(obj, argument)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute within the limits of sizes."""
        _budget(context).charge(1)
        return add(left, right) if operator == "+" else compute(operator, left, right)

    def _field(self, obj: AlertView | Links, name: str) -> Any:
        there = [each.name for each in fields(obj)]
        if name in there:
            return getattr(obj, name)
        whose, more = ("an alert has", _FOUND) if isinstance(obj, AlertView) else ("links have", "")
        hint = f"{whose} no {name:.100}, only {', '.join(there)}{more}"
        return self.undefined(hint, obj=obj, name=name[:100])

    def _missing(self, obj: Any, name: Any) -> Any:
        hint = f"{name!s:.100} is missing; where it may be, write | default('-')"
        return self.undefined(hint, obj=obj, name=str(name)[:100])


class _Metered(NodeTransformer):
    """Makes loops and `~` take steps."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        steps = 1 + sum(1 for _ in node.find_all(nodes.Node))
        self.generic_visit(node)
        node.iter = _filtered(node.iter, _EACH, nodes.Const(steps))
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), "concatenated")


def _filtered(node: nodes.Node, name: str, *given: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(
        cast(nodes.Expr, node), name, list(given), [], None, None, lineno=node.lineno
    )


@pass_context
def _each(context: Context, items: Any, steps: int) -> Any:
    return _budget(context).each(items, steps)


def _charged(function: Callable[..., Any]) -> Callable[..., Any]:
    @pass_context
    def charged(context: Context, *given: Any, **named: Any) -> Any:
        _budget(context).charge(sum(steps_of(each) for each in given))
        return function(*given, **named)

    return charged


def _budget(context: Context) -> Budget:
    budget = context[_BUDGET]
    assert isinstance(budget, Budget), "every rendering has a budget"  # noqa: S101
    return budget


def _range(*given: int) -> range:
    found = range(*given)
    if len(found) > RANGE_LIMIT:
        raise TooMuch(f"range() has at most {RANGE_LIMIT} numbers")
    return found


def _environment() -> _Sandbox:
    # Without the optimizer nothing runs before a budget is there.
    made = _Sandbox(
        undefined=StrictUndefined,
        autoescape=False,  # messages are plain text
        optimized=False,
        cache_size=0,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters = {name: _charged(each) for name, each in FILTERS.items()}
    made.filters[_EACH] = _each
    made.tests = {name: each for name, each in made.tests.items() if name in _TESTS}
    made.globals = {"range": _range}
    made.policies = {}
    return made


_ENVIRONMENT: Final = _environment()


@lru_cache(maxsize=512)
def compiled(source: str) -> Template:
    """Return a template ready to render.

    Raises:
        Broken: it is no Jinja, or says what is not allowed.
    """
    tree = parsed(source)
    try:
        metered = _Metered().visit(tree)
        code = _ENVIRONMENT.compile(metered, filename="<message>")
        return Template.from_code(_ENVIRONMENT, code, dict(_ENVIRONMENT.globals), None)
    except TemplateSyntaxError as error:
        raise Broken(error.lineno, error.message or "no template") from None
    except (TemplateError, SyntaxError, RecursionError, ValueError, MemoryError) as error:
        raise Broken(1, f"no template: {error}") from None


def parsed(source: str) -> nodes.Template:
    """Return the tree of a template that says nothing forbidden; raises Broken like `compiled`."""
    try:
        tree = _ENVIRONMENT.parse(source)
    except TemplateSyntaxError as error:
        raise Broken(error.lineno, error.message or "no template") from None
    except (TemplateError, RecursionError, ValueError) as error:
        raise Broken(1, f"no template: {str(error)[:200]}") from None
    for line, reason in complaints(tree):
        raise Broken(line, reason)
    return tree


def rendered(source: str, variables: Mapping[str, Any]) -> str:
    """Return all that a template makes of the variables.

    Raises:
        Broken: it fails, wants more work than it may have, or makes too long a text.
    """
    template = compiled(source)
    pieces: list[str] = []
    room = MADE_LIMIT_CHARACTERS
    try:
        for piece in template.generate({**variables, _BUDGET: Budget()}):
            pieces.append(piece)
            room -= len(piece)
            if room < 0:
                raise TooMuch(f"it makes over {MADE_LIMIT_CHARACTERS} characters")
    except Exception as error:  # whatever a template does wrong is the template's fault
        raise Broken(_line(error), _said(error)) from None
    return "".join(pieces)


def _said(error: Exception) -> str:
    return f"{str(error) or type(error).__name__}"[:300]


def _line(error: BaseException) -> int:
    """The template's line is that of the innermost frame which Jinja has named after it."""
    line, frame = 1, error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == "<message>":
            line = frame.tb_lineno
        frame = frame.tb_next
    return line
