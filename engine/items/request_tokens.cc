#include "engine/items/request_tokens.h"

#include <utility>

namespace armature::engine {
namespace {

constexpr int64_t kSweepIntervalMs = 1000;

}  // namespace

bool RequestTokens::Claim(std::string_view token) {
  const absl::MutexLock lock(&mutex_);
  return claimed_.insert(std::string(token)).second;
}

void RequestTokens::Release(std::string_view token) {
  const absl::MutexLock lock(&mutex_);
  if (const auto found = claimed_.find(token); found != claimed_.end()) claimed_.erase(found);
}

bool RequestTokens::BeginSweep(int64_t now_ms) {
  const absl::MutexLock lock(&mutex_);
  if (sweeping_ || now_ms < next_sweep_ms_) return false;
  sweeping_ = true;
  next_sweep_ms_ = now_ms + kSweepIntervalMs;
  return true;
}

void RequestTokens::EndSweep(std::string resume, bool more) {
  const absl::MutexLock lock(&mutex_);
  sweeping_ = false;
  if (more) next_sweep_ms_ = 0;
  resume_ = std::move(resume);
}

std::string RequestTokens::resume() const {
  const absl::MutexLock lock(&mutex_);
  return resume_;
}

}  // namespace armature::engine
