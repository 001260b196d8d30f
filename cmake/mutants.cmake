# depyf-mutants: mutants of .pyc files through the core; `make fuzz-structure`, and a sample in the tests.
file(GLOB mutants_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/structure/*.cpp")
add_executable(depyf-mutants ${mutants_sources})
target_include_directories(depyf-mutants PRIVATE src fuzz/structure)
target_link_libraries(depyf-mutants PRIVATE depyf_core Threads::Threads)
# depyf-tree-mutants: single mutants of printed trees, which the gate must refuse; `make tree-mutants`.
add_executable(depyf-tree-mutants "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/trees/main.cpp")
target_include_directories(depyf-tree-mutants PRIVATE src)
target_link_libraries(depyf-tree-mutants PRIVATE depyf_core Threads::Threads)
