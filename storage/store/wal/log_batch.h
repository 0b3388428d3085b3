#ifndef ARMATURE_STORAGE_STORE_WAL_LOG_BATCH_H_
#define ARMATURE_STORAGE_STORE_WAL_LOG_BATCH_H_

// The batches of the write-ahead log as an archive needs them: their place among all writes, and when they were
// written. Format: docs/reference/format.md, "Write-ahead log".
//
//   time mark := "arm" 0x02 time
//   time := fixed64                                milliseconds since 1970, big-endian

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace armature::store {

// Names of column families by the ids under which batches know them.
using FamilyNamesById = std::map<uint32_t, std::string>;

struct LogBatch {
  uint64_t sequence = 0;  // of its first write; each write has one
  uint32_t writes = 0;
  int64_t time_ms = 0;  // 0: it has no mark
  std::set<uint32_t> families{};
  std::string bytes{};
};

// For a note in each batch while an archive follows the log.
std::string EncodeTimeMark(int64_t time_ms);

// Errors: DataLoss if the record is no batch, or has an operation that the store does not use.
absl::StatusOr<LogBatch> ParseLogBatch(std::string_view record);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_WAL_LOG_BATCH_H_
