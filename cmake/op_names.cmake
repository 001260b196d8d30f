# Generates op_names.def, the names of the operations in the order of src/decode/op.def. Most files of the core include
# only these names, so a change of another column of op.def recompiles only the files that include decode/op_info.h.
#
# If OUTPUT is set, this file runs as a script that writes the names to OUTPUT if they changed.
if(OUTPUT)
  file(STRINGS "${INPUT}" rows REGEX "^OP\\(")
  set(names "")
  foreach(row IN LISTS rows)
    string(REGEX REPLACE "^OP\\(([a-z0-9_]+),.*" "OP_NAME(\\1)\n" name "${row}")
    string(APPEND names "${name}")
  endforeach()
  if(EXISTS "${OUTPUT}")
    file(READ "${OUTPUT}" written)
  endif()
  if(NOT written STREQUAL names)
    file(WRITE "${OUTPUT}" "${names}")
  endif()
  return()
endif()

set(op_table "${CMAKE_CURRENT_SOURCE_DIR}/src/decode/op.def")
set(op_names_folder "${CMAKE_CURRENT_BINARY_DIR}/generated")
add_custom_command(
  OUTPUT "${op_names_folder}/decode/op_names.def"
  COMMAND "${CMAKE_COMMAND}" "-DINPUT=${op_table}" "-DOUTPUT=${op_names_folder}/decode/op_names.def"
          -P "${CMAKE_CURRENT_LIST_FILE}"
  DEPENDS "${op_table}" "${CMAKE_CURRENT_LIST_FILE}" VERBATIM)
target_sources(depyf_core PRIVATE "${op_names_folder}/decode/op_names.def")
target_include_directories(depyf_core PUBLIC "${op_names_folder}")
