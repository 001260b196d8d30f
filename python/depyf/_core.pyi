"""The C++ core. Knows nothing of torch; `depyf.decompiler` is its Python side."""

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
        """Valid Python: a `def` for function code, module source for module code."""

    @property
    def lines(self) -> list[tuple[int, int]]:
        """Pairs of a line of `source`, counted from 1, and the bytecode offset at which its code starts. The pairs are
        in the order of the source."""

    @property
    def nested_lines(self) -> list[tuple[str, tuple[int, ...], list[tuple[int, int]]]]:
        """(qualified name, path of indices into `co_consts`, lines) of each function and class within."""

    @property
    def level(self) -> str:
        """ "structured", or "state machine" where no Python form was found."""

    @property
    def notes(self) -> list[str]:
        """Sentences about the parts of the source that are not exact."""

    @property
    def constants(self) -> dict[str, tuple[int, ...]]:
        """Constants that are no literals: name in `source` -> path of indices into `co_consts`.

        A path has more than one step where the constant lies in a nested code object.
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
    """Decompiles a code object. It raises no exception, whatever the bytecode is.

    Args:
        code: the code object to decompile.
        name: the name of the function in the source; None for its own name.
        style: "plain"; "readable", folded in ways that are to be proved; "exact", each effect a statement of its own.
        parameters: the name of a global function that the code calls -> the names of its parameters.
        installed: global names that are known to be there and to keep their value.
        outputs: of those, the functions that return a new tuple or list which nobody else has -> what its items may be
            called; an empty name where nothing is known.
        short_names: show names that Dynamo ends with a uuid without it.
        standalone: bind the free variables of a function, and import the features of __future__ that it was compiled with.

    Raises:
        TypeError: `code` is no code object.
        ValueError: an unknown style.
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
    """Does what depyf-decompile does with .pyc files of any version.

    Args:
        files: paths, folders, or names with the bytes of a .pyc file.
        text: called with the texts for standard output, in the order of `files`.
        error: called with the messages for standard error: `file: offset: message`.
        output: folder for the sources, in place of `text`.
        jobs: files to work on at a time, at least 1.
        check: interpreter that compiles back what was made.
        show: the text to write in place of the source: "dis" (the instructions), "cfg" (the control flow graph),
            "lines" (the line map) or "load" (the fields of the code objects).
        stop_after: name of a pass: the source as it is after it.
        dump_after: name of a pass: what it makes of each code object.
        force: replace files that are there already in `output`.
        json: give `text` a report of all files in place of the sources, which it holds where there is no `output`.
        quiet: do not give `error` the line of counts that ends a batch.

    Returns:
        0, or 1 if any file failed.

    Raises:
        ValueError: an unknown `show`. What `text`, `error` or a signal handler raises comes through.
    """

class ProofPlace:
    """The first effect in which two code objects differ."""

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
        """A description of the effect on that side."""

class KeptValue:
    """A value that the second side still holds where the first no longer does."""

    @property
    def function(self) -> str:
        """The qualified name of the code object that holds it."""

    @property
    def offset(self) -> int:
        """The offset in the second side, in bytes, of an effect during which the value is still held."""

    @property
    def line(self) -> int:
        """The same, as a line of its source; -1 if it has none."""

    @property
    def local(self) -> str:
        """The local that holds the value; empty: the value stack does."""

    @property
    def value(self) -> str:
        """A description of the value."""

    @property
    def effect(self) -> str:
        """A description of that effect."""

    @property
    def outermost(self) -> bool:
        """False in nested code."""

