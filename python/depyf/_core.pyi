"""The C++ core. Knows nothing of torch; `depyf.decompiler` is its Python side."""

import types
from collections.abc import Callable
from typing import Any

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
    def nested_lines(self) -> list[tuple[str, tuple[int, ...], list[tuple[int, int]]]]:
        """(qualified name, path of indices into `co_consts`, lines) of each function and class within."""

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

def decompile(
    code: types.CodeType,
    *,
    name: str | None = None,
    style: str = "plain",
    parameters: dict[str, list[str]] = {},
    installed: set[str] = ...,
    outputs: dict[str, list[str]] = {},
    short_names: bool = False,
) -> Decompiled:
    """Decompiles a code object; never raises on one.

    Args:
        code: what to decompile.
        name: takes the place of the function's own name.
        style: "plain"; "readable", folded in ways that are to be proved; "exact", each effect a statement of its own.
        parameters: name of a global function that the code calls -> what its parameters are called.
        installed: global names that are known to be there and to keep their value.
        outputs: of those, the functions that return a new tuple or list which nobody else has -> what its items may be
            called; an empty name where nothing is known.

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
        text: called with what is for standard output, in the order of `files`.
        error: called with what is for standard error: `file: offset: what is wrong`.
        output: folder for the sources, in place of `text`.
        jobs: files to work on at a time, at least 1.
        check: interpreter that compiles back what was made.
        show: "dis", "cfg", "lines" or "load", in place of the source.
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

class KeptValue:
    """A value that the second side still holds where the first no longer does."""

    @property
    def function(self) -> str:
        """The qualified name of the code object that holds it."""

    @property
    def offset(self) -> int:
        """Where something runs meanwhile, in bytes of the second side."""

    @property
    def line(self) -> int:
        """The same, as a line of its source; -1 if it has none."""

    @property
    def local(self) -> str:
        """The local that holds the value; empty: the value stack does."""

    @property
    def value(self) -> str:
        """What the value is, in words."""

    @property
    def effect(self) -> str:
        """What runs meanwhile, in words."""

    @property
    def outermost(self) -> bool:
        """False in nested code."""

class Proof:
    """Whether two code objects do the same and the second keeps no value longer; where not, why and where."""

    def __bool__(self) -> bool: ...
    @property
    def reason(self) -> str:
        """Why it is not proved; empty where it is."""

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
        """Where it is proved: (index in the first side's co_consts, index in the second side's) of each pair of code objects
        that take each other's part."""

def prove(
    one: types.CodeType,
    two: types.CodeType,
    *,
    lifetimes: bool = True,
    calls_keep_operands: bool = False,
    installed: set[str] = ...,
    outputs: dict[str, int] = {},
) -> Proof:
    """Proves that two code objects do the same and that the second keeps no value alive longer, or says where they part.

    Never raises on a code object. `include/depyf/prove.h` says what the options assume.

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
    """(name, why it stands where it stands) of each pass, in order."""

# Code objects are changed here and nowhere else; a changed one is as sound as the one before. Where nothing changes, it is
# the same object, and constants that do not change stay the very same objects.
def problem(code: types.CodeType) -> tuple[str, str] | None:
    """(name of the code object, what is wrong) for bytecode that CPython would run unasked; None if nothing is wrong.

    Checked are `code` and what is nested in it: that the version has the instructions and their arguments, where jumps
    and handlers lead, and the depth of the stack. Of the values on the stack only their number is known, so code that
    uses a wrong value is not found here: it fails when it runs, as any code does.
    """

def same_code(one: types.CodeType, two: types.CodeType) -> bool:
    """True if both have the same bytecode and run it on the same names and constants.

    Their own names, files, positions and stack sizes may differ. False also where a constant is anything but a number, a
    string, bytes or a tuple of these: frozensets that are equal may be in another order, and code holds other positions.
    """

def global_names(code: types.CodeType) -> list[str]:
    """The global names that `code` and what is nested in it read, write or delete, each once."""

def assigned_names(code: types.CodeType) -> list[str]:
    """The global names that `code` and what is nested in it assign, in the bodies of classes and modules too."""

def short_names(code: types.CodeType) -> dict[str, str]:
    """Full name -> short name for the names of `code`, at any depth, that can be shown without Dynamo's uuid.

    A name stays as it is where its short form would be another name's.
    """

def constants(code: types.CodeType) -> dict[str, object]:
    """The constants that have no literal, by the names (`__const_N`) that decompiled source has for them."""

def bind_names(code: types.CodeType, values: dict[str, Any]) -> types.CodeType:
    """`code` with each load of a global name in `values` replaced by a load of the object as a constant, at any depth.

    The compiler cannot be given the objects: it takes only literals, and would fold what is computed from them.
    """

def with_nested(code: types.CodeType, nested: dict[int, types.CodeType]) -> types.CodeType:
    """`code` with other code objects among its constants, by index, each made a function with its own cells.

    A function's cells come in the order of its code's free variables, which may be another one than that of the code
    object whose place it takes: then they are loaded in the other order. If the instructions have another shape they stay
    as they are, so the result has to be proved.
    """

def moved(
    code: types.CodeType, file: str | None = None, lines_down: int = 0, name: str | None = None
) -> types.CodeType:
    """`code`, and what is of the same file in it, in another file (None: in the same), so many lines further down; `code`
    itself with another name (None: its own)."""

def with_locals(code: types.CodeType, names: dict[str, str]) -> types.CodeType:
    """`code` with other names for its own locals, by the names before."""

def raised_by_one_line(code: types.CodeType) -> types.CodeType:
    """`code` with all that stands below its first line moved up by one line, so that the statements of the second line
    stand at the first."""

def as_data(code: types.CodeType) -> types.CodeType:
    """`code` without the objects of the program that it keeps alive: the name of its type stands in the place of each
    constant that is no plain data."""

def named_like(code: types.CodeType, original: types.CodeType) -> types.CodeType:
    """A function's code under the qualified name of another's, and without the mark of `from __future__ import
    annotations` if the other has it not: annotations are no part of a function's code."""

