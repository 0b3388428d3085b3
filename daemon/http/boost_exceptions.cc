// Boost's exception hooks: the daemon is compiled without exceptions. All Boost calls here use the forms that return
// errors, so these hooks run only after a programming error or if no epoll instance can be made at start.

#include <boost/assert/source_location.hpp>
#include <boost/throw_exception.hpp>
#include <cstdlib>
#include <exception>

#include "glog/logging.h"

namespace boost {

void throw_exception(const std::exception& error) {
  LOG(FATAL) << "http: " << error.what();
  std::abort();
}

void throw_exception(const std::exception& error, const boost::source_location& where) {
  LOG(FATAL) << "http: " << error.what() << " in " << where.file_name() << ":" << where.line();
  std::abort();
}

}  // namespace boost
