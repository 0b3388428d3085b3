# Settings of a stand-alone build: the language, a compiler cache and a fast linker if available, sanitizers. A host
# project has its own.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(ARMATURE_CCACHE ccache)
if(ARMATURE_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths are relative to the source tree, so that the build directories of one clone, and several clones, share results.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=true
    "${ARMATURE_CCACHE}")
endif()

find_program(ARMATURE_MOLD mold)
find_program(ARMATURE_LLD ld.lld)
if(ARMATURE_MOLD)
  add_link_options(-fuse-ld=mold)
elseif(ARMATURE_LLD)
  add_link_options(-fuse-ld=lld)
endif()

if(ARMATURE_SANITIZE)
  add_compile_options(-fsanitize=${ARMATURE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ARMATURE_SANITIZE})
endif()
