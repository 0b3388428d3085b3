#include "daemon/telemetry/running_requests.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/operations.h"
#include "storage/base/time_histogram.h"

namespace armature::daemon {
namespace {

constexpr size_t kPeerBytesMax = 64;

// Numbers the threads, so that each begins its search for a place elsewhere.
size_t ThreadNumber() {
  static std::atomic<size_t> next = 0;
  thread_local size_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace

class RunningRequests::Place {
 public:
  // The one that has taken the place fills it.
  const std::shared_ptr<engine::RequestTrace>& Fill(std::string_view operation, Front front, std::string_view peer,
                                                    int64_t begun_ns, bool is_timed) {
    const absl::MutexLock lock(&mutex_);
    operation_ = operation;
    front_ = front;
    peer_.assign(peer.substr(0, kPeerBytesMax));
    begun_ns_ = begun_ns;
    // The engine may hold the trace of the request before for a moment longer than the front end.
    if (trace_ != nullptr && trace_.use_count() == 1) {
      std::atomic_thread_fence(std::memory_order_acquire);
      trace_->Restart(is_timed);
    } else {
      trace_ = std::make_shared<engine::RequestTrace>(is_timed);
    }
    return trace_;
  }

  RequestFacts facts() const {
    RequestFacts facts;
    const absl::MutexLock lock(&mutex_);
    if (trace_ == nullptr) return facts;  // taken, and not filled yet
    facts.operation = operation_;
    facts.front = front_;
    facts.peer = peer_;
    facts.begun_ns = begun_ns_;
    facts.took_ns = MonotonicNs() - begun_ns_;
    facts.Take(*trace_);
    return facts;
  }

 private:
  friend class RunningRequests;

  std::atomic<uint64_t>* taken_ = nullptr;  // of its group
  uint64_t bit_ = 0;
  mutable absl::Mutex mutex_;
  std::shared_ptr<engine::RequestTrace> trace_ ABSL_GUARDED_BY(mutex_);
  std::string_view operation_ ABSL_GUARDED_BY(mutex_);
  Front front_ ABSL_GUARDED_BY(mutex_) = Front::kGrpc;
  std::string peer_ ABSL_GUARDED_BY(mutex_);
  int64_t begun_ns_ ABSL_GUARDED_BY(mutex_) = 0;
};

struct RunningRequests::Group {
  alignas(64) std::atomic<uint64_t> taken = 0;  // a bit for each place
  std::array<Place, kGroupPlaces> places;
};

RunningRequests::RunningRequests(bool is_timed)
    : is_timed_(is_timed), groups_(std::make_unique<std::array<Group, kGroups>>()) {
  for (Group& group : *groups_) {
    for (size_t i = 0; i < kGroupPlaces; ++i) {
      group.places[i].taken_ = &group.taken;
      group.places[i].bit_ = uint64_t{1} << i;
    }
  }
}

RunningRequests::~RunningRequests() = default;

RunningRequests::Place* RunningRequests::Take() {
  const size_t first = ThreadNumber();
  for (size_t i = 0; i < kGroups; ++i) {
    Group& group = (*groups_)[(first + i) % kGroups];
    uint64_t taken = group.taken.load(std::memory_order_relaxed);
    while (~taken != 0) {
      const auto free = static_cast<size_t>(std::countr_one(taken));
      if (group.taken.compare_exchange_weak(taken, taken | uint64_t{1} << free, std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
        return &group.places[free];
      }
    }
  }
  return nullptr;
}

RunningRequests::Place* RunningRequests::Enter(std::string_view operation, Front front, std::string_view peer,
                                               int64_t begun_ns, std::shared_ptr<engine::RequestTrace>* trace) {
  const bool is_timed = is_timed_.load(std::memory_order_relaxed);
  Place* const place = Take();
  if (place != nullptr) {
    *trace = place->Fill(operation, front, peer, begun_ns, is_timed);
    return place;
  }
  unlisted_.fetch_add(1, std::memory_order_relaxed);
  if (is_timed) *trace = std::make_shared<engine::RequestTrace>(true);
  return nullptr;
}

void RunningRequests::Leave(Place* place) {
  if (place != nullptr) place->taken_->fetch_and(~place->bit_, std::memory_order_release);
}

RequestFacts RunningRequests::FactsOf(const Place& place) { return place.facts(); }

std::vector<RequestFacts> RunningRequests::List(int64_t at_least_ns, size_t max) const {
  std::vector<RequestFacts> list;
  for (const Group& group : *groups_) {
    uint64_t left = group.taken.load(std::memory_order_acquire);
    while (left != 0) {
      const Place& place = group.places[static_cast<size_t>(std::countr_zero(left))];
      left &= left - 1;
      RequestFacts facts = place.facts();
      // A request that has ended meanwhile, or that has just begun in its place, is left out.
      const bool is_taken = (place.taken_->load(std::memory_order_acquire) & place.bit_) != 0;
      if (is_taken && facts.begun_ns != 0 && facts.took_ns >= at_least_ns) list.push_back(std::move(facts));
    }
  }
  // Streams last as long as their clients wish, and must not hide the requests that hang.
  std::ranges::sort(list, {}, [](const RequestFacts& each) {
    const engine::Operation* const found = engine::FindOperation(each.operation);
    return std::pair(found != nullptr && found->is_whole_stream(), each.begun_ns);
  });
  if (list.size() > max) list.resize(max);
  return list;
}

}  // namespace armature::daemon