class Proof:
    """The result of a proof that two code objects do the same and that the second keeps no value longer. It is true if
    that is proved; otherwise it has the reason and the place."""

    def __bool__(self) -> bool: ...
    @property
    def reason(self) -> str:
        """The reason why it is not proved; empty if it is."""

    @property
    def same_effects(self) -> bool:
        """True if both do the same, whatever values they keep alive."""

    @property
    def kept(self) -> list[KeptValue]:
        """The values that the second side keeps alive longer than the first; complete where the effects are the same."""

    @property
    def where(self) -> ProofPlace | None:
        """The first effect that differs, or None."""

    @property
    def nested(self) -> list[tuple[int, int]]:
        """(index in the first side's co_consts, index in the second side's) of each pair of nested code objects that
        correspond to each other; empty if it is not proved."""

def prove(
    one: types.CodeType,
    two: types.CodeType,
    *,
    lifetimes: bool = True,
    calls_keep_operands: bool = False,
    installed: set[str] = ...,
    outputs: dict[str, int] = {},
) -> Proof:
    """Proves that two code objects do the same and that the second keeps no value alive longer, or returns the place
    where they differ.

    It raises no exception, whatever the bytecode is. `include/depyf/prove.h` explains the assumptions of the options.

    Args:
        one: the code that is to be replaced.
        two: the code that is to replace it.
        lifetimes: False: values that `two` keeps longer are listed, and do not keep it from being proved.
        calls_keep_operands: the code runs only under a frame evaluation function.
        installed: global names that are known to be there and to keep their value.
        outputs: of those, the functions that return a new tuple or list which nobody else has -> of how many items.

    Raises:
        TypeError: one of them is no code object.
    """

def recode_pyc(file: bytes) -> list[str]:
    """Takes each code object of a .pyc file of any version apart and puts it together again. Exists for tests.

    Returns:
        A sentence for each code object that is not sound, or differs afterwards.
    """

def prove_pyc(one: bytes, two: bytes, lifetimes: bool = False, lockstep: bool = False) -> list[Proof]:
    """Returns the proofs of all code objects of two .pyc files, whose versions may differ. Exists for tests.

    Args:
        one: the bytes of the first file.
        two: the bytes of the second file.
        lifetimes: as for `prove`.
        lockstep: True if only the quick proof is to be tried, which walks both sides instruction by instruction.
    """

def passes() -> list[tuple[str, str]]:
    """Returns (name, the reason for its place in the order) of each pass, in order."""

# Code objects are changed by the following functions and nowhere else. The result is sound if the argument is. If
# nothing changes, the result is the argument itself, and constants that do not change stay the same objects.
def problem(code: types.CodeType) -> tuple[str, str] | None:
    """Finds faults in bytecode that CPython would execute without a check. Returns (name of the code object, the
    fault); None if there is no fault.

    The function checks `code` and all code objects in it: that the version has the instructions and their arguments,
    the targets of jumps and handlers, and the depth of the stack. It knows only the number of values on the stack, so
    it does not find code that uses a wrong value. Such code fails when it runs, as any code does.
    """

def same_code(one: types.CodeType, two: types.CodeType) -> bool:
    """True if both have the same bytecode and run it on the same names and constants.

    Their own names, files, positions and stack sizes may differ. The result is False if a constant is not a number, a
    string, bytes or a tuple of these: equal frozensets may have another order, and nested code objects have other
    positions.
    """

def global_names(code: types.CodeType) -> list[str]:
    """Returns the global names that `code` and the code objects in it read, write or delete, each once."""

def assigned_names(code: types.CodeType) -> list[str]:
    """Returns the global names that `code` and the code objects in it assign, also in the bodies of classes and
    modules."""

def short_names(code: types.CodeType) -> dict[str, str]:
    """Returns full name -> short name for the names of `code`, at any depth, that can be shown without Dynamo's uuid.

    A name stays as it is if its short form is the form of another name too.
    """

def constants(code: types.CodeType) -> dict[str, object]:
    """Returns the constants that have no literal, by the names (`__const_N`) that decompiled source has for them."""

def bind_names(code: types.CodeType, values: dict[str, Any]) -> types.CodeType:
    """Returns `code` in which each load of a global name in `values` is a load of the object as a constant, at any
    depth.

    The objects cannot be passed to the compiler: it takes only literals, and would fold expressions of them.
    """

