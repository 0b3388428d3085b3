# The pinned third-party libraries, all from Debian 12. No other file looks for packages. A host project's targets
# link them through ours, so the targets must be visible there, too.
if(NOT PROJECT_IS_TOP_LEVEL)
  set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
  set(scope GLOBAL)
endif()
find_package(Threads REQUIRED)
find_package(Protobuf 3.21 REQUIRED)
find_package(absl REQUIRED)
find_package(RocksDB 7.8 REQUIRED)
find_package(simdjson 3.0 REQUIRED)
find_package(PkgConfig REQUIRED)
# By pkg-config: glog's own CMake package requires libunwind's headers.
pkg_check_modules(GLOG REQUIRED IMPORTED_TARGET ${scope} libglog)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET ${scope} libxxhash)
find_package(Boost 1.74 REQUIRED)  # headers only: Beast and Asio
find_package(OpenSSL 3.0 REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(NGHTTP2 REQUIRED IMPORTED_TARGET ${scope} libnghttp2>=1.52)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET ${scope} libzstd)
if(ARMATURE_RADOS)
  # Debian's package has no file for pkg-config or CMake.
  find_path(ARMATURE_RADOS_INCLUDE rados/librados.h REQUIRED)
  find_library(ARMATURE_RADOS_LIBRARY rados REQUIRED)
  add_library(armature_librados INTERFACE)
  target_include_directories(armature_librados SYSTEM INTERFACE "${ARMATURE_RADOS_INCLUDE}")
  target_link_libraries(armature_librados INTERFACE "${ARMATURE_RADOS_LIBRARY}")
endif()
if(ARMATURE_BUILD_DAEMON)
  find_package(gRPC 1.51 REQUIRED)
  pkg_check_modules(JEMALLOC REQUIRED IMPORTED_TARGET ${scope} jemalloc)
  find_package(CLI11 REQUIRED)
  # By pkg-config: its CMake package requires libcurl, too.
  pkg_check_modules(PROMETHEUS REQUIRED IMPORTED_TARGET ${scope} prometheus-cpp-core>=1.0)
  find_package(nlohmann_json 3.11 REQUIRED)
  pkg_check_modules(LIBEDIT REQUIRED IMPORTED_TARGET ${scope} libedit)  # line editing of armature sql
  pkg_check_modules(TOML REQUIRED IMPORTED_TARGET ${scope} tomlplusplus>=3.3)  # profiles of armature
  pkg_check_modules(YAML REQUIRED IMPORTED_TARGET ${scope} yaml-0.1>=0.2.5)  # armature schema
  pkg_check_modules(CURL REQUIRED IMPORTED_TARGET ${scope} libcurl>=7.88)  # armature copy
  pkg_check_modules(NCURSES REQUIRED IMPORTED_TARGET ${scope} ncursesw>=6.4)  # armature top
  find_program(ARMATURE_GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)
endif()
if(ARMATURE_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_program(ARMATURE_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
  if(ARMATURE_BUILD_BENCHMARKS)
    find_package(benchmark REQUIRED)
  endif()
endif()
