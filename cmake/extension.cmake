# Builds depyf._core for the interpreter in Python_EXECUTABLE, which cmake/platform.cmake chooses if it is not set.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
execute_process(
  COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
find_package(nanobind CONFIG QUIET)
if(NOT nanobind_FOUND)
  if(SKBUILD)
    message(FATAL_ERROR "nanobind not found")
  endif()
  message(STATUS "No nanobind for ${Python_EXECUTABLE} (pip install nanobind): depyf._core is not built")
  return()
endif()

# Each file is compiled alone, because clang-tidy takes its include paths from the file's own command.
file(GLOB bind_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/bind/*.cpp")
# Without NOMINSIZE, nanobind lets the compiler make the module small (-Os). The module contains loops over long texts,
# and its copies of inline functions of the standard library can replace those of the core, so it is to be fast.
nanobind_add_module(_core STABLE_ABI NB_STATIC NOMINSIZE ${bind_sources})
target_include_directories(_core PRIVATE src)
target_link_libraries(_core PRIVATE depyf_commands)
target_compile_options(_core PRIVATE -Wall -Wextra)

if(SKBUILD)
  install(TARGETS _core LIBRARY DESTINATION depyf)
else()
  # The module is written into the package, so that a checkout needs only PYTHONPATH=python.
  set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/python/depyf")
endif()
