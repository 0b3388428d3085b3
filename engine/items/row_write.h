#ifndef ARMATURE_ENGINE_ITEMS_ROW_WRITE_H_
#define ARMATURE_ENGINE_ITEMS_ROW_WRITE_H_

// What a write does to its row, step by step: what single writes, batches and transactions share. Who calls these holds
// the row's lock from ReadBefore until the unit is durable.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/capacity.h"
#include "engine/items/request.h"
#include "engine/items/row_mutation.h"
#include "engine/parts.h"
#include "index/index_delta.h"
#include "storage/codec/item_codec.h"
#include "storage/codec/stored_item.h"
#include "storage/model/item_view.h"
#include "storage/store/commit/write_unit.h"

namespace armature::engine {

// What becomes of the row and of the entries that stand for it.
struct RowEffect {
  std::optional<codec::CanonicalItem> after;
  std::vector<index::EntryChange> local;
  std::vector<index::EntryChange> global;
  int64_t collection_growth = 0;  // in bytes; once the unit was built
};

// A row that is being written, and what is known of it so far.
//
// Thread-safety: owned by one request. Stays where it is, since `before` points into it.
struct RowWrite {
  RowWrite() = default;
  RowWrite(const RowWrite&) = delete;
  RowWrite& operator=(const RowWrite&) = delete;

  std::unique_ptr<const RowMutation> mutation;
  PinnedTable pinned;
  std::string key;
  std::string old_value;  // as stored
  std::optional<codec::StoredItemView> before;
  uint64_t collection_bytes = 0;  // before the write; only if ReadBefore was asked
  RowEffect effect;
  bool images_released = false;

  const store::Table& table() const { return *pinned.table; }
  std::optional<model::ItemView> before_item() const {
    if (!before.has_value()) return std::nullopt;
    return before->item;
  }
  size_t old_size() const { return before.has_value() ? before->api_size : 0; }
  size_t new_size() const { return effect.after.has_value() ? effect.after->api_size : 0; }
  // Units of the table itself for what was decided; for a write that came to nothing, those for the item it looked at.
  double table_units() const { return WriteUnits(old_size(), new_size()); }
  double lost_units() const { return WriteUnits(old_size(), 0); }
  // Equal by value: nothing to write, nothing for indexes. What is there is durable already. Not to be asked after
  // ReleaseImages.
  bool changes_nothing() const;
};

// Finds the table and the key of the row. Errors: ResourceNotFoundException, those of RowMutation::EncodeKey.
absl::Status FindRow(const Parts& parts, RowWrite* row);

// The row's name in the table of locks.
uint64_t LockOf(const Parts& parts, const RowWrite& row);

// Whether the answer to `metrics`, ReturnItemCollectionMetrics of the request, tells of the row's collection.
bool WantsCollection(std::string_view metrics, const RowWrite& row);

// Reads the item as it is and, `with_collection`, the size of its collection. False if one of them would block. Errors:
// DataLoss, Unavailable.
absl::StatusOr<bool> ReadBefore(const Parts& parts, store::ReadMode mode, bool with_collection, RowWrite* row);

// ConditionalCheckFailedException, with the item if the request wants it, or OK.
absl::Status CheckCondition(const RowWrite& row);

// Makes `effect`. Errors: ValidationException.
absl::Status MakeEffect(RowWrite* row);

// A put that is too large together with its local index entries, whatever the item before. MakeEffect finds the same.
// Errors: ValidationException.
absl::Status CheckPutSize(const RowWrite& row);

// A write that touches a global index which is too far behind waits outside, or the log would grow without end. Errors:
// ThrottlingException.
absl::Status CheckBacklogs(const Parts& parts, const RowWrite& row);

// What is to be committed. Sets RowEffect::collection_growth.
store::WriteUnit BuildUnit(RowWrite* row);
// Forgets the bytes of items and entries, before and after: the unit has what is to be written, and until it is durable
// many such rows wait. Sizes, keys and the mutation stay, which is all that reports and errors need.
void ReleaseImages(RowWrite* row);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_ROW_WRITE_H_
