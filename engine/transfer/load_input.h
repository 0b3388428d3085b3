#ifndef ARMATURE_ENGINE_TRANSFER_LOAD_INPUT_H_
#define ARMATURE_ENGINE_TRANSFER_LOAD_INPUT_H_

// The records of all files of an import or a bulk operation, in order.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/transfer/item_files.h"
#include "engine/transfer/transfer_files.h"
#include "storage/base/file_descriptor.h"
#include "storage/model/transfer_record.h"

namespace armature::engine {

class TransferJob;

// Thread-safety: owned by one thread. Lifetime: `job` outlives it.
class LoadInput {
 public:
  explicit LoadInput(TransferJob* job) : job_(job) {}

  // Finds the files, which may be none, and goes to the place in the job's record. `csv_types`: see ItemFileOptions.
  // Errors end the job.
  absl::Status Open(std::map<std::string, std::string, std::less<>> csv_types);
  bool has_files() const { return !files_.empty(); }

  // Reads the next record. False at the end. A file that cannot be read to its end because of its content counts as one
  // more record, whose item is an error. Errors end the job, also that of a file that has changed since it was found.
  absl::StatusOr<bool> Next(ItemFileRecord* record);

  // The file of the last record.
  const std::string& file() const { return file_; }
  // Notes the place behind the last record, and the bytes read.
  void NotePlace(model::TransferProgress* progress) const;

 private:
  absl::Status GoTo(const model::TransferProgress& progress);
  absl::Status OpenNext();
  absl::Status EndFile();

  TransferJob* const job_;
  DirectoryPtr bucket_;
  ItemFileOptions options_;
  std::vector<InputFile> files_;
  size_t next_ = 0;                         // of the files; that of reader_, if there is one
  int64_t bytes_before_ = 0;                // of the files before it
  std::unique_ptr<ItemFileReader> reader_;  // null: the file was not opened yet
  FileDescriptor opened_;                   // the file that reader_ reads
  std::string file_;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TRANSFER_LOAD_INPUT_H_
