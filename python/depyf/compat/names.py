"""The private names of PyTorch and CPython that depyf relies on, and the features of depyf that need them.

There is one row for each private name: where it is, its purpose, the releases that have it and its shape there, the
arguments and results by which it is recognised, and the consequence of its absence. Names are used through
`depyf.compat.private`, which accepts only names that have a row. `python -m depyf doctor` prints which names are as
expected. All rows are in one file, so that a search in it shows everything that is known of a private name.

The path of a private name is `module:object.member`. A word in front of a path is the kind of a member: `attribute` of
the instances of a class, `key` of a dict that an attribute holds, `local` variable of a function, `record` of PyTorch's
structured trace, `logger`, or `mark` on a function or module. A name without a kind in front of its path is found by
following the path.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from depyf.compat.releases import Release


@dataclass(frozen=True)
class Feature:
    """A capability of depyf that users know."""

    key: str
    title: str
    lost: str
    """The consequence for users if the feature does not work."""
    needs_torch: bool = True
    since: str = "2.2"
    """The first release of PyTorch that has the names that the feature needs."""
    before: str = ""
    """The data that earlier releases of PyTorch offer in place of the feature."""


@dataclass(frozen=True)
class Name:
    """A private name."""

    path: str
    feature: str
    """The key of the feature that needs the name, or needs it most."""
    use: str
    kind: str = ""
    """The word in front of the path: "attribute", "key", ...; "" for a name that is looked up."""
    since: str = "2.2"
    until: str = ""
    """The last release that is known to have the name, whose absence in later releases is expected; "" if there is
    none."""
    shape: str = ""
    """The shape that the name has in each release, if the releases differ."""
    takes: int | None = None
    """The number of positional arguments that the named function must accept; None if depyf does not call it."""
    gives: str = ""
    """The type of the value, or of the result of calling it, as names of types: "list", "dict|None"; "" if any type is
    accepted."""
    fallback: str = ""
    """What depyf does without the name; "" if nothing replaces it."""
    lazy: bool = False
    """True if the module of the name is never loaded just to look the name up."""

    @cached_property
    def module(self) -> str:
        """The module that contains the name; "" if no module does."""
        return self.path.partition(":")[0] if ":" in self.path else ""

    @cached_property
    def parts(self) -> list[str]:
        """The attributes that lead from the module to the name."""
        return self.path.partition(":")[2].split(".") if ":" in self.path else [self.path.rpartition(".")[2]]

    @cached_property
    def last(self) -> str:
        """The last part of the path."""
        return self.parts[-1]

    @cached_property
    def key(self) -> str:
        """For an item of a dict: the key, which is in brackets at the end of the path."""
        return self.last.partition("[")[2].removesuffix("]")

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The names of the types that the value or result of the name may have."""
        return tuple(self.gives.split("|")) if self.gives else ()

    def expected(self, release: Release) -> bool:
        """True if this release of PyTorch is expected to have the name."""
        return Release.of(self.since) <= release and (not self.until or release <= Release.of(self.until))

    @property
    def releases(self) -> str:
        """Returns the releases that have the name, as a phrase."""
        return f"{self.since} to {self.until}" if self.until else f"{self.since} and later"


FEATURES = [
    Feature("decompile", "decompile, compile_like, prove", "nothing: it needs no PyTorch", needs_torch=False),
    Feature("capture", "prepare_debug: transformed code", "transformed code is not seen"),
    Feature(
        "trace",
        "prepare_debug: graphs, output code, graph breaks",
        "they are not seen",
        since="2.4",
        before="captured graphs, AOTAutograd's, those after post-grad passes and output code are seen another way",
    ),
    Feature("running", "dumped files that run", "files are there to be read; breakpoints in them do not hit"),
    Feature("inductor", "prepare_debug: Inductor's IR and fusion", "they are not in the dump"),
    Feature("provenance", "from a line of source to kernels", "links are missing"),
    Feature("entries", "explain, cache_entries, here", "cache entries cannot be read"),
    Feature("guards", "guards as Python, what fails, the frontier", "guards are shown in PyTorch's words", since="2.6"),
    Feature("reasons", "why a function was compiled again", "reasons are missing or in PyTorch's words"),
    Feature(
        "register", "registering edited cache entries", "edited entries can be run, and not be registered", since="2.9"
    ),
    Feature("kernels", "edited output code in cache entries", "output code cannot be edited"),
    Feature("debug", "depyf.debug", "calls that fit no compilation are compiled in the block", since="2.7"),
    Feature("step", "depyf.step", "Dynamo may compile code of depyf, which costs time and no more"),
    Feature("numerics", "depyf.numerics", "stages of a compilation are not compared", since="2.7"),
    Feature(
        "costs",
        "depyf.memory_costs, depyf.compile_costs",
        "what compiling costs, and what is kept for the backward, is not seen",
    ),
    Feature("profile", "depyf.profile", "the time of kernels and library calls has no lines"),
    Feature("logs", 'install: source in TORCH_LOGS="+bytecode"', "source is not logged"),
]

_EVAL, _C_EVAL = "torch._dynamo.eval_frame", "torch._C._dynamo.eval_frame"
_CONVERT, _GUARDS, _C_GUARDS = "torch._dynamo.convert_frame", "torch._dynamo.guards", "torch._C._dynamo.guards"
_UTILS = "torch._dynamo.utils"
_NODE = "torch.fx.node:Node"
_ENTRY = f"{_C_EVAL}:_CacheEntry"
_ENV = "torch.fx.experimental.symbolic_shapes:ShapeEnv"
_SCHEDULER = "torch._inductor.scheduler"
_ROOT = f"{_C_GUARDS}:RootGuardManager"

