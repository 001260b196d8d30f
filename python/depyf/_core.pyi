"""The C++ core. Knows nothing of torch; `depyf.decompiler` is its Python side."""

import types

__version__: str

class Decompiled:
    """What decompiling one code object gave."""

    @property
    def source(self) -> str:
        """Valid Python: a `def` for function code, module source for module code."""

    @property
    def lines(self) -> list[tuple[int, int]]:
        """(line of `source`, counted from 1; bytecode offset), in order."""

    @property
    def level(self) -> str:
        """ "structured", or "state machine" where no Python form was found."""

    @property
    def notes(self) -> list[str]:
        """What could not be made exact."""

    @property
    def constants(self) -> dict[str, tuple[int, ...]]:
        """Constants that are no literals: name in `source` -> path of indices into `co_consts`.

        A path has more than one step where the constant lies in a nested code object.
        """

def decompile(code: types.CodeType, *, name: str | None = None) -> Decompiled:
    """Decompiles a code object; never raises on one. `name` takes the place of the function's own name.

    Raises:
        TypeError: `code` is no code object.
    """

def passes() -> list[tuple[str, str]]:
    """(name, why it stands where it stands) of each pass, in order."""

# For tests: (op, arg, aux, offset, target, line, pops, pushes, jump_pops, jump_pushes) of each instruction.
def decode(code: types.CodeType) -> list[tuple[str, int, int, int, int, int, int, int, int, int]]: ...
def decode_pyc(
    file: bytes,
) -> list[tuple[bytes, list[tuple[str, int, int, int, int, int, int, int, int, int]] | str]]: ...
def tables(
    code: types.CodeType,
) -> tuple[list[tuple[int, int, int, int]], list[tuple[int, int, int, int, bool]]]: ...
