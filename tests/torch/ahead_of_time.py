"""Compiles functions ahead of time and saves them: `ahead_of_time.py DIRECTORY`; `ahead_of_time.py DIRECTORY every`
saves each function on each backend.

`ahead_of_time.py DIRECTORY COUNT` loads the saved functions, and tries the guards that depyf shows on COUNT inputs;
this command prints as JSON how often the shown guards accept and refuse inputs like the loaded guards, and the inputs
on which both differ. `ahead_of_time.py DIRECTORY run` loads each function in a block of `prepare_debug` and without
one, and prints the functions whose results differ. `ahead_of_time.py DIRECTORY pairs` saves artifacts that differ in
one respect each.
"""

import contextlib
import importlib.util
import json
import linecache
import pickle
import random
import sys
from pathlib import Path

import torch._dynamo
from torch._dynamo.aot_compile import ModelInput
from torch._dynamo.aot_compile_types import SerializableCallable
from torch._inductor.utils import fresh_cache
from torch.compiler._cache import CacheArtifactManager
from torch.fx._graph_pickler import GraphPickler, Options

import torch

if hasattr(torch._dynamo.config, "enable_aot_compile"):  # releases from 2.13 on do not have this setting
    torch._dynamo.config.enable_aot_compile = True
SCALE = 2.0


def plain(x, y):
    z = x.sin() + y
    if z.shape[0] > 3:
        z = z * 2
    return torch.relu(z)


def sized(x, n: int, flag=True):
    y = x * n
    if flag:
        y = y + SCALE
    return y.sum(0) if x.shape[0] > 5 else y


def containers(tensors, numbers):
    return tensors["a"] * numbers[0] + tensors["b"]


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 8)
        self.second = torch.nn.Linear(8, 4)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


class Scaled:
    def __init__(self):
        self.weight = torch.ones(4)
        self.factor = 2

    def method(self, x):
        def inner(value):
            return value * self.factor

        return inner(x) + self.weight


class Callable(SerializableCallable):
    """A callable like that which servers such as vLLM create from a graph; the graph is one part of its saved state."""

    def __init__(self, graph_module, prefix):
        self.graph_module, self.prefix = graph_module, prefix

    @classmethod
    def serialize_compile_artifacts(cls, callable):
        graph = GraphPickler.dumps(callable.graph_module, Options(ops_filter=None))
        return pickle.dumps({"graph_module": graph, "prefix": callable.prefix, "sizes": [1, 2, 4]})

    @classmethod
    def deserialize_compile_artifacts(cls, data):
        raise AssertionError("depyf open loads nothing")

    def __call__(self, *arguments):
        return self.graph_module(*arguments)


def custom_backend(graph_module, inputs):
    for node in graph_module.graph.nodes:
        for name in ("nn_module_stack", "source_fn_stack", "example_value"):
            node.meta.pop(name, None)
    return Callable(graph_module, "model.layers")


def only_tensors(guards):
    return [guard.guard_type == "TENSOR_MATCH" for guard in guards]


def broken(x):
    y = x.sin()
    torch._dynamo.graph_break()
    return y * 2


def enclosing(n):
    def closure(x):
        return x * n

    return closure


def save(function, arguments, path, **options):
    torch._dynamo.reset()
    compiled = torch.compile(function, fullgraph=True, **options)
    compiled.aot_compile((arguments, {})).save_compiled_function(str(path))


def save_model(model, x, path):
    torch._dynamo.reset()
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    compiled._aot_compile([ModelInput((x,), {}, [])])
    path.write_bytes(compiled._save_aot_compiled_module())


def save_bundle(function, arguments, path, **options):
    """Saves the cache entries that one compilation writes."""
    torch._dynamo.reset()
    CacheArtifactManager.clear()
    with torch._functorch.config.patch(enable_autograd_cache=True), torch._inductor.config.patch(fx_graph_cache=True):
        torch.compile(function, **options)(*arguments)
    bundle, _ = torch.compiler.save_cache_artifacts()
    path.write_bytes(bundle)


def example_inputs(name):
    """Returns the inputs for which the artifact `name` was compiled; the name may end with the name of a backend."""
    x, y = torch.ones(8, 4), torch.ones(8, 4)
    for backend in BACKENDS:
        name = name.removesuffix(f"_{backend}")
    return {
        "plain": (x, y),
        "filtered": (x, y),
        "sized": (x, 3),
        "containers": ({"a": x, "b": y}, [2]),
        "closure": (x,),
        "method": (torch.ones(4),),
    }[name]


# The names are removed from the end of a text one after the other, so "aot_eager" precedes "eager", its own end.
BACKENDS = ("aot_eager", "inductor", "eager")
FUNCTIONS = ("plain", "filtered", "sized", "containers", "closure", "method")


