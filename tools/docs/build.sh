#!/bin/bash
# Builds the documents into build/site with an environment of its own; a warning, such as that of a dead link, is an
# error.
set -euo pipefail
cd "$(dirname "$0")/../.."
environment=.cache/docs-env
if [ "$(cat $environment/.installed 2>/dev/null)" != "$(cat docs/requirements.txt)" ]; then
  echo "docs: installing the packages of docs/requirements.txt into $environment"
  .venv/bin/python -m venv --clear $environment
  $environment/bin/python -m pip install -qq --disable-pip-version-check -r docs/requirements.txt
  cp docs/requirements.txt $environment/.installed
fi
# NO_MKDOCS_2_WARNING suppresses an advertisement of the theme, which would hide warnings of the build. The build runs
# without --quiet, because --strict counts no warnings that --quiet suppresses.
export NO_MKDOCS_2_WARNING=1
if ! $environment/bin/mkdocs build --strict --clean > .cache/docs-build.log 2>&1; then
  grep -v '^INFO' .cache/docs-build.log >&2
  exit 1
fi
