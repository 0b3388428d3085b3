#include "engine/watch/watch_hub.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "engine/parts.h"
#include "engine/watch/table_watch.h"
#include "storage/base/api_error.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/strings.h"
#include "storage/base/time_histogram.h"
#include "storage/store/stream/stream_log.h"

namespace armature::engine {
namespace {

constexpr size_t kWatchThreads = 2;
constexpr absl::Duration kTick = absl::Milliseconds(500);

}  // namespace

WatchPlace::~WatchPlace() {
  if (hub_ != nullptr) hub_->GiveBack(client_);
}

WatchHub::WatchHub(Parts* parts) : parts_(parts), pool_("arm-watch", kWatchThreads, 1) {
  parts_->database->streams().SetAppendListener([this](StreamId stream) { OnAppended(stream); });
}

absl::StatusOr<WatchPlace> WatchHub::TakePlace(const std::string& client) {
  const size_t max = parts_->live.watches_max();
  const absl::MutexLock lock(&mutex_);
  if (!ended_.ok()) return ended_;
  if (taken_ >= max) {
    return LimitExceededError(Cat("There are ", taken_, " watches, as many as the server allows (--watch_max)"));
  }
  size_t& of_client = places_[client];
  if (of_client >= std::max<size_t>(max / 2, 1)) {
    return LimitExceededError(
        Cat("The client has ", of_client, " watches, as many as the server allows to one (half of --watch_max)"));
  }
  ++of_client;
  ++taken_;
  return WatchPlace(this, client);
}

void WatchHub::GiveBack(const std::string& client) {
  const absl::MutexLock lock(&mutex_);
  --taken_;
  const auto found = places_.find(client);
  if (--found->second == 0) places_.erase(found);
}

void WatchHub::Add(StreamId stream, const std::shared_ptr<TableWatch>& watch) {
  absl::Status ended;
  {
    const absl::MutexLock lock(&mutex_);
    watches_[stream].emplace(watch.get(), watch);
    ArmTimer();
    ended = ended_;
  }
  if (!ended.ok()) watch->Cancel(ended);
}

void WatchHub::Remove(StreamId stream, TableWatch* watch) {
  const absl::MutexLock lock(&mutex_);
  const auto found = watches_.find(stream);
  if (found == watches_.end()) return;
  found->second.erase(watch);
  if (found->second.empty()) watches_.erase(found);
}

void WatchHub::OnAppended(StreamId stream) {
  {
    const absl::MutexLock lock(&news_mutex_);
    news_.insert(stream);
    if (std::exchange(is_dispatching_, true)) return;
  }
  pool_.RunAdmitted([this] { Dispatch(); });
}

void WatchHub::Dispatch() {
  std::set<StreamId> news;
  {
    const absl::MutexLock lock(&news_mutex_);
    news.swap(news_);
    is_dispatching_ = false;
  }
  for (const StreamId stream : news) {
    for (const std::shared_ptr<TableWatch>& watch : WatchesOf(stream)) watch->Wake();
  }
}

WatchHub::Watches WatchHub::WatchesOf(StreamId stream) {
  Watches watches;
  const absl::MutexLock lock(&mutex_);
  const auto found = watches_.find(stream);
  if (found == watches_.end()) return watches;
  for (const auto& [key, weak] : found->second) {
    if (std::shared_ptr<TableWatch> watch = weak.lock(); watch != nullptr) watches.push_back(std::move(watch));
  }
  return watches;
}

WatchHub::Watches WatchHub::AllWatches() {
  Watches watches;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [stream, all] : watches_) {
    for (const auto& [key, weak] : all) {
      if (std::shared_ptr<TableWatch> watch = weak.lock(); watch != nullptr) watches.push_back(std::move(watch));
    }
  }
  return watches;
}

void WatchHub::ArmTimer() {
  if (has_timer_ || watches_.empty() || !ended_.ok()) return;
  has_timer_ = true;
  parts_->timers.AtMonotonic(MonotonicAfter(kTick), [this] { Tick(); });
}

void WatchHub::Tick() {
  const int64_t now_ns = MonotonicNs();
  for (const std::shared_ptr<TableWatch>& watch : AllWatches()) watch->WakeIfDue(now_ns);
  const absl::MutexLock lock(&mutex_);
  has_timer_ = false;
  ArmTimer();
}

WatchStats WatchHub::stats() const {
  const absl::MutexLock lock(&mutex_);
  return {.open = taken_,
          .records = records_.load(std::memory_order_relaxed),
          .fell_behind = fell_behind_.load(std::memory_order_relaxed)};
}

void WatchHub::End(const absl::Status& why) {
  {
    const absl::MutexLock lock(&mutex_);
    if (ended_.ok()) ended_ = why;
  }
  for (const std::shared_ptr<TableWatch>& watch : AllWatches()) watch->Cancel(why);
}

void WatchHub::Stop() {
  parts_->database->streams().SetAppendListener(nullptr);
  End(ServiceUnavailableError("The server is stopping"));
  pool_.Stop();
}

}  // namespace armature::engine
