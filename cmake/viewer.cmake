# The viewer of the page as a part of the core.
set(viewer_folder "${CMAKE_CURRENT_SOURCE_DIR}/src/report/viewer")
# In the order in which they run: each uses only what stands before it, but for functions that are called later.
set(viewer_scripts strict dom data theme highlight rows routing verdict source reproduction explorer differences recompilations guards flow
                   fusion modules timeline ranks search main)
list(TRANSFORM viewer_scripts PREPEND "${viewer_folder}/")
list(TRANSFORM viewer_scripts APPEND ".js")
set(viewer_styles "${viewer_folder}/viewer.css")
set(viewer_file "${CMAKE_CURRENT_BINARY_DIR}/viewer.cpp")
string(REPLACE ";" "," viewer_scripts_text "${viewer_scripts}")
string(REPLACE ";" "," viewer_styles_text "${viewer_styles}")
add_custom_command(
  OUTPUT "${viewer_file}"
  COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${viewer_file}" "-DSCRIPTS=${viewer_scripts_text}" "-DSTYLES=${viewer_styles_text}"
          -P "${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake"
  DEPENDS ${viewer_scripts} ${viewer_styles} "${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake" VERBATIM)
target_sources(depyf_core PRIVATE "${viewer_file}")
