"""The command-line arguments that several benchmarks share."""

from __future__ import annotations

import argparse
from collections.abc import Iterable


def add_rounds(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "rounds",
        nargs="?",
        type=int,
        default=5,
        help="the number of rounds; each round measures every kind of run once (default: 5)",
    )


def add_only(parser: argparse.ArgumentParser, programs: Iterable[str]) -> None:
    """Adds the option `--only`, which chooses from the names of `programs`."""
    names = list(programs)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=names,
        default=names,
        metavar="NAME",
        help="measure only these programs (default: all programs)",
    )


def add_transformer(parser: argparse.ArgumentParser) -> None:
    """Adds the options for the size of a transformer and of its input."""
    parser.add_argument("--layers", type=int, default=12, help="the number of layers of the transformer (default: 12)")
    parser.add_argument("--width", type=int, default=256, help="the width of the transformer (default: 256)")
    parser.add_argument("--tokens", type=int, default=128, help="the number of tokens of the input (default: 128)")
