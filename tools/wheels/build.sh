#!/bin/bash
# Builds the files of a release into dist/: the archive of the source, a wheel each for CPython 3.10 and 3.11, one wheel
# for all versions from 3.12 on (stable ABI), and the commands as static binaries with their manual page. The wheels are
# built from the archive, which shows that the archive is complete. CORE=FILE names a libdepyf_core.a of the same
# compiler; without CORE the core is compiled with a profile (tools/profiled.sh), which takes ten minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
unset PYTHONPATH
root=$PWD
work=$root/build/wheels
machine=$(uname -m)
if [ -z "${CMAKE_CXX_COMPILER_LAUNCHER:-}" ] && command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
# one compiler for all wheels; by default, each CPython would use the compiler that built it
export CXX=${CXX:-$(command -v g++ || command -v c++)}
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-2}
export PATH="$root/.venv/bin:$PATH"
mkdir -p "$work" dist
rm -f dist/depyf-*

tools/wheels/environment.sh

echo "wheels: the archive of the source"
.venv/bin/python -c 'import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])' dist
archive=$(echo dist/depyf-*.tar.gz)
rm -rf "$work/source"
mkdir "$work/source"
tar -xzf "$archive" -C "$work/source" --strip-components=1

core=${CORE:-}
if [ -z "$core" ]; then
  echo "wheels: the core"
  tools/profiled.sh build/profiled depyf-decompile
  core=build/profiled/libdepyf_core.a
fi
core=$(realpath "$core")

echo "wheels: static binaries"
name=$(basename "$archive" .tar.gz)-linux-$machine
rm -rf "${work:?}/$name"
cmake -G Ninja -S "$work/source" -B "$work/static" -DCMAKE_BUILD_TYPE=Release -DDEPYF_BUILD_EXTENSION=OFF -DDEPYF_STATIC=ON \
  -DDEPYF_CORE="$core" >/dev/null
cmake --build "$work/static" >/dev/null
cmake --install "$work/static" --strip --prefix "$work/$name" >/dev/null
for command in "$work/$name"/bin/*; do
  ! readelf -l "$command" | grep -q INTERP || { echo "wheels: $command is not static" >&2; exit 1; }
done
cp LICENSE "$work/$name"
tar -C "$work" --owner=0 --group=0 -czf "dist/$name.tar.gz" "$name"

# The commands in the wheels are static too, since otherwise the newest glibc symbol of the commands, not of the
# extension, would determine the platform tag of the wheel.
export SKBUILD_CMAKE_DEFINE="DEPYF_CORE=$core;DEPYF_STATIC=ON"
for version in 3.10 3.11 3.12; do
  echo "wheels: CPython $version"
  python=$(tools/find_python.sh "$version")
  [ -n "$python" ] || { echo "wheels: CPython $version is needed, and not here" >&2; exit 1; }
  # The environment is kept for the next run, so that ccache finds headers under the same paths.
  environment=$work/build-$version
  if [ ! -d "$environment" ]; then
    tools/venv.sh "$python" "$environment"
    .venv/bin/python -m pip --disable-pip-version-check --python "$environment/bin/python" install -qq \
      $(grep -E '^(cmake|nanobind|ninja|scikit-build-core)==' requirements-dev.txt)
  fi
  rm -rf "$work/raw"
  PATH="$environment/bin:$PATH" .venv/bin/python -m pip --disable-pip-version-check --python "$environment/bin/python" wheel -qq \
    --no-deps --no-build-isolation --wheel-dir "$work/raw" "$work/source"
  # auditwheel fails if the wheel uses a symbol that is newer than glibc 2.34, so no wheel with a narrower platform tag
  # is built.
  PATH="$work/tools/bin:$PATH" auditwheel repair --plat "manylinux_2_34_$machine" --wheel-dir dist "$work"/raw/depyf-*.whl \
    2>"$work/auditwheel.log" >&2 || { cat "$work/auditwheel.log" >&2; exit 1; }
done
"$work/tools/bin/twine" check --strict dist/*.whl "$archive"
ls -l dist
