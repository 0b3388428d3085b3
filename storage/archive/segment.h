#ifndef ARMATURE_STORAGE_ARCHIVE_SEGMENT_H_
#define ARMATURE_STORAGE_ARCHIVE_SEGMENT_H_

// A segment of an archive: a run of batches of the write-ahead log, with their times. docs/reference/format.md,
// "Archive".
//
//   segment := head body
//   head := record of text_record.h, title "armature segment", with the fields
//           format, chain, index, previous, start, end, first_sequence, last_sequence, first_ms, last_ms, until_ms,
//           batches, plain_bytes, body, family*
//   start, end value := file " " offset            of the database's log
//   body value := bytes " " hash                   hash: XXH3-128 (seed 0) of the body in hex
//   family value := id " " name                    of each column family that a batch names
//   body := frame of zstd: batch*
//   batch := sequence time length bytes
//   sequence, time := fixed64                      big-endian; milliseconds since 1970
//   length := fixed32                              big-endian
//   bytes := a batch as RocksDB writes it to its log

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/store/wal/log_batch.h"
#include "storage/store/wal/sync_mark.h"

namespace armature::archive {

inline constexpr uint64_t kArchiveFormat = 1;
// Bytes of batches after which a segment ends. The last batch may exceed it.
inline constexpr size_t kSegmentBytes = size_t{16} << 20;

struct SegmentFacts {
  std::string chain{};     // its id
  uint64_t index = 0;      // in the chain, from 1
  std::string previous{};  // checksum of the head of the segment before; empty for the first one
  store::LogPosition start{};
  store::LogPosition end{};
  uint64_t first_sequence = 0;
  uint64_t last_sequence = 0;
  int64_t first_ms = 0;  // times of the first and of the last batch; they never go back
  int64_t last_ms = 0;
  int64_t until_ms = 0;  // everything that was acknowledged before is in this segment or an earlier one
  uint64_t batches = 0;
  uint64_t plain_bytes = 0;
  store::FamilyNamesById families{};
  std::string checksum{};  // of the head, which covers the body; set by ParseSegment and SegmentWriter
};

// Thread-safety: thread-compatible.
class SegmentWriter {
 public:
  // `facts`: chain, index, previous, start and families.
  explicit SegmentWriter(SegmentFacts facts) : facts_(std::move(facts)) {}

  // Adds a batch, whose sequence and time are not below those before.
  void Add(const store::LogBatch& batch, int64_t time_ms);
  // Ends the segment, and returns its bytes. Errors: ResourceExhausted, Internal.
  absl::StatusOr<std::string> Finish(store::LogPosition end, int64_t until_ms);
  const SegmentFacts& facts() const { return facts_; }

 private:
  SegmentFacts facts_;
  std::string plain_;
};

struct Segment {
  SegmentFacts facts{};
  std::string plain{};  // the batches
};

// Reads the head only. Errors: DataLoss; FailedPrecondition for a newer format.
absl::StatusOr<SegmentFacts> ParseSegmentHead(std::string_view bytes);
// Checks and decompresses a segment. Memory: twice the batches. Errors: as ParseSegmentHead.
absl::StatusOr<Segment> ParseSegment(std::string_view bytes);

struct ArchivedBatch {
  uint64_t sequence = 0;
  int64_t time_ms = 0;
  std::string_view bytes{};
};
// Calls `visit` for each batch, until it returns an error, which is returned. Errors: DataLoss.
absl::Status ForEachBatch(const Segment& segment, absl::FunctionRef<absl::Status(const ArchivedBatch& batch)> visit);

}  // namespace armature::archive

#endif  // ARMATURE_STORAGE_ARCHIVE_SEGMENT_H_