def with_nested(code: types.CodeType, nested: dict[int, types.CodeType]) -> types.CodeType:
    """Returns `code` with other code objects among its constants, by index. Functions of them get their own cells.

    A function takes its cells in the order of its code's free variables. If the replaced code object has another order,
    the instructions that load the cells are put into the new order. Instructions of an unknown shape stay as they are,
    so the result has to be proved.
    """

def moved(
    code: types.CodeType, file: str | None = None, lines_down: int = 0, name: str | None = None
) -> types.CodeType:
    """Returns `code`, and all code objects of the same file in it, in another file (None: in the same) and `lines_down`
    lines further down. `code` itself gets another name (None: its own)."""

def with_locals(code: types.CodeType, names: dict[str, str]) -> types.CodeType:
    """Returns `code` with new names for its own locals: old name -> new name."""

def raised_by_one_line(code: types.CodeType) -> types.CodeType:
    """Returns `code` with every line after its first one moved up by one, so that the statements of the second line get
    the first line."""

def as_data(code: types.CodeType) -> types.CodeType:
    """Returns `code` without the objects of the program that it keeps alive: each constant that is no plain data is
    replaced by the name of its type."""

def named_like(code: types.CodeType, original: types.CodeType) -> types.CodeType:
    """Returns a function's code with the qualified name of another function's code. It has the flag of `from __future__
    import annotations` only if the other has it, because annotations are no part of a function's code."""

def names_that_sort(code: types.CodeType) -> dict[str, str]:
    """Returns name -> name to compile with, so that the compiler gives free and cell variables the order of `code`, and
    of nested code as far as the orders agree. The result is empty if the names already sort in this order."""

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
    """Returns a compiled function that can replace another.

    It has the arguments (names and kinds), free variables, cell variables (names and order), flags and names of the
    original, and at least as many locals. Names that are shown without their uuid get it back, and each `__const_N`
    becomes the object of that name.

    Args:
        compiled: the function, compiled within others.
        original: the code of the function that the result replaces.
        constants_of: where names with a uuid and constants come from; `original` in most cases.
        sorted: the names of `names_that_sort` that it was compiled with.
        hidden: names of arguments that no source can have, by the names in the source.
        prefix: the qualified name of the function in what was compiled.
        written_name: the name of the function in the source.
        kept: the source mentions all that an answer before asked for.

    Returns:
        The code; or names of variables that the source has to mention, so that a compiler makes variables of them.

    Raises:
        ValueError: it cannot stand in; the message names what differs.
    """

def class_for(compiled: types.CodeType, original: types.CodeType, prefix: str) -> types.CodeType:
    """Returns the compiled body of a class with the names of another. `prefix` is its qualified name in the compiled
    source."""

def module_for(compiled: types.CodeType, original: types.CodeType, constants_of: types.CodeType) -> types.CodeType:
    """Returns the compiled code of a module with the names of another."""

def decode(code: types.CodeType) -> list[tuple[str, int, int, int, int, int, int, int, int, int]]:
    """Returns the version-neutral instructions of a code object. Exists for tests.

    Returns:
        (op, arg, aux, offset, target, line, pops, pushes, jump_pops, jump_pushes) of each instruction.
    """

def decode_pyc(
    file: bytes,
) -> list[tuple[bytes, list[tuple[str, int, int, int, int, int, int, int, int, int]] | str]]:
    """Returns (name, instructions) of each code object of a .pyc file of any version. Exists for tests.

    If the instructions cannot be decoded, an error message is returned in their place. A nested code object follows the
    code object that contains it.
    """

def tables(
    code: types.CodeType,
) -> tuple[list[tuple[int, int, int, int]], list[tuple[int, int, int, int, bool]]]:
    """Returns the tables of positions and of exception handlers of a code object.

    Returns:
        (line, end line, column, end column) of each code unit, with -1 for what is unknown; and (start, end, target,
        depth, lasti) of each range that a handler protects.
    """

