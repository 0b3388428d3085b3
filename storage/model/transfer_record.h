#ifndef ARMATURE_STORAGE_MODEL_TRANSFER_RECORD_H_
#define ARMATURE_STORAGE_MODEL_TRANSFER_RECORD_H_

// An export, an import or a bulk operation: a job that reads or writes files, survives restarts, and is kept for some
// time after its end. docs/reference/format.md, "Transfers".

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/strong_type.h"

namespace armature::model {

// Values are on disk: never renumber.
enum class TransferKind : uint8_t { kExport = 1, kImport = 2, kBulkPut = 3 };
enum class TransferState : uint8_t {
  kInProgress = 1,
  kCancelling = 2,
  kCompleted = 3,
  kCompletedWithErrors = 4,
  kCancelled = 5,
  kFailed = 6,
};
enum class TransferFormat : uint8_t { kJsonLines = 1, kCsv = 2 };
enum class TransferCompression : uint8_t { kNone = 1, kGzip = 2, kZstd = 3 };

// A place below the directory that the operator has allowed.
struct TransferPlace {
  std::string bucket;
  std::string prefix;
  friend bool operator==(const TransferPlace&, const TransferPlace&) = default;

  static void VisitFields(auto& self, const auto& visit) {
    visit("bucket", self.bucket);
    visit("prefix", self.prefix);
  }
};

struct TransferInput {
  TransferPlace place;
  TransferFormat format = TransferFormat::kJsonLines;
  TransferCompression compression = TransferCompression::kNone;
  std::string csv_delimiter;            // one character; empty: a comma
  std::vector<std::string> csv_header;  // empty: the first line of each file
  friend bool operator==(const TransferInput&, const TransferInput&) = default;

  static void VisitFields(auto& self, const auto& visit) {
    visit("place", self.place);
    visit("format", self.format);
    visit("compression", self.compression);
    visit("csv_delimiter", self.csv_delimiter);
    visit("csv_header", self.csv_header);
  }
};

struct TransferProgress {
  // Place of the next record to read: file below the bucket, bytes and lines of its text before the record.
  std::string file;
  int64_t offset = 0;
  int64_t line = 0;
  int64_t items = 0;    // records read, or items exported
  int64_t written = 0;  // items written to the table
  int64_t failed = 0;
  int64_t bytes_read = 0;    // of the files
  int64_t bytes_total = 0;   // of all files of the input; 0: not known yet
  int64_t item_bytes = 0;    // sum of the sizes of the items, as the API counts them
  int64_t output_files = 0;  // files that were written as a whole
  uint32_t checksum = 0;     // of the text before the next record, so that a changed file is noticed
  friend bool operator==(const TransferProgress&, const TransferProgress&) = default;

  static void VisitFields(auto& self, const auto& visit) {
    visit("file", self.file);
    visit("offset", self.offset);
    visit("line", self.line);
    visit("items", self.items);
    visit("written", self.written);
    visit("failed", self.failed);
    visit("bytes_read", self.bytes_read);
    visit("bytes_total", self.bytes_total);
    visit("item_bytes", self.item_bytes);
    visit("output_files", self.output_files);
    visit("checksum", self.checksum);
  }
};

struct TransferRecord {
  std::string arn;
  TransferKind kind = TransferKind::kExport;
  TransferState state = TransferState::kInProgress;
  std::string client_token;  // empty: none
  std::string request;       // the request's message, as its client sent it; opaque to the engine
  TableId table;
  std::string table_name;
  std::string table_uuid;
  int64_t start_time_ms = 0;  // since the epoch, as all times
  int64_t end_time_ms = 0;    // 0: it has not ended
  int64_t data_time_ms = 0;   // the time of the snapshot of an export; 0: none
  std::optional<TransferInput> input;
  std::optional<TransferPlace> output;
  int64_t write_units_max = 0;  // per second; 0: no limit
  bool writes_errors = false;   // records that could not be written go to the output
  TransferProgress progress;
  std::string failure_code;  // empty: none
  std::string failure_message;

  bool has_ended() const { return state != TransferState::kInProgress && state != TransferState::kCancelling; }
  friend bool operator==(const TransferRecord&, const TransferRecord&) = default;

  static void VisitFields(auto& self, const auto& visit) {
    visit("arn", self.arn);
    visit("kind", self.kind);
    visit("state", self.state);
    visit("client_token", self.client_token);
    visit("request", self.request);
    visit("table_id", self.table);
    visit("table_name", self.table_name);
    visit("table_uuid", self.table_uuid);
    visit("start_time_ms", self.start_time_ms);
    visit("end_time_ms", self.end_time_ms);
    visit("data_time_ms", self.data_time_ms);
    visit("input", self.input);
    visit("output", self.output);
    visit("write_units_max", self.write_units_max);
    visit("writes_errors", self.writes_errors);
    visit("progress", self.progress);
    visit("failure_code", self.failure_code);
    visit("failure_message", self.failure_message);
  }
};

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_TRANSFER_RECORD_H_
