"""Writes Python's own trees in the form that tree_reader.h reads: fields in the order of src/ast/fields.h. This module
runs on 3.8 and later."""

import ast
import struct
import sys

BINARY = "Add BitAnd FloorDiv LShift MatMult Mult Mod BitOr Pow RShift Sub Div BitXor".split()
UNARY = "UAdd USub Not Invert".split()
COMPARE = "Lt LtE Eq NotEq Gt GtE In NotIn Is IsNot".split()
COMPREHENSIONS = "ListComp SetComp DictComp GeneratorExp".split()
EXPRESSIONS = (
    "Name Constant Attribute Subscript Slice Call BinOp UnaryOp BoolOp Compare IfExp Tuple List Set Dict FormattedValue "
    "JoinedStr Interpolation TemplateStr Lambda comprehension Await Yield YieldFrom NamedExpr Starred"
).split()
PATTERNS = "MatchValue MatchSingleton MatchSequence MatchMapping MatchClass MatchStar MatchAs MatchOr".split()
STATEMENTS = (
    "FunctionDef ClassDef Return Delete Assign AugAssign AnnAssign TypeAlias For While If With Match Raise Try Assert Import "
    "ImportFrom Global Nonlocal Expr Pass Break Continue"
).split()
TYPE_PARAMS = "TypeVar ParamSpec TypeVarTuple".split()
KINDS = "none true false ellipsis integer real complex string bytes tuple frozenset slice".split()


def number(value):
    return b"%d " % value


def text(value):
    data = value if isinstance(value, bytes) else (value or "").encode("utf-8", "surrogatepass")
    return number(len(data)) + data


def many(write, items):
    return number(len(items)) + b"".join(map(write, items))


def bits(value):
    return number(struct.unpack("<Q", struct.pack("<d", value))[0])


def constant(value):
    real = imag = 0.0
    data, items = b"", []
    if value is None or value is True or value is False:
        kind = {None: "none", True: "true", False: "false"}[value]
    elif value is ...:
        kind = "ellipsis"
    elif type(value) is int:
        kind, data = "integer", str(value) if abs(value) < 1 << 64 else hex(value)
    elif type(value) is float:
        kind, real = "real", value
    elif type(value) is complex:
        kind, real, imag = "complex", value.real, value.imag
    elif type(value) is str:
        kind, data = "string", value
    elif type(value) is bytes:
        kind, data = "bytes", value
    elif type(value) is slice:
        kind, items = "slice", [value.start, value.stop, value.step]
    else:
        kind, items = type(value).__name__, list(value)
    return number(KINDS.index(kind)) + bits(real) + bits(imag) + text(data) + many(constant, items)


def keyword(node):
    return text(node.arg) + expr(node.value)


def arg(node):
    return text(node.arg) + expr(node.annotation) if node else text("") + expr(None)


def arguments(node):
    return (
        many(arg, node.posonlyargs)
        + many(arg, node.args)
        + many(arg, node.kwonlyargs)
        + arg(node.vararg)
        + arg(node.kwarg)
        + many(expr, node.defaults)
        + many(expr, node.kw_defaults)
    )


def generator(node):
    return expr(node.target) + expr(node.iter) + many(expr, node.ifs) + number(node.is_async)


def op(names):
    return lambda node: number(names.index(type(node).__name__))


def conversion(node):
    return number(max(node.conversion, 0))


EXPRESSION_FIELDS = {
    "Name": lambda n: text(n.id),
    "Constant": lambda n: constant(n.value),
    "Attribute": lambda n: expr(n.value) + text(n.attr),
    "Subscript": lambda n: expr(n.value) + expr(n.slice),
    "Slice": lambda n: expr(n.lower) + expr(n.upper) + expr(n.step),
    "Call": lambda n: expr(n.func) + many(expr, n.args) + many(keyword, n.keywords),
    "BinOp": lambda n: expr(n.left) + op(BINARY)(n.op) + expr(n.right) + number(0),
    "UnaryOp": lambda n: op(UNARY)(n.op) + expr(n.operand),
    "BoolOp": lambda n: number(isinstance(n.op, ast.Or)) + many(expr, n.values),
    "Compare": lambda n: expr(n.left) + many(op(COMPARE), n.ops) + many(expr, n.comparators),
    "IfExp": lambda n: expr(n.test) + expr(n.body) + expr(n.orelse),
    "Tuple": lambda n: many(expr, n.elts),
    "List": lambda n: many(expr, n.elts),
    "Set": lambda n: many(expr, n.elts),
    "Dict": lambda n: many(expr, n.keys) + many(expr, n.values),
    "FormattedValue": lambda n: expr(n.value) + conversion(n) + expr(n.format_spec),
    "JoinedStr": lambda n: many(expr, n.values),
    "Interpolation": lambda n: expr(n.value) + text(n.str) + conversion(n) + expr(n.format_spec),
    "TemplateStr": lambda n: many(expr, n.values),
    "Lambda": lambda n: arguments(n.args) + expr(n.body),
    "Await": lambda n: expr(n.value),
    "Yield": lambda n: expr(n.value),
    "YieldFrom": lambda n: expr(n.value),
    "NamedExpr": lambda n: expr(n.target) + expr(n.value),
    "Starred": lambda n: expr(n.value),
}


