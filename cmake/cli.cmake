# The command depyf-decompile, where CLI11 is installed.
find_package(CLI11 CONFIG QUIET)
find_package(Threads REQUIRED)
if(CLI11_FOUND)
  if(DEPYF_SANITIZE)
    list(FILTER cli_sources EXCLUDE REGEX "/allocation\\.cpp$")  # a sanitizer has an operator new of its own
  endif()
  add_executable(depyf-decompile ${cli_sources})
  target_include_directories(depyf-decompile PRIVATE src)
  target_link_libraries(depyf-decompile PRIVATE depyf_core CLI11::CLI11 Threads::Threads)
else()
  message(STATUS "No CLI11 (Debian: libcli11-dev): depyf-decompile is not built")
endif()
