# Speed of the build: compiler cache and a fast linker, where the machine has them.
find_program(ARMATURE_CCACHE ccache)
if(ARMATURE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${ARMATURE_CCACHE}")
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

# armature_unity(<target> [BATCH <files>]): compiles the files of a target in batches, which parses the headers of protobuf,
# gRPC and Abseil once for each batch. Names in unnamed namespaces are therefore unique within a target.
function(armature_unity target)
  cmake_parse_arguments(ARG "" "BATCH" "" ${ARGN})
  if(NOT ARG_BATCH)
    set(ARG_BATCH 8)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${ARMATURE_UNITY} UNITY_BUILD_BATCH_SIZE ${ARG_BATCH})
endfunction()
