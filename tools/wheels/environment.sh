#!/bin/bash
# Creates build/wheels/tools, the environment with the packages of requirements.txt, which build and check wheels,
# unless it is up to date.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=build/wheels/tools
if [ "$(cat $tools/.installed 2>/dev/null)" != "$(cat tools/wheels/requirements.txt)" ]; then
  mkdir -p build/wheels
  .venv/bin/python -m venv $tools
  $tools/bin/python -m pip --disable-pip-version-check install -qq -r tools/wheels/requirements.txt
  cp tools/wheels/requirements.txt $tools/.installed
fi
