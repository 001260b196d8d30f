# Compiles the sources of a folder a few at a time. Most of the time of a small file goes to headers that its neighbours
# include as well, so a clean build takes a fifth less time with batches. After a change of one file, its whole batch is
# compiled again. The headers of the C++ library that most files include are precompiled once for a target, which saves
# another tenth of the time; with a compiler launcher such as ccache they are not precompiled, because ccache could
# reuse fewer objects. With -DDEPYF_BATCH=1, as in clang-tidy and the preset `clang`, each file is compiled alone, so a
# file that lacks an include causes an error. In a batch, two files cannot define the same internal name; the compiler
# reports an error.
set(DEPYF_BATCH 6 CACHE STRING "The number of C++ files of a folder that are compiled together")

# Usage: compile_in_batches(TARGET [FOLDER or FILE...]). The listed files, and the files of listed folders, are compiled
# alone, because they define internal names that other files define too.
function(compile_in_batches target)
  if(DEPYF_BATCH LESS 2)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/.*\\.cpp$")
  list(SORT sources)
  foreach(source IN LISTS sources)
    file(RELATIVE_PATH name "${CMAKE_CURRENT_SOURCE_DIR}" "${source}")
    get_filename_component(folder "${name}" DIRECTORY)
    if(name IN_LIST ARGN OR folder IN_LIST ARGN)
      continue()
    endif()
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR batch "${count_${folder}} / ${DEPYF_BATCH}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}_${batch}")
  endforeach()
  # A batch names its files relative to the checkout, so that ccache shares objects between checkouts.
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP UNITY_BUILD_RELOCATABLE ON)
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    target_precompile_headers(${target} PRIVATE <algorithm> <functional> <map> <memory> <optional> <set> <span> <string>
                              <string_view> <unordered_map> <variant> <vector>)
  endif()
endfunction()
