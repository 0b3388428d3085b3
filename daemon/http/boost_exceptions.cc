// The daemon is compiled without exceptions; Boost wants to know what to do instead of throwing. All its calls here
// have forms that return errors, so what arrives is a fault of the program or the want of an epoll instance at start.

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
