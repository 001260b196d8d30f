#!/bin/bash
# The environment with what makes and checks wheels (requirements.txt): build/wheels/tools. It is made where it is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=build/wheels/tools
if [ "$(cat $tools/.installed 2>/dev/null)" != "$(cat tools/wheels/requirements.txt)" ]; then
  mkdir -p build/wheels
  .venv/bin/python -m venv $tools
  $tools/bin/python -m pip --disable-pip-version-check install -qq -r tools/wheels/requirements.txt
  cp tools/wheels/requirements.txt $tools/.installed
fi