# The parts from which the text of a node of Inductor's IR is made: (path, description, kind, first release)
_OF_IR_NODES = [
    (f"{_SCHEDULER}:NodeUser", "what reads a buffer", "", "2.2"),
    (f"{_SCHEDULER}:NodeUser.__dataclass_fields__", "what is told of it", "attribute", "2.2"),
    (f"{_SCHEDULER}:NodeUser.can_inplace", "may it write there?", "attribute", "2.2"),
    (f"{_SCHEDULER}:NodeUser.is_weak", "does it only have to run later?", "attribute", "2.2"),
    (f"{_SCHEDULER}:SchedulerBuffer.debug_str", "the text of what a node writes", "", "2.6"),
    ("torch._inductor.loop_body:LoopBody.debug_str", "the text of a loop", "", "2.6"),
    ("torch._inductor.loop_body:LoopBodyBlock.debug_str", "the text of its body", "", "2.6"),
    ("torch._inductor.dependencies:MemoryDep.__repr__", "the text of an access to memory", "", "2.2"),
    ("torch._inductor.dependencies:MemoryDep.var_names", "variables of loops", "attribute", "2.2"),
    ("torch._inductor.dependencies:MemoryDep.mode", "how it is written", "attribute", "2.13"),
    ("torch._inductor.ir:Layout.is_pinned", "does its memory stay where it is?", "attribute", "2.13"),
    ("torch._inductor.ir:Layout.__str__", "the text of how a buffer lies in memory", "", "2.2"),
    (f"{_SCHEDULER}:BaseSchedulerNode.debug_str", "the text of a node", "", "2.2"),
    (f"{_SCHEDULER}:BaseSchedulerNode._debug_str_for_device", "what is told of a device alone", "", "2.13"),
    (f"{_SCHEDULER}:BaseSchedulerNode.min_input_distance", "steps from an input", "attribute", "2.13"),
    (f"{_SCHEDULER}:BaseSchedulerNode.max_input_distance", "steps from an input", "attribute", "2.13"),
    (f"{_SCHEDULER}:FusedSchedulerNode.snodes", "what is fused", "attribute", "2.2"),
    (f"{_SCHEDULER}:BaseSchedulerNode.debug_str_extra", "the text of one kind alone", "", "2.2"),
    (f"{_SCHEDULER}:BaseSchedulerNode.unmet_dependencies", "what has to run before", "attribute", "2.2"),
    (f"{_SCHEDULER}:BaseSchedulerNode.get_outputs", "buffers that it writes", "", "2.5"),
    (f"{_SCHEDULER}:SchedulerNode._sizes", "of its loops", "attribute", "2.2"),
    (f"{_SCHEDULER}:SchedulerBuffer.get_aliases", "other names of a buffer", "", "2.5"),
    (f"{_SCHEDULER}:SchedulerBuffer.get_mutations", "what is written with it", "", "2.5"),
    ("torch._inductor.ir:Buffer.layout", "how a buffer lies in memory", "attribute", "2.2"),
    ("torch._inductor.dependencies:ReadWrites.reads_and_writes", "all that it reads and writes", "", "2.2"),
    ("torch._inductor.graph:GraphLowering.get_buffer", "a buffer by name", "", "2.2"),
    ("torch._inductor.loop_body:LoopBody.var_ranges", "the variables of a loop", "attribute", "2.6"),
    ("torch._inductor.loop_body:LoopBody.indexing_exprs", "its indices", "attribute", "2.6"),
    ("torch._inductor.loop_body:LoopBody.root_block", "its body", "attribute", "2.6"),
    ("torch._inductor.loop_body:LoopBody.subblocks", "the bodies in that", "attribute", "2.6"),
]

