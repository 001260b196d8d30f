"""The C++ core of depyf, which does not use torch. The module `depyf.decompiler` calls the core from Python."""

import collections
import types
from collections.abc import Callable
from typing import Any, TypeVar

_Row = TypeVar("_Row", bound=tuple[Any, ...])
_Event = TypeVar("_Event", bound=tuple[str, str, float, str, float])

__version__: str

class Decompiled:
    """The result of decompiling one code object."""

    @property
    def source(self) -> str:
        """The source, which is valid Python: a `def` statement for the code of a function, the source of a module for
        the code of a module."""

    @property
    def lines(self) -> list[tuple[int, int]]:
        """Pairs of a line of `source`, counted from 1, and the byte offset of an instruction of this line. The pairs of
        lines and offsets are in the order of the source."""

    @property
    def nested_lines(self) -> list[tuple[str, tuple[int, ...], list[tuple[int, int]]]]:
        """(qualified name, path of indices into `co_consts`, lines) of each nested code object; the lines are pairs
        like those in the property `lines`."""

    @property
    def level(self) -> str:
        """The form of the source: "structured" for nested statements, "state machine" for a loop that executes block
        after block, or "stub" for a body that only raises an exception."""

    @property
    def notes(self) -> list[str]:
        """Sentences about the parts of the source that are not exact."""

    @property
    def constants(self) -> dict[str, tuple[int, ...]]:
        """Maps each name that stands for a constant without a literal in `source` to the constant's path of indices
        into `co_consts`.

        A path has more than one index if the constant belongs to a nested code object, or is an item of a constant
        tuple.
        """

def decompile(
    code: types.CodeType,
    *,
    name: str | None = None,
    style: str = "plain",
    parameters: dict[str, list[str]] = {},
    installed: set[str] = ...,
    outputs: dict[str, list[str]] = {},
    short_names: bool = False,
    standalone: bool = False,
) -> Decompiled:
    """Decompiles a code object. Invalid bytecode raises no exception.

    Args:
        code: the code object to decompile.
        name: the name of the function in the source; None means the function's own name.
        style: "plain" for the expressions and statements of the bytecode; "readable" for folded expressions, which the
            caller should prove to be right; "exact" for a separate statement for each effect.
        parameters: maps the name of a global function that the code calls to the names of the function's parameters.
        installed: the names of globals that are known to exist and to keep their values.
        outputs: maps the name of a function in `installed` to names for the items that the function returns, if it
            returns a new tuple or list to which no other code refers. If an item has no known name, its name is empty.
        short_names: if true, names that Dynamo ends with a uuid are shown without the uuid.
        standalone: if true, the source binds the free variables of a function, and imports the features of `__future__`
            with which the function was compiled.

    Raises:
        TypeError: `code` is not a code object.
        ValueError: the style is unknown.
    """

def decompile_files(
    files: list[str | tuple[str, bytes]],
    text: Callable[[str], object],
    error: Callable[[str], object],
    *,
    output: str = "",
    jobs: int = 1,
    check: str = "",
    show: str = "",
    stop_after: str = "",
    dump_after: str = "",
    force: bool = False,
    json: bool = False,
    quiet: bool = False,
) -> int:
    """Does what the command depyf-decompile does with .pyc files of any Python version.

    Args:
        files: paths, folders, or names with the bytes of a .pyc file.
        text: receives each text for standard output, in the order of `files`.
        error: receives each message for standard error, in the form `file: offset: message`.
        output: the folder to which the sources are written; "" if `text` receives them.
        jobs: the number of files that are decompiled at the same time, at least 1.
        check: the interpreter that compiles the sources back, so that their bytecode can be compared; "" for no check.
        show: the text that is written instead of the source: "dis" (the instructions), "cfg" (the control flow graph),
            "lines" (the line map) or "load" (the fields of the code objects).
        stop_after: the name of a pass, after which the source is written; "" for all passes.
        dump_after: the name of a pass, whose result for each code object is written instead of the source; "" for the
            source.
        force: if true, existing files in `output` are replaced.
        json: if true, `text` receives a report of all files as JSON instead of the sources. The JSON report contains
            the sources if `output` is empty.
        quiet: if true, `error` does not receive the line of counts at the end of a batch of files.

    Returns:
        The exit status: 1 if any file failed, otherwise 0.

    Raises:
        ValueError: the value of `show` is unknown.
        BaseException: an exception of `text`, `error` or a signal handler is passed on.
    """

class ProofPlace:
    """The first effect in which two code objects differ. `offset_one`, `line_one` and `one` belong to the first code
    object, and the fields with `two` belong to the second."""

    @property
    def function(self) -> str:
        """The qualified name of the code object with the effect, which can be a nested code object."""

    @property
    def offset_one(self) -> int: ...
    @property
    def offset_two(self) -> int:
        """The byte offset of the effect in the second code object; -1 if it is unknown."""

    @property
    def line_one(self) -> int: ...
    @property
    def line_two(self) -> int: ...
    @property
    def one(self) -> str: ...
    @property
    def two(self) -> str:
        """A description of the effect of the second code object."""

