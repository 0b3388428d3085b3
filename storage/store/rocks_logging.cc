#include "storage/store/rocks_logging.h"

#include <cstdarg>
#include <cstdio>

#include "glog/logging.h"
#include "storage/store/disk_space.h"

namespace armature::store {
namespace {

class LogWriter final : public rocksdb::Logger {
 public:
  LogWriter() : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}

  using rocksdb::Logger::Logv;
  // Messages without a level are headers or debug output.
  void Logv(const char*, va_list) override {}
  void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (level < GetInfoLogLevel() || level >= rocksdb::InfoLogLevel::HEADER_LEVEL) return;
    char line[1024];
    std::vsnprintf(line, sizeof line, format, arguments);
    if (level == rocksdb::InfoLogLevel::WARN_LEVEL) {
      LOG(WARNING) << "rocksdb: " << line;
    } else {
      LOG(ERROR) << "rocksdb: " << line;
    }
  }
};

class ErrorListener final : public rocksdb::EventListener {
 public:
  explicit ErrorListener(DiskSpace* space) : space_(space) {}

  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* status) override {
    LOG(ERROR) << "store: background error status=" << status->ToString();
    using Severity = rocksdb::Status::Severity;
    // A new log file could not be created for lack of space. The old log is intact.
    if (reason == rocksdb::BackgroundErrorReason::kMemTable && status->IsNoSpace()) {
      *status = rocksdb::Status(*status, Severity::kHardError);
    }
    if (status->severity() >= Severity::kFatalError) {
      space_->SetBroken();
    } else if (status->severity() == Severity::kHardError && status->IsNoSpace()) {
      // RocksDB recovers from soft errors, such as those of a compaction, by itself.
      space_->SetFailed();
    }
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status, bool* auto_recovery) override {
    *auto_recovery = false;
  }

 private:
  DiskSpace* const space_;
};

}  // namespace

std::shared_ptr<rocksdb::Logger> MakeRocksLogger() { return std::make_shared<LogWriter>(); }

std::shared_ptr<rocksdb::EventListener> MakeErrorListener(DiskSpace* space) {
  return std::make_shared<ErrorListener>(space);
}

}  // namespace armature::store
