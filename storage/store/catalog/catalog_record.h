#ifndef ARMATURE_STORAGE_STORE_CATALOG_CATALOG_RECORD_H_
#define ARMATURE_STORAGE_STORE_CATALOG_CATALOG_RECORD_H_

// Records of tables, streams, index builds and transfers on disk. docs/reference/format.md, "Table records", "The meta
// family" and "Transfers".
//
//   table := 0x01 message                          TableRecord of records/catalog.proto
//   stream := 0x01 message                         StreamRecord of records/catalog.proto
//   transfer := 0x01 message                       TransferRecord of records/transfer.proto
//   build := 0x01 phase from through scanned written skipped started length byte*
//   phase, from, through, scanned, written, skipped, started, length := varint
//                                                  the bytes: next key to read, only while scanning

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "storage/base/strong_type.h"
#include "storage/model/stream_descriptor.h"
#include "storage/model/table_descriptor.h"
#include "storage/model/transfer_record.h"

namespace armature::store {

inline constexpr char kTableRecordVersion = 1;

std::string EncodeTableRecord(const model::TableDescriptor& descriptor);

// Errors: DataLoss for an unknown version or bytes that do not describe a table.
absl::StatusOr<model::TableDescriptor> ParseTableRecord(std::string_view value);

inline constexpr char kStreamRecordVersion = 1;

std::string EncodeStreamDescriptor(const model::StreamDescriptor& descriptor);

// Errors: DataLoss, as ParseTableRecord.
absl::StatusOr<model::StreamDescriptor> ParseStreamDescriptor(std::string_view value);

inline constexpr char kTransferRecordVersion = 1;

std::string EncodeTransferRecord(const model::TransferRecord& record);

// Errors: DataLoss, as ParseTableRecord.
absl::StatusOr<model::TransferRecord> ParseTransferRecord(std::string_view value);

// Values are on disk: never renumber.
enum class BuildPhase : uint8_t {
  kWaiting = 0,     // waits for holders of the table without the index; no position in the log yet
  kScanning = 1,    // the log is kept from from_sequence on
  kCatchingUp = 2,  // the log is applied; done at through_sequence
};

// Progress of the construction of a global index on a live table.
//
// Writes reach the index through the change log from the moment it is published. Once no one holds the table without
// the index any more, the position of the log is recorded. The table is read page by page and the entries are written.
// Then the log is applied from the recorded position. Replaying all later changes in order corrects any entry that the
// scan saw too early, so neither locks nor a snapshot are needed.
struct BuildState {
  BuildPhase phase = BuildPhase::kWaiting;
  ChangeSequence from_sequence;
  ChangeSequence through_sequence;  // kCatchingUp
  std::string next_key;             // kScanning: rows of the table before this key are done
  int64_t scanned = 0;              // number of rows read
  int64_t written = 0;              // number of entries written for them
  int64_t skipped = 0;              // number of rows left out because an attribute has another type, is empty or too
                                    // long
  int64_t started_ms = 0;           // start of the scan, since the epoch
  friend bool operator==(const BuildState&, const BuildState&) = default;
};

// The value of a build record. docs/reference/format.md, "The meta family".
std::string EncodeBuildState(const BuildState& state);
// Errors: DataLoss for an unknown version or malformed bytes.
absl::StatusOr<BuildState> ParseBuildState(std::string_view value);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_CATALOG_CATALOG_RECORD_H_
