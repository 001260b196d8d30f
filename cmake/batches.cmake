# Compiles the sources of a folder a few at a time. Most of the time of a small file goes to headers that its neighbours
# include as well, so a clean build takes a fifth less of it. A change of one file compiles its batch.
# The headers of the C++ library that most files include are compiled once for a target, which takes another tenth less; a
# compiler launcher such as ccache turns that off, because it would keep fewer objects.
# With -DDEPYF_BATCH=1 each file is compiled alone, as clang-tidy and the preset `clang` do: they notice a file that lacks
# an include. Two files of a folder cannot define an internal name twice, which the compiler reports as an error.
set(DEPYF_BATCH 6 CACHE STRING "The number of C++ files of a folder that are compiled together")

# Usage: compile_in_batches(TARGET [FOLDER or FILE...]). These files are compiled alone: they define internal names that
# their neighbours define, too.
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