def save_every(directory):
    """Saves each function on each backend, which makes 18 artifacts."""
    for backend in BACKENDS:
        for name in FUNCTIONS:
            function = {"filtered": plain, "closure": enclosing(4), "method": Scaled().method}.get(name) or globals()[
                name
            ]
            inputs = example_inputs(name)
            if name == "sized":
                torch._dynamo.mark_dynamic(inputs[0], 0)
            options = {"options": {"guard_filter_fn": only_tensors}} if name == "filtered" else {}
            try:
                save(function, inputs, directory / f"{name}_{backend}.bin", backend=backend, **options)
            except Exception as error:  # releases before 2.13 do not save code of aot_eager
                print(f"PyTorch does not save {name} on {backend}: {error}"[:200], file=sys.stderr)


def main(directory):
    save(plain, example_inputs("plain"), directory / "plain.bin")
    save(plain, example_inputs("plain"), directory / "plain_eager.bin", backend="eager")
    save(plain, example_inputs("plain"), directory / "plain_aot_eager.bin", backend="aot_eager")
    save(plain, example_inputs("plain"), directory / "filtered.bin", options={"guard_filter_fn": only_tensors})
    x, n = example_inputs("sized")
    torch._dynamo.mark_dynamic(x, 0)
    save(sized, (x, n), directory / "sized.bin", backend="aot_eager")
    save(containers, example_inputs("containers"), directory / "containers.bin", backend="aot_eager")
    save(enclosing(4), example_inputs("closure"), directory / "closure.bin", backend="eager")
    save(Scaled().method, example_inputs("method"), directory / "method.bin", backend="aot_eager")
    save(plain, example_inputs("plain"), directory / "custom.bin", backend=custom_backend)
    save_model(Model(), torch.ones(2, 4), directory / "model.bin")
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).train()
    save_model(layer, torch.ones(2, 3, 8), directory / "transformer.bin")
    ranks = directory / "torch_aot_compile" / ("0123456789abcdef" * 4)
    for rank in range(2):
        folder = ranks / f"rank_{rank}_0"
        folder.mkdir(parents=True)
        (folder / "model").write_bytes((directory / "custom.bin").read_bytes())
    save_bundle(lambda x: Model()(x).sum().backward(), (torch.ones(2, 4),), directory / "bundle.bin")
    with (
        torch._dynamo.config.patch(caching_precompile=True),
        fresh_cache(),
    ):  # without a new cache, Dynamo would load the entry of an earlier run
        save_bundle(broken, (torch.ones(4),), directory / "precompile.bin", backend="aot_eager")


MODULE = """
import torch


def function(x):
    y = x.sin()
    return y * {factor}
"""