class StackMap:
    """The contents of a code object's value stack before each instruction. Offsets are in bytes."""

    @property
    def error(self) -> str:
        """The reason why nothing is known; empty if something is known."""

    def depth(self, offset: int) -> int:
        """Returns the number of values on the stack; -1 if control never reaches the instruction."""

    def pops(self, offset: int) -> int:
        """Returns the number of values that the instruction pops if it falls through."""

    def slots(self, offset: int) -> list[tuple[str, bool, str, int]]:
        """Returns (expression, is current, kind, offset of the instruction that pushed it) of each value, the lowest
        first.

        Kinds: "value", "internal", "null", "method" and "receiver".
        """

    def handler(self, offset: int) -> tuple[int, int, int, int, bool] | None:
        """Returns (start, end, target, depth, lasti) of the handler for an exception that is raised there."""

def stack_map(code: types.CodeType) -> StackMap:
    """Returns the contents of a code object's value stack before each of its instructions."""

def frame_depth(frame: types.FrameType) -> int | None:
    """Returns the number of values on the stack of a running frame from CPython's own field; None while CPython keeps
    it in a register.

    Raises:
        ValueError: the frame has ended, or its layout is unknown.
    """

def frame_stack(frame: types.FrameType, depth: int, null: object) -> list[object]:
    """Returns the lowest `depth` values of a frame's stack, with `null` for each NULL. `depth` must be right: the
    memory above it holds no values."""

def set_frame_stack(frame: types.FrameType, depth: int, index: int, value: object) -> None:
    """Replaces the value at `index` of the value stack of a running frame; `depth` is the number of its values.

    Raises:
        IndexError: the stack has no value at `index`.
        ValueError: the frame has ended, its layout is unknown, or there is NULL at `index`.
    """

def set_frame_local(frame: types.FrameType, name: str, value: object) -> None:
    """Gives a new value to a local variable of a running frame, or to a variable in one of its cells.

    Raises:
        KeyError: the frame has no variable of this name.
        ValueError: the frame has ended, or its layout is unknown.
    """

def call_without(file: str, calls: list[tuple[Callable[..., object], tuple[object, ...]]]) -> bool:
    """Calls functions that are written in C, one after the other, while no other thread can interrupt them.

    Args:
        file: nothing is called if another thread is in a function of this file, or in a function that such a function
        called. calls: (function, arguments) of each call.

    Returns:
        True if they were called.
    """

def shortened_graph(text: str) -> str:
    """Returns a text that compiles if the text of a graph does, but in less time: its lines of the usual shape are
    replaced by `pass`."""

def input_names(text: str, captured: list[tuple[str, str]]) -> dict[str, str]:
    """Returns PyTorch's name -> readable name for the inputs of a graph that AOTAutograd made, from its descriptors of
    inputs.

    Args:
        text: the text of the graph, with a descriptor behind each input. The result is empty if the descriptors count
        the inputs of a different graph. captured: (name, Dynamo's source) of each input of the captured graph.
    """

def input_names_in(text: str) -> dict[str, str]:
    """Returns PyTorch's name -> readable name for the inputs in a text that `readable_graph` made."""

def with_names(code: str, names: dict[str, str]) -> str:
    """Returns Python code with other names for variables."""

def readable_graph(text: str, renames: dict[str, str], headings: dict[str, str]) -> str:
    """Returns the text of a graph with a comment above each row of nodes that have the same heading, and readable names
    of inputs.

    Args:
        renames: the result of `input_names`.
        headings: the name of a node -> its heading. A node without a heading belongs to that of the node before it.
    """

def in_terms(expression: str) -> str:
    """Returns an expression over `L` and `G` in the user's terms: `x.shape[0]` for `L['x'].size()[0]`, `self.b1` for
    `L['self'].__dict__['_modules']['b1']`. A text that is not an expression stays as it is."""

