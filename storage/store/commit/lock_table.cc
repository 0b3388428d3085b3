#include "storage/store/commit/lock_table.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::store {
namespace {

constexpr int64_t kLockRetryMs = 50;

absl::Status TooManyWaitError() {
  return ThrottlingError("Too many requests wait for locked items; slow down", kLockRetryMs);
}

}  // namespace

struct LockTable::Request {
  Stripes stripes;  // ascending, without duplicates
  size_t held = 0;  // number of stripes locked, from the front
  int64_t deadline_ns = kMonotonicNever;
  Continuation then;
  bool of_transaction = false;
  TimerQueue::TimerId timer = 0;
  int64_t timer_ns = 0;
  size_t bytes = 0;  // counted while the request is parked
};

// One cache line each, to avoid false sharing.
struct alignas(64) LockTable::Stripe {
  absl::Mutex mutex;
  bool locked ABSL_GUARDED_BY(mutex) = false;
  bool by_transaction ABSL_GUARDED_BY(mutex) = false;  // valid while locked
  // Number of commits for which the stripe counts as contended.
  std::atomic<int> contended_releases = 0;
  uint64_t next_ticket ABSL_GUARDED_BY(mutex) = 0;
  std::map<uint64_t, std::shared_ptr<Request>> waiters ABSL_GUARDED_BY(mutex);  // by ticket, so in order of arrival
};

// Waiters that continue one after another on a thread of the pool. At most one waits for its turn.
struct LockTable::Chain {
  const LockTable* table;
  std::shared_ptr<Request> next;

  static Chain*& OfThread() {
    thread_local Chain* chain = nullptr;
    return chain;
  }
};

LockTable::Guard::Guard(Guard&& other) noexcept
    : table_(std::exchange(other.table_, nullptr)), stripes_(std::move(other.stripes_)) {}

LockTable::Guard& LockTable::Guard::operator=(Guard&& other) noexcept {
  if (this != &other) {
    Release();
    table_ = std::exchange(other.table_, nullptr);
    stripes_ = std::move(other.stripes_);
  }
  return *this;
}

void LockTable::Guard::Release(NextWaiter next) {
  LockTable* const table = std::exchange(table_, nullptr);
  if (table == nullptr) return;
  for (const uint32_t stripe : stripes_) table->ReleaseStripe(stripe, next);
}

bool LockTable::Guard::TakeEarlyRelease() {
  if (table_ == nullptr) return false;
  bool is_contended = false;
  for (const uint32_t index : stripes_) {
    // Only the holder of the lock counts down. A count that a parking request sets at the same moment may be lost,
    // which costs one wait.
    std::atomic<int>& left = table_->stripes_[index].contended_releases;
    const int releases = left.load(std::memory_order_relaxed);
    if (releases == 0) continue;
    left.store(releases - 1, std::memory_order_relaxed);
    is_contended = true;
  }
  return is_contended;
}

LockTable::LockTable(size_t stripes, ThreadPool* pool, TimerQueue* timers, absl::Duration conflict_wait)
    : mask_(static_cast<uint32_t>(std::bit_ceil(stripes)) - 1),
      pool_(pool),
      timers_(timers),
      conflict_wait_(conflict_wait),
      stripes_(std::make_unique<Stripe[]>(size_t{mask_} + 1)) {}

LockTable::~LockTable() = default;

uint64_t LockTable::HashRow(uint32_t table, std::string_view key) const {
  // The multiplier spreads the bits: std::hash of similar keys may differ in low bits only.
  const uint64_t hash = std::hash<std::string_view>{}(key) ^ (uint64_t{table} << 17);
  return hash * 0x9E3779B97F4A7C15ULL;
}

absl::Status LockTable::Park(size_t bytes, bool holds_stripes) {
  if (is_closed_.load(std::memory_order_acquire)) return closed_;
  const size_t others = parked_.fetch_add(1, std::memory_order_relaxed);
  const size_t bytes_of_others = parked_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  const bool fits = others < kParkedMax && bytes_of_others + bytes <= kParkedBytesMax;
  if (fits || holds_stripes) return absl::OkStatus();
  Unpark(bytes);
  return TooManyWaitError();
}

