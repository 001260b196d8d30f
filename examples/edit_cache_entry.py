"""Take a cache entry, change what it computes and when it may be used, run its halves by hand, and give it to Dynamo.

python examples/edit_cache_entry.py [BACKEND]
"""

import sys

import depyf
import torch


def toy_example(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


def scaled(source):
    """The entry's source, with `b * 10` fed to its graph and what it returns multiplied by 100."""
    lines = []
    for line in source.splitlines():
        if line.rstrip().endswith("(a, b)"):  # the call of the graph
            line = line.replace("(a, b)", "(a, b * 10)")
        head, is_return, value = line.partition("return ")
        lines.append(f"{head}return 100 * ({value})" if is_return else line)
    return "\n".join(lines)


def main(backend="inductor"):
    compiled = torch.compile(toy_example, backend=backend)
    a, b = torch.randn(10), torch.rand(10)
    expected = compiled(a, b)

    # All that Dynamo holds of the function, as Python.
    (entry,) = depyf.cache_entries(compiled)
    print(entry.source)
    for guard in entry.guards:
        print(f"guard: {guard.text}")
    for graph in entry.graphs:
        print(f"graph: {graph.name}, inputs {graph.placeholders}")

    # A copy: other code, and the guards on b replaced by one.
    edited = entry.edit(source=scaled(entry.source), replace={"L['b']": "L['b'].dim() == 1 and L['b'].min() >= 0"})
    print(edited)

    # Its halves by hand.
    assert edited.check(a, b)
    assert torch.allclose(edited.run(a, b), 100 * expected)
    print(edited.check(a, -b))

    # Given back: the next call runs it, and compiles nothing.
    compiles = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    with edited.register():
        print(depyf.dispatch(compiled, a, b))
        assert torch.allclose(compiled(a, b), 100 * expected)
        assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == compiles
        # What its guards refuse takes the ordinary path.
        assert torch.allclose(compiled(a, -b), toy_example(a, -b))

    # Taken away: all is as before.
    assert torch.allclose(compiled(a, b), expected)
    assert not depyf.registered()
    print("done")


if __name__ == "__main__":
    main(*sys.argv[1:])
