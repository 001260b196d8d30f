# Builds one executable of all unit tests if doctest is installed.
find_package(doctest CONFIG QUIET)
if(NOT doctest_FOUND)
  message(STATUS "No doctest (Debian: doctest-dev): the unit tests are not built")
  return()
endif()
enable_testing()
file(GLOB test_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/core/*.cpp")
add_executable(depyf_tests ${test_sources})
target_include_directories(depyf_tests PRIVATE src)
target_link_libraries(depyf_tests PRIVATE depyf_core doctest::doctest)
target_compile_options(depyf_tests PRIVATE -O0)  # optimising the assertions takes longer than running them
compile_in_batches(depyf_tests tests/core/main.cpp tests/core/links_test.cpp tests/core/recode_test.cpp
                   tests/core/trace_test.cpp)
add_test(NAME core COMMAND depyf_tests)