void LockTable::Unpark(size_t bytes) {
  parked_.fetch_sub(1, std::memory_order_relaxed);
  parked_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

void LockTable::Acquire(uint64_t row_hash, Deadline deadline, Continuation then, size_t bytes) {
  const uint32_t stripe_index = StripeOf(row_hash);
  Stripe& stripe = stripes_[stripe_index];
  absl::Status refused;
  {
    const absl::MutexLock lock(&stripe.mutex);
    if (!stripe.locked) {
      stripe.locked = true;
      stripe.by_transaction = false;
    } else if (refused = Park(bytes, /*holds_stripes=*/false); refused.ok()) {
      auto request = std::make_shared<Request>();
      request->stripes.push_back(stripe_index);
      request->deadline_ns = deadline.ns();
      request->then = std::move(then);
      request->bytes = bytes;
      Queue(request, stripe_index);
      return;
    }
  }
  if (!refused.ok()) return std::move(then)(std::move(refused));
  std::move(then)(Guard(this, {stripe_index}));
}

std::optional<LockTable::Guard> LockTable::TryAcquire(uint64_t row_hash) {
  const uint32_t stripe_index = StripeOf(row_hash);
  Stripe& stripe = stripes_[stripe_index];
  {
    const absl::MutexLock lock(&stripe.mutex);
    if (stripe.locked) return std::nullopt;
    stripe.locked = true;
    stripe.by_transaction = false;
  }
  return Guard(this, {stripe_index});
}

void LockTable::AcquireAll(const std::vector<uint64_t>& row_hashes, Deadline deadline, ContinuationOfAll then,
                           size_t bytes) {
  auto request = std::make_shared<Request>();
  for (const uint64_t hash : row_hashes) request->stripes.push_back(StripeOf(hash));
  std::sort(request->stripes.begin(), request->stripes.end());
  request->stripes.erase(std::unique(request->stripes.begin(), request->stripes.end()), request->stripes.end());
  request->deadline_ns = deadline.ns();
  request->of_transaction = true;
  request->bytes = bytes;
  request->then = [raw = request.get(), then = std::move(then)](absl::StatusOr<Guard> guard) mutable {
    const uint32_t stripe = raw->held < raw->stripes.size() ? raw->stripes[raw->held] : 0;
    std::move(then)(std::move(guard), stripe);
  };
  Advance(request);
}

void LockTable::Queue(const std::shared_ptr<Request>& request, uint32_t stripe_index) {
  Stripe& stripe = stripes_[stripe_index];
  stripe.mutex.AssertHeld();
  stripe.contended_releases.store(kContendedReleases, std::memory_order_relaxed);
  const uint64_t ticket = stripe.next_ticket++;
  SetTimer(request.get(), stripe_index, ticket);
  stripe.waiters.emplace_hint(stripe.waiters.end(), ticket, request);
}

void LockTable::SetTimer(Request* request, uint32_t stripe_index, uint64_t ticket) {
  request->timer_ns = request->deadline_ns;
  // When this timer fires, Expire checks whether a transaction holds the stripe.
  if (!request->of_transaction) request->timer_ns = std::min(request->deadline_ns, MonotonicAfter(conflict_wait_));
  request->timer =
      timers_->AtMonotonic(request->timer_ns, [this, stripe_index, ticket] { Expire(stripe_index, ticket); });
}

void LockTable::Advance(const std::shared_ptr<Request>& request) {
  while (request->held < request->stripes.size()) {
    const uint32_t stripe_index = request->stripes[request->held];
    Stripe& stripe = stripes_[stripe_index];
    absl::Status refused;
    {
      const absl::MutexLock lock(&stripe.mutex);
      if (stripe.locked) {
        refused = Park(request->bytes, /*holds_stripes=*/request->held > 0);
        if (refused.ok()) {
          Queue(request, stripe_index);
          return;
        }
      } else {
        stripe.locked = true;
        stripe.by_transaction = true;
      }
    }
    if (!refused.ok()) return Refuse(request, refused);
    ++request->held;
  }
  std::move(request->then)(Guard(this, request->stripes));
}

void LockTable::Refuse(const std::shared_ptr<Request>& request, const absl::Status& status) {
  for (size_t i = 0; i < request->held; ++i) ReleaseStripe(request->stripes[i], NextWaiter::kOnPool);
  std::move(request->then)(status);
}

void LockTable::Close(const absl::Status& status) {
  closed_ = status;
  is_closed_.store(true, std::memory_order_release);
  // A request that did not see the mark has parked before its stripe's turn here.
  for (uint32_t i = 0; i <= mask_; ++i) {
    std::map<uint64_t, std::shared_ptr<Request>> ended;
    {
      const absl::MutexLock lock(&stripes_[i].mutex);
      ended.swap(stripes_[i].waiters);
    }
    for (const auto& [ticket, request] : ended) {
      Unpark(request->bytes);
      timers_->Cancel(request->timer);
      Refuse(request, status);
    }
  }
}

void LockTable::ReleaseStripe(uint32_t stripe_index, NextWaiter where) {
  Stripe& stripe = stripes_[stripe_index];
  std::shared_ptr<Request> next;
  {
    const absl::MutexLock lock(&stripe.mutex);
    if (stripe.waiters.empty()) {
      stripe.locked = false;
      return;
    }
    // The stripe stays locked and passes to the first waiter, so that no later request overtakes it.
    next = std::move(stripe.waiters.begin()->second);
    stripe.waiters.erase(stripe.waiters.begin());
    stripe.by_transaction = next->of_transaction;
  }
  Unpark(next->bytes);
  timers_->Cancel(next->timer);
  HandOver(std::move(next), where);
}

void LockTable::HandOver(std::shared_ptr<Request> next, NextWaiter where) {
  Chain* const chain = where == NextWaiter::kBehindThis ? Chain::OfThread() : nullptr;
  // A second waiter must not wait for the first: it has another stripe.
  if (chain != nullptr && chain->table == this && chain->next == nullptr) {
    chain->next = std::move(next);
    return;
  }
  pool_->RunAdmitted([this, next = std::move(next)]() mutable { RunChain(std::move(next)); });
}

void LockTable::RunChain(std::shared_ptr<Request> first) {
  Chain chain{this, nullptr};
  Chain* const outer = std::exchange(Chain::OfThread(), &chain);
  const int64_t end_ns = MonotonicAfter(kChainTimeMax);
  for (int continued = 0; first != nullptr && continued < kChainMax; ++continued) {
    if (continued > 0 && MonotonicNs() >= end_ns) break;
    ++first->held;
    Advance(first);
    // The end of a request may release its stripe.
    first.reset();
    first = std::move(chain.next);
  }
  Chain::OfThread() = outer;
  // The pool's other tasks take their turn.
  if (first != nullptr) HandOver(std::move(first), NextWaiter::kOnPool);
}

void LockTable::Expire(uint32_t stripe_index, uint64_t ticket) {
  Stripe& stripe = stripes_[stripe_index];
  std::shared_ptr<Request> request;
  bool conflict = false;
  {
    const absl::MutexLock lock(&stripe.mutex);
    const auto position = stripe.waiters.find(ticket);
    if (position == stripe.waiters.end()) return;  // it just got the stripe
    request = position->second;
    if (request->timer_ns < request->deadline_ns) {
      conflict = stripe.by_transaction;
      if (!conflict) return SetTimer(request.get(), stripe_index, ticket);
    }
    stripe.waiters.erase(position);
  }
  Unpark(request->bytes);
  for (size_t i = 0; i < request->held; ++i) ReleaseStripe(request->stripes[i], NextWaiter::kOnPool);
  // The request holds no locks any more.
  pool_->RunAdmitted([request, conflict] {
    std::move(request->then)(
        conflict ? TransactionConflictError()
                 : DeadlineExceededError(
                       "The item is locked by other requests and did not become free within the deadline"));
  });
}

size_t LockTable::waiting() const {
  size_t count = 0;
  for (size_t i = 0; i <= mask_; ++i) {
    const absl::MutexLock lock(&stripes_[i].mutex);
    count += stripes_[i].waiters.size();
  }
  return count;
}

}  // namespace armature::store
