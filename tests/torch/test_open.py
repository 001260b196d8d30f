"""`depyf open` of files that PyTorch saved: functions compiled ahead of time, bundles of caches, directories."""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import depyf
import torch
from depyf import _core
from depyf.cli import main
from torch_helpers import ENVIRONMENT

PROGRAM = Path(__file__).parent / "ahead_of_time.py"
VERDICTS = 300
"""The number of inputs for each loaded artifact. With 1,000 inputs for each of 8 artifacts, all verdicts were the
same."""


def run_program(*arguments):
    command = [sys.executable, str(PROGRAM), *map(str, arguments)]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True, timeout=300).stdout


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    run_program(folder)
    return folder


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    run_program(folder, "pairs")
    return folder


def opened(path):
    text, errors, is_whole = _core.open_artifact(str(path), sys.path, True)
    assert is_whole, errors
    return json.loads(text)["artifacts"]


def only_part(path):
    (artifact,) = opened(path)
    (part,) = artifact["parts"]
    return part


FUNCTIONS = ["plain", "plain_eager", "plain_aot_eager", "filtered", "sized", "containers", "closure", "method", "model"]
FUNCTIONS += ["custom", "transformer"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_shown_and_proved(saved, name):
    part = only_part(saved / f"{name}.bin")
    original, transformed = part["functions"]
    assert (original["role"], transformed["role"]) == ("original", "transformed")
    for function in (original, transformed):
        assert function["proved"], function
        assert function["file"] == (torch.nn.modules.transformer.__file__ if name == "transformer" else str(PROGRAM))
        ast.parse(function["source"])
    assert "__compiled_fn" in transformed["source"]
    assert part["notes"] == [] or name == "closure"
    assert part["facts"]["Python"].startswith("3.")
    assert part["facts"]["device"] == "cpu"
    assert {source["match"] for source in part["sources"]} == {"the same here"}
    ast.parse(part["guard_source"])
    for stage in part["stages"]:
        assert stage["text"].strip()


def test_stages_of_the_backends(saved):
    titles = {name: [stage["title"] for stage in only_part(saved / f"{name}.bin")["stages"]] for name in FUNCTIONS[:3]}
    assert titles == {
        "plain": ["graph of AOTAutograd, forward", "graph after Inductor's passes, forward", "output code, forward"],
        "plain_eager": ["graph"],
        "plain_aot_eager": ["graph of AOTAutograd, forward", "graph that runs, forward"],
    }
    output_code = only_part(saved / "plain.bin")["stages"][2]
    assert output_code["is_code"]
    ast.parse(output_code["text"])


def test_guards_have_the_verdict_of_the_loaded_function(saved):
    results = json.loads(run_program(saved, VERDICTS).splitlines()[-1])
    assert len(results) == 8
    for name, (accepted, refused, wrong) in results.items():
        assert not wrong, (name, wrong)
        assert min(accepted, refused) > VERDICTS // 10, (name, accepted, refused)


def test_what_no_guard_checks_is_said(saved):
    sized = only_part(saved / "sized.bin")["unchecked"]
    assert len(sized) == 1
    assert "the globals SCALE" in sized[0]
    filtered = " ".join(only_part(saved / "filtered.bin")["unchecked"])
    assert "grad mode, autocast, default dtype" in filtered
    assert "grad mode" not in " ".join(only_part(saved / "plain.bin")["unchecked"])


def test_bundles_have_their_entries_with_keys(saved):
    (artifact,) = opened(saved / "bundle.bin")
    kinds = {part["kind"] for part in artifact["parts"]}
    assert {"aot_autograd", "inductor"} <= kinds
    inductor = next(part for part in artifact["parts"] if part["kind"] == "inductor")
    assert inductor["key"] == inductor["facts"]["key in Inductor's cache"]
    names = [part["name"] for part in inductor["key_parts"]]
    assert "inductor_config[max_autotune]" in names
    assert "gm" in names
    titles = [stage["title"] for part in artifact["parts"] for stage in part["stages"]]
    assert "output code" in titles
    assert "graph of AOTAutograd, backward" in titles


def test_graphs_of_a_server_are_found_in_its_own_state(saved):
    part = only_part(saved / "custom.bin")
    assert part["facts"]["what is compiled is loaded by"] == "__main__.Callable.deserialize_compile_artifacts"
    assert part["facts"]["prefix"] == "'model.layers'"
    (graph,) = part["stages"]
    assert "torch.relu" in graph["text"]


def test_entries_of_dynamo_have_resume_functions(saved):
    (artifact,) = opened(saved / "precompile.bin")
    parts = [part for part in artifact["parts"] if part["functions"]]
    assert [[function["role"] for function in part["functions"]] for part in parts] == [
        ["original", "transformed"],
        ["resume", "transformed"],
    ]
    assert all(function["proved"] for part in parts for function in part["functions"])
    assert all(part["guards"] and part["kind"] == "precompile" for part in parts)
    assert "__resume_at" in parts[0]["functions"][1]["source"]


def test_a_directory_of_ranks_is_opened_file_by_file(saved, capsys):
    assert main(["open", str(saved / "torch_aot_compile")]) == 0
    text = capsys.readouterr().out
    names = [line.partition(":")[0] for line in text.splitlines()[:2]]
    assert [name.split("/")[1:] for name in names] == [["rank_0_0", "model"], ["rank_1_0", "model"]]
    assert text.count("transformed code (") == 2


def test_a_process_without_torch_shows_the_same(saved, capsys):
    path = str(saved / "plain.bin")
    program = f"import sys; sys.modules['torch'] = None; from depyf.cli import main; sys.exit(main(['open', {path!r}]))"
    alone = subprocess.run([sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert main(["open", path]) == 0
    assert alone.stdout == capsys.readouterr().out
    assert "def plain(x, y):\n        z = x.sin() + y\n" in alone.stdout
    assert "all names belong to PyTorch, the standard library of Python or SymPy" in alone.stdout


def test_changed_sources_are_noticed(pairs):
    base = pairs / "first"
    text, _, _ = _core.open_artifact(str(pairs / "base.bin"), [str(pairs / "second")], True)
    (source,) = json.loads(text)["artifacts"][0]["parts"][0]["sources"]
    assert (source["match"], source["path"]) == ("changed here", str(pairs / "second" / "changing.py"))
    text, _, _ = _core.open_artifact(str(pairs / "base.bin"), [str(base)], True)
    (source,) = json.loads(text)["artifacts"][0]["parts"][0]["sources"]
    assert source["match"] == "the same here"
    assert source["text_has_checksum"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("source", "source of changing:5-7 differs from line 3 on: `return y * 2` became `return y * 3`"),
        ("dtype", "`L['x'].dtype == torch.float32` became `L['x'].dtype == torch.float64`"),
        ("size", "`tuple(L['x'].size()) == (8, 4)` became `tuple(L['x'].size()) == (3, 4)`"),
        ("device", "device: cpu became meta"),
        ("requires_grad", "`L['x'].requires_grad == False` became `L['x'].requires_grad == True`"),
        ("dynamic", "guards: nothing became `2 <= L['x'].size()[0]`"),
        ("grad_mode", "state of the process that the guards require: grad_mode: true became false"),
        (
            "default_dtype",
            "state of the process that the guards require: default_dtype: torch.float32 became torch.float64",
        ),
        ("backend", "backend: eager became aot_eager"),
        ("torch_version", "torch: 2."),
    ],
)
def test_the_respect_in_which_two_differ_is_named(pairs, capsys, name, words):
    assert main(["open", str(pairs / "base.bin"), str(pairs / f"{name}.bin")]) == 1
    assert words in capsys.readouterr().out


def test_another_configuration_is_named(pairs, capsys):
    assert main(["open", str(pairs / "inductor.bin"), str(pairs / "config.bin")]) == 1
    assert "torch._inductor.config.size_asserts: none became False" in capsys.readouterr().out


def test_the_parts_of_a_key_that_differ_are_named(pairs, capsys):
    assert main(["open", str(pairs / "cache.bin"), str(pairs / "cache_config.bin")]) == 1
    text = capsys.readouterr().out
    assert "key: torch._inductor.config.size_asserts: True became False" in text
    assert "max_autotune" not in text


def test_two_compilations_of_the_same_do_not_differ(pairs, capsys):
    assert main(["open", str(pairs / "base.bin"), str(pairs / "again.bin")]) == 0
    assert capsys.readouterr().out == "no difference in the parts that depyf reads\n"
    assert main(["open", "--json", str(pairs / "base.bin"), str(pairs / "base.bin")]) == 0
    assert json.loads(capsys.readouterr().out) == {"differences": []}


# Misses of caches


def recorded_miss(pairs, path):
    """Writes and returns a record of a cache miss, like those in PyTorch's trace, for the key of an entry that was
    written with another setting."""
    (artifact,) = opened(pairs / "cache_config.bin")
    part = next(part for part in artifact["parts"] if part["kind"] == "inductor")
    components = [f"[{each['hash']}] {each['name']}: {each['value']}" for each in part["key_parts"]]
    record = {"key": part["key"], "cache_state": "miss", "components": components}
    path.write_text(json.dumps(record))
    return record


def test_a_recorded_miss_is_compared_with_the_nearest_entry(pairs, tmp_path, capsys):
    recorded_miss(pairs, tmp_path / "miss.json")
    (part,) = opened(tmp_path / "miss.json")[0]["parts"]
    assert part["facts"] == {"answer": "miss"}
    assert main(["open", str(tmp_path / "miss.json"), str(pairs / "cache.bin")]) == 1
    first, *lines = capsys.readouterr().out.splitlines()
    # the entry of AOTAutograd also contains the parts of Inductor's key
    assert first.startswith("the nearest of 2 entries is ")
    assert lines == ["key: torch._inductor.config.size_asserts: True became False"]
    assert main(["open", str(tmp_path / "miss.json"), str(pairs / "base.bin")]) == 1
    assert "no entry of inductor contains the parts of its key" in capsys.readouterr().out


def test_a_block_says_why_a_cache_missed(pairs, tmp_path, monkeypatch):
    import torch._inductor.runtime.runtime_utils
    from torch.compiler._cache import CacheArtifactManager

    record = recorded_miss(pairs, tmp_path / "miss.json")
    entries = CacheArtifactManager.deserialize((pairs / "cache.bin").read_bytes())["inductor"]
    folder = tmp_path / "cache" / "fxgraph" / "ab"
    folder.mkdir(parents=True)
    (folder / "entry").write_bytes(entries[0].content)
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))

    def backend(graph_module, inputs):
        torch._logging.trace_structured(
            "artifact",
            metadata_fn=lambda: {"name": "fx_graph_cache_miss", "encoding": "json"},
            payload_fn=lambda: json.dumps(record),
        )
        return graph_module.forward

    torch._dynamo.reset()
    with depyf.prepare_debug(tmp_path / "dump") as session:
        torch.compile(lambda x: x.sin(), backend=backend)(torch.ones(2))
    (miss,) = session.frames[0].misses
    assert miss.cache == "Inductor"
    assert miss.differences[1:] == ["key: torch._inductor.config.size_asserts: True became False"]
    assert "with these differences: key: torch._inductor.config.size_asserts" in (
        tmp_path / "dump" / "compilation_0_0.md"
    ).read_text().replace("\\", "")
    assert opened(tmp_path / "dump" / miss.file)[0]["parts"][0]["key"] == record["key"]


