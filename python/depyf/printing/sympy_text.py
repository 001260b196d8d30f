"""Prints sums of products of symbols as SymPy prints them, in a tenth of SymPy's time. Nearly all index expressions are
sums of products of symbols.

SymPy prints terms in the lexicographic order of their symbols, and factors in the order of their names. A constant is
the last term, except that it comes first in a difference such as `3 - 2*x`.
"""

from __future__ import annotations

import functools
from typing import Any

from depyf.compat import printed

_INTEGERS = ("Integer", "One", "NegativeOne", "Zero")


def text(expression: Any) -> str | None:
    """Returns the text of a sum of products of symbols; None for any other expression."""
    kind = type(expression).__name__
    if kind != "Add":
        term = _term(expression)
        return None if term is None else _signed(*term)
    factors: dict[frozenset[str], int] = {}
    names: set[str] = set()
    for addend in expression.args:
        term = _term(addend)
        if term is None or not term[0] or (key := frozenset(term[1])) in factors:
            return None
        factors[key] = term[0]
        names |= key
    order = sorted(names)
    terms = sorted(factors, key=lambda symbols: [name not in symbols for name in order])
    if len(terms) == 2 and not terms[1] and len(terms[0]) == 1 and factors[terms[0]] < 0 < factors[terms[1]]:
        terms.reverse()  # `3 - 2*x`
    written = _signed(factors[terms[0]], sorted(terms[0]))
    for symbols in terms[1:]:
        factor = factors[symbols]
        written += f" - {_signed(-factor, sorted(symbols))}" if factor < 0 else f" + {_signed(factor, sorted(symbols))}"
    return written


def is_right() -> bool:
    """True if SymPy prints as this module expects; settings of SymPy can change its format for all expressions.
    `is_right` must not be called while settings of SymPy are changed temporarily, because a part of the result is
    cached."""
    try:
        return printed.sympy_settings() == {} and _prints_samples()
    except Exception:  # another release of SymPy may lack a name
        return False


def usual_text(expression: Any) -> str | None:
    """Returns the result of `text` for an expression; None if SymPy's format differs from the format of this module."""
    return text(expression) if is_right() else None


@functools.cache
def _prints_samples() -> bool:
    import sympy

    a, b, c = sympy.symbols("c10 c2 s1", integer=True)
    samples = (-b, -12 * a * c, a + 64 * b - 3, 4 * c + 2 * a * c - a - 5 * b * c, 3 - 2 * b)
    return all(text(sample) == str(sample) for sample in samples)


def _term(product: Any) -> tuple[int, list[str]] | None:
    """Returns (coefficient, sorted names of the symbols) of a product; None for any other expression."""
    kind = type(product).__name__
    if kind == "Symbol":
        return 1, [product.name]
    if kind in _INTEGERS:
        return int(product), []
    if kind != "Mul":
        return None
    first, *others = product.args
    factor = 1
    if type(first).__name__ in _INTEGERS:
        factor = int(first)
        if factor in (0, 1):  # only a product that is not evaluated has the coefficient 0 or 1
            return None
    else:
        others = product.args
    if not all(type(operand).__name__ == "Symbol" for operand in others):
        return None
    names = sorted(operand.name for operand in others)
    return (factor, names) if names and len(set(names)) == len(names) else None


def _signed(factor: int, names: list[str]) -> str:
    if not names:
        return str(factor)
    product = "*".join(names)
    return product if factor == 1 else f"-{product}" if factor == -1 else f"{factor}*{product}"