class KeptValue:
    """A value that the second code object still holds at an effect at which the first code object has already released
    it."""

    @property
    def function(self) -> str:
        """The qualified name of the code object that holds the value."""

    @property
    def offset(self) -> int:
        """The byte offset, in the second code object, of an effect during which the value is still held."""

    @property
    def line(self) -> int:
        """The source line of the effect in the second code object; -1 if the effect has no line."""

    @property
    def local(self) -> str:
        """The name of the local that holds the value; "" if the value stack holds it."""

    @property
    def value(self) -> str:
        """A description of the value."""

    @property
    def effect(self) -> str:
        """A description of the effect during which the value is still held."""

    @property
    def outermost(self) -> bool:
        """True if the effect is in the outermost code object; False if the effect is in a nested code object."""

class Proof:
    """The result of an attempt to prove that two code objects do the same, and that the second keeps no value alive
    longer than the first. A `Proof` is true if the attempt succeeded; a false `Proof` contains a reason and a place."""

    def __bool__(self) -> bool: ...
    @property
    def reason(self) -> str:
        """The reason why the code objects are not proved equivalent; "" if they are."""

    @property
    def same_effects(self) -> bool:
        """True if both code objects have the same effects, whichever values they keep alive."""

    @property
    def kept(self) -> list[KeptValue]:
        """The values that the second code object keeps alive longer than the first. The list of kept values is complete
        if both code objects have the same effects, and empty if their effects differ."""

    @property
    def where(self) -> ProofPlace | None:
        """The first effect in which the code objects differ; None if they are proved equivalent."""

    @property
    def nested(self) -> list[tuple[int, int]]:
        """(index in the first code object's `co_consts`, index in the second code object's `co_consts`) of each pair of
        nested code objects that correspond to each other; an empty list if the effects are not proved to be the
        same."""

def prove(
    one: types.CodeType,
    two: types.CodeType,
    *,
    lifetimes: bool = True,
    calls_keep_operands: bool = False,
    installed: set[str] = ...,
    outputs: dict[str, int] = {},
) -> Proof:
    """Tries to prove that two code objects do the same, and that the second keeps no value alive longer than the first.

    Invalid bytecode raises no exception. `include/depyf/prove.h` explains the options and their assumptions.

    Args:
        one: the code that is to be replaced.
        two: the code that is to replace `one`.
        lifetimes: if false, the proof can be true even if `two` keeps values alive longer than `one`; `Proof.kept`
            lists these values.
        calls_keep_operands: true if the code runs only under a frame evaluation function (PEP 523), as code of Dynamo
            does.
        installed: the names of globals that are known to exist and to keep their values.
        outputs: maps the name of a function in `installed` to the number of items that the function returns, if it
            returns a new tuple or list to which no other code refers.

    Raises:
        TypeError: `one` or `two` is not a code object.
    """

def recode_pyc(file: bytes) -> list[str]:
    """Decodes and encodes each code object of a .pyc file of any version, and compares the result with the original.
    The function exists for tests.

    Returns:
        A sentence for each code object that is unsafe to run, and for each that differs after encoding.
    """

def prove_pyc(one: bytes, two: bytes, lifetimes: bool = False, lockstep: bool = False) -> list[Proof]:
    """Returns the proofs of all code objects of two .pyc files, whose versions may differ. The function exists for
    tests.

    Args:
        one: the bytes of the first file.
        two: the bytes of the second file.
        lifetimes: if false, a proof can be true even if the second code object keeps values alive longer than the
            first, as for `prove`.
        lockstep: true if only the quick proof is to be tried, which executes both code objects symbolically,
            instruction by instruction.
    """

def passes() -> list[tuple[str, str]]:
    """Returns (name, reason for its place in the order) of each pass of the decompiler, in the order of the passes."""

# All changes of code objects are made by the following functions. A changed code object is safe to run if the original
# code object is safe to run. If one of these functions changes nothing, its result is the original object itself;
# constants that do not change stay the same objects in every result.
def problem(code: types.CodeType) -> tuple[str, str] | None:
    """Returns the first fault in bytecode, which CPython would execute without a check, as (name of the code object,
    fault); None if there is no fault.

    The function checks `code` and all code objects in it. `problem` checks that the version of Python has the
    instructions and their arguments, that jumps and handlers lead to instructions, and that the stack neither overflows
    nor underflows. The check knows only the number of values on the stack, so it does not find code that takes a wrong
    value from the stack. Code that takes a wrong value fails only when the code runs.
    """

def same_code(one: types.CodeType, two: types.CodeType) -> bool:
    """True if two code objects have the same bytecode and run it on the same names and constants.

    The names, files, positions and stack sizes of the code objects may differ. The result is False if a constant is
    neither a number, a string, bytes, None, a bool, an ellipsis nor a tuple of such constants. Frozensets and nested
    code objects are not compared, because equal frozensets may have another order, and nested code objects have other
    positions.
    """

def global_names(code: types.CodeType) -> list[str]:
    """Returns the global names that `code` and the code objects in it read, write or delete, each name once."""

