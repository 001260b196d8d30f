# Stops the configuration if depyf does not support the system or the interpreter.
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  message(FATAL_ERROR "depyf needs Linux, and this build is for ${CMAKE_SYSTEM_NAME}, where depyf was never built or tested. "
                      "Use a Linux container or a virtual machine, on Windows also the Windows Subsystem for Linux (WSL 2).")
endif()

# The default is the interpreter of the active virtual environment, else the first python3 on the path.
set(Python_FIND_VIRTUALENV FIRST)
if(DEPYF_BUILD_EXTENSION)
  if(NOT Python_EXECUTABLE)
    find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
  endif()
  execute_process(
    COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/python/depyf/_platform.py"
    ERROR_VARIABLE refusal RESULT_VARIABLE refused)
  if(refused)
    message(FATAL_ERROR "${Python_EXECUTABLE}: ${refusal}")
  endif()
endif()