def names_that_sort(code: types.CodeType) -> dict[str, str]:
    """Name -> name to compile with, so that free and cell variables come in the order that they have in `code`, and in
    nested code as far as the orders agree. Empty if the names sort in this order already."""

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
    """A compiled function that can stand in for another.

    It has the arguments (names and kinds), free variables, cell variables (names and order), flags and names of the
    original, and at least as many locals. Names that are shown without their uuid get it back, and `__const_N` is the
    object that it stands for.

    Args:
        compiled: the function, compiled within others.
        original: what it is to stand in for.
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
    """The compiled body of a class under the names of another. `prefix`: its qualified name in what was compiled."""

def module_for(compiled: types.CodeType, original: types.CodeType, constants_of: types.CodeType) -> types.CodeType:
    """The compiled code of a module under the names of another."""

def decode(code: types.CodeType) -> list[tuple[str, int, int, int, int, int, int, int, int, int]]:
    """Returns the version-neutral instructions of a code object. Exists for tests.

    Returns:
        (op, arg, aux, offset, target, line, pops, pushes, jump_pops, jump_pushes) of each instruction.
    """

def decode_pyc(
    file: bytes,
) -> list[tuple[bytes, list[tuple[str, int, int, int, int, int, int, int, int, int]] | str]]:
    """Returns (name, instructions) of each code object of a .pyc file of any version. Exists for tests.

    An error message stands in the place of the instructions if they cannot be decoded. A nested code object follows the
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
    """What the value stack of a code object holds before each instruction. Offsets are in bytes."""

    @property
    def error(self) -> str:
        """Why nothing is known; empty where something is."""

    def depth(self, offset: int) -> int:
        """Values on the stack; -1 where control never comes."""

    def pops(self, offset: int) -> int:
        """How many of them the instruction takes, where it falls through."""

    def slots(self, offset: int) -> list[tuple[str, bool, str, int]]:
        """(expression, is current, kind, offset where it was made) of each, the lowest first.

        Kinds: "value", "internal", "null", "method" and "receiver".
        """

    def handler(self, offset: int) -> tuple[int, int, int, int, bool] | None:
        """(start, end, target, depth, lasti) of what an exception raised there is handled by."""

def stack_map(code: types.CodeType) -> StackMap:
    """Returns what the value stack of a code object holds before each of its instructions."""

def frame_depth(frame: types.FrameType) -> int | None:
    """Values on the stack of a running frame as CPython itself has it; None while it keeps that in a register.

    Raises:
        ValueError: the frame has ended, or is laid out in another way than known.
    """

def frame_stack(frame: types.FrameType, depth: int, null: object) -> list[object]:
    """The lowest `depth` values, `null` for each NULL. `depth` must be right: values above it are none."""

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
        file: nothing is called if another thread is in a function of this file, or in what such a function called.
        calls: (function, arguments) of each call.

    Returns:
        True if they were called.
    """

def shortened_graph(text: str) -> str:
    """A text that compiles where that of a graph does, in less time: `pass` stands in place of its lines of the usual shape."""

def input_names(text: str, captured: list[tuple[str, str]]) -> dict[str, str]:
    """Readable names for the inputs of a graph that AOTAutograd made, by PyTorch's names and by its descriptors of inputs.

    Args:
        text: of the graph, with a descriptor behind each input. Empty is returned where these do not count the inputs of the
            captured graph.
        captured: of each input of that its name, and where Dynamo takes it from.
    """

def input_names_in(text: str) -> dict[str, str]:
    """The readable names in a text that `readable_graph` made, by PyTorch's."""