def assigned_names(code: types.CodeType) -> list[str]:
    """Returns the global names that `code` and the code objects in it assign, also in the bodies of classes and
    modules."""

def short_names(code: types.CodeType) -> dict[str, str]:
    """Returns a dict from the full name to the short name of each name in `code` and its nested code that can be shown
    without Dynamo's uuid.

    The result lacks a name if another name has the same short form.
    """

def constants(code: types.CodeType) -> dict[str, object]:
    """Returns the constants that have no literal, by the names (`__const_N`) that decompiled source has for them."""

def bind_names(code: types.CodeType, values: dict[str, Any]) -> types.CodeType:
    """Returns `code` in which each load of a global name in `values` is replaced by a load of the name's object as a
    constant, also in nested code.

    The objects of the names cannot be passed to the compiler, because it accepts only literals as constants, and would
    fold expressions that contain them.
    """

def with_nested(code: types.CodeType, nested: dict[int, types.CodeType]) -> types.CodeType:
    """Returns `code` in which some nested code objects are replaced; `nested` maps their indices in `co_consts` to the
    new code objects.

    A nested function gets its cells in the order of its code's free variables. If the free variables of the new code
    object have another order than those of the replaced code object, the instructions that load the cells are
    reordered. Instructions that load cells in an unknown way stay as they are, so the result has to be proved
    equivalent to `code`.
    """

def moved(
    code: types.CodeType, file: str | None = None, lines_down: int = 0, name: str | None = None
) -> types.CodeType:
    """Returns `code` with the file name `file` and with lines that are larger by `lines_down`; None as `file` keeps the
    file name. Nested code objects whose file is the file of `code` get the new file name and lines, too. `name` becomes
    the name of `code` itself; None as `name` keeps the name of `code`."""

def with_locals(code: types.CodeType, names: dict[str, str]) -> types.CodeType:
    """Returns `code` with new names for its own locals; `names` maps old names to new names."""

def raised_by_one_line(code: types.CodeType) -> types.CodeType:
    """Returns `code` with all line numbers behind its first line reduced by one, so that the statements of the second
    line get the first line."""

def as_data(code: types.CodeType) -> types.CodeType:
    """Returns `code` without references to objects of the program: each constant that is not plain data is replaced by
    the name of its type."""

def named_like(code: types.CodeType, original: types.CodeType) -> types.CodeType:
    """Returns `code`, the code of a function, with the qualified name of `original`. The flag of `from __future__
    import annotations` is removed if `original` lacks the flag, because annotations are not part of a function's
    code."""

def names_that_sort(code: types.CodeType) -> dict[str, str]:
    """Maps the free and cell variables of `code` to new names for compiling. The compiler sorts free and cell variables
    by name, and the new names sort in the order of `code`. The new names also order the variables of nested code
    objects, as far as the order in a nested code object agrees with the order in `code`. The result is empty if the old
    names already sort in the order of `code`."""

def function_for(
    compiled: types.CodeType,
    original: types.CodeType,
    *,
    constants_of: types.CodeType,
    sorted: dict[str, str],
    hidden: dict[str, str],
    prefix: str,
    written_name: str,
    kept: bool,
) -> types.CodeType | list[str]:
    """Returns a copy of the code of a compiled function that can replace the code of another function.

    The result has the arguments (names and kinds), free variables, cell variables (names and order), flags and names of
    the original. The result has at least as many locals as the original. If the source has a name without its uuid, the
    result has the full name; each `__const_N` in the source is replaced by the constant for which it stands.

    Args:
        compiled: the code of the function, which was compiled inside of other functions.
        original: the code of the function that the result replaces.
        constants_of: the code object from which names with a uuid and constants are taken; in most cases `original`.
        sorted: the result of `names_that_sort`, if the function was compiled with these names for its variables.
        hidden: maps the name of an argument in the source to its name in `original`, for names that are not valid in
            source.
        prefix: the qualified name of the function in the compiled module.
        written_name: the name of the function in the source.
        kept: true if the source mentions all variables that an earlier call of `function_for` returned.

    Returns:
        The code, or a list of the names of variables that the source has to mention, so that the compiler creates them.

    Raises:
        ValueError: the function cannot replace the original; the message states the difference.
    """

def class_for(compiled: types.CodeType, original: types.CodeType, prefix: str) -> types.CodeType:
    """Returns the compiled body of a class with the names of the class body `original`. `prefix` is the qualified name
    that the class had in the module in which the class was compiled."""

def module_for(compiled: types.CodeType, original: types.CodeType, constants_of: types.CodeType) -> types.CodeType:
    """Returns the compiled code of a module with the name of `original`, and with the unique names and the constants of
    `constants_of`."""

def decode(code: types.CodeType) -> list[tuple[str, int, int, int, int, int, int, int, int, int]]:
    """Returns the version-neutral instructions of a code object. The function exists for tests.

    Returns:
        (op, arg, aux, offset, target, line, pops, pushes, jump_pops, jump_pushes) of each instruction.
    """

