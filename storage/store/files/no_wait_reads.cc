#include "storage/store/files/no_wait_reads.h"

#include <cstdint>

#include "glog/logging.h"

namespace armature::store {
namespace {

constexpr size_t kNoScope = SIZE_MAX;
thread_local size_t bytes_left = kNoScope;

}  // namespace

NoWaitReads::NoWaitReads(size_t bytes_max) {
  CHECK(bytes_left == kNoScope && bytes_max != kNoScope);
  bytes_left = bytes_max;
}
NoWaitReads::~NoWaitReads() { bytes_left = kNoScope; }

NoWaitReads::May NoWaitReads::Take(size_t size) {
  if (bytes_left == kNoScope) return May::kWait;
  if (size > bytes_left) return May::kNotRead;
  bytes_left -= size;
  return May::kReadMemory;
}

rocksdb::IOStatus NoWaitReads::WouldWait() {
  return rocksdb::status_to_io_status(rocksdb::Status::Incomplete("the bytes are not in memory"));
}

}  // namespace armature::store
