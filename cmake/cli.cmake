# The command depyf-decompile. It needs no library but the core.
find_package(Threads REQUIRED)
if(DEPYF_SANITIZE)
  list(FILTER cli_sources EXCLUDE REGEX "/allocation\\.cpp$")  # a sanitizer has an operator new of its own
endif()
add_executable(depyf-decompile ${cli_sources})
target_include_directories(depyf-decompile PRIVATE src)
target_link_libraries(depyf-decompile PRIVATE depyf_core Threads::Threads)
# To load and relocate the C++ library takes four times the instructions that a small file does.
include(CheckLinkerFlag)
check_linker_flag(CXX "-static-libstdc++;-static-libgcc" DEPYF_HAS_STATIC_LIBSTDCXX)
if(DEPYF_HAS_STATIC_LIBSTDCXX AND NOT DEPYF_SANITIZE)
  target_link_options(depyf-decompile PRIVATE -static-libstdc++ -static-libgcc)
endif()

if(SKBUILD)
  install(TARGETS depyf-decompile RUNTIME DESTINATION "${SKBUILD_SCRIPTS_DIR}")
  set(data_folder "${SKBUILD_DATA_DIR}/share")
else()
  include(GNUInstallDirs)
  install(TARGETS depyf-decompile RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  set(data_folder "${CMAKE_INSTALL_DATAROOTDIR}")
endif()
# The manual page and shell completion, which the command itself knows.
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
