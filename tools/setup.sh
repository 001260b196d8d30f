#!/bin/bash
# Installs everything that `make` needs: .venv with the packages of requirements-dev.txt and torch, Debian packages for
# the C++ tests, for the tests of the report in a browser, and for the map in the report. The script asks no questions,
# and does nothing if everything is installed. The script's arguments are further Debian packages (see `make fuzz`).
set -euo pipefail
cd "$(dirname "$0")/.."
torch=torch==2.13.0
debian=(doctest-dev chromium node-typescript node-dagre-layout patch "$@")

find_python() {
  local candidate
  for candidate in "${PYTHON:-}" python3.11 "$HOME"/.pyenv/versions/3.11*/bin/python3 python3 python; do
    if [ -n "$candidate" ] && "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
      # the real path, not that of a shim, which may select another version later
      "$candidate" -c 'import sys; print(sys.executable)'
      return
    fi
  done
  echo 'setup: no Python 3.11 found; install it or say where it is: make PYTHON=/path/to/python3.11' >&2
  return 1
}

install_python_packages() {
  local stamp=.venv/.installed want
  want=$(cat requirements-dev.txt; echo "$torch")
  if [ "$(cat "$stamp" 2>/dev/null)" = "$want" ]; then return; fi
  local python
  python=$(find_python)
  if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    echo "setup: making .venv"
    "$python" -m venv .venv
  fi
  echo "setup: installing $torch and the packages of requirements-dev.txt into .venv"
  .venv/bin/python -m pip install -qq --disable-pip-version-check "$torch" -r requirements-dev.txt
  # A .pth file puts the folder `python` of the checkout, with the built extension module, on sys.path of .venv.
  .venv/bin/python -c 'import os, sysconfig
print(os.path.abspath("python"), file=open(sysconfig.get_path("purelib") + "/depyf-checkout.pth", "w"))'
  echo "$want" > "$stamp"
}

install_debian_packages() {
  local missing=() package
  for package in "${debian[@]}"; do
    if [ "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" != 'install ok installed' ]; then
      missing+=("$package")
    fi
  done
  if [ ${#missing[@]} = 0 ]; then return; fi
  local apt=(apt-get)
  if [ "$(id -u)" != 0 ]; then apt=(sudo -n apt-get); fi
  echo "setup: installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  "${apt[@]}" install -y -qq "${missing[@]}" >/dev/null 2>&1 ||
    { "${apt[@]}" update -qq && "${apt[@]}" install -y -qq "${missing[@]}"; } >/dev/null 2>&1 ||
    echo "setup: could not install ${missing[*]}; install them by hand (the C++ tests and those of the report need them)" >&2
}

for tool in g++ flock; do
  command -v $tool >/dev/null || { echo "setup: $tool is missing" >&2; exit 1; }
done
mkdir -p .cache
exec 9> .cache/setup.lock  # because two concurrent runs would damage .venv
flock 9
install_python_packages
install_debian_packages
