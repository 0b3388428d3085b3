#include "storage/store/stream/stream_keeper.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"

namespace armature::store {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(1);

int64_t SystemUnixMs() { return absl::ToUnixMillis(absl::Now()); }

}  // namespace

StreamKeeper::StreamKeeper(StreamLog* log, const StreamOptions& options, std::function<int64_t()> unix_ms)
    : log_(log), options_(options), unix_ms_(unix_ms ? std::move(unix_ms) : SystemUnixMs) {
  worker_.Start(Worker::Next::WhenWoken(kInterval));
  log_->SetGrowthListener([this] { worker_.Wake(); },
                          std::max<uint64_t>(1, options_.bytes_max / (4 * kSegmentsPerSpace)));
}

StreamKeeper::~StreamKeeper() { log_->SetGrowthListener(nullptr, UINT64_MAX); }

Worker::Next StreamKeeper::Work() {
  if (const absl::Status status = RunOnce(); !status.ok()) {
    LOG_EVERY_N(WARNING, 60) << "store: cannot trim the streams status=" << status;
  }
  return Worker::Next::WhenWoken(kInterval);
}

absl::Status StreamKeeper::RunOnce() {
  const absl::MutexLock lock(&run_mutex_);
  const int64_t now_ms = unix_ms_();
  const std::vector<StreamSegment> segments = log_->segments();
  if (segments.empty()) return absl::OkStatus();
  const StreamSegment& current = segments.back();
  const bool is_old = now_ms - current.begin_ms >= options_.retention_ms / kSegmentsPerRetention;
  const bool is_large = current.bytes >= options_.bytes_max / kSegmentsPerSpace;
  if (current.bytes > 0 && (is_old || is_large)) ARM_RETURN_IF_ERROR(log_->BeginSegment(now_ms));
  ARM_RETURN_IF_ERROR(TrimOld(now_ms));
  ARM_RETURN_IF_ERROR(TrimToSpace());
  return RemoveOldStreams(now_ms);
}

absl::Status StreamKeeper::TrimOld(int64_t now_ms) {
  const std::vector<StreamSegment> segments = log_->segments();
  for (size_t i = 1; i < segments.size() && segments[i].begin_ms <= now_ms - options_.retention_ms; ++i) {
    ARM_RETURN_IF_ERROR(log_->TrimOldest());
  }
  return absl::OkStatus();
}

absl::Status StreamKeeper::TrimToSpace() {
  while (log_->bytes() > options_.bytes_max && log_->segments().size() > 1) {
    const StreamSegment oldest = log_->segments().front();
    ARM_RETURN_IF_ERROR(log_->TrimOldest());
    trimmed_early_.fetch_add(1, std::memory_order_relaxed);
    LOG(WARNING) << "store: streams exceed their space, records removed before their time segment=" << oldest.id.value()
                 << " bytes=" << oldest.bytes << " begun_ms=" << oldest.begin_ms << " bytes_max=" << options_.bytes_max
                 << " (--stream_mb_max)";
  }
  return absl::OkStatus();
}

absl::Status StreamKeeper::RemoveOldStreams(int64_t now_ms) {
  for (const StreamId stream : log_->EndedUntil(now_ms - options_.retention_ms)) {
    ARM_RETURN_IF_ERROR(log_->Remove(stream));
  }
  return absl::OkStatus();
}

}  // namespace armature::store
