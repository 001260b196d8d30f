#!/bin/bash
# Installs the CPython of Debian unstable into a directory, with its own loader and libraries: debian_python.sh VERSION
# DIR [arm64]. DIR/bin/pythonVERSION runs it; a CPython for another processor runs through qemu-user. Nothing on the
# system changes. Needs apt and dpkg.
set -euo pipefail
version=$1
architecture=${3:-amd64}
mkdir -p "$2"
dir=$(cd "$2" && pwd)
apt=$dir/apt
mkdir -p "$apt"/{lists/partial,cache/archives/partial,etc,debs} "$dir"/{tree,bin}
mirror=$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources | head -n 1)
cat > "$apt/etc/unstable.sources" <<SOURCES
Types: deb
URIs: $mirror
Suites: sid
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
cat > "$apt/apt.conf" <<CONF
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$apt/etc";
Dir::State::lists "$apt/lists";
Dir::Cache "$apt/cache";
APT::Sandbox::User "root";
APT::Architecture "$architecture";
APT::Architectures "$architecture";
CONF
export APT_CONFIG=$apt/apt.conf
apt-get update -qq
cd "$apt/debs"
apt-get download -qq "python$version-minimal" "libpython$version-minimal" "libpython$version-stdlib" "libpython$version-dev" \
  libc6 libexpat1 libssl3t64 zlib1g libffi8 libbz2-1.0 liblzma5 libsqlite3-0 libuuid1 libncursesw6 libtinfo6 \
  libreadline8t64 libzstd1 libgcc-s1 libstdc++6
for deb in *.deb; do dpkg -x "$deb" "$dir/tree"; done
cd "$dir"
# CPython's headers include <MACHINE/pythonVERSION/pyconfig.h>, with MACHINE such as x86_64-linux-gnu.
cp -r "$dir/tree/usr/include/"*-linux-gnu* "$dir/tree/usr/include/python$version/"
rm -rf "$apt"
python=$dir/tree/usr/bin/python$version
libraries=$(dirname "$(find "$dir/tree/usr/lib" -name libc.so.6)")
loader=$(find "$dir/tree/usr" -name 'ld-linux*' | head -n 1)
emulator=$([ "$architecture" = "$(dpkg --print-architecture)" ] || echo qemu-aarch64)
cat > "$dir/bin/python$version" <<RUN
#!/bin/sh
exec $emulator $loader --library-path $libraries --argv0 "\${DEPYF_ARGV0:-$python}" $python "\$@"
RUN
chmod +x "$dir/bin/python$version"
"$dir/bin/python$version" --version