def owner_in_terms(expression: str) -> str:
    """Returns an expression for a dict in the user's terms; for a table of a module, the module."""

def bounds(condition: str) -> list[tuple[str, str, str]]:
    """Returns the comparisons with constants that a condition consists of; an empty list for any other condition.

    Returns:
        (subject in the user's terms, operator, constant) of each comparison.
    """

def frontier(
    guards: list[tuple[object, ...]], symbols: list[tuple[list[str], str, str]] | None
) -> list[tuple[str, str, int, str]]:
    """Returns the limits of one compilation: first those that an argument can cross.

    Args:
        guards: the rows of `depyf.guards.model.rows`.
        symbols: (sources, origin of the lower bound, origin of the upper bound) of each symbolic size; None if they were
            not recorded.

    Returns:
        (condition, subject, index of the guard whose line needs it or -1, place in PyTorch that set it) of each limit.
    """

def accepted_together(entries: list[list[tuple[str, str, str]]], entries_max: int | None) -> list[str]:
    """Returns what the entries of a function accept together, as a line for each value that they fix or bound.

    Args:
        entries: (condition, subject, what needs it) of each limit of each entry.
        entries_max: the recompilation limit of the function; None if it is not to be mentioned.
    """

def unchecked_after_dropping(dropped: list[tuple[str, str]]) -> list[str]:
    """Returns sentences about changes that are not noticed because a filter dropped guards.

    Args:
        dropped: (kind, Dynamo's name of the value) of each dropped guard; the name is empty for the state of the process.
    """

def unchecked_values(guards: list[tuple[object, ...]], locals: list[str], globals: list[str]) -> list[str]:
    """Returns sentences about locals and globals that no guard mentions, and about the state of the process.

    Args:
        guards: the rows of `depyf.guards.model.rows`.
        locals: the arguments and free variables of the function.
        globals: the globals that the function reads.
    """

def redundant_guards(guards: list[tuple[object, ...]], identity_of_none: int) -> list[tuple[int, list[str]]]:
    """Returns (index, the conditions that imply it) of each guard that the remaining guards imply.

    Args:
        guards: the rows of `depyf.guards.model.rows`.
        identity_of_none: `id(None)` in the process whose guards these are.
    """

def bound_origin(place: str) -> str:
    """Returns the origin of a bound on a size, from PyTorch's text about the place."""

def folded(text: str, file: str, first_line: int) -> str:
    """Returns code in which blocks of lines that follow each other and differ only in numbers, as the layers of a model
    do, are shown once.

    A comment states how often the block is repeated, and where. A long head of a function has a parameter in each line.

    Args:
        file: the name of the file with the whole code.
        first_line: the number of the text's first line there, from 1.
    """

def folded_conditions(conditions: list[str]) -> list[str]:
    """Returns conditions in which those that differ only in one index, with three or more numbers, are a single
    condition: `blocks[0..23].heads == 4`."""

def guard_function(
    name: str,
    quiet: str,
    guards: list[tuple[str, str, str, str, tuple[str, ...], bool, bool]],
    shorthands: list[tuple[str, str, str, str, str]],
) -> str:
    """Returns the source of a function that gives the verdict of guards. No line of it is longer than 200 characters.

    Args:
        name: the name of the function.
        quiet: the context in which guards read values past every `__torch_function__`.
        guards: (kind, Dynamo's text, line of the program, expression for its value, conditions, true if PyTorch's own
        object decides, true if it is quiet) of each guard; a text is empty if there is none. shorthands: (the parts
        before and behind a text, the parts that replace them, the definition) of each long part of conditions that a
        definition shortens.
    """

def index_files(
    directory: str, session: str, times: str, tables: list[tuple[str, int]] = [], reads_graphs: bool = False
) -> dict[str, str]:
    """Returns the texts of the files that describe a dump, by name: index.md, a file for each compilation, tables.md
    and provenance.md.

    Args:
        directory: the directory with the files of the stages.
        session, times: the content of session.json and times.json.
        tables: (the section of tables.md, see `Provenance.tables`; the number of operators of its graph, -1 if unknown)
        of each compilation of the last run; empty if the last run is not that of this block. reads_graphs: true if the
        files of graphs are read too, to make the tables of runs that have no file with tables.
    """

