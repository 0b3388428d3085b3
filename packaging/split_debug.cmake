# Takes the debug information out of installed files. The variables strip, objcopy and readelf name these tools.

# Strips the installed file `path`, relative to the prefix or absolute, with `option`.
function(armature_strip option path)
  cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}")
  execute_process(COMMAND "${strip}" --preserve-dates ${option} "$ENV{DESTDIR}${path}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Installs the debug file of the unstripped `binary` below lib/debug, where debuggers look for it by the build id.
function(armature_install_debug_file binary)
  execute_process(COMMAND "${readelf}" --notes --wide "${binary}" OUTPUT_VARIABLE notes COMMAND_ERROR_IS_FATAL ANY)
  if(NOT notes MATCHES "Build ID: ([0-9a-f][0-9a-f])([0-9a-f]+)")
    message(FATAL_ERROR "${binary} has no build id")
  endif()
  set(name "${CMAKE_INSTALL_PREFIX}/lib/debug/.build-id/${CMAKE_MATCH_1}/${CMAKE_MATCH_2}.debug")
  set(file "$ENV{DESTDIR}${name}")
  message(STATUS "Installing: ${file}")
  cmake_path(GET file PARENT_PATH directory)
  file(MAKE_DIRECTORY "${directory}")
  execute_process(COMMAND "${objcopy}" --only-keep-debug "${binary}" "${file}" COMMAND_ERROR_IS_FATAL ANY)
  file(CHMOD "${file}" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  set(CMAKE_INSTALL_MANIFEST_FILES "${CMAKE_INSTALL_MANIFEST_FILES};${name}" PARENT_SCOPE)
endfunction()