def with_names(code: str, names: dict[str, str]) -> str:
    """Python code with other names of variables."""

def readable_graph(text: str, renames: dict[str, str], headings: dict[str, str]) -> str:
    """The text of a graph with a comment above each row of nodes that have one heading, and readable names of inputs.

    Args:
        renames: what `input_names` gave.
        headings: by the name of a node; one without a heading stands below that of the node before it.
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
    """Where a bound on a size comes from, from PyTorch's words for the place."""

def folded(text: str, file: str, first_line: int) -> str:
    """Code in which blocks of lines that follow each other and differ in numbers alone stand once, as layers of a model do.

    A comment says how often the block comes, and where. A long head of a function has a parameter in each line.

    Args:
        file: the name of the file that has all of it.
        first_line: the number of the text's first line there, from 1.
    """

def folded_conditions(conditions: list[str]) -> list[str]:
    """Conditions in which one index alone runs through three or more numbers as one: `blocks[0..23].heads == 4`."""

def guard_function(
    name: str,
    quiet: str,
    guards: list[tuple[str, str, str, str, tuple[str, ...], bool, bool]],
    shorthands: list[tuple[str, str, str, str, str]],
) -> str:
    """The source of a function that gives the verdict of guards; no line of it is longer than 200 characters.

    Args:
        name: of the function.
        quiet: the context in which guards read values past every `__torch_function__`.
        guards: for each its kind, its text in Dynamo's words, its line of the program, the expression for its value
            (each empty if there is none), its conditions, whether PyTorch's own object decides, and whether it is quiet.
        shorthands: long parts of conditions that a definition replaces: what is before and behind a text, what replaces
            both, and the definition.
    """

def index_files(
    directory: str, session: str, times: str, tables: list[tuple[str, int]] = [], reads_graphs: bool = False
) -> dict[str, str]:
    """The files that tell of a dump, by name: index.md, a file for each compilation, tables.md and provenance.md.

    Args:
        directory: has the files of the stages.
        session, times: the content of session.json and times.json.
        tables: for each compilation of the last run what its lines of source cost (see `Provenance.tables`), and the
            operators of its graph, -1 if unknown; empty if the last run is not that of this block.
        reads_graphs: read the files of graphs too, and make the tables of runs from them that have no file with tables.
    """

def frame_words(frame: str, title: str) -> dict[str, Any]:
    """A compilation in sentences: headline, details, reasons, failures, deciding, symbols, "at run time", places and
    breaks, guards.

    Args:
        frame: as session.json has it.
        title: what the function is called; its own title if empty.
    """

def deciding_reasons(
    differences: list[dict[str, Any]], values: dict[str, Any]
) -> list[tuple[int, str, list[str], list[str]]]:
    """Why a compilation does not serve a call, without the differences that follow from another; see include/depyf/reasons.h.

    Args:
        differences: with the fields of `Difference` there, those of the state of the process first.
        values: with the fields of `GuardedValues` there.

    Returns:
        Of each reason (the number of its difference, what is expected if that is more than the difference says, other values
        for which the same fails, values whose guards fail only because of this).
    """

def full_code(sections: str, read: Callable[[str], str], marked: Callable[[str, int], list[str]]) -> str:
    """One Python file from the original function through code, graphs and guards to the end.

    Args:
        sections: the function and its resume functions as JSON; see include/depyf/story.h.
        read: gives the text of a file of the dump.
        marked: gives the lines of the user's function with a mark at the line of a file where a resume function goes on.
    """

def graph_body(text: str, name: str, file: str) -> str:
    """The class in the file of a graph, under another name; the comments where there is none.

    Args:
        file: the name of the file, where the layers in it are to be folded; else empty.
    """

def explanation_text(explanation: str) -> str:
    """An explanation, from its JSON, as text: the whole story, in the order in which it runs."""

def explanation_headline(explanation: str) -> str:
    """One line that says what is explained and how many entries there are."""

def compile_costs(log: bytes, lines: str) -> str:
    """Where the time of compiling went, of a TORCH_TRACE log and the JSON list of what tracing each line took, as JSON."""

def compile_costs_text(costs: str) -> str:
    """The same as text, from that JSON."""

def run_costs(log: bytes, measured: str) -> str:
    """The time of calls of compiled functions as JSON (docs/costs.md), of the trace's log and what `depyf.profile` measured."""

def run_costs_text(costs: str) -> str:
    """The text for readers, of the JSON that `run_costs` returned."""

def run_costs_record(costs: str) -> str:
    """A record (docs/record.md) of the times of lines, of the JSON that `run_costs` returned."""

def memory_costs(seen: str) -> str:
    """What training graphs keep for their backward, of the JSON that `depyf.memory_costs` collects, as JSON."""