def frame_words(frame: str, title: str) -> dict[str, Any]:
    """Returns sentences about a compilation, by the keys headline, details, reasons, failures, deciding, symbols, "at
    run time", places, breaks and guards.

    Args:
        frame: the frame in JSON, as in session.json.
        title: the name for the function; empty for its own title.
    """

def deciding_reasons(
    differences: list[dict[str, Any]], values: dict[str, Any]
) -> list[tuple[int, str, list[str], list[str]]]:
    """Returns the reasons why a compilation does not serve a call, without the differences that follow from others; see
    include/depyf/reasons.h.

    Args:
        differences: dicts with the fields of `GuardDifference` there; those of the state of the process come first.
        values: a dict with the fields of `GuardedValues` there.

    Returns:
        (the index of its difference, the expected value if the difference does not state it, other values for which the
        same guard fails, values whose guards fail only because of this reason) of each reason.
    """

def full_code(sections: str, read: Callable[[str], str], marked: Callable[[str, int], list[str]]) -> str:
    """Returns one Python file that leads from the original function through code, graphs and guards to the end.

    Args:
        sections: the function and its resume functions as JSON; see include/depyf/story.h.
        read: returns the text of a file of the dump.
        marked: returns the lines of the user's function, with a mark at the line at which a resume function continues.
    """

def graph_body(text: str, name: str, file: str) -> str:
    """Returns the class in the file of a graph, with another name; the comments of the file if it has no class.

    Args:
        file: the name of the file if the layers in it are folded; otherwise empty.
    """

def explanation_text(explanation: str) -> str:
    """Returns the text of an explanation from its JSON, in the order in which the code runs."""

def explanation_headline(explanation: str) -> str:
    """Returns one line with the name of the explained function and the number of its entries."""

def compile_costs(log: bytes, measured: str) -> str:
    """Returns the times of compiling as JSON, from a TORCH_TRACE log and from JSON with what the block of
    `depyf.compile_costs` adds to it: `lines` with the time of tracing each line, and `missed_keys`."""

def compile_costs_text(costs: str) -> str:
    """The same as text, from that JSON."""

def run_costs(log: bytes, measured: str) -> str:
    """Returns the time of calls of compiled functions as JSON (docs/costs.md), from the log of the trace and the
    measurements of `depyf.profile`."""

def run_costs_text(costs: str) -> str:
    """Returns the text for readers from the JSON that `run_costs` returned."""

def run_costs_record(costs: str) -> str:
    """Returns a record (docs/record.md) with the times of lines from the JSON that `run_costs` returned."""

def memory_costs(seen: str) -> str:
    """Returns the tensors that training graphs keep for their backward as JSON, from the JSON that `depyf.memory_costs`
    collects."""

def memory_costs_text(costs: str) -> str:
    """The same as text, from that JSON."""

def guard_costs_text(costs: str) -> str:
    """Returns the costs of a function's guards as text, from the JSON of a `GuardCosts`."""

def explanation_html(explanation: str, frame: str) -> str:
    """Returns an explanation, from its JSON, as HTML with parts that fold, behind a frame with the page."""

def entry_html(entry: str, frame: str) -> str:
    """The same for one cache entry."""

def graph_break(report: str) -> dict[str, Any]:
    """Divides the report of a graph break, or the message of an exception, into its parts.

    Returns:
        reason, explanation, hints and link; `then`: the reason why Dynamo could not compile the code before the break
        either; `place`: (file, line, text, function) in the first line, with an empty file if there is none; `stack`:
        places of the same form, the innermost last.
    """

