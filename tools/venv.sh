#!/bin/bash
# Creates a virtual environment without pip, also for an interpreter with a dynamic loader of its own: venv.sh PYTHON
# DIR
set -euo pipefail
python=$1 dir=$2
rm -rf "$dir"
"$python" -m venv --without-pip "$dir"
if ! "$dir/bin/python" -c '' 2>/dev/null; then
  # A symbolic link to the interpreter does not work if the interpreter is a wrapper script (see
  # tools/combinations/debian_python.sh).
  rm "$dir"/bin/*python*
  printf '#!/bin/sh\nDEPYF_ARGV0=%s exec %s "$@"\n' "$dir/bin/python" "$python" > "$dir/bin/python"
  chmod +x "$dir/bin/python"
fi
