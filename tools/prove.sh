#!/bin/bash
# Runs the long tests of the prover: mutants, random pairs, and the standard library of each installed interpreter.
# MUTANTS, PAIRS and SAMPLE (files of each library; 0: all) limit the numbers; PYTHONS names the interpreters.
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python
"$python" tools/prove/mutants.py --count "${MUTANTS:-10000}"
"$python" tools/prove/differential.py --pairs "${PAIRS:-100000}"
for other in ${PYTHONS:-$(ls "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.{8,9,1}*/bin/python 2>/dev/null || echo "$python")}; do
  "$python" tools/prove/stdlib.py --python "$other" --sample "${SAMPLE:-0}"
  "$python" tools/prove/stdlib.py --python "$other" --sample 60 --command build/dev/depyf-decompile --check
  "$python" tools/prove/agreement.py --python "$other" --sample "${SAMPLE:-0}"
done
