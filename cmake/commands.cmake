# Builds the commands depyf-decompile and depyf-report, which need no library except the core.
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)
# Loading and relocating a shared C++ library takes four times the instructions that decompiling a small file takes.
# Loading the shared C library takes a fifth of the time of a process that decompiles a small file, so a release is
# linked statically if possible. Before 2.34, glibc has its threads in a library of their own, from which static linking
# may omit parts.
set(CMAKE_REQUIRED_LINK_OPTIONS -static)
check_cxx_source_compiles("
#include <features.h>
#if !defined(__GLIBC__) || !__GLIBC_PREREQ(2, 34)
#error too old
#endif
int main() {}" DEPYF_HAS_STATIC_LIBC)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
check_linker_flag(CXX "-static-libstdc++;-static-libgcc" DEPYF_HAS_STATIC_LIBSTDCXX)
set(command_link_options "")
if(DEPYF_STATIC OR (DEPYF_HAS_STATIC_LIBC AND CMAKE_BUILD_TYPE STREQUAL Release AND NOT DEPYF_SANITIZE))
  set(command_link_options -static)
elseif(DEPYF_HAS_STATIC_LIBSTDCXX AND NOT DEPYF_SANITIZE)
  set(command_link_options -static-libstdc++ -static-libgcc)
endif()

# In a wheel, the commands are scripts, which pip installs into the environment's bin.
if(SKBUILD)
  set(commands_folder "${SKBUILD_SCRIPTS_DIR}")
  set(data_folder "${SKBUILD_DATA_DIR}/share")
else()
  include(GNUInstallDirs)
  set(commands_folder "${CMAKE_INSTALL_BINDIR}")
  set(data_folder "${CMAKE_INSTALL_DATAROOTDIR}")
endif()

function(add_command name)
  add_executable(${name} ${ARGN})
  target_include_directories(${name} PRIVATE src)
  target_link_libraries(${name} PRIVATE depyf_commands)
  target_link_options(${name} PRIVATE ${command_link_options})
  install(TARGETS ${name} RUNTIME DESTINATION "${commands_folder}")
endfunction()

set(decompile_sources src/cli/main.cpp src/cli/allocation.cpp)
if(DEPYF_SANITIZE)
  list(REMOVE_ITEM decompile_sources src/cli/allocation.cpp)  # a sanitizer has an operator new of its own
endif()
add_command(depyf-decompile ${decompile_sources})
add_command(depyf-report src/report/main.cpp)

# depyf-decompile prints its own manual page and shell completion. The build runs depyf-decompile to write both texts
# into files, in a build for another processor with an emulator (CMAKE_CROSSCOMPILING_EMULATOR).
set(made_texts "")
foreach(text "man;depyf-decompile.1;man/man1" "completion bash;depyf-decompile;bash-completion/completions"
        "completion zsh;_depyf-decompile;zsh/site-functions")
  list(GET text 0 command)
  list(GET text 1 name)
  list(GET text 2 folder)
  string(REPLACE " " ";" command "${command}")
  set(file "${CMAKE_CURRENT_BINARY_DIR}/texts/${folder}/${name}")
  add_custom_command(
    OUTPUT "${file}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_CURRENT_BINARY_DIR}/texts/${folder}"
    COMMAND depyf-decompile ${command} > "${file}"
    DEPENDS depyf-decompile VERBATIM)
  list(APPEND made_texts "${file}")
  install(FILES "${file}" DESTINATION "${data_folder}/${folder}")
endforeach()
add_custom_target(depyf-decompile-texts ALL DEPENDS ${made_texts})
