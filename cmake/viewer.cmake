# Adds the viewer of the page to the core, as a generated C++ file.
set(viewer_folder "${CMAKE_CURRENT_SOURCE_DIR}/src/report/viewer")
# The scripts are in the order in which they run: at its start, a script uses only names that earlier scripts define;
# its functions may use later ones.
set(viewer_scripts strict dom data changes theme highlight rows routing verdict source reproduction break_program connections explorer differences recompilations guards flow_map flow
                   fusion modules timeline ranks search main)
list(TRANSFORM viewer_scripts PREPEND "${viewer_folder}/")
list(TRANSFORM viewer_scripts APPEND ".js")
set(viewer_styles "${viewer_folder}/viewer.css")
# Dagre lays out the map of the Flow view. Dagre and its licence, which is part of the page, come from Debian's package
# node-dagre-layout; without this package, or with -DDEPYF_DAGRE=OFF, the Flow view has no map.
set(DEPYF_DAGRE ON CACHE BOOL "Put Debian's dagre into the page of the report, if it is installed")
set(viewer_libraries "")
set(viewer_licences "")
if(DEPYF_DAGRE AND EXISTS /usr/share/nodejs/dagre/dist/dagre.min.js)
  set(viewer_libraries /usr/share/nodejs/dagre/dist/dagre.min.js)
  foreach(package node-dagre-layout node-graphlibrary node-lodash)  # dagre.min.js contains all three libraries
    set(licence "/usr/share/doc/${package}/copyright")
    if(EXISTS "${licence}")
      list(APPEND viewer_licences "${licence}")
    else()
      set(viewer_libraries "")
    endif()
  endforeach()
endif()
if(NOT viewer_libraries)
  set(viewer_licences "")
  message(STATUS "No dagre (Debian: node-dagre-layout): the Flow view of the report has no map")
endif()
set(viewer_file "${CMAKE_CURRENT_BINARY_DIR}/viewer.cpp")
string(REPLACE ";" "," viewer_scripts_text "${viewer_scripts}")
string(REPLACE ";" "," viewer_styles_text "${viewer_styles}")
string(REPLACE ";" "," viewer_libraries_text "${viewer_libraries}")
string(REPLACE ";" "," viewer_licences_text "${viewer_licences}")
add_custom_command(
  OUTPUT "${viewer_file}"
  COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${viewer_file}" "-DSCRIPTS=${viewer_scripts_text}" "-DSTYLES=${viewer_styles_text}"
          "-DLIBRARIES=${viewer_libraries_text}" "-DLICENCES=${viewer_licences_text}"
          -P "${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake"
  DEPENDS ${viewer_scripts} ${viewer_styles} ${viewer_libraries} ${viewer_licences} "${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake" VERBATIM)
target_sources(depyf_core PRIVATE "${viewer_file}")
