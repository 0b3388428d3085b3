#include "storage/store/database_copy.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "rocksdb/file_system.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/data_directory.h"
#include "storage/store/restored_directory.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

using rocksdb::IOOptions;

constexpr size_t kPieceBytes = size_t{1} << 20;

class DatabaseCopier {
 public:
  DatabaseCopier(Volume* from, Volume* to, const std::function<void(uint64_t, uint64_t)>& progress)
      : from_(from), to_(to), progress_(progress) {}

  // Finds what is to be copied from `directory`, with all that is below it, whose copy is `target`.
  absl::Status Find(const std::string& directory, const std::string& target) {
    directories_.push_back(target);
    ARM_ASSIGN_OR_RETURN(const std::vector<std::string> names, from_->List(directory));
    for (const std::string& name : names) {
      const std::string path = Cat(directory, "/", name);
      const absl::StatusOr<std::vector<std::string>> below = from_->List(path);
      if (below.ok()) {
        ARM_RETURN_IF_ERROR(Find(path, Cat(target, "/", name)));
        continue;
      }
      ARM_ASSIGN_OR_RETURN(const uint64_t size, from_->Size(path));
      files_.push_back({.path = path, .target = Cat(target, "/", name), .size = size});
      total_ += size;
    }
    return absl::OkStatus();
  }

  absl::Status Copy() {
    for (const std::string& directory : directories_) ARM_RETURN_IF_ERROR(to_->MakeDirectories(directory));
    for (const File& file : files_) ARM_RETURN_IF_ERROR(CopyFile(file));
    for (const std::string& directory : directories_) ARM_RETURN_IF_ERROR(to_->SyncDirectory(directory));
    return absl::OkStatus();
  }

 private:
  struct File {
    std::string path;
    std::string target;
    uint64_t size = 0;
  };

  absl::Status CopyFile(const File& file) {
    ARM_ASSIGN_OR_RETURN(const std::unique_ptr<VolumeFile> source, from_->Open(file.path, Volume::Access::kRead));
    std::unique_ptr<rocksdb::FSWritableFile> target;
    const auto write = [&file](const rocksdb::IOStatus& status) {
      return FromRocks(status, Cat("write ", file.target));
    };
    ARM_RETURN_IF_ERROR(
        write(to_->file_system()->NewWritableFile(file.target, rocksdb::FileOptions(), &target, nullptr)));
    std::string piece;
    for (uint64_t at = 0; at < file.size;) {
      piece.resize(std::min<uint64_t>(kPieceBytes, file.size - at));
      ARM_ASSIGN_OR_RETURN(const size_t got, source->ReadAt(at, piece.size(), piece.data()));
      if (got < piece.size()) return DataLossError(Cat(file.path, " of ", file.size, " bytes ends at ", at + got));
      ARM_RETURN_IF_ERROR(write(target->Append(piece, IOOptions(), nullptr)));
      at += got;
      done_ += got;
      if (progress_ != nullptr) progress_(done_, total_);
    }
    ARM_RETURN_IF_ERROR(write(target->Sync(IOOptions(), nullptr)));
    return write(target->Close(IOOptions(), nullptr));
  }

  Volume* const from_;
  Volume* const to_;
  const std::function<void(uint64_t, uint64_t)>& progress_;
  std::vector<std::string> directories_;  // of the copy, parents first
  std::vector<File> files_;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
};

}  // namespace

absl::Status CopyDatabase(Volume* from, const std::string& from_path, Volume* to, const std::string& to_path,
                          const std::function<void(uint64_t done, uint64_t total)>& progress) {
  // Checked first, because to open a directory makes it.
  ARM_RETURN_IF_ERROR(CheckHoldsDatabase(from, from_path));
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<DataDirectory> source, DataDirectory::Open(from, from_path));
  if (source->is_new()) return FailedPreconditionError(Cat(from_path, " holds an unfinished database"));
  ARM_ASSIGN_OR_RETURN(const std::string format, from->Read(Cat(from_path, kDataFormatFile)));
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<RestoredDirectory> target, RestoredDirectory::Begin(to, to_path));
  DatabaseCopier copier(from, to, progress);
  ARM_RETURN_IF_ERROR(copier.Find(source->db_path(), target->db_path()));
  ARM_RETURN_IF_ERROR(copier.Copy());
  return target->Finish(format);
}

}  // namespace armature::store
