#include "daemon/net/memory_budget.h"

namespace armature::daemon {
namespace {

// True if more than three quarters of `whole` are used.
bool IsMostOf(size_t used, size_t whole) { return used > whole - whole / 4; }

}  // namespace

// Under the lock, so that requests that come at once do not all find the same room.
bool MemoryBudget::TryTake(const BudgetClient& client, size_t bytes) {
  const absl::MutexLock lock(&mutex_);
  if (held() + bytes > large_max_ || HeldBy(client) + bytes > client_max_) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  counted_.fetch_add(bytes, std::memory_order_relaxed);
  by_client_[client] += bytes;
  return true;
}

void MemoryBudget::Take(const BudgetClient& client, size_t bytes) {
  const absl::MutexLock lock(&mutex_);
  counted_.fetch_add(bytes, std::memory_order_relaxed);
  by_client_[client] += bytes;
}

void MemoryBudget::Return(const BudgetClient& client, size_t bytes) {
  counted_.fetch_sub(bytes, std::memory_order_relaxed);
  const absl::MutexLock lock(&mutex_);
  const auto found = by_client_.find(client);
  if ((found->second -= bytes) == 0) by_client_.erase(found);
}

size_t MemoryBudget::held_by(const BudgetClient& client) const {
  const absl::MutexLock lock(&mutex_);
  return HeldBy(client);
}

size_t MemoryBudget::HeldBy(const BudgetClient& client) const {
  const auto found = by_client_.find(client);
  return found == by_client_.end() ? 0 : found->second;
}

bool MemoryBudget::HasRoomFor(const BudgetClient& client, size_t bytes) const {
  return held() + bytes <= large_max_ && held_by(client) + bytes <= client_max_;
}

bool MemoryBudget::IsTight(const BudgetClient& client) const {
  return IsMostOf(held(), large_max_) || IsMostOf(held_by(client), client_max_);
}

}  // namespace armature::daemon
