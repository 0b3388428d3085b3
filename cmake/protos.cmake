# armature_generate(<variable> <pb|grpc.pb> <proto>...)
#
# The C++ sources made of the protos, messages or services. `proto_root` is the folder that the protos and their imports are
# named from, and `generated` the folder for the sources.
function(armature_generate out kind)
  file(MAKE_DIRECTORY "${generated}")
  set(sources "")
  set(options "--cpp_out=${generated}")
  if(kind STREQUAL "grpc.pb")
    set(options "--grpc_out=${generated}" "--plugin=protoc-gen-grpc=${ARMATURE_GRPC_CPP_PLUGIN}")
  endif()
  foreach(proto IN LISTS ARGN)
    string(REGEX REPLACE "\\.proto$" "" stem "${proto}")
    set(files "${generated}/${stem}.${kind}.cc" "${generated}/${stem}.${kind}.h")
    add_custom_command(
      OUTPUT ${files}
      COMMAND protobuf::protoc -I "${proto_root}" ${options} "${proto}"
      DEPENDS "${proto_root}/${proto}"
      COMMENT "protoc ${kind} ${proto}" VERBATIM)
    list(APPEND sources ${files})
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# armature_proto_library(<name> SOURCES ... LINK ...): a library of generated sources.
function(armature_proto_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(armature_${name} STATIC ${ARG_SOURCES})
  add_library(armature::${name} ALIAS armature_${name})
  target_include_directories(armature_${name} SYSTEM PUBLIC "${generated}")
  target_compile_features(armature_${name} PUBLIC cxx_std_20)
  target_link_libraries(armature_${name} PUBLIC ${ARG_LINK})
  # Generated code only fills its build time: what it does wrong shows in protobuf, which has no sanitizers either.
  if(ARMATURE_SANITIZE)
    target_compile_options(armature_${name} PRIVATE -fno-sanitize=all)
  endif()
endfunction()