def memory_costs_text(costs: str) -> str:
    """The same as text, from that JSON."""

def guard_costs_text(costs: str) -> str:
    """What the guards of a function cost, from the JSON of a `GuardCosts`, as text."""

def explanation_html(explanation: str, frame: str) -> str:
    """An explanation, from its JSON, as HTML that folds, behind a frame with the page."""

def entry_html(entry: str, frame: str) -> str:
    """The same for one cache entry."""

def graph_break(report: str) -> dict[str, Any]:
    """A graph break's report or an exception's message, taken apart.

    Returns:
        reason, explanation, hints, link; then: why Dynamo could not even compile what comes before; place: (file, line,
        text, function) that the first line names, an empty file if it names none; stack: such places, the innermost last.
    """

def json_text(data: object, levels: int) -> str:
    """Data as JSON that can be read: a line for each item down to that many levels, and for all below it.

    Raises:
        TypeError: something is none of dict with strings as keys, list, tuple, str, int, float, bool and None.
        RecursionError: it is too deep.
    """

class Provenance:
    """The links of one compilation, from what was seen of it."""

    def __init__(self, seen: str, replaced: Callable[[str | None], dict[str, list[str]]]) -> None:
        """
        Args:
            seen: as `depyf.provenance.collect.Collected.to_json` writes it.
            replaced: from a direction, None for what AOTAutograd made, to the nodes that each node of a pass stands for.
                It is asked only if there are nodes of which PyTorch notes nothing.
        """

    def annotated(self, file: str, kind: str, direction: str | None, text: str) -> str:
        """The text of a file with the links as comments at its lines; comments that it has already are replaced.

        Args:
            file: its name; the lines of its nodes become part of the record under it.
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
        """What the lines of source cost, by the files that `annotated` has seen: a section of tables.md, or ""."""

    def story(self) -> list[str]:
        """What became of each captured node, and what was not fused: a line of Markdown each."""

def stages() -> list[tuple[str, str, bool]]:
    """(kind of the file, what it is, whether there is one of each direction) of each stage of a compilation, in order."""

def replaced_nodes(before: str, after: list[str]) -> dict[str, list[str]]:
    """For each node that a pass made the nodes that it stands for: those that were between the same nodes.

    Args:
        before: the text of the graph before the pass.
        after: what the pass made of it: one graph, or the forward and the backward half.
    """

def open_artifact(path: str, roots: list[str], is_json: bool) -> tuple[str, list[str], bool]:
    """What is in a file that PyTorch saved of compilations, or in all such files of a folder. Nothing in them runs.

    Args:
        path: a file, or a folder.
        roots: folders in which modules are looked for, as sys.path has them, to compare the sources with.
        is_json: is JSON wanted, and no text?

    Returns:
        (the text, the paths that could not be read with the reasons, whether all was read).
    """

def explain_misses(recorded: list[str], folder: str) -> list[list[str]]:
    """Returns, for each file with a key that a run recorded, how the nearest entry of a cache differs from it: a line each. The
    entries are files below a folder; they are read once for all keys, and nothing in them runs."""

def compare_artifacts(first: str, second: str) -> tuple[list[str], list[str], bool]:
    """How what PyTorch saved under one path differs from what it saved under another.

    Returns:
        (a line for each difference, the paths that could not be read with the reasons, whether all was read).
    """

def named_lines(text: str, of_ir: bool) -> list[tuple[str, int, int]]:
    """(name, end of the line in the text, number of the line from 1) of each line that tells of a node or operation.

    Args:
        text: a graph, whose lines begin with a margin and a name; the first line of a text is none of them.
        of_ir: is it Inductor's IR? Its lines begin with the name of an operation.
    """

def comparing_command(arguments: list[str]) -> tuple[int, str, str]:
    """Executes a command of depyf-report that compares runs.

    Args:
        arguments: the command, `diff`, with its options and paths.

    Returns:
        (the exit status, what goes to standard output, what goes to standard error).
    """

def summary(paths: list[str], last_runs: bool = ...) -> tuple[str, list[str], bool]:
    """What logs and dumps tell, in sentences, as depyf-report prints it.

    Args:
        paths: logs, directories of logs, dumps.
        last_runs: leave out all runs of a dump but the last one.

    Returns:
        (the text, the paths that could not be read with the reasons, whether all was read and nothing in it was damaged).
    """

def write_page(paths: list[str], output: str, command: str, is_redacted: bool = ...) -> list[str]:
    """Writes the report of logs and dumps as one HTML file. Returns what went wrong; without any run nothing is written.

    Args:
        paths: logs, directories of logs, and dumps.
        output: the file; it is overwritten.
        command: what the page states as the command that wrote it.
        is_redacted: whether source text, paths, strings, numbers and names of the user are left out.
    """
