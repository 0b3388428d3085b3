#include "daemon/auth/failure_log.h"

#include <algorithm>

#include "glog/logging.h"

namespace armature::daemon {

std::string ForLog(std::string_view text) {
  constexpr size_t kBytesMax = 128;
  std::string out(text.substr(0, kBytesMax));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c <= ' ' || c > '~'; }, '?');
  return out;
}

bool FailureLog::MayLog(absl::Time now, uint64_t* left_out) {
  absl::MutexLock lock(&mutex_);
  if (!lines_.Take(kLines, now)) {
    ++left_out_;
    return false;
  }
  *left_out = left_out_;
  left_out_ = 0;
  return true;
}

void FailureLog::Failed(AuthFailure failure, std::string_view peer, std::string_view key_id, absl::Time now) {
  counts_[static_cast<size_t>(failure)].fetch_add(1, std::memory_order_relaxed);
  uint64_t left_out = 0;
  if (!MayLog(now, &left_out)) return;
  LOG(WARNING) << "auth: refused peer=" << ForLog(peer) << " key=" << ForLog(key_id)
               << " reason=" << AuthFailureName(failure) << " left_out=" << left_out;
}

void FailureLog::Denied(std::string_view principal, std::string_view operation, std::string_view table,
                        absl::Time now) {
  counts_[static_cast<size_t>(AuthFailure::kAccessDenied)].fetch_add(1, std::memory_order_relaxed);
  uint64_t left_out = 0;
  if (!MayLog(now, &left_out)) return;
  LOG(WARNING) << "auth: denied principal=" << ForLog(principal) << " operation=" << ForLog(operation)
               << " table=" << ForLog(table) << " left_out=" << left_out;
}

}  // namespace armature::daemon
