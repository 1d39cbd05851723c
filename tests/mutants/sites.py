"""Mutants of a module: every small change of meaning that its syntax tree allows, as an edit of the text."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARED = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}
_TWINS = {"min": "max", "minimum": "maximum", "argmin": "argmax", "any": "all", "floor": "ceil"}
_TWINS |= {twin: name for name, twin in _TWINS.items()}

_COMMUTATIVE = {"min", "max", "minimum", "maximum", "array_equal"}

Position = tuple[int, int]  # line from 1, byte of the line from 0


@dataclass(frozen=True)
class Site:
    """One edit.

    Attributes:
        kind: of change, e.g. "comparison".
        start, end: of the text that `new` replaces.
        first, last: lines of which a test executes one if it executes the edit; None: any line of the module's functions.
        function: line on which the outermost function around it begins, decorators included; None: none is.
    """

    kind: str
    start: Position
    end: Position
    new: str
    first: int | None
    last: int | None
    function: int | None

    def edited(self, text: str) -> str:
        """The module's text with this edit."""
        lines = text.encode().splitlines(keepends=True)
        (row, column), (end_row, end_column) = self.start, self.end
        before, after = lines[row - 1][:column], lines[end_row - 1][end_column:]
        changed = [*lines[: row - 1], before + self.new.encode() + after, *lines[end_row:]]
        return b"".join(changed).decode()


def find_sites(text: str) -> list[Site]:
    """All edits of a module, in the order of their places.

    Annotations, docstrings, f-strings, messages of errors and code for type checkers alone are left out.
    """
    visitor = _Visitor()
    visitor.visit(ast.parse(text))
    return sorted(visitor.sites, key=lambda site: (site.start, site.end, site.kind, site.new))


