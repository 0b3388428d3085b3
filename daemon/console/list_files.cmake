# list_console_files(<root> <variable>): the files below <root> that are pages of the console, relative to it. Packages that
# somebody has installed there are none.
function(list_console_files root variable)
  set(files "")
  set(depends CONFIGURE_DEPENDS)
  if(CMAKE_SCRIPT_MODE_FILE)  # nothing is built
    set(depends "")
  endif()
  foreach(kind IN ITEMS html svg css mjs js txt)
    file(GLOB_RECURSE found ${depends} RELATIVE "${root}" "${root}/*.${kind}")
    list(APPEND files ${found})
  endforeach()
  list(FILTER files EXCLUDE REGEX "(^|/)node_modules/")
  list(SORT files)
  set(${variable} "${files}" PARENT_SCOPE)
endfunction()
