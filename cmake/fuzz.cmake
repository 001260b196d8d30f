# Builds a libFuzzer executable from each file of fuzz/; the compiler must be clang.
file(GLOB fuzz_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/*.cpp")
target_compile_options(depyf_core PRIVATE -fsanitize=fuzzer-no-link)
foreach(source IN LISTS fuzz_sources)
  get_filename_component(name "${source}" NAME_WE)
  add_executable(${name} "${source}")
  target_include_directories(${name} PRIVATE src)
  target_link_libraries(${name} PRIVATE depyf_core -fsanitize=fuzzer)
endforeach()