def expr(node):
    name = type(node).__name__
    if node is None:
        return number(-1)
    if name == "Index":  # of 3.8
        return expr(node.value)
    if name == "ExtSlice":  # of 3.8
        return number(EXPRESSIONS.index("Tuple")) + many(expr, node.dims)
    if name in COMPREHENSIONS:
        elt, value = (node.key, node.value) if name == "DictComp" else (node.elt, None)
        return (
            number(EXPRESSIONS.index("comprehension"))
            + number(COMPREHENSIONS.index(name))
            + expr(elt)
            + expr(value)
            + many(generator, node.generators)
        )
    return number(EXPRESSIONS.index(name)) + EXPRESSION_FIELDS[name](node)


PATTERN_FIELDS = {
    "MatchValue": lambda n: expr(n.value),
    "MatchSingleton": lambda n: constant(n.value),
    "MatchSequence": lambda n: many(pattern, n.patterns),
    "MatchMapping": lambda n: many(expr, n.keys) + many(pattern, n.patterns) + text(n.rest),
    "MatchClass": lambda n: (
        expr(n.cls) + many(pattern, n.patterns) + many(text, n.kwd_attrs) + many(pattern, n.kwd_patterns)
    ),
    "MatchStar": lambda n: text(n.name),
    "MatchAs": lambda n: pattern(n.pattern) + text(n.name),
    "MatchOr": lambda n: many(pattern, n.patterns),
}


def pattern(node):
    if node is None:
        return number(-1)
    name = type(node).__name__
    return number(PATTERNS.index(name)) + PATTERN_FIELDS[name](node)


def type_param(node):
    return (
        number(TYPE_PARAMS.index(type(node).__name__))
        + text(node.name)
        + expr(getattr(node, "bound", None))
        + expr(getattr(node, "default_value", None))
    )


def type_params(node):
    return many(type_param, getattr(node, "type_params", []))


def with_item(node):
    return expr(node.context_expr) + expr(node.optional_vars)


def match_case(node):
    return pattern(node.pattern) + expr(node.guard) + block(node.body)


def handler(node):
    return expr(node.type) + text(node.name) + block(node.body)


def alias(node):
    return text(node.name) + text(node.asname)


STATEMENT_FIELDS = {
    "FunctionDef": lambda n: (
        text(n.name)
        + arguments(n.args)
        + block(n.body)
        + many(expr, n.decorator_list)
        + expr(n.returns)
        + number(is_async(n))
        + type_params(n)
    ),
    "ClassDef": lambda n: (
        text(n.name)
        + many(expr, n.bases)
        + many(keyword, n.keywords)
        + block(n.body)
        + many(expr, n.decorator_list)
        + type_params(n)
    ),
    "Return": lambda n: expr(n.value),
    "Delete": lambda n: many(expr, n.targets),
    "Assign": lambda n: many(expr, n.targets) + expr(n.value),
    "AugAssign": lambda n: expr(n.target) + op(BINARY)(n.op) + expr(n.value),
    "AnnAssign": lambda n: expr(n.target) + expr(n.annotation) + expr(n.value) + number(n.simple),
    "TypeAlias": lambda n: text(n.name.id) + type_params(n) + expr(n.value),
    "For": lambda n: expr(n.target) + expr(n.iter) + block(n.body) + block(n.orelse) + number(is_async(n)),
    "While": lambda n: expr(n.test) + block(n.body) + block(n.orelse),
    "If": lambda n: expr(n.test) + block(n.body) + block(n.orelse),
    "With": lambda n: many(with_item, n.items) + block(n.body) + number(is_async(n)),
    "Match": lambda n: expr(n.subject) + many(match_case, n.cases),
    "Raise": lambda n: expr(n.exc) + expr(n.cause),
    "Try": lambda n: (
        block(n.body)
        + many(handler, n.handlers)
        + block(n.orelse)
        + block(n.finalbody)
        + number(type(n).__name__ == "TryStar")
    ),
    "Assert": lambda n: expr(n.test) + expr(n.msg),
    "Import": lambda n: many(alias, n.names) + number(is_lazy(n)),
    "ImportFrom": lambda n: text(n.module) + many(alias, n.names) + number(n.level) + number(is_lazy(n)),
    "Global": lambda n: many(text, n.names),
    "Nonlocal": lambda n: many(text, n.names),
    "Expr": lambda n: expr(n.value),
    "Pass": lambda n: b"",
    "Break": lambda n: b"",
    "Continue": lambda n: b"",
}


def is_lazy(node):
    return getattr(node, "is_lazy", 0)  # 3.15


def is_async(node):
    return type(node).__name__.startswith("Async")


def stmt(node):
    name = type(node).__name__
    name = "Try" if name == "TryStar" else name[5:] if is_async(node) else name
    return number(STATEMENTS.index(name)) + STATEMENT_FIELDS[name](node)


def block(nodes):
    return many(stmt, nodes)


def module(tree):
    return number(sys.version_info[1]) + block(tree.body)
