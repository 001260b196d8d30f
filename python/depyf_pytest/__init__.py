"""The pytest plugin of depyf: tests that fail when torch.compile makes something else of a program than they state.

    @pytest.mark.depyf(no_breaks=True, recompiles=0)
    def test_forward(): ...

    def test_step(compiled_contract):
        with compiled_contract("step.json"):
            step(batch)

It is a package of its own, so that pytest loads neither depyf nor torch before a test needs them.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Generator, Iterator
from importlib import import_module
from typing import Any

import pytest

MARKER = "depyf"
_BOUNDS = ("no_breaks", "recompiles", "kernels")
_HELP = (
    "depyf(no_breaks=False, recompiles=None, kernels=None): fail if torch.compile makes graph breaks or eager functions, more "
    "than that many recompilations, or more than that many kernels in the test"
)
_BROKEN, _UNCLEAR = 1, 2  # exit statuses of `depyf check`


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option that writes contracts."""
    parser.getgroup("depyf").addoption(
        "--depyf-write",
        action="store_true",
        help="write the contracts of the tests that use compiled_contract, in place of older ones",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    config.addinivalue_line("markers", _HELP)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """Records what a test with the marker compiles, and fails the test if it exceeds the bounds of the marker."""
    marker = item.get_closest_marker(MARKER)
    if marker is None:
        yield
        return
    options = _options(marker)
    with _recorded() as directory:
        outcome = yield
    try:
        if outcome.excinfo is None:
            _check([*options, directory])
    except BaseException as error:
        outcome.force_exception(error)
    finally:
        _remove(directory)


def _options(marker: pytest.Mark) -> list[str]:
    """Returns the options of `depyf check` for the arguments of the marker.

    Raises:
        pytest.UsageError: an argument is unknown or has a wrong type.
    """
    unknown = sorted(marker.kwargs.keys() - set(_BOUNDS))
    if marker.args or unknown:
        named = ", ".join(unknown) if unknown else "positional arguments"
        raise pytest.UsageError(f"the marker depyf takes {', '.join(_BOUNDS)}, not {named}")
    options = []
    if marker.kwargs.get("no_breaks"):
        options.append("--no-breaks")
    for name in ("recompiles", "kernels"):
        count = marker.kwargs.get(name)
        if count is not None and (type(count) is not int or count < 0):
            raise pytest.UsageError(f"the marker depyf: {name} has to be a number that is not negative, not {count!r}")
        options += [] if count is None else [f"--{name}", str(count)]
    if not options:
        raise pytest.UsageError(f"the marker depyf needs one of {', '.join(_BOUNDS)}")
    return options


@pytest.fixture
def compiled_contract(request: pytest.FixtureRequest) -> Callable[..., contextlib.AbstractContextManager[None]]:
    """A function that opens a block, and compares what is compiled in it with a contract.

    Its argument is the path of the contract, relative to the folder of the test file. By default it is the name of the test with
    `.contract.json` behind it. `pytest --depyf-write` writes the contract.
    """
    folder = request.path.parent
    default = re.sub(r"[^\w.-]+", "_", request.node.name).strip("_") + ".contract.json"

    @contextlib.contextmanager
    def block(path: str = default) -> Iterator[None]:
        contract = folder / path
        is_written = request.config.getoption("--depyf-write")
        if not is_written and not contract.is_file():
            pytest.fail(f"{contract} does not exist; `pytest --depyf-write` writes it", pytrace=False)
        with _recorded() as directory:
            yield
        try:
            contract.parent.mkdir(parents=True, exist_ok=True)
            _check(["--baseline", str(contract), *(["--write"] if is_written else []), directory])
        finally:
            _remove(directory)

    return block


@contextlib.contextmanager
def _recorded() -> Iterator[str]:
    """Yields the directory of a dump of what is compiled in the block. The caller removes it.

    Compiled functions of earlier tests are forgotten first: what is not compiled in the block cannot be checked.
    """
    import_module("torch").compiler.reset()
    directory = tempfile.mkdtemp(prefix="depyf-pytest-")
    with warnings.catch_warnings():
        # `_check` reports a block in which nothing was compiled.
        warnings.filterwarnings("ignore", message="depyf: Nothing was compiled")
        without_log = import_module("depyf.compat.trace_log").without_handlers_of("_pytest")
        with without_log, import_module("depyf").prepare_debug(directory):
            yield directory


def _check(arguments: list[str]) -> None:
    """Executes `depyf check`, and fails the test with its explanation unless the contract holds."""
    status, output, errors = import_module("depyf._core").comparing_command(["check", *arguments])
    if status == _BROKEN:
        pytest.fail(output.rstrip(), pytrace=False)
    if status == _UNCLEAR:
        pytest.fail(errors.replace(arguments[-1], "the test").rstrip(), pytrace=False)


def _remove(directory: str) -> None:
    """Removes a dump."""
    shutil.rmtree(directory, ignore_errors=True)
