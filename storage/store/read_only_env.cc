#include "storage/store/read_only_env.h"

#include <string>

#include "rocksdb/file_system.h"

namespace armature::store {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

IOStatus Refuse(const std::string& name) { return IOStatus::NotSupported("opened for reading only", name); }

class ReadOnlyFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  ReadOnlyFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}

  const char* Name() const override { return "ArmatureReadOnlyFileSystem"; }

  IOStatus NewWritableFile(const std::string& name, const FileOptions&, std::unique_ptr<rocksdb::FSWritableFile>*,
                           IODebugContext*) override {
    return Refuse(name);
  }
  IOStatus ReopenWritableFile(const std::string& name, const FileOptions&, std::unique_ptr<rocksdb::FSWritableFile>*,
                              IODebugContext*) override {
    return Refuse(name);
  }
  IOStatus ReuseWritableFile(const std::string& name, const std::string&, const FileOptions&,
                             std::unique_ptr<rocksdb::FSWritableFile>*, IODebugContext*) override {
    return Refuse(name);
  }
  IOStatus NewRandomRWFile(const std::string& name, const FileOptions&, std::unique_ptr<rocksdb::FSRandomRWFile>*,
                           IODebugContext*) override {
    return Refuse(name);
  }
  IOStatus NewMemoryMappedFileBuffer(const std::string& name,
                                     std::unique_ptr<rocksdb::MemoryMappedFileBuffer>*) override {
    return Refuse(name);
  }
  IOStatus NewLogger(const std::string& name, const IOOptions&, std::shared_ptr<rocksdb::Logger>*,
                     IODebugContext*) override {
    return Refuse(name);
  }
  IOStatus DeleteFile(const std::string& name, const IOOptions&, IODebugContext*) override { return Refuse(name); }
  IOStatus Truncate(const std::string& name, size_t, const IOOptions&, IODebugContext*) override {
    return Refuse(name);
  }
  IOStatus CreateDir(const std::string& name, const IOOptions&, IODebugContext*) override { return Refuse(name); }
  IOStatus CreateDirIfMissing(const std::string& name, const IOOptions& options, IODebugContext* debug) override {
    bool is_there = false;
    const IOStatus status = IsDirectory(name, options, &is_there, debug);
    return status.ok() && is_there ? IOStatus::OK() : Refuse(name);
  }
  IOStatus DeleteDir(const std::string& name, const IOOptions&, IODebugContext*) override { return Refuse(name); }
  IOStatus RenameFile(const std::string& name, const std::string&, const IOOptions&, IODebugContext*) override {
    return Refuse(name);
  }
  IOStatus LinkFile(const std::string& name, const std::string&, const IOOptions&, IODebugContext*) override {
    return Refuse(name);
  }
  // RocksDB's own lock would create a file.
  IOStatus LockFile(const std::string& name, const IOOptions&, rocksdb::FileLock**, IODebugContext*) override {
    return Refuse(name);
  }
};

}  // namespace

std::unique_ptr<rocksdb::Env> MakeReadOnlyEnv() {
  return rocksdb::NewCompositeEnv(std::make_shared<ReadOnlyFileSystem>());
}

}  // namespace armature::store
