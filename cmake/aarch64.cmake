# Toolchain file: 64-bit ARM with Debian's cross compiler (g++-aarch64-linux-gnu); what the build runs goes through qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# The libraries of the target, which the dynamic loader would look for in /lib.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
