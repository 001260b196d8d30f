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

class ProofPlace:
    """Where two code objects part: the first effect that differs."""

    @property
    def function(self) -> str:
        """Qualified name of the code object, nested ones included."""

    @property
    def offset_one(self) -> int: ...
    @property
    def offset_two(self) -> int:
        """In bytes; -1 where there is no place in the bytecode."""

    @property
    def line_one(self) -> int: ...
    @property
    def line_two(self) -> int: ...
    @property
    def one(self) -> str: ...
    @property
    def two(self) -> str:
        """What that side does there, in words."""

class Proof:
    """Whether two code objects do the same; where not, why and where."""

    def __bool__(self) -> bool: ...
    @property
    def reason(self) -> str:
        """Why it is not proved; empty where it is."""

    @property
    def where(self) -> ProofPlace | None:
        """The first effect that differs, or None."""

def prove(one: types.CodeType, two: types.CodeType) -> Proof:
    """Proves that two code objects do the same, or says where they part; never raises on a code object.

    Raises:
        TypeError: one of them is no code object.
    """

# For tests: the proofs of all code objects in two .pyc of any versions.
def prove_pyc(one: bytes, two: bytes) -> list[Proof]: ...
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