def decode_pyc(
    file: bytes,
) -> list[tuple[bytes, list[tuple[str, int, int, int, int, int, int, int, int, int]] | str]]:
    """Returns (name, instructions) of each code object of a .pyc file of any version. The function exists for tests.

    If the instructions cannot be decoded, an error message is returned in their place. A nested code object follows the
    code object that contains it.
    """

def tables(
    code: types.CodeType,
) -> tuple[list[tuple[int, int, int, int]], list[tuple[int, int, int, int, bool]]]:
    """Returns the tables of positions and of exception handlers of a code object.

    Returns:
        (line, end line, column, end column) of each code unit, with -1 for each unknown number; and (start, end,
        target, depth, lasti) of each range of the exception table.
    """

class StackMap:
    """The contents of a code object's value stack before each instruction. Offsets are in bytes."""

    @property
    def error(self) -> str:
        """The reason why the contents of the stack are unknown; "" if they are known."""

    def depth(self, offset: int) -> int:
        """Returns the number of values on the stack; -1 if control never reaches the instruction."""

    def pops(self, offset: int) -> int:
        """Returns the number of values that the instruction pops if control falls through to the next instruction."""

    def slots(self, offset: int) -> list[tuple[str, bool, str, int]]:
        """Returns (expression, is current, kind, offset of the instruction that pushed the value) of each value on the
        stack, the lowest value first.

        An expression is current if evaluating it in the frame yields the value in its slot. The kind of a value is
        "value", "internal", "null", "method" or "receiver"; `include/depyf/stack_map.h` explains the kinds.
        """

    def handler(self, offset: int) -> tuple[int, int, int, int, bool] | None:
        """Returns (start, end, target, depth, lasti) of the handler for an exception that the instruction raises; None
        if no handler covers the instruction."""

def stack_map(code: types.CodeType) -> StackMap:
    """Returns the contents of a code object's value stack before each of its instructions."""

def frame_depth(frame: types.FrameType) -> int | None:
    """Returns the number of values on the stack of a running frame from CPython's own field; None while CPython keeps
    this number in a register.

    Raises:
        ValueError: the frame has ended, or its layout is unknown.
    """

def frame_stack(frame: types.FrameType, depth: int, null: object) -> list[object]:
    """Returns the lowest `depth` values of a frame's stack, with `null` for each NULL. `depth` must not be larger than
    the number of values on the stack, because the memory above the values contains no objects."""

def set_frame_stack(frame: types.FrameType, depth: int, index: int, value: object) -> None:
    """Replaces the value at `index` of the value stack of a running frame; `depth` is the number of values on the
    stack.

    Raises:
        IndexError: the stack has no value at `index`.
        ValueError: the frame has ended, its layout is unknown, or the stack has NULL at `index`.
    """

def set_frame_local(frame: types.FrameType, name: str, value: object) -> None:
    """Sets the value of a local variable of a running frame, or of a variable in one of the frame's cells.

    Raises:
        KeyError: the frame has no variable of this name.
        ValueError: the frame has ended, or its layout is unknown.
    """

def call_without(file: str, calls: list[tuple[Callable[..., object], tuple[object, ...]]]) -> bool:
    """Calls functions that are written in C, one after the other, without letting another thread run in between.

    Args:
        file: the path of a file; if a frame of another thread runs code of this file, none of the functions is called.
        calls: the calls, each as a tuple (function, arguments).

    Returns:
        True if the functions were called, False if no function was called.
    """

def shortened_graph(text: str) -> str:
    """Returns a text that compiles if and only if the text of a graph compiles, but in less time: the lines of the
    graph that have the usual shape are replaced by `pass`."""

def input_names(text: str, captured: list[tuple[str, str]]) -> dict[str, str]:
    """Returns a dict from PyTorch's name to a readable name for each input of a graph that AOTAutograd created. The
    readable names are derived from AOTAutograd's descriptors of the inputs.

    Args:
        text: the text of the graph, with a descriptor behind each input. The result is empty if the descriptors do not
            refer to all inputs of the captured graph, as when AOTAutograd compiled only a part of the captured graph.
        captured: (name, Dynamo's source) of each input of the captured graph.
    """

def input_names_in(text: str) -> dict[str, str]:
    """Returns a dict from PyTorch's name to the readable name of each input in a text that `readable_graph`
    returned."""

def with_names(code: str, names: dict[str, str]) -> str:
    """Returns Python code in which variables are renamed; `names` maps old names to new names."""

def readable_graph(text: str, renames: dict[str, str], headings: dict[str, str]) -> str:
    """Returns the text of a graph with readable names for the inputs. A comment stands above each sequence of nodes
    that have the same heading in `headings`.

    Args:
        renames: the result of `input_names`.
        headings: maps the name of a node to its heading, such as the path of the module that the node belongs to. A
            node that `headings` does not contain is shown under the heading of the node before it.
    """

def in_terms(expression: str) -> str:
    """Returns an expression over `L` and `G` in the user's terms: `x.shape[0]` for `L['x'].size()[0]`, `self.b1` for
    `L['self'].__dict__['_modules']['b1']`. A text that is not an expression stays as it is."""

