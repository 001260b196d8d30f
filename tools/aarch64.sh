#!/bin/bash
# Cross-compiles the core for 64-bit ARM, and runs it with qemu-user. The C++ tests have to pass, and depyf-decompile
# has to print the same bytes as the command of this machine, for MODULES (20) modules of CPython 3.12. A wheel of the
# stable ABI is built into dist/, tagged, and loaded by Debian's CPython for ARM. CONFIGURE passes options to cmake.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$root/build/wheels-aarch64
tools/setup.sh g++-aarch64-linux-gnu qemu-user
export PATH="$root/.venv/bin:$PATH"
if [ -z "${CMAKE_CXX_COMPILER_LAUNCHER:-}" ] && command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
emulate=(qemu-aarch64 -L /usr/aarch64-linux-gnu)

echo "aarch64: the core, the commands and the C++ tests"
cmake --preset aarch64 >/dev/null
cmake --build --preset aarch64 --parallel 2 --target depyf_tests depyf-decompile depyf-report >/dev/null
"${emulate[@]}" build/aarch64/depyf_tests

python=$(PYTHONPATH=tests .venv/bin/python -c 'import interpreters; print(interpreters.interpreter((3, 12)) or "")')
[ -n "$python" ] || { echo 'aarch64: CPython 3.12 is needed, and not here' >&2; exit 1; }
.venv/bin/python tools/compare_commands.py "$python" "${MODULES:-20}" "build/dev/depyf-decompile" -- "${emulate[@]}" \
  build/aarch64/depyf-decompile

echo "aarch64: the wheel"
arm=$work/python
[ -x "$arm/bin/python3.14" ] || tools/combinations/debian_python.sh 3.14 "$arm" arm64 >/dev/null
environment=$work/build-3.12
if [ ! -d "$environment" ]; then
  tools/venv.sh "$python" "$environment"
  .venv/bin/python -m pip --disable-pip-version-check --python "$environment/bin/python" install -qq \
    $(grep -E '^(cmake|nanobind|ninja|scikit-build-core)==' requirements-dev.txt)
fi
rm -rf "$work/raw" "$work/site"
# The extension for the stable ABI is compiled with the headers of CPython 3.12. Only pyconfig.h depends on the
# processor, so it is replaced by Debian's file for ARM.
headers=$work/headers
rm -rf "$headers"
cp -r "$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')" "$headers"
cp "$(echo "$arm"/tree/usr/include/aarch64-linux-gnu/python3.*/pyconfig.h)" "$headers"
defines=("DEPYF_CORE=$root/build/aarch64/libdepyf_core.a" DEPYF_STATIC=ON "CMAKE_TOOLCHAIN_FILE=$root/cmake/aarch64.cmake"
  "Python_INCLUDE_DIR=$headers")
SKBUILD_CMAKE_DEFINE=$(IFS=';'; echo "${defines[*]}") _PYTHON_HOST_PLATFORM=linux-aarch64 PATH="$environment/bin:$PATH" \
  .venv/bin/python -m pip --disable-pip-version-check --python "$environment/bin/python" wheel -qq --no-deps --no-build-isolation \
  --wheel-dir "$work/raw" .
# auditwheel searches the cross compiler's target libraries (--ldpaths), and takes the platform tag from the newest
# glibc symbol that the wheel uses.
tools/wheels/environment.sh
mkdir -p dist
rm -f dist/depyf-*_aarch64.whl
PATH="$root/build/wheels/tools/bin:$PATH" auditwheel repair --plat auto --only-plat --ldpaths /usr/aarch64-linux-gnu/lib \
  --wheel-dir dist "$work"/raw/depyf-*.whl 2>"$work/auditwheel.log" >&2 || { cat "$work/auditwheel.log" >&2; exit 1; }
wheel=$(echo dist/depyf-*manylinux_2_34_aarch64.whl)
.venv/bin/python -m zipfile -e "$wheel" "$work/site"
(cd "$work" && PYTHONPATH=$work/site "$arm/bin/python3.14" -c "
import platform, depyf
assert platform.machine() == 'aarch64' and depyf.__file__.startswith('$work'), depyf.__file__
print(depyf.decompile(lambda items: [item + 1 for item in items if item]))")
echo "aarch64: $(basename "$wheel") is loaded by CPython 3.14 for ARM, and decompiles"
