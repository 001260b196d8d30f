"""Checks the arguments of the stepper's commands, and rejects wrong arguments with a message."""

from __future__ import annotations

__all__ = ["CommandError", "check_expression", "number"]


class CommandError(Exception):
    """The command cannot be executed; the message states the reason and what to do."""


def number(text: str, command: str) -> int:
    """Returns the number that a text contains.

    Raises:
        CommandError: the text is not a number.
    """
    try:
        return int(text)
    except ValueError:
        raise CommandError(f"{command} takes a number, not {text!r}") from None


def check_expression(expression: str) -> None:
    """Raises CommandError unless a text is an expression."""
    try:
        compile(expression, "<depyf.step>", "eval", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise CommandError(f"no expression: {expression!r}: {error}") from None
