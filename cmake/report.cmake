# The command depyf-report.
file(GLOB report_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/report/*.cpp")
add_executable(depyf-report ${report_sources})
target_include_directories(depyf-report PRIVATE src)
target_link_libraries(depyf-report PRIVATE depyf_core)
target_compile_options(depyf-report PRIVATE -Wall -Wextra -Wshadow)
