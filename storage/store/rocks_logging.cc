#include "storage/store/rocks_logging.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>

#include "glog/logging.h"

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
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* status) override {
    if (IsOfAWrite(reason)) {
      write_failed_ = true;
      LOG(ERROR) << "store: the database takes no more writes until the daemon is restarted; reads go on status="
                 << status->ToString();
    } else {
      LOG(ERROR) << "store: background work failed status=" << status->ToString();
    }
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason reason, rocksdb::Status, bool* auto_recovery) override {
    if (write_failed_ || IsOfAWrite(reason)) *auto_recovery = false;
  }

 private:
  static bool IsOfAWrite(rocksdb::BackgroundErrorReason reason) {
    return reason == rocksdb::BackgroundErrorReason::kWriteCallback ||
           reason == rocksdb::BackgroundErrorReason::kMemTable;
  }

  std::atomic<bool> write_failed_ = false;
};

}  // namespace

std::shared_ptr<rocksdb::Logger> MakeRocksLogger() { return std::make_shared<LogWriter>(); }

std::shared_ptr<rocksdb::EventListener> MakeErrorListener() { return std::make_shared<ErrorListener>(); }

}  // namespace armature::store
