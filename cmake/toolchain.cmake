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
