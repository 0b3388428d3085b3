#ifndef ARMATURE_STORAGE_CODEC_CHANGE_CODEC_H_
#define ARMATURE_STORAGE_CODEC_CHANGE_CODEC_H_

// Change records: the rows of global indexes that one write of an item changes. docs/reference/format.md, "Change log".
//
// A record holds the attributes of the new item once, however many indexes have them, and no key of the table more than
// once. It is complete by itself: a reader needs no definition of an index, so an index may be added, removed or
// repaired while records of it are under way.
//
//   record := 0x02 time base item count change*    written since format 6
//           | 0x01 time base count row*            written by formats 1 to 5
//   time := zigzag varint                          milliseconds since 1970
//   base := length byte*                           key of the row in the table
//   item := length byte*                           attributes that the entries take, as canonical item bytes
//   count := varint
//   change := index flags removed? put? delta delta
//   index := varint                                id of the index
//   flags := byte                                  1 removed, 2 put, 4 keys are whole, 8 put has all attributes of item
//   removed := length byte*                        key of the row to remove; unless 4, without the end of base
//   put := length byte* version size places?       key of the row to write, front of its value (stored_item.h)
//   places := varint varint*                       unless 8: count; for each, number of attributes passed over
//   row := index kind length byte* value? delta delta
//   kind := 0x00 | 0x01                            put, with the value; delete
//   value := length byte*                          stored item
//   delta := zigzag varint                         of entries, then of their sizes
//   length := varint

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "storage/base/strong_type.h"

namespace armature::codec {

// Version 1 was written up to format 5 of the data directory. It repeats the whole row for each index.
inline constexpr char kRepeatingChangeVersion = 1;
inline constexpr char kChangeRecordVersion = 2;

// Maximum number of indexes in one record. Writers stay far below, because a table has at most
// model::kGlobalIndexesMax. It bounds what a reader makes of a damaged record.
inline constexpr size_t kRecordIndexesMax = 64;

// Attributes that an index entry takes from an item, and their measures.
struct ItemExcerpt {
  // The whole item, or some of its attributes: each part is an entry of the item in wire form, and they are in the
  // order of the item. Lifetime: that of the item's bytes. Most entries of indexes have few attributes.
  absl::InlinedVector<std::string_view, 4> parts;
  bool is_whole = false;  // one part, which is the item
  size_t api_size = 0;
  bool compact_numbers = false;

  // Size of the stored item that the entry has.
  size_t stored_bytes() const;
  // The item in one piece.
  std::string Join() const;
};

// The change of one index by one write: at most one row is removed, and at most one is written.
struct IndexChange {
  IndexId index;
  std::optional<std::string_view> removed_key;
  std::optional<std::string_view> put_key;
  const ItemExcerpt* put_item = nullptr;  // not null if there is a `put_key`
  int64_t item_delta = 0;
  int64_t byte_delta = 0;
};

struct ItemChange {
  int64_t time_ms = 0;        // time of the write, since the epoch
  std::string_view base_key;  // key of the row in the table
  std::vector<IndexChange> indexes;
};

// Encodes a record of the present version. All excerpts must be of the same bytes of one item. At most
// kRecordIndexesMax indexes.
std::string EncodeItemChange(const ItemChange& change);

// One row of one global index to write or delete.
struct IndexRowChange {
  IndexId index;
  bool is_delete = false;
  std::string_view key;    // key of the row inside the index
  std::string_view value;  // stored item, behind `value_head`; empty when is_delete
  // Changes of the index's totals, so that the applier need not read the old row.
  int64_t item_delta = 0;
  int64_t byte_delta = 0;
  std::string_view value_head = {};  // the head of the stored item, if it is not in `value`
};

// Bytes of a change in the backlog of its index.
inline uint64_t RowBytes(const IndexRowChange& change) {
  return change.key.size() + change.value_head.size() + change.value.size();
}

struct ChangeRecord {
  int64_t time_ms = 0;
  std::string_view base_key;
  std::vector<IndexRowChange> index_changes;
  // Bytes that some views point into: keys and values that are not in one piece in the record. May be null.
  std::unique_ptr<const std::string> joined;
};

// Parses a record of either version. Views point into `bytes` or into ChangeRecord::joined. Memory: for each index at
// most the size of `bytes`. Errors: DataLoss for an unknown version or malformed bytes.
absl::StatusOr<ChangeRecord> ParseChangeRecord(std::string_view bytes);

}  // namespace armature::codec

#endif  // ARMATURE_STORAGE_CODEC_CHANGE_CODEC_H_