# The tests below assemble the two files of torch.compiler.precompile (2.15) as PyTorch does.


def broken(x):
    y = x.sin()
    torch._dynamo.graph_break()
    return y * 2


def precompiled(folder):
    """Writes the two files of a capture of `broken`."""
    from torch._dynamo.package import CompilePackage

    torch._dynamo.reset()
    package = CompilePackage(broken)
    keep = torch.compiler.keep_portable_guards_unsafe
    torch._dynamo.optimize("eager", package=package, guard_filter_fn=keep)(broken)(torch.ones(4))
    frames = [
        {
            "is_entry": number == 0,
            "bypassed": False,
            "trivial": False,
            "code": code.python_code,
            "python_module": code.python_module,
            "resume_names": list(code.function_names) if code.install_to_global else [],
            "variants": [
                {"guards_state": each.guards_state, "dynamo_code": each.dynamo_code} for each in code.guarded_codes
            ],
        }
        for number, code in enumerate(package.cache_entry().codes)
    ]
    version = tuple(sys.version_info[:2])
    text = PRECOMPILED.format(version=version, frames=base64.b64encode(pickle.dumps(frames)).decode())
    (folder / "model.py").write_text(text)
    checksum = hashlib.sha256(text.encode()).hexdigest()
    cache = {"format": "torch.compiler.precompile", "version": 1, "backend": "eager", "code_hash": checksum}
    torch.save({**cache, "artifact": None}, folder / "model.cache")
    return cache