def module_function(directory, factor):
    """Returns a function of the module `changing`, whose file is written into the directory."""
    directory.mkdir(exist_ok=True)
    path = directory / "changing.py"
    path.write_text(MODULE.format(factor=factor))
    spec = importlib.util.spec_from_file_location("changing", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["changing"] = module
    linecache.checkcache()
    spec.loader.exec_module(module)
    return module.function


def save_pairs(directory):
    """Saves artifacts that differ from base.bin in one respect, which is the name of their file."""
    x = torch.ones(8, 4)
    eager = {"backend": "eager"}
    save(module_function(directory / "first", 2), (x,), directory / "base.bin", **eager)
    save(module_function(directory / "first", 2), (x,), directory / "again.bin", **eager)
    save(module_function(directory / "second", 3), (x,), directory / "source.bin", **eager)
    function = module_function(directory / "first", 2)
    save(function, (x.double(),), directory / "dtype.bin", **eager)
    save(function, (x[:3].clone(),), directory / "size.bin", **eager)
    save(function, (x.to("meta"),), directory / "device.bin", **eager)
    save(function, (x.clone().requires_grad_(),), directory / "requires_grad.bin", **eager)
    save(function, (marked(x.clone()),), directory / "dynamic.bin", **eager)
    with torch.no_grad():
        save(function, (x,), directory / "grad_mode.bin", **eager)
    with default_dtype(torch.float64):
        save(function, (x,), directory / "default_dtype.bin", **eager)
    save(function, (x,), directory / "backend.bin", backend="aot_eager")
    save(function, (x,), directory / "inductor.bin")
    save(function, (x,), directory / "config.bin", options={"size_asserts": False})
    save_bundle(function, (x,), directory / "cache.bin")
    save_bundle(function, (x,), directory / "cache_config.bin", options={"size_asserts": False})
    base = (directory / "base.bin").read_bytes()
    (directory / "torch_version.bin").write_bytes(
        base.replace(torch.__version__.encode(), b"1" + torch.__version__[1:].encode())
    )


def changed(value, rng):
    """Returns a value that differs in some respect, or the same value."""
    if isinstance(value, torch.Tensor):
        changes = [
            lambda: value,
            value.clone,
            value.double,
            lambda: value.clone().requires_grad_(),
            lambda: torch.cat([value, value]),
            lambda: value[: value.shape[0] // 2],
            value[:1].clone,
            lambda: value.t().contiguous().t(),
            lambda: value.unsqueeze(0),
            lambda: torch.nn.Parameter(value.clone()),
            lambda: marked(value.clone()),
            lambda: value.to(torch.complex64).conj(),
            lambda: value.to("meta"),
            lambda: None,
            lambda: 3,
        ]
        return rng.choice(changes)()
    if isinstance(value, dict):
        copy = {key: changed(each, rng) if rng.random() < 0.3 else each for key, each in value.items()}
        if rng.random() < 0.2:
            copy["another"] = 1
        if rng.random() < 0.1 and "b" in copy:
            copy["b"] = copy.get("a")
        return copy
    if isinstance(value, list):
        return rng.choice(
            [
                lambda: list(value),
                lambda: [*value, 1],
                lambda: [changed(each, rng) for each in value],
                lambda: tuple(value),
            ]
        )()
    return rng.choice([value, value, 4, 3.0, True, None, "3"])


def marked(tensor):
    torch._dynamo.mark_dynamic(tensor, 0)
    return tensor


@contextlib.contextmanager
def default_dtype(dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def states():
    """Returns functions that set a state of the process that guards check; most of them set the usual state."""
    usual = [contextlib.nullcontext] * 12
    return [
        *usual,
        torch.no_grad,
        lambda: torch.autocast("cpu"),
        lambda: default_dtype(torch.float64),
        lambda: torch.device("meta"),
    ]


def saved_functions(directory):
    """Returns the names of the artifacts that contain one function."""
    names = sorted(path.stem for path in directory.glob("*.bin"))
    return [name for name in names if name.split("_")[0] in FUNCTIONS]


def load(path):
    with open(path, "rb") as file:
        return torch.compiler.load_compiled_function(file)


def run(directory):
    """Calls each saved function twice: loaded in a block of `prepare_debug`, where its dumped files run, and loaded
    without a block."""
    import depyf

    results = {}
    for name in saved_functions(directory):
        arguments = example_inputs(name)
        if name.startswith("method"):
            arguments = (Scaled(), *arguments)
        expected = load(directory / f"{name}.bin")(*arguments)
        with depyf.prepare_debug(directory / "dumps" / name) as session:
            served = load(directory / f"{name}.bin")
        (frame,) = session.frames
        same = torch.equal(served(*arguments), expected)
        results[name] = [same, bool(frame.proved), frame.running, [artifact.running for artifact in frame.artifacts]]
    print(json.dumps(results))


def locals_of(loaded, arguments):
    """Returns the locals that the guards of a loaded function check."""
    if hasattr(loaded, "prepare_f_locals"):
        return loaded.prepare_f_locals(*arguments)
    from torch._dynamo.aot_compile import bind_locals  # releases before 2.11

    environment = loaded._artifacts.runtime_env
    cells = zip(environment.bytecode.co_freevars, environment.closure or ())
    return {name: cell.cell_contents for name, cell in cells} | bind_locals(loaded._artifacts.signature, *arguments)


def verdicts(directory, count):
    from depyf import _core

    results = {}
    for name in saved_functions(directory):
        loaded = load(directory / f"{name}.bin")
        text, _, _ = _core.open_artifact(str(directory / f"{name}.bin"), [], True)
        namespace = {}
        exec(json.loads(text)["artifacts"][0]["parts"][0]["guard_source"], namespace)
        rng = random.Random(name)
        accepted, refused, wrong = 0, 0, []
        for _ in range(count):
            arguments = example_inputs(name)
            if name.startswith("method"):
                arguments = (Scaled(), *arguments)
            arguments = [changed(each, rng) if rng.random() < 0.4 else each for each in arguments]
            with rng.choice(states())():
                scope = locals_of(loaded, arguments)
                expected = loaded.guard_check(*arguments)
                verdict = namespace["guards"](scope, loaded.fn.__globals__)
            accepted += expected
            refused += not expected
            if verdict != expected:
                wrong.append(repr(arguments)[:300])
        results[name] = [accepted, refused, wrong]
    print(json.dumps(results))


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(Path(sys.argv[1]))
    elif sys.argv[2] == "every":
        save_every(Path(sys.argv[1]))
    elif sys.argv[2] == "run":
        run(Path(sys.argv[1]))
    elif sys.argv[2] == "pairs":
        save_pairs(Path(sys.argv[1]))
    else:
        verdicts(Path(sys.argv[1]), int(sys.argv[2]))
