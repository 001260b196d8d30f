#!/bin/bash
# Runs each libFuzzer target of fuzz/ for SECONDS_EACH seconds (default 60), with the address and undefined behaviour
# sanitizers; TARGETS="fuzz_prove fuzz_trace" selects some targets.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${SECONDS_EACH:-60}
tools/setup.sh clang-19 libclang-rt-19-dev
tools/build.sh fuzz
# Seeds are the compiled files of tests/cases, and fuzz/corpus, which has inputs on which a target failed once.
mkdir -p build/fuzz-seeds
.venv/bin/python - build/fuzz-seeds tests/cases/*/*.py <<'PYTHON'
import pathlib, py_compile, sys
for source in sys.argv[2:]:
    name = "-".join(pathlib.Path(source).with_suffix("").parts[-2:])
    try:
        py_compile.compile(source, cfile=f"{sys.argv[1]}/{name}", doraise=True)
    except py_compile.PyCompileError:
        pass  # the case needs a later Python
PYTHON
# Pickles of each protocol are seeds too.
.venv/bin/python - build/fuzz-seeds <<'PYTHON'
import collections, pathlib, pickle, sys
recursive = [{"key": (1, 2.5, None)}, {3}, frozenset([2**70]), b"bytes", bytearray(b"more"), "text \xe9\u20ac", len]
recursive += [recursive, collections.OrderedDict(a=1), slice(1, 2), complex(1, 2), -(2**100)]
for protocol in range(6):
    pathlib.Path(f"{sys.argv[1]}/pickle-{protocol}").write_bytes(pickle.dumps(recursive, protocol))
PYTHON
for source in fuzz/*.cpp; do
  target=$(basename "$source" .cpp)
  case " ${TARGETS:-$target} " in *" $target "*) ;; *) continue ;; esac
  mkdir -p "build/fuzz-corpus/$target"
  echo "fuzz: $target, $seconds s"
  "build/fuzz/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=0 \
    -verbosity=0 -artifact_prefix="build/fuzz-corpus/$target-" "build/fuzz-corpus/$target" fuzz/corpus build/fuzz-seeds
done