def owner_in_terms(expression: str) -> str:
    """Returns an expression for a dict in the user's terms. If the dict is a table of a module, such as `_parameters`,
    the expression for the module is returned."""

def bounds(condition: str) -> list[tuple[str, str, str]]:
    """Returns the comparisons with constants that a condition consists of; an empty list for any other condition.

    Returns:
        (subject in the user's terms, operator, constant) of each comparison.
    """

def frontier(
    guards: list[tuple[object, ...]], symbols: list[tuple[list[str], str, str]] | None
) -> list[tuple[str, str, int, str]]:
    """Returns the limits of one compilation: the conditions on the next call under which the compilation is used again.
    Limits that an argument of the next call can violate come first.

    Args:
        guards: the rows of `depyf.guards.model.rows`.
        symbols: (sources, origin of the lower bound, origin of the upper bound) of each symbolic size; None if the
            symbolic sizes were not recorded.

    Returns:
        (condition, subject, guard, place) of each limit. `guard` is the index of the guard whose source line caused the
        limit, or -1 if no such line is known; `place` is the place in PyTorch that set the limit.
    """

def accepted_together(entries: list[list[tuple[str, str, str]]], entries_max: int | None) -> list[str]:
    """Returns lines about the calls that the cache entries of a function accept together: for each value that all
    entries fix or bound, one line with the conditions of the entries, joined by "or".

    Args:
        entries: (condition, subject, reason) of each limit of each cache entry.
        entries_max: the recompilation limit of the function; None if the lines do not mention the limit.
    """

def unchecked_after_dropping(dropped: list[tuple[str, str]]) -> list[str]:
    """Returns sentences about changes that no guard notices because a guard filter (`guard_filter_fn`) dropped guards.

    Args:
        dropped: (kind, Dynamo's name of the guarded value) of each dropped guard; the name is empty for the state of
            the process.
    """

def unchecked_values(guards: list[tuple[object, ...]], locals: list[str], globals: list[str]) -> list[str]:
    """Returns sentences about the locals, the globals and the parts of the process state that no guard mentions.

    Args:
        guards: the rows of `depyf.guards.model.rows`.
        locals: the arguments and free variables of the function.
        globals: the globals that the function reads.
    """

def redundant_guards(guards: list[tuple[object, ...]], identity_of_none: int) -> list[tuple[int, list[str]]]:
    """Returns (index of the guard, conditions that imply the guard) of each guard that the remaining guards imply.

    Args:
        guards: the rows of `depyf.guards.model.rows`.
        identity_of_none: the value of `id(None)` in the process that has the guards.
    """

def bound_origin(place: str) -> str:
    """Returns a text for readers about the origin of a bound on a symbolic size; `place` is PyTorch's own text about
    the origin."""

def folded(text: str, file: str, first_line: int) -> str:
    """Returns code in which consecutive blocks of lines that differ only in numbers, as the layers of a model do, are
    shown once.

    A comment states how often a block is repeated, and at which lines. If the head of a function is long, each
    parameter has a line of its own.

    Args:
        file: the name of the file with the whole code.
        first_line: the number of the line of `file` at which `text` begins, counted from 1.
    """

def folded_conditions(conditions: list[str]) -> list[str]:
    """Returns conditions in which three or more conditions that differ only in one index are joined to a single
    condition, such as `blocks[0..23].heads == 4`."""

def guard_function(
    name: str,
    quiet: str,
    guards: list[tuple[str, str, str, str, tuple[str, ...], bool, bool]],
    shorthands: list[tuple[str, str, str, str, str]],
) -> str:
    """Returns the source of a function that evaluates guards and returns whether they hold. No line of the source is
    longer than 200 characters.

    Args:
        name: the name of the function.
        quiet: an expression for the context manager that disables `__torch_function__`. A guard is quiet if
            `__torch_function__` is disabled while the guard is checked: the generated function checks quiet guards
            within this context manager.
        guards: (kind, Dynamo's text, line of the program, expression for the guarded value, conditions, true if
            PyTorch's own object checks the guard, true if the guard is quiet) of each guard. An empty string stands for
            a text, line or expression that a guard lacks.
        shorthands: (beginning, end, new beginning, new end, definition) of each long part of conditions that is
            abbreviated. In an abbreviated part, the new beginning replaces the beginning, and the new end replaces the
            end. The code `definition` defines the names that the new beginning and the new end contain.
    """

def index_files(
    directory: str, session: str, times: str, tables: list[tuple[str, int]] = [], reads_graphs: bool = False
) -> dict[str, str]:
    """Returns the texts of the files that describe a dump, by name: index.md, a file for each compilation, tables.md
    and provenance.md.

    Args:
        directory: the directory of the dump, which contains a file for each stage of each compilation.
        session, times: the contents of session.json and times.json.
        tables: (section of tables.md, number of operators of the graph) of each compilation of the last run. In each
            pair of `tables`, the section is the result of `Provenance.tables`, and the number of operators is -1 if it
            is unknown. `tables` is empty if the last run of the dump is not the run of the block that ends now.
        reads_graphs: true if the files of graphs are read too, so that tables can be created for runs without a file of
            tables.
    """