class JsonText:
    """JSON text that `json_text` writes in place of a value, so that the value itself need not be created. No object in
    the text has two members with the same name."""

    def __init__(self, text: str) -> None:
        """
        Raises:
            ValueError: `text` is not valid JSON.
        """

def json_text(data: object, levels: int) -> str:
    """Returns data as readable JSON: each item down to `levels` levels has a line of its own, which contains everything
    below it.

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
        parts: receives the kinds of the graph's parts.
        simple: true if PyTorch prints expressions in its simpler form.
        expanded: true if PyTorch prints the description of its node behind each input.
        comment: returns the comment for a stack trace.
        function: returns the name of a function that a node calls, or the format of an operator, such as `{} + {}`, and
            true for a format.
        place: returns the names of the dtype and the device of a tensor with (dtype, layout, device).
        expression: returns the text of a symbolic number.
        is_usual_type: returns true if a type that a node declares does not change PyTorch's text.
        output: returns the last statement for (the value that the graph returns, the description of its node).

    Raises:
        ValueError: only PyTorch can print the graph.
    """

def argument_text(value: object, parts: set[Any]) -> str:
    """Returns an argument of a node as PyTorch prints it, and adds the kinds of its parts to `parts`.

    Raises:
        ValueError: only PyTorch can print the argument.
    """

class IrTexts:
    """The texts of the parts of Inductor's IR that never change.

    Args:
        expression: returns the text of a SymPy expression.
    """

    def __init__(self, expression: Callable[[Any], str]) -> None: ...
    @property
    def expressions(self) -> int:
        """Returns the number of expressions whose texts are kept, with the expressions themselves."""

class IrText:
    """Prints the nodes of one IR as PyTorch prints them.

    Args:
        texts: receives the texts of parts that can occur in another IR, too.
        graph: Inductor's graph, which contains the buffers.
    """

    def __init__(self, texts: IrTexts, graph: object) -> None: ...
    def node(self, node: object) -> tuple[str, set[Any]]:
        """Returns (the text of a node, the kinds of its parts).

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
    """Empties a queue of events of PyTorch's timeline, and returns those that have a duration.

    Args:
        pending: the process id and a function that returns the content of each event. The events of other processes
            are dropped.
        process: the id of this process.
        event_class: a named tuple of (kind, name, microseconds, compile id or "", duration in microseconds or 0.0).
        parse: returns the content of an event from its JSON text.
        failed: receives the exceptions of events that cannot be read.
    """

def collect_event(pending: collections.deque[tuple[int, Callable[[], Any]]], process: int) -> int:
    """Appends (`process`, the function that returns the event) to `pending` if the caller of the calling function is
    PyTorch's `trace_structured`, which sends an event of the timeline. Returns the new number of items; 0 if nothing
    was appended."""

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
        keys: the keys of the seven notes in the `meta` of a node.
        checked: returns (the notes in a `meta`, with None for a note of a wrong type; the names of the notes that are
            not None). It is called once for each combination of types of notes.
        line: returns the user's line for a stack trace.
        sources: returns the nodes that a node was derived from, for a note `from_node` of an unusual form.
        modules: returns the modules for a stack of modules.
        target: returns the name of a node's operator.
        copied: returns the name of the node whose value a `copy_` copies into an input of the graph; "" for others.
    """

