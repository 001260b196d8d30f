#!/bin/bash
# A virtual environment without pip, also of an interpreter that has a loader of its own: venv.sh PYTHON DIR
set -euo pipefail
python=$1 dir=$2
rm -rf "$dir"
"$python" -m venv --without-pip "$dir"
if ! "$dir/bin/python" -c '' 2>/dev/null; then
  # A link to it is not enough (see tools/combinations/debian_python.sh).
  rm "$dir"/bin/*python*
  printf '#!/bin/sh\nDEPYF_ARGV0=%s exec %s "$@"\n' "$dir/bin/python" "$python" > "$dir/bin/python"
  chmod +x "$dir/bin/python"
fi
