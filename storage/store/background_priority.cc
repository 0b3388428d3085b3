#include "storage/store/background_priority.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "glog/logging.h"

namespace armature::store {
namespace {

// Each step is a factor of 1.25 in the part of a busy processor.
constexpr int kFlushSteps = 5;
constexpr int kCompactionSteps = 10;

// Makes the calling thread, which RocksDB keeps for work of one kind, yield by `steps` more than the process.
void YieldBy(int steps) {
  thread_local bool is_done = false;
  if (is_done) return;
  is_done = true;
  const id_t thread = static_cast<id_t>(syscall(SYS_gettid));
  errno = 0;
  const int own = getpriority(PRIO_PROCESS, static_cast<id_t>(getpid()));
  if (errno == 0 && setpriority(PRIO_PROCESS, thread, own + steps) == 0) return;
  LOG_FIRST_N(WARNING, 1) << "store: cannot lower the priority of background work: " << std::strerror(errno);
}

class PriorityListener final : public rocksdb::EventListener {
 public:
  void OnFlushBegin(rocksdb::DB*, const rocksdb::FlushJobInfo&) override { YieldBy(kFlushSteps); }
  void OnCompactionBegin(rocksdb::DB*, const rocksdb::CompactionJobInfo&) override { YieldBy(kCompactionSteps); }
  void OnSubcompactionBegin(const rocksdb::SubcompactionJobInfo&) override { YieldBy(kCompactionSteps); }
};

}  // namespace

std::shared_ptr<rocksdb::EventListener> MakePriorityListener() { return std::make_shared<PriorityListener>(); }

}  // namespace armature::store
