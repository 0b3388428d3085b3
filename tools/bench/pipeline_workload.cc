#include <atomic>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "armature/client/client.h"
#include "armature/client/pipeline.h"
#include "tools/bench/workload.h"

namespace armature::bench {
namespace {

constexpr absl::Duration kStreamStallMax = absl::Seconds(30);

// The streams of all runs.
struct Streams {
  Options options;
  std::string table;
  std::vector<client::Client> clients;
  std::atomic<uint64_t> next = kFirstPutKey;
};

// One stream during one run.
class Stream {
 public:
  Stream(const client::Client& client, Streams* all) : client_(client), all_(*all) {}

  LoadResult Run(size_t window, double seconds) {
    const Clock::time_point end =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    client::PipelineOptions stream;
    stream.in_flight_max = window;
    // A put without an answer by then has failed.
    stream.lifetime = absl::Seconds(seconds) + kStreamStallMax;
    const auto pipeline = client_.OpenPipeline(stream);
    if (!pipeline.ok()) {
      absl::MutexLock lock(&mutex_);
      Fail(pipeline.status());
      ++result_.calls;
      return std::move(result_);
    }
    while (Clock::now() < end && !Interrupted() && !HasFailedOften() && (*pipeline)->status().ok()) Ask(**pipeline);
    const absl::Status closed = (*pipeline)->Close();
    absl::MutexLock lock(&mutex_);
    if (!closed.ok() && result_.failed == 0) Fail(closed);
    return std::move(result_);
  }

 private:
  bool HasFailedOften() {
    absl::MutexLock lock(&mutex_);
    return result_.failed >= kFailuresMax;
  }

  void Ask(client::Pipeline& pipeline) {
    api::v1::PutItemRequest put;
    put.set_table_name(all_.table);
    *put.mutable_item() =
        BenchItem(all_.options, "u" + KeyText(all_.next.fetch_add(1, std::memory_order_relaxed)), /*sort_offset=*/0);
    // All puts have the length of the first one.
    if (put_bytes_ == 0) put_bytes_ = put.ByteSizeLong();
    pipeline.Ask(std::move(put),
                 [this, start = Clock::now()](const auto& answer) { Note(answer, Clock::now() - start); });
  }

  void Note(const absl::StatusOr<api::v1::PutItemResponse>& answer, Clock::duration elapsed) {
    absl::MutexLock lock(&mutex_);
    ++result_.calls;
    result_.request_bytes += put_bytes_;
    if (!answer.ok()) return Fail(answer.status());
    if (answer->has_attributes()) return Fail(absl::InternalError("attributes that were not asked for"));
    result_.response_bytes += answer->ByteSizeLong();
    const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed);
    result_.latency.Record(static_cast<uint64_t>(nanoseconds.count()));
  }

  void Fail(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    ++result_.failed;
    if (result_.first_error.empty()) result_.first_error = "pipeline: " + status.ToString();
  }

  const client::Client& client_;
  Streams& all_;
  uint64_t put_bytes_ = 0;  // set before the first put is asked
  absl::Mutex mutex_;
  LoadResult result_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

CallKind PipelineKind(const Options& options, const std::string& table) {
  auto streams = std::make_shared<Streams>();
  streams->options = options;
  streams->table = table;
  for (uint32_t i = 0; i < options.connections; ++i) {
    streams->clients.push_back(ConnectClient(options.target));
  }
  // Throws if item_bytes is too small for the keys.
  BenchItem(options, "u" + KeyText(0), 0);
  CallKind kind;
  kind.name = "pipeline";
  kind.run = [streams](const LoadOptions& load) {
    return RunInParts(streams->clients.size(), load.outstanding, [&](size_t i, size_t window) {
      return Stream(streams->clients[i], streams.get()).Run(window, load.seconds);
    });
  };
  return kind;
}

}  // namespace armature::bench