# fmt: off
NAMES = [
    # Functions that were compiled ahead of time
    Name("torch._precompile:PrecompiledModule", "capture", "what torch.compiler.precompile captures and loads", since="2.15"),
    Name("torch._precompile:PrecompiledModule._compile", "capture", "captures a function", since="2.15"),
    Name("torch._precompile:PrecompiledModule._fn", "capture", "that function", "attribute", since="2.15"),
    Name("torch._precompile:PrecompiledModule._gm", "capture", "the graph of it", "attribute", since="2.15"),
    Name("torch._precompile:PrecompiledModule._loaded_forward", "capture", "what runs of a loaded program", "attribute",
         since="2.15"),
    Name("torch._dynamo.aot_compile:aot_compile_fullgraph", "capture", "compiles a function ahead of time", since="2.13"),
    Name("torch._dynamo.aot_compile:AOTCompiledModel", "entries", "a model that was compiled ahead of time", since="2.13"),
    Name("torch._dynamo.aot_compile:AOTCompiledModel.compiled_results", "entries", "its functions", "attribute", since="2.13",
         gives="list"),
    Name("torch._dynamo.aot_compile:AOTCompiledModel.model", "entries", "the module that they are called with", "attribute",
         since="2.13"),
    Name("torch._dynamo.aot_compile:AOTCompiledFunction", "entries", "a function that was compiled ahead of time", since="2.13"),
    Name("torch._dynamo.aot_compile:AOTCompiledFunction.deserialize", "capture", "loads it from a file", since="2.13"),
    Name("torch._dynamo.aot_compile:AOTCompiledFunction._artifacts", "entries", "what it consists of", "attribute", since="2.13",
         gives="CompileArtifacts"),
    Name("torch._dynamo.aot_compile:AOTCompiledFunction.fn", "entries", "what runs where its guards hold", "attribute",
         since="2.13", gives="function"),
    Name("torch._dynamo.aot_compile:CompileArtifacts.original_code", "entries", "the function's own code", "attribute",
         since="2.13", gives="code"),
    Name("torch._dynamo.aot_compile:CompileArtifacts.guard_manager", "entries", "its guards", "attribute", since="2.13"),
    Name("torch._dynamo.aot_compile:CompileArtifacts.backend_name", "entries", "what compiled the graph", "attribute",
         since="2.13", gives="str"),
    Name("torch._dynamo.aot_compile_types:GraphModuleSerializableCallable", "entries", "a graph that runs without a backend",
         since="2.13"),
    Name("torch._dynamo.aot_compile_types:GraphModuleSerializableCallable.graph_module", "entries", "that graph", "attribute",
         since="2.13"),

    Name("torch._dynamo.package:load_guards_state", "entries", "reads guards from a file", since="2.10", takes=1,
         fallback="edited guards of what was compiled ahead of time are not saved"),
    Name("torch._dynamo.package:load_guard_manager", "entries", "makes guards of them", since="2.10", takes=3,
         fallback="edited guards of what was compiled ahead of time are not saved"),
    Name("pickle:_Unpickler", "entries", "reads such guards and shows its memo",
         fallback="edited guards of what was compiled ahead of time are not saved"),
    Name("torch._dynamo.aot_compile:CompileArtifacts.guards_state", "entries", "its guards as they are saved", "attribute", since="2.13",
         fallback="edited guards and code of what was compiled ahead of time are not saved"),
    Name("torch._dynamo.aot_compile:CompileArtifacts.runtime_env", "entries", "its code and what that needs", "attribute", since="2.13",
         fallback="edited guards and code of what was compiled ahead of time are not saved"),
    Name("torch._dynamo.aot_compile:CompileArtifacts.backend_id", "entries", "the name of its graph", "attribute", since="2.13",
         fallback="edited guards and code of what was compiled ahead of time are not saved"),
    Name("torch._dynamo.aot_compile:AOTCompiledFunction._extra_globals", "entries", "globals that it was loaded with", "attribute", since="2.13",
         fallback="edited guards and code of what was compiled ahead of time are not saved"),
    Name("torch._dynamo.aot_compile:AOTCompileSaveResult.serialized_data", "entries", "its file", "attribute", since="2.13",
         fallback="edited guards and code of what was compiled ahead of time are not saved"),
    Name("torch._dynamo.convert_frame:GraphRuntimeEnv.used_globals", "entries", "globals that it is saved with", "attribute", since="2.13",
         fallback="edited guards and code of what was compiled ahead of time are not saved"),
    Name("torch._dynamo.guards:GuardsState.shape_code_parts", "entries", "saved conditions on sizes", "attribute", since="2.13",
         fallback="edited guards and code of what was compiled ahead of time are not saved"),
    Name("torch._dynamo.guards:ShapeCodeParts.python_code_parts", "entries", "those conditions in Python", "attribute", since="2.13",
         fallback="edited guards and code of what was compiled ahead of time are not saved"),
    Name("torch.fx.experimental.symbolic_shapes:_ShapeGuardsHelper.exprs", "entries", "those conditions one by one", "attribute", since="2.13",
         fallback="edited guards and code of what was compiled ahead of time are not saved"),
    Name("pickle:_Unpickler.memo", "entries", "the objects of a pickle by number", "attribute",
         fallback="edited guards and code of what was compiled ahead of time are not saved"),
    Name("torch._dynamo.aot_compile:AOTCompiledFunction.serialize", "entries", "makes its file", since="2.13",
         fallback="edited guards and code of what was compiled ahead of time are not saved"),
    Name("torch._guards:Guard.create_fn_name", "entries", "the kind of a guard", since="2.9", fallback="it is not told"),
    Name("torch._dynamo.package:_DynamoCodeCacheEntry.guarded_codes", "entries", "what is restored of one function", "attribute",
         since="2.9", fallback="the code of restored entries is not shown"),
    Name("torch._dynamo.package:_GuardedCodeCacheEntry.dynamo_code", "entries", "the code of one of them", "attribute",
         since="2.9", fallback="the code of restored entries is not shown"),
    # Entries that are restored from Dynamo's cache of an earlier process
    Name("torch._dynamo.package:CompilePackage.install", "capture", "puts restored entries in front of the others", since="2.9",
         fallback="what is restored is not recorded"),
    Name("torch._dynamo.package:CompilePackage._codes", "entries", "the restored entries by function", "attribute", since="2.9",
         gives="dict", fallback="the code of restored entries is not shown"),
    Name("torch._dynamo.package:SerializedCode.to_code_object", "entries", "makes the code of one", since="2.9",
         fallback="the code of restored entries is not shown"),
    Name("torch._dynamo.eval_frame:_TorchDynamoContext._package", "entries", "what a function was restored from", "attribute",
         since="2.9", fallback="the code of restored entries is not shown"),

    # The current compilation
    Name(f"{_CONVERT}:register_bytecode_hook", "capture", "tells each pair of original and transformed code", takes=1,
         gives="RemovableHandle"),
    Name("torch.utils.hooks:RemovableHandle.remove", "capture", "takes such a hook away"),
    Name(f"{_CONVERT}:_bytecode_hooks", "capture", "all such hooks", gives="dict",
         fallback="a hook that cannot be taken away stays, and does nothing"),
    Name(f"{_CONVERT}:compile_lock", "capture", "keeps other threads from compiling meanwhile", gives="RLock", since="2.4",
         fallback="hooks are set without it"),
    Name("torch._guards:CompileContext", "capture", "the compilation that a thread is at", gives="type"),
    Name("torch._guards:CompileContext.try_get", "capture", "the compilation that a thread is at", takes=0,
         gives="CompileContext|None"),
    Name("torch._guards:CompileContext.compile_id", "capture", "its number", "attribute", gives="CompileId|None"),
    Name("torch._guards:CompileContext.attempt", "capture", "how often it began again", "attribute", gives="int",
         fallback="what attempts left that were given up stays in the dump"),
    Name(f"{_CONVERT}:globals", "capture", "a local variable of what compiles a frame: the function's globals", "local",
         gives="dict", fallback="global names are looked for in all modules"),
    Name(f"{_CONVERT}:frame", "capture", "another one: the call", "local",
         fallback="depyf.optimization does not tell several instances of a class apart"),
    Name(f"{_CONVERT}:code", "capture", "another one: the code of the function", "local", gives="code",
         fallback="functions that are not compiled are named by what the trace says of them"),
    Name(f"{_CONVERT}:compile_id", "costs", "another one: the id of the compilation", "local",
         fallback="the line of a long compilation has no id"),
    Name(f"{_CONVERT}:locals", "capture", "another one: the variables of the call", "local",
         fallback="methods and wrappers are named without the class of self and what they wrap"),
    Name(f"{_CONVERT}:one_graph", "capture", "another one: does a graph break raise an error?", "local",
         fallback="errors of graph breaks are taken to be handled"),
    Name(f"{_CONVERT}:convert_frame_box", "capture", "another one: what the compilation tells its caller", "local",
         since="2.9", fallback="errors of graph breaks are taken to be handled"),
    Name(f"{_CONVERT}:ConvertFrameBox.error_on_graph_break", "capture", "does a graph break raise an error here?",
         "attribute", since="2.9", fallback="errors of graph breaks are taken to be handled"),
    Name("torch._dynamo.exc:Unsupported.real_stack", "capture", "the lines that were being compiled", "attribute",
         fallback="the line of a break with fullgraph=True is not told"),
    Name("torch._dynamo.exc:get_real_stack", "capture", "the same of any exception",
         takes=1, fallback="the line of a break with fullgraph=True is not told"),
    Name("torch._dynamo.config:suppress_errors", "capture", "do errors of compilers run the function as it was written?",
         gives="bool", fallback="errors are taken to go to the caller"),
    Name(f"{_CONVERT}:input_codes", "entries", "every code object that Dynamo has seen", gives="Tracker",
         fallback="what was compiled before a block is not told of"),
    Name("torch._dynamo.convert_frame:Tracker.seen", "entries", "the code objects, as weak references", "attribute",
         gives="list", fallback="what was compiled before a block is not told of"),
    Name("torch._dynamo.convert_frame:Tracker.add", "register", "has torch._dynamo.reset go by a code object", takes=2,
         fallback="torch._dynamo.reset may not take the registered entry away"),
    Name(f"{_UTILS}:orig_code_map", "entries", "the code object that transformed code runs in place of",
         gives="ExactWeakKeyDictionary",
         fallback="depyf.here does not know transformed code"),
    Name(f"{_CONVERT}:bytecode_log", "logs", "the logger of TORCH_LOGS=+bytecode", gives="Logger"),
    Name("__compiled_fn_", "capture", "the global that transformed code calls a compiled graph by", "mark",
         shape="with a number; from 2.9 on also with a uuid"),
    Name("__resume_at_", "capture", "the global that transformed code calls a resume function by", "mark"),
    Name("__import_", "running", "the global that transformed code has a module of PyTorch's by", "mark",
         fallback="loading it is an effect, and stands where the bytecode has it"),
    Name("__builtins_dict__", "running", "the global that transformed code has the built-in functions by", "mark",
         fallback="the same"),
    Name("torch._functorch.aot_autograd:aot_module_simplified", "running", "its functions give new lists of outputs",
         lazy=True, fallback="outputs are taken one by one, and the list is deleted"),
    Name("torch_dynamo_resume_in_", "capture", "the name of a resume function's code", "mark", shape="resume_in_ in 2.2",
         fallback="resume functions are told of as functions of their own"),
    Name("f_globals", "entries", "a cell of what makes a resume function with free variables", "mark",
         fallback="the globals of what makes it are used"),
    # Cache entries
    Name(f"{_EVAL}:_debug_get_cache_entry_list", "entries", "the cache entries of a code object", takes=1, gives="list",
         shape="a linked list in 2.2"),
    Name(f"{_ENTRY}.code", "entries", "transformed code", "attribute", gives="code"),
    Name(f"{_ENTRY}.guard_manager", "entries", "the tree of guards", "attribute", since="2.6",
         gives="GuardManagerWrapper|None"),
    Name(f"{_ENTRY}.check_fn", "entries", "guards", "attribute", until="2.5", shape="a function in 2.2, a tree in 2.4"),
    Name(f"{_ENTRY}.compile_id", "entries", "Dynamo's number of a compilation", "attribute", since="2.6",
         gives="CompileId|None",
         fallback="entries are told without their number"),
    Name(f"{_ENTRY}.backend", "entries", "what an entry was compiled with", "attribute", since="2.11",
         fallback="the backend is not told"),
    Name(f"{_ENTRY}.next", "entries", "the next entry", "attribute", until="2.5"),
    Name("torch._dynamo.utils:CleanupManager.instance", "entries", "the globals that a compilation made", "attribute",
         gives="CleanupManager",
         fallback="global names are taken for the user's own"),
    Name(f"{_UTILS}:CleanupHook.name", "entries", "such a global", "attribute", fallback="the same"),
    Name(f"{_UTILS}:guard_failures", "reasons", "why functions were compiled again, in PyTorch's words", gives="dict",
         fallback="explain says only that no entry accepted the call"),
    Name("torch._dynamo.trace_rules:check_verbose", "reasons", "why Dynamo leaves a function alone", takes=1, since="2.4",
         gives="SkipResult",
         fallback="the rule is not told"),
    Name("torch._dynamo.trace_rules:SkipResult.skipped", "reasons", "does it?", "attribute", fallback="the same"),
    Name("torch._dynamo.trace_rules:SkipResult.reason", "reasons", "the rule", "attribute", fallback="the same"),
    Name("torch._dynamo.config:recompile_limit", "entries", "from how many entries on nothing is compiled", gives="int",
         since="2.7", shape="cache_size_limit before", fallback="the limit is not told"),
    Name("torch._dynamo.config:cache_size_limit", "entries", "the same", gives="int", until="2.6"),
    Name(f"{_EVAL}:_stance", "entries", "what torch.compiler.set_stance says", since="2.6", gives="DynamoStance",
         fallback='taken for "default"'),
    Name(f"{_EVAL}:DynamoStance.stance", "entries", "its name", "attribute", since="2.6", gives="str",
         fallback='taken for "default"'),
    # Attributes of the results of torch.compile
    Name("_torchdynamo_orig_callable", "entries", "what a result of torch.compile was made of", "mark",
         fallback="__wrapped__ is followed"),
    Name("_torchdynamo_wrapper_id", "entries", "tells a result of torch.compile from a copy of its attributes", "mark",
         since="2.9", fallback="a copy is taken for the result"),
    Name("torch._dynamo.eval_frame:OptimizedModule._orig_mod", "entries", "the module that was compiled", "attribute"),
    Name("torch._dynamo.eval_frame:OptimizedModule.dynamo_ctx", "entries", "what compiles it", "attribute",
         fallback="its backend is not told"),
    Name("torch._dynamo.eval_frame:OptimizeContext._dynamic", "entries", "the `dynamic` of torch.compile", "attribute", since="2.4",
         fallback='told as "auto"'),
    Name("torch._dynamo.eval_frame:_TorchDynamoContext.callback", "entries", "what compiles frames", "attribute",
         fallback="its backend is not told"),
    Name("torch._dynamo.eval_frame:_TorchDynamoContext.__call__", "entries", "its file, below which threads look entries up"),
    Name("_torchdynamo_orig_backend", "entries", "the backend in a wrapper of it", "mark",
         fallback="the backend's class is told"),
    Name("torch.nn:Module._call_impl", "entries", "tells a module", fallback="`__call__` is taken for what runs"),
    Name("torch:_TorchCompileInductorWrapper", "entries", "the backend named inductor",
         fallback="the backend's class is told"),
    Name("torch:_TorchCompileInductorWrapper.compiler_name", "entries", "a backend's name", "attribute",
         fallback="the backend's class is told"),
    Name("torch:_TorchCompileWrapper.compiler_fn", "entries", "the backend in a wrapper of it", "attribute",
         fallback="the backend's class is told"),
    # The stages of a compilation that `depyf.numerics` compares
    Name("torch._inductor.compile_fx:_recursive_pre_grad_passes", "numerics", "the passes on the captured graph", lazy=True,
         since="2.6", fallback="that stage is not compared"),
    Name("torch._inductor.compile_fx:_recursive_joint_graph_passes", "numerics", "the passes on the joint graph", lazy=True,
         since="2.6", fallback="that stage is not compared"),
    Name("torch._inductor.compile_fx:_recursive_post_grad_passes", "numerics", "the passes on one direction", lazy=True,
         since="2.6", fallback="that stage is not compared"),
    Name("torch.fx.passes.graph_transform_observer:GraphTransformObserver.__exit__", "numerics", "the end of a pass", lazy=True,
         fallback="passes are not told apart"),
    Name("torch._inductor.compile_fx:compile_fx_inner", "numerics", "makes output code of a graph", lazy=True,
         fallback="output code is not compared with its graph"),
    Name("torch._dynamo.backends.debugging:boxed_nop", "numerics", "the compiler of aot_eager", lazy=True,
         fallback="graphs of aot_eager are not compared"),
    Name("torch._inductor.graph:GraphLowering.codegen", "numerics", "writes output code", lazy=True,
         fallback="kernels are not compared one by one"),
    Name("torch.fx.passes.graph_transform_observer:GraphTransformObserver.gm", "numerics", "the graph that a pass changed",
         "attribute", lazy=True, fallback="passes are not told apart"),
    Name("torch.fx.passes.graph_transform_observer:GraphTransformObserver.passname", "numerics", "the name of a pass",
         "attribute", lazy=True, fallback="passes are not told apart"),
    Name("torch._inductor.graph:GraphLowering.buffers", "numerics", "the buffers of output code", "attribute", lazy=True,
         fallback="kernels are not compared one by one"),
    Name("torch._inductor.ir:Buffer.get_origin_node", "numerics", "the node whose value a buffer holds", lazy=True,
         fallback="kernels are not compared one by one"),
    Name("_boxed_call", "numerics", "says that a compiled graph takes its inputs as a list", "mark"),
    Name("torch._dynamo:lookup_backend", "numerics", "a backend by its name", takes=1,
         fallback="only results of torch.compile can be compared"),
    Name("torch._subclasses.fake_tensor:FakeTensorMode", "numerics", "a tensor without data, to compile for", gives="type",
         lazy=True, fallback="operators in a kernel are not told apart"),
    Name("torch._subclasses.fake_tensor:FakeTensorMode.from_tensor", "numerics", "makes such a tensor", lazy=True,
         fallback="operators in a kernel are not told apart"),
    *(Name(path, "numerics", use, lazy=True, since="2.7", fallback="stages are missing where a cache has the graph")
      for path, use in (
          ("torch._inductor.config:fx_graph_cache", "is the cache of graphs in use?"),
          ("torch._inductor.config:compile_threads", "how many processes compile kernels?"),
          ("torch._inductor.config:fallback_random", "do random numbers come from PyTorch's generators?"),
          ("torch._functorch.config:enable_autograd_cache", "is the cache of graphs with backward in use?"),
          ("torch._dynamo.config:accumulated_recompile_limit", "from how many entries in all on nothing is compiled"),
      )),
    Name("torch._functorch.config:force_non_lazy_backward_lowering", "numerics", "is a backward compiled before it is called?",
         lazy=True, since="2.10", fallback="a backward that is not called has no stages of its own"),
    # Trees of guards
    Name(f"{_GUARDS}:guard_manager_testing_hook_fn", "guards", "a hook that gets the guards when they are made",
         since="2.6", fallback="the lines that need guards, and sizes, are not in the dump"),
    Name(f"{_GUARDS}:GuardManagerWrapper", "register", "what holds a tree", gives="type", takes=1, since="2.6"),
    Name(f"{_GUARDS}:GuardManagerWrapper.root", "guards", "the tree in it", "attribute", since="2.6",
         gives="RootGuardManager|None"),
    Name(f"{_GUARDS}:GuardManagerWrapper.global_scope", "guards", "the globals that guards read", "attribute", since="2.6",
         gives="dict|None", fallback="guards on globals are not evaluated"),
    Name(f"{_GUARDS}:GuardManagerWrapper.check", "guards", "does a tree accept a call?", since="2.6"),
    Name(f"{_GUARDS}:GuardManagerWrapper.closure_vars", "register", "what PyTorch reads to report failures", "attribute",
         since="2.6", gives="dict|None", fallback="empty"),
    Name(f"{_GUARDS}:GuardManagerWrapper.args", "register", "the same", "attribute", since="2.6", fallback="as in 2.13"),
    Name(f"{_GUARDS}:GuardManagerWrapper.id_matched_objs", "register", "objects kept alive", "attribute", since="2.6",
         gives="dict|None", fallback="empty"),
    Name(f"{_C_GUARDS}:RootGuardManager", "guards", "the tree", gives="type", since="2.6"),
    Name(f"{_ROOT}.get_leaf_guards", "guards", "the guards of a value", since="2.6"),
    Name(f"{_ROOT}.get_accessors", "guards", "the ways on to other values", since="2.6"),
    Name(f"{_ROOT}.get_child_managers", "guards", "the managers of those", since="2.6"),
    Name(f"{_ROOT}.get_source", "guards", "Dynamo's name of a value", since="2.6", takes=0, gives="str"),
    Name(f"{_ROOT}.get_type_of_guarded_value", "guards", "its type", since="2.9", takes=0, gives="type|None",
         fallback="types are shown by their ids"),
    Name(f"{_GUARDS}:GuardManagerWrapper.__str__", "guards", "a tree as text", since="2.6", takes=1),
    Name(f"{_ROOT}.is_tag_safe", "guards", "a mark in that text", since="2.9", fallback="PyTorch makes the text itself"),
    Name(f"{_ROOT}.is_tag_safe_root", "guards", "another one", since="2.9", fallback="PyTorch makes the text itself"),
    Name(f"{_ROOT}.get_epilogue_lambda_guards", "guards", "guards that are checked at the end", since="2.6",
         fallback="they are not told"),
    Name(f"{_ROOT}.check_verbose", "guards", "the first guard that fails", since="2.6", fallback="failures have no words"),
    Name(f"{_C_GUARDS}:GuardDebugInfo.result", "guards", "does it fail?", "attribute", since="2.6",
         fallback="failures have no words"),
    Name(f"{_C_GUARDS}:GuardDebugInfo.verbose_code_parts", "guards", "its words", "attribute", since="2.6",
         fallback="failures have no words"),
    Name(f"{_C_GUARDS}:GuardDebugInfo.user_stack", "guards", "the lines that need it", "attribute", since="2.10",
         fallback="the line in its words is used"),
    Name(f"{_ROOT}.clone_manager", "register", "a copy without some guards", since="2.6"),
    Name(f"{_ROOT}.add_lambda_guard", "register", "adds a guard", since="2.6", shape="takes a stack from 2.9 on"),
    Name(f"{_C_GUARDS}:DictGuardManager", "guards", "guards on the items of a dict", gives="type", since="2.6",
         fallback="such dicts are told as other values"),
    Name(f"{_C_GUARDS}:DictGuardManager.get_key_value_managers", "guards", "the managers of its items", since="2.6"),
    Name(f"{_C_GUARDS}:LeafGuard", "guards", "a guard", gives="type", since="2.6"),
    Name(f"{_C_GUARDS}:LeafGuard.verbose_code_parts", "guards", "its words", since="2.6"),
    Name(f"{_C_GUARDS}:RelationalGuard", "guards", "a guard that relates values", gives="type", since="2.9",
         fallback="they are known by their names"),
    Name(f"{_C_GUARDS}:GuardAccessor", "guards", "a way on to a value", gives="type", since="2.6"),
    Name(f"{_C_GUARDS}:GuardAccessor.repr", "guards", "its key", since="2.6"),
    Name(f"{_GUARDS}:_get_closure_vars", "guards", "the helpers in guards' words", takes=0, gives="dict", since="2.6",
         fallback="such guards are asked through PyTorch's own object"),
    Name("torch.fx.experimental.symbolic_shapes:SYMPY_INTERP", "guards", "functions in conditions on sizes", gives="dict",
         fallback="such guards are asked through PyTorch's own object"),
    Name("torch._C:DisableTorchFunction", "guards", "the state in which guards read values", gives="type",
         fallback="values are read in the state of the program"),
    Name("torch._C:_len_torch_function_stack", "guards", "is any torch function mode at work?", takes=0, gives="int",
         since="2.5", fallback="this guard is asked through PyTorch's own object"),
    Name("torch._C:DispatchKeySet", "guards", "a value that guards compare", gives="type",
         fallback="this guard is asked through PyTorch's own object"),
    Name(f"{_GUARDS}:CheckFunctionManager.__init__.guards", "guards", "a local variable of what builds guards: all of them",
         "local", since="2.9",
         fallback="what a filter dropped is not told"),
    Name(f"{_GUARDS}:CheckFunctionManager.__init__.sorted_guards", "guards", "another one: those that a filter kept", "local",
         since="2.9",
         fallback="what a filter dropped is not told"),
    Name(f"{_GUARDS}:cache_entries", "reasons", "a local variable of what tells why a call fits no entry", "local",
         since="2.13", fallback="reasons are told in PyTorch's words"),
    Name(f"{_GUARDS}:frame", "reasons", "another one: the call", "local", since="2.7",
         fallback="reasons are told in PyTorch's words"),
    Name("torch:is_inference_mode_enabled", "reasons", "is inference mode why gradients are off?", takes=0, gives="bool",
         fallback="only grad mode is named"),
    # The origins of guards: lines of source, and symbolic sizes
    Name(f"{_GUARDS}:GuardBuilder.check_fn_manager", "guards", "the way from guards to the compilation", "attribute",
         gives="CheckFunctionManager|None",
         fallback="the lines that need guards, and sizes, are not in the dump"),
    Name(f"{_GUARDS}:CheckFunctionManager.output_graph", "guards", "the same", "attribute",
         gives="OutputGraph|OutputGraphGuardsState|None",
         fallback="the lines that need guards, and sizes, are not in the dump"),
    Name("torch._dynamo.output_graph:OutputGraph.guards", "guards", "guards with their lines", "attribute",
         gives="GuardsSet|None",
         fallback="the lines in guards' words are used"),
    Name("torch._guards:Guard.user_stack", "guards", "such lines", "attribute",
         fallback="the lines in guards' words are used"),
    Name("torch._guards:Guard.code_list", "guards", "the guard's words", "attribute",
         fallback="the lines in guards' words are used"),
    Name("torch._guards:Guard.name", "guards", "the value that is guarded", "attribute",
         fallback="the lines in guards' words are used"),
    Name("torch._dynamo.output_graph:OutputGraph.compiler_fn", "running", "the backend that a graph is for", "attribute",
         fallback="graphs that Inductor is given are proved to be what runs, which they are not"),
    Name("torch._dynamo.output_graph:OutputGraph.graph", "running", "the graph whose outputs are counted", "attribute",
         fallback="outputs are taken one by one, and what holds them is deleted"),
    Name("torch._dynamo.output_graph:OutputGraph.shape_env", "guards", "symbolic sizes", "attribute",
         gives="ShapeEnv|None",
         fallback="sizes are not told"),
    Name(f"{_ENV}.var_to_sources", "guards", "what sizes are of", "attribute", shape="source_to_var besides",
         fallback="sizes are not told"),
    Name(f"{_ENV}.var_to_range", "guards", "their bounds", "attribute", fallback="bounds are not told"),
    Name(f"{_ENV}.var_to_range_sloc", "guards", "what set the bounds", "attribute", since="2.5",
         fallback="what set the bounds is not told"),
    Name(f"{_ENV}.backed_var_to_val", "guards", "their values", "attribute", since="2.10", shape="var_to_val before",
         fallback="the values are not told"),
    Name(f"{_ENV}.var_to_val", "guards", "their values", "attribute", until="2.9"),
    Name(f"{_ENV}.replacements", "guards", "the one value that a size was specialised to", "attribute",
         fallback="it is not told"),
    # Registered entries
    Name(f"{_C_EVAL}:_load_precompile_entry", "register", "puts an entry in front of the others", since="2.9"),
    Name(f"{_C_EVAL}:_reset_precompile_entries", "register", "takes them all away", since="2.9"),
    Name(f"{_C_EVAL}:_debug_get_precompile_entries", "register", "lists them", since="2.9"),
    Name(f"{_C_EVAL}:_PrecompileEntry.guard_manager", "register", "the guards of one", "attribute", since="2.9"),
    Name(f"{_C_EVAL}:set_code_exec_strategy", "register", "has Dynamo look again at what it gave up", since="2.7",
         fallback="an entry of such a function waits for torch._dynamo.reset"),
    Name(f"{_C_EVAL}:_FrameAction", "register", "what to do with a frame", since="2.7",
         fallback="an entry of such a function waits for torch._dynamo.reset"),
    Name(f"{_C_EVAL}:_FrameExecStrategy", "register", "the same, with its callees", since="2.7",
         fallback="an entry of such a function waits for torch._dynamo.reset"),
    Name("torch._dynamo.utils:dynamo_timed", "guards", "a phase of the timeline", since="2.6",
         fallback="the time in which depyf measures guards counts to Dynamo"),
    # The structured trace and the artifact loggers
    Name("torch._logging:trace_structured", "trace", "sends records to the logger torch.__trace", since="2.4"),
    Name("torch.__trace", "trace", "the logger that gets the records", "logger", since="2.4"),
    Name("torch._logging._internal:trace_structured.name", "trace", "a local variable: which record", "local", since="2.4",
         fallback="every record is made, which takes longer"),
    Name("torch._logging._internal:trace_structured.metadata_fn", "trace", "a local variable: makes its metadata", "local",
         since="2.4", fallback="every record is made, which takes longer"),
    Name("torch._logging._internal:trace_structured.payload_fn", "trace", "a local variable: makes its text", "local",
         since="2.4", fallback="every record is made, which takes longer"),
    Name("torch.__trace.metadata", "trace", "an attribute of records: what it is", "attribute", since="2.4"),
    Name("torch.__trace.payload", "trace", "an attribute of records: its text", "attribute", since="2.4"),
    Name("dynamo_start", "trace", "a compilation begins", "record", since="2.4", fallback="functions are named later"),
    Name("describe_tensor", "trace", "an input of what is compiled or exported", "record", since="2.4",
         fallback="calls of torch.export are not told of"),
    Name("torch.export._trace:_EXPORT_MODULE_HIERARCHY", "trace", "None if no module is being exported", lazy=True, since="2.4",
         gives="dict|None", fallback="all frames are searched for torch.export at each input, which takes longer"),
    Name("create_unbacked_symbol", "trace", "a value that is known only when the graph runs", "record", since="2.4",
         fallback="such values are not told of"),
    Name("compilation_metrics", "trace", "a compilation ends: errors, time", "record", since="2.4",
         fallback="the time and the error are not told"),
    Name("dynamo_output_graph", "trace", "the captured graph", "record", since="2.4"),
    Name("before_pre_grad_graph", "trace", "a graph in Inductor", "record", since="2.6"),
    Name("after_pre_grad_graph", "trace", "a graph in Inductor", "record", since="2.6"),
    Name("aot_joint_graph", "trace", "a graph of AOTAutograd", "record", since="2.4"),
    Name("aot_forward_graph", "trace", "a graph of AOTAutograd", "record", since="2.4"),
    Name("aot_inference_graph", "trace", "a graph of AOTAutograd", "record", since="2.9", shape="aot_forward_graph before"),
    Name("aot_backward_graph", "trace", "a graph of AOTAutograd", "record", since="2.4"),
    Name("before_post_grad_graph", "trace", "a graph in Inductor", "record", since="2.6"),
    Name("inductor_post_grad_graph", "trace", "a graph in Inductor", "record", since="2.4",
         shape="after_post_grad_graph in 2.9, where it tells of a cache"),
    Name("after_post_grad_graph", "trace", "a graph in Inductor", "record", since="2.9", until="2.9"),
    Name("inductor_output_code", "trace", "output code", "record", since="2.4"),
    Name("dynamo_cpp_guards_str", "guards", "guards in PyTorch's words", "record", since="2.4"),
    Name("dynamo_graph_break_reason", "reasons", "a graph break", "record", since="2.5"),
    Name("recompile_reasons", "reasons", "why a function is compiled again", "record", since="2.6"),
    Name("fx_graph_cache_hit", "trace", "Inductor did not run", "record", since="2.5",
         fallback="that a cache was used is not told"),
    Name("aotautograd_cache_hit", "trace", "AOTAutograd did not run", "record", since="2.6",
         fallback="that a cache was used is not told"),
    Name("symbolic_shape_specialization", "guards", "a size got one value", "record", since="2.6",
         fallback="the line that did it is not told"),
    Name("torch._logging.structured:INTERN_TABLE", "reasons", "the files in the stacks of records", gives="dict",
         since="2.4", fallback="files are told as numbers"),
    Name("__ir_pre_fusion", "inductor", "Inductor's IR before fusion", "logger", lazy=True),
    Name("__ir_post_fusion", "inductor", "Inductor's IR after fusion", "logger", lazy=True),
    Name("torch._inductor.runtime.runtime_utils:cache_dir", "inductor", "where Inductor keeps what it compiled", lazy=True,
         takes=0, gives="str", since="2.5", fallback="misses of its cache are not compared with its entries"),
    Name("torch._inductor.compile_fx:fx_compile_mode", "inductor", "does Inductor compile in another process?", lazy=True,
         since="2.7", fallback="it is taken that it does not"),
    Name("__post_grad_graphs", "inductor", "the graph after post-grad passes, where another process made it", "logger",
         lazy=True),
    Name(f"{_SCHEDULER}:WhyNoFuse.__call__", "provenance", "what was not fused, and why", takes=2, lazy=True),
    # Inductor
    Name("torch._inductor.debug:nodes", "provenance", "a local variable of what logs the IR: its operations", "local",
         gives="list", lazy=True),
    Name(f"{_SCHEDULER}:BaseSchedulerNode.get_nodes", "provenance", "the operations that are fused", lazy=True),
    Name(f"{_SCHEDULER}:BaseSchedulerNode.get_name", "provenance", "an operation's name", lazy=True),
    Name(f"{_SCHEDULER}:BaseSchedulerNode.get_buffer_names", "provenance", "what it writes", lazy=True, since="2.5"),
    Name(f"{_SCHEDULER}:BaseSchedulerNode.read_writes", "provenance", "what it reads", "attribute", lazy=True),
    Name("torch._inductor.dependencies:ReadWrites.reads", "provenance", "what it reads", "attribute", lazy=True),
    Name(f"{_SCHEDULER}:BaseSchedulerNode.node", "provenance", "its IR", "attribute", lazy=True),
    Name("torch._inductor.ir:IRNode.origins", "provenance", "the nodes of the graph that it is made of", "attribute", lazy=True),
    Name("torch._inductor.ir:ExternKernel.python_kernel_name", "provenance", "a library's function", "attribute", since="2.4", lazy=True,
         fallback="which function of a library is called is not told"),
    Name("torch._inductor.ir:ExternKernel.op_overload", "provenance", "a library's function", "attribute", since="2.4", lazy=True,
         fallback="which function of a library is called is not told"),
    Name(f"{_SCHEDULER}:WhyNoFuse.name1", "provenance", "what was not fused", "attribute", since="2.9", lazy=True),
    Name(f"{_SCHEDULER}:WhyNoFuse.name2", "provenance", "with what", "attribute", since="2.9", lazy=True),
    Name(f"{_SCHEDULER}:WhyNoFuse.reason", "provenance", "and why", "attribute", lazy=True),
    Name(f"{_SCHEDULER}:WhyNoFuse.args", "provenance", "the details", "attribute", lazy=True),
    Name("torch._inductor.debug:DebugFormatter._write_ir", "inductor", "the text of the IR", lazy=True,
         fallback="text of the IR takes longer"),
    Name("sympy.printing.printer:Printer._global_settings", "inductor", "how all expressions are printed", lazy=True, gives="dict",
         fallback="text of the IR takes longer"),
    *(Name(path, "inductor", use, kind, since=since, lazy=True, fallback="text of the IR takes longer")
      for path, use, kind, since in _OF_IR_NODES),
    Name("torch._inductor.virtualized:V", "inductor", "has the graph that Inductor is at", lazy=True,
         fallback="text of the IR takes longer"),
    Name("torch._inductor.codecache:PyCodeCache.load_by_key_path", "running", "loads output code", lazy=True),
    Name("torch._inductor.async_compile:AsyncCompile._wait_futures.kernels", "costs", "a local variable: kernels whose compilers run",
         "local", since="2.7", lazy=True, fallback="the line of a long compilation does not count kernels"),
    Name("torch._inductor.async_compile:AsyncCompile._wait_futures.scope", "costs", "another one: with those that are ready",
         "local", since="2.7", lazy=True, fallback="the line of a long compilation does not count kernels"),
    Name("torch._inductor.codecache:PyCodeCache.linemaps", "profile", "stacks of the lines of output code", lazy=True, gives="dict",
         fallback="only kernels of what is compiled in the block have a line"),
    Name("torch.autograd:_profiler_enabled", "profile", "is a profile open?", takes=0, gives="bool",
         fallback="a second profile is not refused, and disturbs the first"),
    *(Name(path, "costs", "lists what a library call allocates", takes=takes, fallback="the plan of output code lacks it")
      for path, takes in (("torch.autograd:_enable_profiler_legacy", 1), ("torch.autograd:_disable_profiler_legacy", 0),
                           ("torch.autograd.profiler_legacy:profile", 0))),
    *(Name(path, "costs", use, "attribute", fallback="the plan of output code lacks it")
      for path, use in (("torch.autograd.profiler_legacy:profile.config", "how the profiler of allocations is set"),
                        ("torch._C._autograd:ProfilerEvent.cpu_memory_usage", "the bytes of an allocation"))),
    Name("torch._inductor.select_algorithm:extern_kernels", "costs", "the library functions of output code", lazy=True,
         fallback="what they allocate is not measured"),
    Name("torch._C._profiler:_RecordFunctionFast", "profile", "opens a range of the profiler", gives="type",
         fallback="a range costs ten times as much"),
    Name("torch._inductor.codecache:PyCodeCache.modules", "running", "output code that is loaded", since="2.6", lazy=True, gives="list",
         fallback="output code that comes from a cache does not run from a file"),
    Name("torch._inductor.output_code:CompiledFxGraph", "kernels", "a compiled graph", gives="type", lazy=True,
         since="2.6", shape="in torch._inductor.codecache before"),
    Name("torch._inductor.codecache:CompiledFxGraph", "kernels", "a compiled graph", gives="type", lazy=True, until="2.5"),
    Name("torch._inductor.output_code:CompiledFxGraph.current_callable", "kernels", "what runs it", "attribute", lazy=True),
    Name("torch._inductor.output_code:CompiledFxGraph.constants", "kernels", "what its code reads", "attribute", lazy=True,
         fallback="output code that reads constants fails"),
    Name("torch._inductor.output_code:CompiledFxGraph.inputs_to_check", "kernels", "inputs that are aligned", "attribute",
         lazy=True, fallback="inputs are not aligned"),
    Name("torch._inductor.output_code:CompiledFxGraph.mutated_input_idxs", "kernels", "inputs that change", "attribute",
         lazy=True, fallback="inputs are not aligned"),
    Name("torch._inductor.utils:align_inputs_from_check_idxs", "kernels", "aligns inputs", lazy=True, since="2.6",
         fallback="inputs are not aligned"),
    Name("compiled_fw", "kernels", "the forward, on the class that AOTAutograd makes of a trained graph", "mark"),
    Name("compiled_bw", "kernels", "the backward, on the same class", "mark"),
    Name("torch._C:_current_autograd_node", "kernels", "the backward that runs", takes=0,
         fallback="edited output code of a backward does not run"),
    # Graphs
    Name("torch._guards:TracingContext.try_get", "trace", "what this thread compiles", takes=0,
         fallback="where several threads compile, the direction of a file can be another thread's"),
    Name("torch._guards:TracingContext.aot_graph_name", "trace", "which direction this thread compiles", "attribute",
         gives="list|None", since="2.4", fallback="where several threads compile, it can be another thread's"),
    Name("torch._functorch._aot_autograd.logging_utils:graph_being_compiled", "trace", "which direction is compiled",
         gives="list", fallback="directions are told where output code tells them"),
    Name(f"{_UTILS}:lazy_format_graph_code", "running", "Dynamo and others show it graphs under a name"),
    Name("torch.fx:GraphModule.recompile", "running", "makes a graph's function anew", takes=1,
         fallback="graphs that a backend makes anew do not run from files"),
    Name("torch.fx._lazy_graph_module:_LazyGraphModule.real_recompile", "running", "makes a function now", since="2.3",
         fallback="graphs that are made at their first call do not run from files"),
    Name("torch.fx:GraphModule.print_readable", "trace", "a graph as text", takes=2),
    Name("torch.fx.node:_get_qualified_name", "trace", "how a graph calls a function", takes=1, gives="str",
         fallback="text of graphs takes longer"),
    Name("torch.nn.modules.module:_addindent", "trace", "how its lines are indented", takes=2, gives="str",
         fallback="text of graphs takes longer"),
    Name("torch.fx.graph:Graph._codegen", "trace", "how a graph is printed", "attribute", fallback="text of graphs takes longer"),
    Name("torch.fx.graph:CodeGen.gen_fn_def", "trace", "the head of its function", takes=3, fallback="text of graphs takes longer"),
    Name("torch.fx.graph:CodeGen.generate_output", "trace", "what its function returns", takes=2,
         fallback="text of graphs takes longer"),
    Name("torch.fx.graph:CodeGen._body_transformer", "trace", "does somebody change the text?", "attribute",
         fallback="text of graphs takes longer"),
    Name("torch.fx.experimental.sym_node:SymNode.expr", "trace", "the expression of a size", "attribute",
         fallback="text of graphs takes longer"),
    Name("torch.fx:GraphModule.code", "running", "the text of a graph's function", gives="property"),
    Name("torch.fx:GraphModule.graph", "provenance", "the graph", gives="property"),
    Name("torch.fx.graph:PythonCode.src", "inductor", "that text", "attribute", fallback="text of the IR takes longer"),
    Name(f"{_NODE}.meta", "provenance", "what is noted of a node", "attribute", gives="dict"),
    Name(f"{_NODE}.meta[stack_trace]", "provenance", "its line", "key", gives="str"),
    Name(f"{_NODE}.meta[from_node]", "provenance", "what it was made from", "key", gives="list",
         shape="tuples in it before 2.7"),
    Name(f"{_NODE}.meta[seq_nr]", "provenance", "its number in autograd", "key", gives="int"),
    Name(f"{_NODE}.meta[original_aten]", "provenance", "what it was decomposed from", "key", gives="OperatorBase"),
    Name(f"{_NODE}.meta[partitioner_tag]", "provenance", "does it belong to the backward?", "key", gives="str",
         since="2.6"),
    Name(f"{_NODE}.meta[nn_module_stack]", "provenance", "the modules that were at work", "key", gives="dict",
         fallback="nodes and kernels are shown without their module"),
    Name(f"{_NODE}.meta[fwd_nn_module_stack]", "provenance", "those of its forward", "key", gives="dict", since="2.4",
         fallback="nodes and kernels are shown without their module"),
    Name("torch.fx.traceback:NodeSource.from_node", "provenance", "what that was made from", "attribute", since="2.7",
         gives="list|None"),
    Name("torch.fx.traceback:NodeSource.name", "provenance", "its name", "attribute", since="2.7", gives="str"),
    Name("torch.fx.traceback:NodeSource.graph_id", "provenance", "its graph", "attribute", since="2.7", gives="int|None",
         fallback="nodes of one name are told apart by their lines"),
    Name(f"{_NODE}._pretty_print_target", "provenance", "an operator's name", fallback="as Python prints it"),
    Name("_dynamo_source", "entries", "where an input of a graph is taken from, on its node", "mark", since="2.6",
         fallback="inputs are shown without it"),
    Name("torch.fx:GraphModule.meta[dynamo_compile_id]", "entries", "tells a graph of Dynamo's", "key", since="2.9",
         fallback="known by its inputs"),
    # Names that are needed to measure the time of compilations
    Name("torch._logging._internal:TorchLogsFormatter", "costs", "writes records of the trace as a log", gives="type"),
    Name("torch._dynamo.symbolic_convert:InstructionTranslatorBase", "costs", "traces the instructions of a function", gives="type",
         fallback="what tracing a line takes is missing"),
    Name("torch._dynamo.symbolic_convert:InstructionTranslatorBase.step", "costs", "traces one instruction", takes=1,
         fallback="what tracing a line takes is missing"),
    Name("torch._dynamo.symbolic_convert:InstructionTranslatorBase.f_code", "costs", "the code of that function", "attribute",
         fallback="what tracing a line takes is missing"),
    Name("torch._dynamo.symbolic_convert:InstructionTranslatorBase.lineno", "costs", "the line of the instruction", "attribute",
         fallback="what tracing a line takes is missing"),
    Name("torch._dynamo.output_graph:OutputGraph", "costs", "the graph that is traced", gives="type",
         fallback="compiling a graph counts as tracing its last line"),
    Name("torch._dynamo.output_graph:OutputGraph.compile_subgraph", "costs", "compiles it",
         fallback="compiling a graph counts as tracing its last line"),
    # The partitioner, which decides which values the forward saves for the backward
    Name("torch._functorch.partitioners:min_cut_rematerialization_partition", "costs", "divides a joint graph", gives="function"),
    Name("torch._functorch.partitioners:default_partition", "costs", "the same, without recomputing", gives="function"),
    Name("torch._functorch.partitioners:solve_min_cut", "costs", "chooses what is kept", since="2.6", gives="function",
         fallback="rules are missing"),
    Name("torch._functorch.partitioners:NodeInfo.required_fw_nodes", "costs", "the nodes of the forward", "attribute", since="2.6",
         fallback="operators of the backward count as recomputed, too"),
    Name("torch.utils.checkpoint:CheckpointPolicy.PREFER_RECOMPUTE", "costs", "marks what a checkpoint recomputes", since="2.4"),
    Name("torch._functorch.config:activation_memory_budget", "costs", "how much may be kept", since="2.6"),
    Name("torch._guards:TracingContext", "costs", "what a compilation knows", gives="type",
         fallback="a graph with random numbers is not divided again"),
    Name("torch._guards:TracingContext.fake_mode", "costs", "the mode of its tensors", "attribute",
         fallback="a graph with random numbers is not divided again"),
    Name("torch._guards:tracing", "costs", "enters a context", gives="function",
         fallback="a graph with random numbers is not divided again"),
    Name("torch:SymInt.node", "costs", "what knows the value of a size", "attribute", gives="SymNode"),
    Name("torch.fx.experimental.sym_node:SymNode.hint", "costs", "the value of a size in the call that is compiled", "attribute"),
    # Names that are needed to keep Dynamo from compiling
    Name(f"{_CONVERT}:CatchErrorsWrapper", "debug", "what Dynamo calls for a frame that fits no entry", since="2.4", gives="type"),
    Name(f"{_CONVERT}:CatchErrorsWrapper.__call__", "debug", "the same", since="2.4"),
    Name(f"{_CONVERT}:has_tensor_in_frame", "debug", "would Dynamo compile it?", takes=1),
    Name("torch._dynamo.trace_rules:check", "debug", "would Dynamo leave it alone?", since="2.4", takes=1),
    Name("torch._dynamo.types:ConvertFrameReturn", "debug", "how a frame is to run", since="2.7"),
    Name("torch._dynamo.types:FrameAction", "debug", "the same", since="2.7"),
    Name("torch._dynamo.types:FrameExecStrategy", "debug", "the same", since="2.7"),
    # The eval frame callback
    Name(f"{_C_EVAL}:set_eval_frame", "step", "takes Dynamo away from code of depyf", lazy=True),
    Name(f"{_C_EVAL}:get_eval_frame_callback", "step", "what is set now", lazy=True, takes=0),
    Name(f"{_EVAL}:skip_code", "step", "has Dynamo leave a function of depyf alone", lazy=True),
    # CPython
    Name("FrameLayout", "step", "where CPython has the value stack of a frame: src/bind/frame_layout.h", "mark",
         shape="checked against what the public functions say of the same frame", fallback="values are not shown"),
]
# fmt: on
