# depyf-mutants decompiles mutants of .pyc files; `make fuzz-structure` runs it, and the tests run it on a sample.
file(GLOB mutants_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/structure/*.cpp")
add_executable(depyf-mutants ${mutants_sources})
target_include_directories(depyf-mutants PRIVATE src fuzz/structure)
target_link_libraries(depyf-mutants PRIVATE depyf_core Threads::Threads)
# depyf-tree-mutants makes single mutants of decompiled trees, which the gate must refuse; `make tree-mutants` runs it.
add_executable(depyf-tree-mutants "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/trees/main.cpp")
target_include_directories(depyf-tree-mutants PRIVATE src)
target_link_libraries(depyf-tree-mutants PRIVATE depyf_core Threads::Threads)
