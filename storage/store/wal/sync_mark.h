#ifndef ARMATURE_STORAGE_STORE_WAL_SYNC_MARK_H_
#define ARMATURE_STORAGE_STORE_WAL_SYNC_MARK_H_

// A note in each batch of the write-ahead log: how far the log was synced when the batch was written. With it a start
// can tell damage of acknowledged data from what a power cut leaves of a batch that was still being written. Format:
// docs/reference/format.md, "Write-ahead log". Inside the store only.
//
//   mark := "arm" 0x01 acknowledged file offset
//   acknowledged := 0x00 | 0x01                    0x01: the batch is acknowledged before it is synced
//   file, offset := fixed64                        big-endian

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace armature::store {

// A place in the write-ahead log. Orders places by file, then offset.
struct LogPosition {
  uint64_t file = 0;  // number of the file; 0: before all files
  uint64_t offset = 0;

  auto operator<=>(const LogPosition&) const = default;  // NOLINT(modernize-use-nullptr): a fault of clang-tidy 14
};

struct SyncMark {
  LogPosition synced;
  // The batch is acknowledged when it is written, before it is synced.
  bool is_unsynced_acknowledged = false;
};

std::string EncodeSyncMark(const SyncMark& mark);
// The mark in `record`, a record of the write-ahead log. nullopt: the batch has none, or is damaged.
std::optional<SyncMark> FindSyncMark(std::string_view record);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_WAL_SYNC_MARK_H_