def frame_words(frame: str, title: str) -> dict[str, Any]:
    """Returns sentences about a compilation, by the keys headline, details, reasons, failures, deciding, symbols, "at
    run time", places, breaks and guards.

    Args:
        frame: the frame in JSON, as in session.json.
        title: the name for the function in the sentences; if it is empty, the function's own title is used.
    """

def deciding_reasons(
    differences: list[dict[str, Any]], values: dict[str, Any]
) -> list[tuple[int, str, list[str], list[str]]]:
    """Returns the reasons why a compilation cannot be used for a call, without differences that are consequences of
    other differences; see include/depyf/reasons.h.

    Args:
        differences: dicts with the fields of `GuardDifference` in include/depyf/reasons.h; differences in the state of
            the process come first.
        values: a dict with the fields of `GuardedValues` in include/depyf/reasons.h.

    Returns:
        (difference, expected, alike, follows) of each reason, in which `difference` is an index in `differences`.
        `expected` is the whole expected value, or "" if the difference contains the whole value. `alike` are the other
        values whose guards fail in the same way, and `follows` are the values whose guards fail only because of the
        reason.
    """

def full_code(sections: str, read: Callable[[str], str], marked: Callable[[str, int], list[str]]) -> str:
    """Returns the text of one Python file with the original function, and with the code, graphs and guards that
    torch.compile generated for it.

    Args:
        sections: the function and its resume functions as JSON; see include/depyf/story.h.
        read: returns the text of a file of the dump.
        marked: returns, for a file and a line, the lines of the user's function; a comment marks the line at which a
            resume function continues.
    """

def graph_body(text: str, name: str, file: str) -> str:
    """Returns the class in the text of a graph's file, renamed to `name`; the comments of the text if it contains no
    class.

    Args:
        file: the name of the file, to which the result refers if repeated layers are shown only once; if it is empty,
            all layers are shown.
    """

def explanation_text(explanation: str) -> str:
    """Returns the text of an explanation from its JSON, in the order in which the code runs."""

def explanation_headline(explanation: str) -> str:
    """Returns one line with the name of the function that an explanation describes, and with the number of the
    function's cache entries."""

def compile_costs(log: bytes, measured: str) -> str:
    """Returns the times of compiling as JSON. `log` is a TORCH_TRACE log. `measured` is JSON of the block of
    `depyf.compile_costs`, which contains `lines` with the time of tracing each line, and `missed_keys`."""

def compile_costs_text(costs: str) -> str:
    """Returns the text for readers from the JSON that `compile_costs` returned."""

def run_costs(log: bytes, measured: str) -> str:
    """Returns the time of calls of compiled functions as JSON (docs/costs.md), from the log of the trace and the
    measurements of `depyf.profile`."""

def run_costs_text(costs: str) -> str:
    """Returns the text for readers from the JSON that `run_costs` returned."""

def run_costs_record(costs: str) -> str:
    """Returns a record (docs/record.md) with the times of lines from the JSON that `run_costs` returned."""

def memory_costs(seen: str) -> str:
    """Returns the tensors that training graphs keep for their backward as JSON; `seen` is the JSON that
    `depyf.memory_costs` collects."""

def memory_costs_text(costs: str) -> str:
    """Returns the text for readers from the JSON that `memory_costs` returned."""

def guard_costs_text(costs: str) -> str:
    """Returns the costs of a function's guards as text, from the JSON of a `GuardCosts`."""

def explanation_html(explanation: str, frame: str) -> str:
    """Returns an explanation, from its JSON, as HTML with collapsible parts. `frame` is the HTML of the page around the
    explanation."""

def entry_html(entry: str, frame: str) -> str:
    """Returns one cache entry, from its JSON, as HTML with collapsible parts. `frame` is the HTML of the page around
    the entry."""

def graph_break(report: str) -> dict[str, Any]:
    """Divides PyTorch's report of a graph break, or the message of an exception, into parts.

    Returns:
        A dict with the parts `reason`, `explanation`, `hints` and `link`. `then` is PyTorch's text about a second graph
        break, which kept Dynamo from compiling the code before the first graph break; `then` is empty if there was no
        second graph break. `place` is (file, line, text, function) of the first line of the report, with an empty file
        if the report names no place. `stack` is a list of (file, line, text, function) of each call on the call stack,
        the innermost call last.
    """

class JsonText:
    """JSON text that `json_text` writes in place of a value, so that the value itself need not be created. No two
    members of a JSON object in the text may have the same name."""

    def __init__(self, text: str) -> None:
        """
        Raises:
            ValueError: `text` is not valid JSON.
        """

def json_text(data: object, levels: int) -> str:
    """Returns data as readable JSON. Each item in the first `levels` levels of nesting has a line of its own; deeper
    items are on the line of the item that contains them.

    Raises:
        TypeError: a value is not a dict with strings as keys, list, tuple, dataclass, JsonText, str, int, float, bool
            or None.
        RecursionError: the data is nested too deeply.
    """