PRECOMPILED = """\
# Generated by torch.compiler.precompile (multi-graph) -- do not edit.

# ======================================================================
# 1. What was captured (readable)
# ======================================================================
BACKEND = 'eager'
FN_NAME = 'broken'
_DYNAMO_PYTHON_VERSION = {version!r}
TORCH_VERSION = '2.15.0'
DROPPED_GUARDS = [['CLOSURE_MATCH', "G['torch']._dynamo.graph_break"], ['TENSOR_MATCH', "x"]]
# ======================================================================
# 2. Guard trees and transformed bytecode -- OPAQUE
# ======================================================================
_FRAMES = '{frames}'
raise AssertionError("depyf runs nothing")
"""


def test_the_source_of_a_precompiled_function_is_opened(tmp_path):
    precompiled(tmp_path)
    (artifact,) = opened(tmp_path / "model.py")
    assert "torch.compiler.precompile" in artifact["format"]
    whole, entry, resumed = artifact["parts"]
    assert whole["facts"]["torch"] == "2.15.0"
    said = " ".join(whole["unchecked"])
    assert "G['torch']._dynamo.graph_break could not be saved: that another object is in its place" in said
    assert (
        "on x could not be saved: a call with another dtype, device, size or requires_grad will not be noticed" in said
    )
    for part in (entry, resumed):
        assert [function["proved"] for function in part["functions"]] == [True, True]
        assert "L['" in part["guard_source"]
    assert "__resume_at" in entry["functions"][1]["source"]
    assert resumed["functions"][0]["role"] == "resume"


