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
  // What comes without a level is a header or a debugging line.
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
    LOG(ERROR) << "store: work failed status=" << status->ToString();
    using Severity = rocksdb::Status::Severity;
    // A log file that could not be made for want of space: nothing of the old one is in doubt.
    if (reason == rocksdb::BackgroundErrorReason::kMemTable && status->IsNoSpace()) {
      *status = rocksdb::Status(*status, Severity::kHardError);
    }
    if (status->severity() >= Severity::kFatalError) {
      space_->SetBroken();
    } else if (status->severity() == Severity::kHardError && status->IsNoSpace()) {
      // After a soft one, such as that of a compaction, RocksDB goes on by itself.
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