def graph_statements(
    nodes: list[Any],
    parts: set[Any],
    simple: bool,
    expanded: bool,
    comment: Callable[[str | None], str],
    function: Callable[[Any], tuple[str, bool]],
    place: Callable[[Any, Any, Any], tuple[str, str]],
    expression: Callable[[Any], str],
    is_usual_type: Callable[[Any], bool],
    output: Callable[[Any, Any], str],
) -> tuple[list[str], str]:
    """Returns (the inputs with their annotations, the statements) of the function that PyTorch prints for a graph.

    Args:
        nodes: all nodes of the graph.
        parts: the set to which the kinds of the graph's parts are added, such as its operations and dtypes.
        simple: true if PyTorch prints expressions in its simpler form.
        expanded: true if PyTorch prints, behind each input, the description of the input's node.
        comment: returns the comment for a stack trace.
        function: returns (text, is format) for the function that a node calls: the name of the function, or the format
            of an operator, such as `{} + {}`.
        place: returns the names of the dtype and the device for the arguments (dtype, layout, device) of a tensor.
        expression: returns the text of a symbolic number.
        is_usual_type: returns true if the type that a node declares has no effect on PyTorch's text.
        output: returns the last statement of the function; its arguments are the value that the graph returns, and the
            description of the output node.

    Raises:
        ValueError: only PyTorch can print the graph.
    """

def argument_text(value: object, parts: set[Any]) -> str:
    """Returns an argument of a node as PyTorch prints it, and adds the kinds of its parts to `parts`.

    Raises:
        ValueError: only PyTorch can print the argument.
    """

class IrTexts:
    """Stores the texts of those parts of Inductor's IR that never change.

    Args:
        expression: returns the text of a SymPy expression.
    """

    def __init__(self, expression: Callable[[Any], str]) -> None: ...
    @property
    def expressions(self) -> int:
        """Returns the number of stored expressions; the expressions are stored together with their texts."""

class IrText:
    """Prints the nodes of one IR as PyTorch prints them.

    Args:
        texts: stores the texts of parts that can occur in another IR, too.
        graph: Inductor's graph, which contains the buffers.
    """

    def __init__(self, texts: IrTexts, graph: object) -> None: ...
    def node(self, node: object) -> tuple[str, set[Any]]:
        """Returns the text of a node, and the kinds of the node's parts.

        Raises:
            ValueError: only PyTorch can print the node.
        """

def timeline_events(
    pending: collections.deque[tuple[int, Callable[[], Any]]],
    process: int,
    event_class: type[_Event],
    parse: Callable[[str], Any],
    failed: Callable[[Exception], None],
) -> list[_Event]:
    """Empties a queue of events of PyTorch's timeline, and returns the events that begin or end a phase or stand for a
    whole phase.

    Args:
        pending: the queue, which contains (process id, function that returns the content) of each event. The events of
            other processes are dropped.
        process: the id of this process.
        event_class: the class of the returned events, a named tuple of (kind, name, microseconds, compile id or "",
            duration in microseconds or 0.0).
        parse: returns the content of an event from its JSON text.
        failed: receives the exceptions of events that cannot be read.
    """

def collect_event(pending: collections.deque[tuple[int, Callable[[], Any]]], process: int) -> int:
    """Examines the caller of the Python function that calls `collect_event`. If this caller is PyTorch's
    `trace_structured`, and sends an event of the timeline, appends (`process`, the function that returns the event) to
    `pending`. Returns the new length of `pending`; 0 if nothing was appended."""

def node_rows(
    nodes: list[Any],
    row_class: type[_Row],
    source_class: type[tuple[str, int]],
    keys: tuple[str, ...],
    checked: Callable[[Any], tuple[list[Any], tuple[str, ...]]],
    line: Callable[[Any], Any],
    sources: Callable[[Any], tuple[Any, ...]],
    modules: Callable[[Any], tuple[Any, ...]],
    target: Callable[[Any], str],
    copied: Callable[[Any], str],
) -> list[_Row]:
    """Returns a row for each node that computes a value; see `depyf.compat.fx_nodes.rows`.

    Args:
        nodes: the nodes of a graph in their order.
        row_class: `depyf.compat.fx_nodes.NodeRow`.
        source_class: `depyf.compat.fx_nodes.Source`.
        keys: the seven keys under which PyTorch keeps notes on the origin of a node in the node's `meta`.
        checked: returns (values that a node's `meta` has under certain keys, names of the keys whose values are not
            None); a value of a wrong type is replaced by None. `checked` is called only once for all nodes whose values
            have the same types, if none of these types is wrong.
        line: returns the user's line for a stack trace of PyTorch; None if the stack trace names no line.
        sources: returns the nodes that a node was derived from, if the value under `from_node` in the node's `meta` has
            an unusual form.
        modules: returns the modules in the module stack that PyTorch recorded for a node, the innermost module last.
        target: returns the name of a node's operator.
        copied: returns the name of the node whose value a `copy_` copies into an input of the graph; "" for any other
            `copy_`.
    """

