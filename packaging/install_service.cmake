# Installs armatured.service and armatured.conf from source_dir. Both are written for the prefix /usr; this script
# replaces the paths. bin_dir, doc_dir and sysconf_dir are the directories of GNUInstallDirs, relative to the prefix or absolute; work_dir
# is for temporary files.
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE OUTPUT_VARIABLE prefix)
if(IS_ABSOLUTE "${sysconf_dir}")
elseif(prefix STREQUAL "/" OR prefix MATCHES "^/usr/?$")
  set(sysconf_dir "/${sysconf_dir}")
elseif(prefix MATCHES "^/opt/")
  set(sysconf_dir "/${sysconf_dir}${prefix}")
else()
  cmake_path(APPEND prefix "${sysconf_dir}" OUTPUT_VARIABLE sysconf_dir)
endif()
cmake_path(ABSOLUTE_PATH bin_dir BASE_DIRECTORY "${prefix}")
cmake_path(ABSOLUTE_PATH doc_dir BASE_DIRECTORY "${prefix}")

foreach(name armatured.service armatured.conf)
  file(READ "${source_dir}/${name}" text)
  string(REPLACE "/usr/bin/" "${bin_dir}/" text "${text}")
  string(REPLACE "/usr/share/doc/armature/" "${doc_dir}/" text "${text}")
  string(REPLACE "/etc/armature/" "${sysconf_dir}/armature/" text "${text}")
  file(WRITE "${work_dir}/${name}" "${text}")
endforeach()
file(INSTALL "${work_dir}/armatured.service" DESTINATION "${CMAKE_INSTALL_PREFIX}/lib/systemd/system")
# An existing file is the operator's and is kept. file(INSTALL) prefixes its destination with DESTDIR.
if(NOT EXISTS "$ENV{DESTDIR}${sysconf_dir}/armature/armatured.conf")
  file(INSTALL "${work_dir}/armatured.conf" DESTINATION "${sysconf_dir}/armature")
endif()
