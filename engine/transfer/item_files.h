#ifndef ARMATURE_ENGINE_TRANSFER_ITEM_FILES_H_
#define ARMATURE_ENGINE_TRANSFER_ITEM_FILES_H_

// Files of items, as exports write and imports read them. The engine does not parse items in JSON, so the front ends'
// code implements this interface.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/base/file_descriptor.h"

namespace armature::engine {

enum class ItemFileFormat { kJsonLines, kCsv };
enum class FileCompression { kNone, kGzip, kZstd };

struct ItemFileOptions {
  // kJsonLines: items in the documented JSON form as {"Item": {...}}, one or more on each line.
  ItemFileFormat format = ItemFileFormat::kJsonLines;
  FileCompression compression = FileCompression::kNone;
  // For CSV. Names of the attributes; empty: the first line of the file has them.
  std::vector<std::string> csv_header{};
  char csv_delimiter = ',';
  // For CSV. Types ("S", "N", "B") of key attributes by name; all other attributes are strings.
  std::map<std::string, std::string, std::less<>> csv_types{};
  // For readers: true if reading should end with CANCELLED, asked again and again. Null: never.
  std::function<bool()> is_stopped{};
};

// A position between two records of a file, from which another reader can continue. Stored with the progress of a job.
struct ItemFilePosition {
  int64_t offset = 0;     // bytes of the uncompressed text before it
  int64_t line = 0;       // number of whole lines before it
  uint32_t checksum = 0;  // of these bytes, so that a changed file is noticed

  bool operator==(const ItemFilePosition&) const = default;
};

struct ItemFileRecord {
  // The item in wire form, not validated beyond its syntax. Errors: INVALID_ARGUMENT with the reason; the next record
  // may be valid.
  absl::StatusOr<std::string> item;
  std::string text;  // the record as it is in the file
  int64_t line = 0;  // its first line, counted from 1
};

// Not thread-safe. Holds at most one record and a buffer in memory. Errors: UNAVAILABLE, or DATA_LOSS with a
// text that names the file, if nothing more can be read. DATA_LOSS: the content is wrong, for example truncated
// compressed data, a line longer than any item, or a malformed first line of CSV.
class ItemFileReader {
 public:
  virtual ~ItemFileReader() = default;
  // Skips to the position of an earlier reader of this file, with the same options. Errors: also DATA_LOSS if the text
  // before it has changed.
  virtual absl::Status SkipTo(ItemFilePosition position) = 0;
  // Reads the next record. Skips empty lines. False at the end.
  virtual absl::StatusOr<bool> Next(ItemFileRecord* record) = 0;
  virtual ItemFilePosition position() const = 0;
  virtual int64_t bytes_read() const = 0;  // of the file, compressed
};

// Not thread-safe. The file has its name only after Finish; an unfinished file is removed.
class ItemFileWriter {
 public:
  struct Finished {
    int64_t items = 0;
    int64_t bytes = 0;       // of the file, compressed
    std::string md5_base64;  // of the compressed file
  };
  virtual ~ItemFileWriter() = default;
  // `item`: in wire form as stored (compact numbers are written in full). Only for kJsonLines.
  virtual absl::Status Append(std::string_view item) = 0;
  // Appends a line as it is, without its line break; for records that could not be imported.
  virtual absl::Status AppendText(std::string_view line) = 0;
  virtual int64_t bytes() const = 0;  // written so far
  // Makes content and name durable. Called once.
  virtual absl::StatusOr<Finished> Finish() = 0;
};

// A regular file that is open, at its begin.
struct ItemFileSource {
  FileDescriptor file;
  std::string path;  // for messages
};

// The place of a new file.
struct ItemFileTarget {
  int directory = -1;          // descriptor of its directory, which must stay open as long as the file is written
  std::string directory_path;  // for messages
  std::string name;
};

// Paths are resolved by the caller, who knows which of them may be followed. Thread-safe.
class ItemFiles {
 public:
  virtual ~ItemFiles() = default;
  virtual absl::StatusOr<std::unique_ptr<ItemFileReader>> OpenReader(ItemFileSource source,
                                                                     const ItemFileOptions& options) const = 0;
  virtual absl::StatusOr<std::unique_ptr<ItemFileWriter>> CreateWriter(const ItemFileTarget& target,
                                                                       const ItemFileOptions& options) const = 0;
  // Writes a small text file with the same guarantees, for manifests; returns base64 MD5 and size as Finished.
  virtual absl::StatusOr<ItemFileWriter::Finished> WriteTextFile(const ItemFileTarget& target,
                                                                 std::string_view text) const = 0;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TRANSFER_ITEM_FILES_H_