class Provenance:
    """The links of one compilation, which are computed from facts that were collected during the compilation."""

    def __init__(self, seen: Any, replaced: Callable[[str | None], dict[str, list[str]]]) -> None:
        """
        Args:
            seen: the `depyf.provenance.collect.Collected` of the compilation.
            replaced: returns a dict from the name of each node that graph passes created to the names of the nodes that
                it replaced. The argument of `replaced` is the direction of Inductor's passes, or None for the passes
                that divide the joint graph into forward and backward. `replaced` is called only if the `meta` of a node
                does not record the node's origin.
        """

    def annotated(self, file: str, kind: str, direction: str | None, text: str) -> str:
        """Returns the text of a file of the dump, with the links between source lines and kernels as comments at the
        ends of its lines. Comments that an earlier call added are replaced.

        Args:
            file: the name of the file, under which `to_json` lists the lines of the file's nodes.
            kind, direction: the kind and the direction of the artifact in the file. Kinds are "Captured_Graph",
                "AFTER_POST_GRAD", "ir_post_fusion", "kernel" and others.
        """

    def to_json(
        self, id: str, function: str, compiled_fn: int | None, missing: list[tuple[str, str | None, str]]
    ) -> str:
        """Returns the links of the compilation in the format of `provenance.json`.

        Args:
            id, function, compiled_fn: the compile id, the name of the function, and the number N in `__compiled_fn_N`,
                which is None if the compilation has no compiled graph.
            missing: (kind, direction, reason) of each stage whose links are unknown.
        """

    def tables(self) -> str:
        """Returns the costs of the lines of source as a section of tables.md, computed from the files that were passed
        to `annotated`; "" if no costs are known."""

    def story(self) -> list[str]:
        """Returns lines of Markdown about the kernels that were generated from each captured node, and about the
        operations that were not fused."""

def stages() -> list[tuple[str, str, bool]]:
    """Returns (kind of the file, description, true if there is a file for each direction) of each stage of a
    compilation, in order."""

def replaced_nodes(before: str, after: list[str]) -> dict[str, list[str]]:
    """Returns a dict from each node that a pass created to the nodes that the created node replaces. The replaced nodes
    had the same neighbours in the graph before the pass that the created node has in the graph after the pass.

    Args:
        before: the text of the graph before the pass.
        after: the texts of the graphs after the pass: one graph, or the forward graph and the backward graph.
    """

def open_artifact(path: str, roots: list[str], is_json: bool) -> tuple[str, list[str], bool]:
    """Describes a file in which PyTorch saved compilations, or all files in a folder in which PyTorch saved
    compilations. No code in the files is executed.

    Args:
        path: a file, or a folder.
        roots: the folders, as in `sys.path`, in which modules are searched, so that their source can be compared with
            the saved source.
        is_json: true if JSON is returned instead of a text for readers.

    Returns:
        (text, paths that could not be read with the reasons, true if everything was read).
    """

def explain_misses(recorded: list[str], folder: str) -> list[list[str]]:
    """Returns, for each file with a cache key that a run recorded, the differences between the key and the nearest
    entry of a cache, as one line for each difference. The entries are files below `folder`, which are read once for all
    keys; no code in them is executed."""

def missed_keys(log: bytes, folder: str) -> list[tuple[str, str, list[str]]]:
    """Returns (compile id, key, differences) for each key in a TORCH_TRACE log that Inductor's cache did not contain.
    The differences are lines about the nearest entry of the cache in `folder`, as `explain_misses` returns them."""

def compare_artifacts(first: str, second: str) -> tuple[list[str], list[str], bool]:
    """Compares the files that PyTorch saved under one path with the files that it saved under another path.

    Returns:
        (lines with one difference each, paths that could not be read with the reasons, true if everything was read).
    """

def named_lines(text: str, of_ir: bool) -> list[tuple[str, int, int]]:
    """Returns (name, index in the text of the end of the line, line number from 1) of each line that defines a node or
    an operation.

    Args:
        text: a graph, whose lines begin with a margin and a name. The first line of `text` is never returned.
        of_ir: true for Inductor's IR, whose lines begin with the name of an operation.
    """

def comparing_command(arguments: list[str]) -> tuple[int, str, str]:
    """Executes a command of depyf-report that compares or checks runs.

    Args:
        arguments: the command (`diff`, `check` or `findings`) with its options and paths.

    Returns:
        (the exit status, the text for standard output, the text for standard error).
    """

def summary(paths: list[str], last_runs: bool = ...) -> tuple[str, list[str], bool]:
    """Describes logs and dumps in sentences, as depyf-report prints them.

    Args:
        paths: the paths of logs, directories of logs, and dumps.
        last_runs: true if only the last run of each dump is described.

    Returns:
        (text, paths that could not be read with the reasons, true if everything was read and nothing was damaged).
    """

def write_page(paths: list[str], output: str, command: str, is_redacted: bool = ...) -> list[str]:
    """Writes the report of logs and dumps as one HTML file. Returns messages about errors. If there is no run, nothing
    is written.

    Args:
        paths: the paths of logs, directories of logs, and dumps.
        output: the path of the HTML file, which is overwritten.
        command: the command that writes the page; the page shows this command.
        is_redacted: true if source text, paths, strings, numbers and names of the user are left out.
    """
