# Compiles with a profile: counts of how often each branch of the code was taken in a run of the program. From the
# counts, GCC decides what to inline, and places code that runs often together. `tools/profiled.sh` builds twice in one
# folder, with DEPYF_PROFILE=write and, after a run of the commands, with DEPYF_PROFILE=use. With the profile, the files
# are optimised together when a program is linked (CMAKE_INTERPROCEDURAL_OPTIMIZATION).
set(DEPYF_PROFILE "" CACHE STRING "`write`: the programs write a profile when they end; `use`: compile with this profile")
set_property(CACHE DEPYF_PROFILE PROPERTY STRINGS "" write use)
if(NOT DEPYF_PROFILE STREQUAL "" AND NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  message(FATAL_ERROR "DEPYF_PROFILE=${DEPYF_PROFILE} needs GCC, and the compiler is ${CMAKE_CXX_COMPILER_ID}")
endif()
if(DEPYF_PROFILE STREQUAL "write")
  # The threads of a command count without losing counts of each other.
  add_compile_options(-fprofile-generate -fprofile-update=prefer-atomic)
  add_link_options(-fprofile-generate)
elseif(DEPYF_PROFILE STREQUAL "use")
  # A code object passes through most of the program once, so what limits the speed is the size of the machine code
  # that runs. Optimisations that copy code are left out: the program is a tenth smaller, and 2 % faster.
  add_compile_options(-fno-tracer -fno-unroll-loops -fno-peel-loops -fno-split-loops -fno-unswitch-loops -fno-split-paths
                      -fno-ipa-cp-clone -fno-tree-vectorize -fno-tree-loop-distribution -fno-gcse-after-reload
                      -fno-version-loops-for-strides -fno-predictive-commoning)
  # Code that did not run for the profile is optimised as without a profile, because the run may have lacked its inputs.
  add_compile_options(-fprofile-use -fprofile-partial-training -fprofile-correction -Wno-missing-profile)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  # As one part, the functions of the whole program are placed by how often they run. The program is 1 % faster, and linking
  # it takes a minute more.
  add_link_options(-flto-partition=one)
elseif(NOT DEPYF_PROFILE STREQUAL "")
  message(FATAL_ERROR "DEPYF_PROFILE is `${DEPYF_PROFILE}`; it can be `write`, `use` or empty")
endif()
