"""Counts the functions whose decompiled source has the same syntax tree as the original source.

The comparison leaves out docstrings (compare.py compares them) and everything that bytecode does not contain:
annotations of local variables, `pass`, and the original form of code that the compiler folds (operations on constants,
branches with a constant condition, statements that are a constant, and from 3.11 on `"%s" % (x,)`, which is compiled as
an f-string). Everything else is compared, including the position of `global`. This module runs under the interpreter
that the source is written for, from 3.8 on.
"""

import ast
import collections


def constant(value, like):
    return ast.copy_location(ast.Constant(value=value, kind=None), like)


def is_constant(node):
    return isinstance(node, ast.Constant)


def small(value):
    """True if the constant is small enough for every supported CPython to fold an operation with this result."""
    if isinstance(value, (str, bytes)):
        return len(value) <= 4096
    if isinstance(value, int):
        return value.bit_length() <= 256
    return not isinstance(value, tuple) or (len(value) <= 256 and all(map(small, value)))


def text_pieces(template, values):
    """Returns the parts of the f-string that "..." % (values) is compiled to; None if it is not compiled to an
    f-string."""
    pieces, text, at = [], "", 0
    values = list(values)
    while at < len(template):
        sign = template[at]
        if sign != "%":
            text += sign
        else:
            at += 1
            kind = template[at : at + 1]
            if kind == "%":
                text += "%"
            elif kind and kind in "sra" and values:
                if text:
                    pieces.append(ast.Constant(value=text, kind=None))
                text = ""
                pieces.append(ast.FormattedValue(values.pop(0), ord(kind), None))
            else:
                return None
        at += 1
    if text:
        pieces.append(ast.Constant(value=text, kind=None))
    return None if values else pieces


class Folded(ast.NodeTransformer):
    """Applies all folding that a CPython compiler may do to a tree."""

    def __init__(self):
        self.in_function = False

    def calculated(self, node):
        try:
            expression = ast.fix_missing_locations(ast.Expression(node))
            value = eval(compile(expression, "", "eval"), {"__builtins__": {}})
        except Exception:
            return node
        return constant(value, node) if small(value) else node

    def visit_Constant(self, node):
        return constant(node.value, node)

    def visit_BinOp(self, node):
        self.generic_visit(node)
        left, right = node.left, node.right
        if is_constant(left) and isinstance(left.value, str) and isinstance(node.op, ast.Mod):
            values = right.elts if isinstance(right, ast.Tuple) else None
            if values is not None and not any(isinstance(one, ast.Starred) for one in values):
                pieces = text_pieces(left.value, values)
                if pieces is not None:
                    return ast.copy_location(ast.JoinedStr(pieces), node)
            return node
        if not (is_constant(left) and is_constant(right)):
            return node
        if isinstance(node.op, (ast.Pow, ast.LShift)) and not (
            isinstance(right.value, int) and abs(right.value) <= 256
        ):
            return node
        if isinstance(node.op, ast.Mult):
            for one, other in ((left.value, right.value), (right.value, left.value)):
                if isinstance(one, (str, bytes, tuple)) and not (isinstance(other, int) and other <= 4096):
                    return node
        return self.calculated(node)

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return self.calculated(node) if is_constant(node.operand) else node

    def visit_Tuple(self, node):
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and all(map(is_constant, node.elts)):
            return constant(tuple(one.value for one in node.elts), node)
        return node

    def visit_Subscript(self, node):
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and is_constant(node.value) and is_constant(node.slice):
            return self.calculated(node)
        return node

    def visit_Compare(self, node):
        self.generic_visit(node)
        if isinstance(node.ops[-1], (ast.In, ast.NotIn)):
            node.comparators[-1] = self.display(node.comparators[-1])
        return node

    def display(self, node):
        """Returns the tuple or frozenset that the compiler creates for a list or set of constants that is only searched
        or iterated over; `node` itself if it is another expression."""
        if isinstance(node, (ast.List, ast.Set)) and all(map(is_constant, node.elts)):
            values = tuple(one.value for one in node.elts)
            try:
                return constant(values if isinstance(node, ast.List) else frozenset(values), node)
            except TypeError:
                return node
        return node

    def visit_For(self, node):
        self.generic_visit(node)
        node.iter = self.display(node.iter)
        return node

    visit_comprehension = visit_For

    def visit_IfExp(self, node):
        self.generic_visit(node)
        return (node.body if node.test.value else node.orelse) if is_constant(node.test) else node

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        ends = isinstance(node.op, ast.Or)  # the truth value of an operand that ends the evaluation
        values = []
        for at, value in enumerate(node.values):
            if not is_constant(value):
                values.append(value)
            elif bool(value.value) == ends or at == len(node.values) - 1:
                values.append(value)
                break
        node.values = values
        return values[0] if len(values) == 1 else node

    def visit_JoinedStr(self, node):
        self.generic_visit(node)
        pieces = []
        for piece in node.values:
            # The compiler turns the replacement field in f"{'x'}" into text.
            if isinstance(piece, ast.FormattedValue) and is_constant(piece.value) and piece.format_spec is None:
                if isinstance(piece.value.value, str) and piece.conversion in (-1, 115):
                    piece = constant(piece.value.value, piece)
            if is_constant(piece) and pieces and is_constant(pieces[-1]):
                pieces[-1] = constant(pieces[-1].value + piece.value, piece)
            elif not (is_constant(piece) and piece.value == ""):
                pieces.append(piece)
        if not pieces or (len(pieces) == 1 and is_constant(pieces[0])):
            return constant(pieces[0].value if pieces else "", node)
        node.values = pieces
        return node

    def visit_Expr(self, node):
        self.generic_visit(node)
        return None if is_constant(node.value) else node

    def visit_Pass(self, node):
        return None

    visit_If = visit_IfExp

    def visit_While(self, node):
        self.generic_visit(node)
        if is_constant(node.test):
            if not node.test.value:
                return node.orelse
            node.test = constant(True, node.test)
        return node

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        if not self.in_function:
            return node
        if node.value is None:
            return None
        return ast.copy_location(ast.Assign(targets=[node.target], value=node.value, type_comment=None), node)

    def visit_FunctionDef(self, node):
        outer, self.in_function = self.in_function, True
        self.generic_visit(node)
        self.in_function = outer
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        outer, self.in_function = self.in_function, False
        self.generic_visit(node)
        self.in_function = outer
        return node


def functions(source):
    """Returns a dict from (the names of a function and of the definitions around it, the number of earlier functions
    with these names) to the function's tree as text."""
    found, seen = {}, collections.Counter()

    def visit(node, path):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = path + (child.name,)
                number = seen[name]
                seen[name] += 1
                if not isinstance(child, ast.ClassDef):
                    found[name, number] = ast.dump(child)
                visit(child, name)
            else:
                visit(child, path)

    visit(Folded().visit(ast.parse(source)), ())
    return found


def compare_sources(original, made):
    """Returns (the number of functions of `original`, the number of them that have an equal tree in `made`, the names
    of the first 20 that differ)."""
    ones, others = functions(original), functions(made)
    differ = [".".join(name) for name, number in ones if ones[name, number] != others.get((name, number))]
    return len(ones), len(ones) - len(differ), differ[:20]
