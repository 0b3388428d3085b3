#include "storage/rados/pool_space.h"

#include <simdjson.h>

#include <utility>

#include "absl/time/time.h"
#include "glog/logging.h"
#include "storage/base/strings.h"

namespace armature::rados {
namespace {

constexpr absl::Duration kPause = absl::Seconds(5);
constexpr char kCommand[] = R"({"prefix":"df","format":"json"})";

}  // namespace

bool ParsePoolSpace(std::string_view answer, std::string_view pool, store::DiskUsage* usage) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(answer.data(), answer.size()).get(root) != simdjson::SUCCESS) return false;
  uint64_t cluster_bytes = 0;
  simdjson::dom::array pools;
  if (root["stats"]["total_bytes"].get(cluster_bytes) != simdjson::SUCCESS || cluster_bytes == 0) return false;
  if (root["pools"].get(pools) != simdjson::SUCCESS) return false;
  for (const simdjson::dom::element entry : pools) {
    std::string_view name;
    uint64_t used = 0;
    uint64_t free = 0;
    if (entry["name"].get(name) != simdjson::SUCCESS || name != pool) continue;
    if (entry["stats"]["max_avail"].get(free) != simdjson::SUCCESS) return false;
    if (entry["stats"]["stored"].get(used) != simdjson::SUCCESS) return false;
    *usage = {used + free, free};
    return true;
  }
  return false;
}

PoolSpace::PoolSpace(std::shared_ptr<RadosSession> session) : session_(std::move(session)) {
  Ask();
  worker_.Start(Worker::Next::WhenWoken(kPause));
}

Worker::Next PoolSpace::Work() {
  Ask();
  return Worker::Next::WhenWoken(kPause);
}

store::DiskUsage PoolSpace::last() const {
  const absl::MutexLock lock(&mutex_);
  return last_;
}

// When it fails, the last answer stays: an outage of the monitors frees no space.
void PoolSpace::Ask() {
  std::string answer;
  if (session_->Command(kCommand, &answer) < 0) return;
  store::DiskUsage usage;
  if (ParsePoolSpace(answer, session_->options().pool, &usage)) {
    is_told_ = false;
    const absl::MutexLock lock(&mutex_);
    last_ = usage;
    return;
  }
  if (std::exchange(is_told_, true)) return;
  LOG(WARNING)
      << "rados: the free space of the pool is unknown, a full pool refuses writes without a warning before pool="
      << session_->options().pool << "; does the cluster have an active manager?";
}

}  // namespace armature::rados