def written_site(text: str, old: str, new: str) -> Site:
    """An edit written by hand.

    Raises:
        ValueError: if `old` does not occur once.
    """
    if text.count(old) != 1:
        raise ValueError(f"occurs {text.count(old)} times: {old!r}")
    at = text.index(old)
    while old and new and old[0] == new[0]:
        old, new, at = old[1:], new[1:], at + 1
    start, end = (_position(text, place) for place in (at, at + len(old)))
    around = [node for node in ast.walk(ast.parse(text)) if _overlaps(node, start[0], end[0])]
    functions = [node for node in around if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if not functions:
        owner = next((node for node in around if isinstance(node, ast.ClassDef)), None)
        return Site("written", start, end, new, owner and owner.lineno, owner and owner.end_lineno, None)
    outer = functions[0]  # ast.walk goes outside in
    begin = min(part.lineno for part in [outer, *outer.decorator_list])
    inner = min((node for node in around if isinstance(node, ast.stmt)), key=_height)
    return Site("written", start, end, new, inner.lineno, inner.end_lineno, begin)


def _overlaps(node: ast.AST, first: int, last: int) -> bool:
    return getattr(node, "lineno", last + 1) <= last and getattr(node, "end_lineno", 0) >= first


def _height(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno


def _position(text: str, place: int) -> Position:
    line = text.rfind("\n", 0, place) + 1
    return text.count("\n", 0, place) + 1, len(text[line:place].encode())


class _Visitor(ast.NodeVisitor):
    def __init__(self) -> None:
        self.sites: list[Site] = []
        self._lines: tuple[int | None, int | None] = (None, None)
        self._function: ast.AST | None = None
        self._begin: int | None = None

    # -- scopes -----------------------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outer, lines, begin = self._function, self._lines, self._begin
        self._function = node
        self._begin = begin or min(part.lineno for part in [node, *node.decorator_list])
        body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
        self._lines = (body[0].lineno, node.end_lineno) if body else (None, None)
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self._default(default)
        for statement in body:
            self.visit(statement)
        self._function, self._lines, self._begin = outer, lines, begin

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        lines = self._lines
        methods = [part for part in node.body if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef))]
        self._lines = (node.lineno, node.end_lineno) if methods else (None, None)
        for statement in node.body:
            self.visit(statement)
        self._lines = lines

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._statement(node, [node.value])

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self._negated(node.test)
        self._head(node, [node.test], [*node.body, *node.orelse])

    def visit_While(self, node: ast.While) -> None:
        self._negated(node.test)
        self._head(node, [node.test], [*node.body, *node.orelse])

    def visit_For(self, node: ast.For) -> None:
        self._head(node, [node.iter], [*node.body, *node.orelse])

    def visit_With(self, node: ast.With) -> None:
        self._head(node, [item.context_expr for item in node.items], node.body)

    # -- statements -------------------------------------------------------------------------------------------------

    def visit_Raise(self, node: ast.Raise) -> None:
        """Messages are not mutated, and a dropped refusal is a negated condition."""

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, (ast.Call, ast.Await)):
            self._dropped(node)
            self._statement(node, [node.value])

    def visit_Assign(self, node: ast.Assign) -> None:
        names = {target.id for target in node.targets if isinstance(target, ast.Name)}
        if "__all__" in names:
            return
        stored = all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
        if stored and self._function is not None:
            self._dropped(node)
        self._statement(node, [node.value, *node.targets])

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._dropped(node)
        other = _COMPUTED.get(type(node.op))
        if other is not None:
            self._add("arithmetic", node, ast.AugAssign(node.target, other(), node.value))
        self._statement(node, [node.value, node.target])

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None:
            self._statement(node, [node.value])

    def visit_Import(self, node: ast.Import) -> None:
        """Imports have no meaning to change."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """As `visit_Import`."""

    # -- expressions ------------------------------------------------------------------------------------------------

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Python 3.11 gives no places inside of f-strings."""

    def visit_Compare(self, node: ast.Compare) -> None:
        for k, op in enumerate(node.ops):
            for other in _COMPARED[type(op)]:
                ops = [*node.ops[:k], other(), *node.ops[k + 1 :]]
                self._add("comparison", node, ast.Compare(node.left, ops, node.comparators))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        other = _COMPUTED.get(type(node.op))
        text = isinstance(node.left, (ast.Constant, ast.JoinedStr)) and not _is_number(node.left)
        if other is not None and not text:
            self._add("arithmetic", node, ast.BinOp(node.left, other(), node.right))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._add("and, or", node, ast.BoolOp(other, node.values))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, (ast.USub, ast.Not, ast.Invert)):
            self._add("sign", node, node.operand)
        if not _is_number(node.operand):
            self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negated(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negated(test)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        for other in _other_constants(node.value):
            self._add("constant", node, ast.Constant(other))

    def visit_Call(self, node: ast.Call) -> None:
        for k in range(len(node.args) - 1 if _name_of(node.func) not in _COMMUTATIVE else 0):
            if not any(isinstance(part, ast.Starred) for part in node.args[k : k + 2]):
                args = [*node.args[:k], node.args[k + 1], node.args[k], *node.args[k + 2 :]]
                self._add("swapped arguments", node, ast.Call(node.func, args, node.keywords))
        if (name := _name_of(node.func)) in _TWINS:
            func = copy.copy(node.func)
            setattr(func, "id" if isinstance(func, ast.Name) else "attr", _TWINS[name])
            self._add("twin function", node, ast.Call(func, node.args, node.keywords))
        for keyword in node.keywords:
            if keyword.arg == "axis" and isinstance(keyword.value, (ast.Constant, ast.UnaryOp)):
                new = ast.Constant(1 if ast.unparse(keyword.value) == "0" else 0)
                self._add("axis", keyword.value, new)
            else:
                self.visit(keyword.value)
        for part in [node.func, *node.args]:
            self.visit(part)

    # -- edits ------------------------------------------------------------------------------------------------------

    def _head(self, node: ast.stmt, parts: list[ast.expr], body: list[ast.stmt]) -> None:
        self._statement(node, parts, last=parts[-1].end_lineno)
        for statement in body:
            self.visit(statement)

    def _statement(self, node: ast.stmt, parts: list[ast.expr], last: int | None = None) -> None:
        """Visits expressions of a statement, a line of which is executed with them."""
        lines = self._lines
        if self._function is not None:
            self._lines = (node.lineno, last or node.end_lineno)
        for part in parts:
            self.visit(part)
        self._lines = lines

    def _dropped(self, node: ast.stmt) -> None:
        lines = (node.lineno, node.end_lineno) if self._function is not None else self._lines
        self.sites.append(Site("dropped statement", *_span(node), "pass", *lines, self._begin))
        if self._function is not None and not _returns(self._function):
            self.sites.append(Site("early return", *_span(node), "return", *lines, self._begin))

    def _default(self, node: ast.expr) -> None:
        if isinstance(node, ast.Constant):
            for other in _other_constants(node.value):
                self._add("default", node, ast.Constant(other))
        else:
            self.visit(node)

    def _negated(self, test: ast.expr) -> None:
        if not isinstance(test, (ast.Compare, ast.UnaryOp)):
            lines, self._lines = self._lines, (test.lineno, test.end_lineno)
            self._add("negated condition", test, ast.UnaryOp(ast.Not(), test))
            self._lines = lines

    def _add(self, kind: str, old: ast.expr | ast.stmt, new: ast.AST) -> None:
        text = ast.unparse(ast.fix_missing_locations(new))
        if text == ast.unparse(old):
            return  # e.g. two equal arguments
        if isinstance(new, ast.expr) and not isinstance(new, (ast.Constant, ast.Name, ast.Call)):
            text = f"({text})"
        self.sites.append(Site(kind, *_span(old), text, *self._lines, self._begin))


def _span(node: ast.expr | ast.stmt) -> tuple[Position, Position]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _other_constants(value: object) -> Iterator[object]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
        if value:
            yield value - 1
    elif isinstance(value, float):
        large_or_small = abs(value) > 1e3 or 0 < abs(value) < 1e-2
        yield from (2 * value, value / 2) if large_or_small else (value + 1.0, value - 1.0)


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _returns(function: ast.AST) -> bool:
    """Whether a function, inner ones apart, returns or yields a value."""
    pending = list(ast.iter_child_nodes(function))
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)) or (isinstance(node, ast.Return) and node.value):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            pending += ast.iter_child_nodes(node)
    return False
