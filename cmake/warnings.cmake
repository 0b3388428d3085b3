# Flags for our own targets only, not for generated and third-party code.
add_library(armature_warnings INTERFACE)
target_compile_options(armature_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
# Warnings are errors in the configurations of our presets only. Another compiler's warnings must not break the build of a
# user, who has another build type or none: at -O2, GCC 12 reports the concatenation of short strings as a copy over itself
# (its bug 105651), and fresh objects as uninitialised.
target_compile_options(armature_warnings INTERFACE $<$<CONFIG:Dev,Asan,Tsan,Fuzz>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(armature_warnings INTERFACE
    $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-Wno-restrict>)
endif()
if(ARMATURE_FAULT_POINTS)
  add_compile_definitions(ARMATURE_FAULT_POINTS)
endif()
add_library(armature_no_exceptions INTERFACE)
target_compile_options(armature_no_exceptions INTERFACE -fno-exceptions)
