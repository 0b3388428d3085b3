#ifndef ARMATURE_ENGINE_ITEMS_ROW_WRITE_H_
#define ARMATURE_ENGINE_ITEMS_ROW_WRITE_H_

// The steps of a write to one row, shared by single writes, batches and transactions. The caller holds the row lock
// from ReadBefore until the unit is durable or, with early release, until it is queued.

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
#include "storage/base/held_memory.h"
#include "storage/codec/item_codec.h"
#include "storage/codec/stored_item.h"
#include "storage/model/item_view.h"
#include "storage/store/commit/committer.h"
#include "storage/store/commit/write_unit.h"
#include "storage/store/database.h"

namespace armature::engine {

// Epoch of the earliest queued value that a request was decided on, or nullopt if it saw durable rows only.
using DecidedOn = std::optional<store::CommitEpoch>;

// Reads a row whose lock the caller holds, as Database::Get does: the last value, which need not be durable
// (row_commit.h). Notes in `decided_on` if it is not.
absl::StatusOr<store::GetResult> ReadLocked(const Parts& parts, const store::Table& table, std::string_view key,
                                            store::ReadMode mode, std::string* stored, DecidedOn* decided_on);

// The effect of a write on the row and its index entries.
struct RowEffect {
  const codec::CanonicalItem* after = nullptr;  // `made`, or the mutation's own; null if there is no item
  codec::CanonicalItem made;
  std::vector<index::EntryChange> local;
  std::vector<index::EntryChange> global;
  int64_t collection_growth = 0;  // in bytes; set by BuildUnit
};

// A row being written, and its state so far.
//
// Thread-safety: owned by one request. Not movable, because `before` and `effect` point into it.
struct RowWrite {
  RowWrite() = default;
  RowWrite(const RowWrite&) = delete;
  RowWrite& operator=(const RowWrite&) = delete;

  std::unique_ptr<const RowMutation> mutation;
  PinnedTable pinned;
  std::string key;
  std::string old_value;  // as stored
  std::optional<codec::StoredItemView> before;
  DecidedOn decided_on;           // set by ReadBefore if the current item is not durable yet
  uint64_t collection_bytes = 0;  // before the write; set if ReadBefore was asked for it
  RowEffect effect;
  bool images_released = false;

  const store::Table& table() const { return *pinned.table; }
  std::optional<model::ItemView> before_item() const {
    if (!before.has_value()) return std::nullopt;
    return before->item;
  }
  size_t old_size() const { return before.has_value() ? before->api_size : 0; }
  size_t new_size() const { return effect.after != nullptr ? effect.after->api_size : 0; }
  // Write units of the table itself: table_units for the decided write, lost_units for a write that failed its
  // condition.
  double table_units() const { return WriteUnits(old_size(), new_size()); }
  double lost_units() const { return WriteUnits(old_size(), 0); }
  // True if the item after the write equals the item before, so that neither row nor indexes change. Must not be called
  // after ReleaseImages.
  bool changes_nothing() const;
};

// Finds the table and the key of the row. Errors: ResourceNotFoundException, those of RowMutation::EncodeKey.
absl::Status FindRow(const Parts& parts, RowWrite* row);

// The row's hash for the lock table.
uint64_t LockOf(const Parts& parts, const RowWrite& row);

// True if `metrics`, the request's ReturnItemCollectionMetrics, asks for the row's item collection and there is one.
bool WantsCollection(std::string_view metrics, const RowWrite& row);

// Reads the current item and, `with_collection`, the size of its collection. Returns false if a read would block.
// `is_locked`: the caller holds the row lock; otherwise the durable item is read. Errors: DataLoss, Unavailable.
absl::StatusOr<bool> ReadBefore(const Parts& parts, store::ReadMode mode, bool with_collection, RowWrite* row,
                                bool is_locked = true);

// The items that the error of a request returns.
class FailedItems {
 public:
  // `memory`: of the error. `shared_room`: see WriteRequest; may be null.
  explicit FailedItems(HeldMemory* memory, ItemRoom* shared_room = nullptr)
      : memory_(memory), shared_room_(shared_room) {}

  // True if an item of `bytes` may be added: false beyond what an answer may hold, or if there is no memory.
  bool Take(size_t bytes);
  // True if there was no memory for an item: the request must fail with NoMemoryForAnswerError.
  bool is_refused() const { return is_refused_; }

 private:
  HeldMemory* const memory_;
  ItemRoom* const shared_room_;
  size_t bytes_ = 0;
  bool is_refused_ = false;
};

// Returns ConditionalCheckFailedException, with the item if the request asks for it and `failed` takes it, or OK.
absl::Status CheckCondition(const RowWrite& row, FailedItems* failed);

// Upper bound of the bytes that CheckCondition, MakeEffect and BuildUnit read and write, for the choice of a thread:
// with more than kInlineBytesMax they should run on the pool of lock holders.
// ReadBefore must have been called.
size_t DecisionCost(const RowWrite& row);
// The part of DecisionCost that is due to the expressions.
size_t EvaluationBytes(const RowWrite& row);

// Computes `effect`. Errors: ValidationException.
absl::Status MakeEffect(RowWrite* row);

// Refuses a put that is too large together with its local index entries. The check needs no old item; MakeEffect
// repeats it. Errors: ValidationException.
absl::Status CheckPutSize(const RowWrite& row);

// Refuses a write to a global index whose backlog exceeds its limit, so that the change log stays bounded. Errors:
// ThrottlingException.
absl::Status CheckBacklogs(const Parts& parts, const RowWrite& row);

// Builds the write unit. Sets RowEffect::collection_growth.
store::WriteUnit BuildUnit(RowWrite* row);
// Frees the bytes of old and new item and entries: many rows wait until their units, which hold copies, are durable.
// Sizes, keys and the mutation remain, for reports and errors.
void ReleaseImages(RowWrite* row);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_ROW_WRITE_H_