def test_the_cache_of_a_precompiled_function_is_opened_with_its_pair(pairs, tmp_path):
    cache = precompiled(tmp_path)
    (artifact,) = opened(tmp_path / "model.cache")
    assert artifact["parts"][0]["facts"]["source"] == "model.py is unchanged"
    assert [Path(each["name"]).name for each in opened(tmp_path)] == ["model.cache", "model.py"]
    bundle = (pairs / "cache.bin").read_bytes()
    torch.save({**cache, "artifact": bundle}, tmp_path / "model.cache")
    (artifact,) = opened(tmp_path / "model.cache")
    assert [part["kind"] for part in artifact["parts"][1:]] == [
        part["kind"] for part in opened(pairs / "cache.bin")[0]["parts"]
    ]
    (tmp_path / "model.py").write_text("# another one")
    (artifact,) = opened(tmp_path / "model.cache")
    assert artifact["parts"][0]["facts"]["source"] == "model.py has changed, so PyTorch refuses the pair"


def test_what_cannot_be_read_is_an_error(tmp_path, capsys):
    assert main(["open", str(tmp_path / "missing")]) == 1
    assert "missing: cannot be read; only regular files" in capsys.readouterr().err
    assert main(["open", str(tmp_path)]) == 1
    assert "contains no file in which PyTorch saved" in capsys.readouterr().err
    os.mkfifo(tmp_path / "pipe")
    assert main(["open", str(tmp_path / "pipe")]) == 1
