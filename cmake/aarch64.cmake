# Toolchain file for 64-bit ARM with Debian's cross compiler (g++-aarch64-linux-gnu); qemu-user runs built programs
# during the build.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# With -L, the emulator searches the target's shared libraries in that folder instead of /lib.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
