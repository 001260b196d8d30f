#!/bin/bash
# Installs the wheels of dist/ into fresh environments of CPython 3.10 to 3.14, and runs check.py there: without
# PyTorch, and with the PyTorch of an existing environment of the same version. TORCH="/path/of/environment ..." names
# such environments beside .venv. The output ends with auditwheel's report on the wheels.
set -euo pipefail
cd "$(dirname "$0")/../.."
unset PYTHONPATH
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TORCHINDUCTOR_CACHE_DIR=$work/inductor
status=0

packages_of() { "$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }
version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'; }
check() {  # LABEL ENVIRONMENT ARGUMENT...
  local label=$1 environment=$2
  shift 2
  if .venv/bin/python -m pip --disable-pip-version-check --python "$environment/bin/python" install -qq --no-index \
    --find-links "$root/dist" --only-binary depyf depyf 2>"$work/pip" &&
    (cd "$work" && "$environment/bin/python" -W ignore "$root/tools/wheels/check.py" "$root/examples/toy.py" "$@" > "$work/said"); then
    echo "wheels: $label: works: $(cat "$work/said")"
  else
    cat "$work/pip" >&2
    echo "wheels: $label: fails"
    status=1
  fi
}

# This dump is for the check of depyf-report in environments without PyTorch, which cannot write a dump.
(cd "$work" && PYTHONPATH=$root/python:$root/examples "$root/.venv/bin/python" -W ignore -c "
import depyf, toy, torch
with depyf.prepare_debug('dump'):
    toy.toy_example(torch.randn(10), torch.ones(10))")

for version in ${VERSIONS:-3.10 3.11 3.12 3.13 3.14}; do
  python=$(tools/find_python.sh "$version")
  if [ -z "$python" ]; then
    echo "wheels: $version: no such interpreter here"
    continue
  fi
  tools/venv.sh "$python" "$work/$version"
  check "$version" "$work/$version" "$work/dump"
  for torch in .venv ${TORCH:-}; do
    [ "$(version_of "$torch/bin/python")" = "$version" ] || continue
    # packages.pth makes the packages of environment $torch importable in a fresh environment, in which .pth files of
    # $torch are not read.
    tools/venv.sh "$python" "$work/torch-$version"
    packages_of "$torch/bin/python" > "$(packages_of "$work/torch-$version/bin/python")/packages.pth"
    check "$version with PyTorch" "$work/torch-$version"
  done
done
for wheel in dist/*.whl; do PATH="$root/build/wheels/tools/bin:$PATH" auditwheel show "$wheel" | awk 'NR < 4 && NF'; done
exit $status
