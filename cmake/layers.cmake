# armature_library(<layer> FOLDERS ... EXCEPT ... LAYERS ... PUBLIC ... PRIVATE ...)
#
# Declares the static library armature::<layer> from every .cc file in FOLDERS, without those in EXCEPT. LAYERS are the
# layers that it uses; a layer that is not to the left of <layer> in the graph of docs/internals/architecture.md is a configuration
# error. Third-party libraries in PRIVATE stay invisible to the layers above.
set(ARMATURE_ALLOWED_base "")
# Files of text for exports and imports, shared by daemon and tools.
set(ARMATURE_ALLOWED_files base)
set(ARMATURE_ALLOWED_model base)
set(ARMATURE_ALLOWED_codec base model)
set(ARMATURE_ALLOWED_store base model codec proto_disk)
# Archives of a database, segment by segment.
set(ARMATURE_ALLOWED_archive base files store)
# Databases in Ceph RADOS; only with ARMATURE_RADOS. Uses the interface of volumes, storage/store/files, and no more.
set(ARMATURE_ALLOWED_rados base store)
# Which of the two a database is in.
set(ARMATURE_ALLOWED_place base store rados)
set(ARMATURE_ALLOWED_index base model codec store)
set(ARMATURE_ALLOWED_expr base model)
set(ARMATURE_ALLOWED_access base)
set(ARMATURE_ALLOWED_engine base model codec store archive index expr access)
# Parts of the daemon without gRPC, so that sanitizers and fuzzers cover them.
set(ARMATURE_ALLOWED_auth base access)
set(ARMATURE_ALLOWED_message_json base model proto_messages)
set(ARMATURE_ALLOWED_api base model codec store index expr access engine auth proto_messages message_json)
set(ARMATURE_ALLOWED_json base model codec store index expr access engine auth proto_messages message_json api)
set(ARMATURE_ALLOWED_item_files base files model codec store index expr access engine proto_messages message_json)
set(ARMATURE_ALLOWED_net base)
set(ARMATURE_ALLOWED_http base net)
set(ARMATURE_ALLOWED_rpc base net http proto_standard)
set(ARMATURE_ALLOWED_standby base net http)
set(ARMATURE_ALLOWED_telemetry base model codec store index expr access engine)
set(ARMATURE_ALLOWED_json_front base model codec store index expr access engine auth proto_messages message_json api telemetry
  json net http)
set(ARMATURE_ALLOWED_console base model codec store index expr access engine auth proto_messages message_json api telemetry
  json net http json_front)
set(ARMATURE_ALLOWED_daemon base model codec store index expr access engine auth proto_messages proto_api message_json api
  telemetry json item_files net http rpc proto_standard standby json_front console place archive)
set(ARMATURE_ALLOWED_client base model proto_messages proto_api)
# codec is for the tools that print stored records.
set(ARMATURE_ALLOWED_cli_support base files model codec proto_messages proto_api message_json client access auth store engine place archive)

# armature_sources(<variable> FOLDERS ... EXCEPT ...): the .cc files in the folders, without subfolders.
function(armature_sources variable)
  cmake_parse_arguments(ARG "" "" "FOLDERS;EXCEPT" ${ARGN})
  set(all "")
  foreach(folder IN LISTS ARG_FOLDERS)
    file(GLOB found CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cc")
    list(APPEND all ${found})
  endforeach()
  list(REMOVE_ITEM all "" ${ARG_EXCEPT})
  set(${variable} ${all} PARENT_SCOPE)
endfunction()

# armature_unity(<target>): compiles the files of a target in batches, which parses the headers of protobuf, gRPC and Abseil
# once for each batch. Names in unnamed namespaces are therefore unique within a target.
set(ARMATURE_UNITY_BATCH 8 CACHE STRING "Files in a batch, more for builds from nothing; 0: all files of a target, which shows every name that is not unique")
mark_as_advanced(ARMATURE_UNITY_BATCH)
function(armature_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${ARMATURE_UNITY} UNITY_BUILD_BATCH_SIZE ${ARMATURE_UNITY_BATCH})
  if(ARMATURE_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A batch includes its files, which GCC therefore takes for headers. GCC also inlines less in a large unit; without
    # that limit, a batch is as fast as its files one by one (docs/measurements/2026-11-29-release-batches.md).
    target_compile_options(${target} PRIVATE
      -Wno-subobject-linkage $<$<CONFIG:Release,RelWithDebInfo>:--param=large-unit-insns=1000000>)
  endif()
endfunction()

function(armature_library layer)
  cmake_parse_arguments(ARG "" "" "FOLDERS;EXCEPT;LAYERS;PUBLIC;PRIVATE" ${ARGN})
  if(NOT DEFINED ARMATURE_ALLOWED_${layer})
    message(FATAL_ERROR "armature_library: '${layer}' is not a layer; add it to cmake/layers.cmake")
  endif()
  set(target armature_${layer})
  armature_sources(sources FOLDERS ${ARG_FOLDERS} EXCEPT ${ARG_EXCEPT})
  add_library(${target} STATIC ${sources})
  add_library(armature::${layer} ALIAS ${target})
  # The folders from the root, which tests/unit mirrors.
  list(TRANSFORM ARG_FOLDERS PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  set(folders "")
  foreach(folder IN LISTS ARG_FOLDERS)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    list(APPEND folders "${folder}")
  endforeach()
  set_target_properties(${target} PROPERTIES ARMATURE_FOLDERS "${folders}")
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target}
    PUBLIC ${ARG_PUBLIC}
    PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:armature_warnings> $<BUILD_INTERFACE:armature_no_exceptions>)
  armature_unity(${target})
  foreach(used IN LISTS ARG_LAYERS)
    if(NOT used IN_LIST ARMATURE_ALLOWED_${layer})
      message(FATAL_ERROR "layer '${layer}' may not use '${used}': the arrows go one way only")
    endif()
    target_link_libraries(${target} PUBLIC armature::${used})
  endforeach()
endfunction()
