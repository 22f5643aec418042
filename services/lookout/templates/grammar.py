"""What a template may say: few kinds of Jinja nodes, none that recurses or takes in other files."""

from collections import deque
from collections.abc import Iterator
from typing import Final

from jinja2 import nodes

DEPTH_LIMIT: Final = 40
NODES_LIMIT: Final = 3000
LOOPS_LIMIT: Final = 3
"""How deep loops may stand in each other."""

_PLAIN: Final = (nodes.Const, nodes.Neg, nodes.Pos, nodes.List, nodes.Tuple, nodes.Dict, nodes.Pair)
_LITERALS: Final = (nodes.List, nodes.Tuple, nodes.Dict)
_ALLOWED: Final = (
    *_PLAIN,
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.For,
    nodes.If,
    nodes.Assign,
    nodes.Name,
    nodes.Keyword,
    nodes.CondExpr,
    nodes.Filter,
    nodes.Test,
    nodes.Getattr,
    nodes.Getitem,
    nodes.Slice,
    nodes.Concat,
    nodes.Compare,
    nodes.Operand,
    nodes.Add,
    nodes.Sub,
    nodes.Mul,
    nodes.Div,
    nodes.FloorDiv,
    nodes.Mod,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.Call,
)


def complaints(template: nodes.Template) -> Iterator[tuple[int, str]]:
    """Return line (from 1) and reason of what a template must not say."""
    count = 0
    waiting = deque[tuple[nodes.Node, int, int]]([(template, 0, 0)])
    while waiting:
        node, depth, loops = waiting.popleft()
        count += 1
        loops += isinstance(node, nodes.For)
        if depth > DEPTH_LIMIT or count > NODES_LIMIT:
            yield node.lineno, f"over {NODES_LIMIT} parts, or nested over {DEPTH_LIMIT} deep"
            return
        if loops > LOOPS_LIMIT:
            yield node.lineno, f"over {LOOPS_LIMIT} loops in each other"
            return
        if wrong := _wrong(node):
            yield node.lineno, wrong
        waiting.extend((child, depth + 1, loops) for child in node.iter_child_nodes())


def _wrong(node: nodes.Node) -> str | None:
    if not isinstance(node, _ALLOWED):
        return f"{type(node).__name__.lower()} is not allowed in a message"
    if isinstance(node, nodes.Name) and (node.name.startswith("_") or node.name == "self"):
        return f"{node.name} is no variable"
    if isinstance(node, nodes.For) and node.recursive:
        return "a loop must not be recursive"
    if isinstance(node, nodes.Call):
        return _wrong_call(node)
    if isinstance(node, _LITERALS) and not _is_plain(node):
        return "a list may hold constants only"
    return None


def _is_plain(literal: nodes.Node) -> bool:
    """Lists of variables, set again and again, could double in size with each line."""
    names_of_a_loop = getattr(literal, "ctx", "load") == "store"
    return names_of_a_loop or all(isinstance(each, _PLAIN) for each in literal.iter_child_nodes())


def _wrong_call(node: nodes.Call) -> str | None:
    if isinstance(node.node, nodes.Name) and node.node.name == "range":
        return None
    if isinstance(node.node, nodes.Getattr):
        return f"nothing can be called: write | {node.node.attr} instead of .{node.node.attr}()"
    return "nothing can be called but range()"