class Provenance:
    """The links of one compilation, from the facts that were collected while it ran."""

    def __init__(self, seen: Any, replaced: Callable[[str | None], dict[str, list[str]]]) -> None:
        """
        Args:
            seen: the `depyf.provenance.collect.Collected` of the compilation.
            replaced: returns, for a direction (None for AOTAutograd's graph), the nodes that each node of a pass
            replaces. It is called only if there are nodes without PyTorch's notes.
        """

    def annotated(self, file: str, kind: str, direction: str | None, text: str) -> str:
        """Returns the text of a file with the links as comments at its lines. Comments that it already has are
        replaced.

        Args:
            file: the name of the file, under which the lines of its nodes become part of the record.
            kind, direction: of the artifact: "Captured_Graph", "AFTER_POST_GRAD", "ir_post_fusion", "kernel", ...
        """

    def to_json(
        self, id: str, function: str, compiled_fn: int | None, missing: list[tuple[str, str | None, str]]
    ) -> str:
        """The links as `provenance.json` has them.

        Args:
            id, function, compiled_fn: of the compilation.
            missing: kind, direction and reason of each stage that is not there.
        """

    def tables(self) -> str:
        """Returns the costs of the lines of source, from the files that `annotated` has seen: a section of tables.md,
        or ""."""

    def story(self) -> list[str]:
        """Returns lines of Markdown about the results of each captured node, and about what was not fused."""

def stages() -> list[tuple[str, str, bool]]:
    """Returns (kind of the file, description, true if there is a file for each direction) of each stage of a
    compilation, in order."""

def replaced_nodes(before: str, after: list[str]) -> dict[str, list[str]]:
    """Returns, for each node that a pass made, the nodes that it replaces: those that were between the same nodes.

    Args:
        before: the text of the graph before the pass.
        after: the texts after the pass: one graph, or the forward and the backward half.
    """

def open_artifact(path: str, roots: list[str], is_json: bool) -> tuple[str, list[str], bool]:
    """Describes a file in which PyTorch saved compilations, or all such files of a folder. Nothing in them runs.

    Args:
        path: a file, or a folder.
        roots: the folders, as in sys.path, in which modules are searched, to compare the sources with theirs.
        is_json: true for JSON in place of text.

    Returns:
        (the text, the paths that could not be read with the reasons, whether all was read).
    """

def explain_misses(recorded: list[str], folder: str) -> list[list[str]]:
    """Returns, for each file with a key that a run recorded, how the nearest entry of a cache differs from it: a line each. The
    entries are files below a folder; they are read once for all keys, and nothing in them runs."""

def missed_keys(log: bytes, folder: str) -> list[tuple[str, str, list[str]]]:
    """Returns, for each key that Inductor's cache did not have in a TORCH_TRACE log, the id of the compilation, the key, and how
    the nearest entry of the cache in a folder differs from it, as `explain_misses` does for files."""

def compare_artifacts(first: str, second: str) -> tuple[list[str], list[str], bool]:
    """Compares the files that PyTorch saved under one path with those that it saved under another.

    Returns:
        (a line for each difference, the paths that could not be read with the reasons, whether all was read).
    """

def named_lines(text: str, of_ir: bool) -> list[tuple[str, int, int]]:
    """Returns (name, end of the line in the text, number of the line from 1) of each line that defines a node or
    operation.

    Args:
        text: a graph, whose lines begin with a margin and a name. The first line of the text is not one of these lines.
        of_ir: true for Inductor's IR, whose lines begin with the name of an operation.
    """

def comparing_command(arguments: list[str]) -> tuple[int, str, str]:
    """Executes a command of depyf-report that compares runs.

    Args:
        arguments: the command, `diff`, with its options and paths.

    Returns:
        (the exit status, the text for standard output, the text for standard error).
    """

def summary(paths: list[str], last_runs: bool = ...) -> tuple[str, list[str], bool]:
    """Describes logs and dumps in sentences, as depyf-report prints them.

    Args:
        paths: logs, directories of logs, dumps.
        last_runs: true if only the last run of each dump is described.

    Returns:
        (the text, the paths that could not be read with the reasons, true if everything was read and nothing was
        damaged).
    """

def write_page(paths: list[str], output: str, command: str, is_redacted: bool = ...) -> list[str]:
    """Writes the report of logs and dumps as one HTML file. Returns messages about errors. If there is no run, nothing
    is written.

    Args:
        paths: logs, directories of logs, and dumps.
        output: the file; it is overwritten.
        command: the command that the page names as its origin.
        is_redacted: true if source text, paths, strings, numbers and names of the user are left out.
    """
