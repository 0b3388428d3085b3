#include "engine/items/row_write.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "engine/expr/condition_eval.h"
#include "engine/expr/update_eval.h"
#include "engine/items/expiry_change.h"
#include "engine/items/expressions.h"
#include "engine/items/stream_change.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"
#include "storage/model/plain_item.h"
#include "storage/store/log/index_backlog.h"

namespace armature::engine {
namespace {

// The applier processes some ten thousand records in this time.
constexpr int64_t kBacklogRetryMs = 200;

// In a table with local indexes, an item and all its entries together must not exceed the item size limit.
absl::Status CheckSizeWithLocalIndexes(const store::Table& table, const codec::CanonicalItem& item,
                                       std::string_view too_large_text) {
  if (item.api_size * (1 + table.local_indexes.size()) <= model::kItemSizeMaxBytes) return absl::OkStatus();
  size_t total = item.api_size;
  for (const index::EntryChange& entry :
       index::IndexDelta(table.local_indexes, table.descriptor.key, std::nullopt, item.view())) {
    total += entry.new_size.value_or(0);
  }
  if (total <= model::kItemSizeMaxBytes) return absl::OkStatus();
  return ValidationError(too_large_text);
}

std::optional<index::ItemImage> ImageBefore(const RowWrite& row) {
  if (!row.before.has_value()) return std::nullopt;
  return index::ItemImage(row.before->item, {row.before->api_size, row.before->compact_numbers});
}

std::optional<index::ItemImage> ImageAfter(const RowEffect& effect) {
  if (effect.after == nullptr) return std::nullopt;
  return index::ItemImage(effect.after->view(), {effect.after->api_size, effect.after->compact_numbers});
}

// Assigning an empty string would keep the memory.
void GiveBack(std::string* bytes) { std::string().swap(*bytes); }

}  // namespace

bool RowWrite::changes_nothing() const {
  DCHECK(!images_released);
  if (!mutation->writes()) return true;
  if (!before.has_value()) return effect.after == nullptr;
  return effect.after != nullptr && effect.after->bytes == before->item.bytes();
}

absl::StatusOr<store::GetResult> ReadLocked(const Parts& parts, const store::Table& table, std::string_view key,
                                            store::ReadMode mode, std::string* stored, DecidedOn* decided_on) {
  const std::shared_ptr<const store::QueuedRow> queued = parts.queued_rows.Find(table.descriptor.id, key);
  if (queued == nullptr) return parts.database->rows().Get(table.data, key, mode, stored);
  *decided_on = std::min(decided_on->value_or(queued->epoch()), queued->epoch());
  if (!queued->value().has_value()) return store::GetResult::kMissing;
  *stored = *queued->value();
  return store::GetResult::kFound;
}

absl::Status FindRow(const Parts& parts, RowWrite* row) {
  ARM_ASSIGN_OR_RETURN(row->pinned, FindTable(*parts.database, *row->mutation->request().table_name));
  ARM_ASSIGN_OR_RETURN(row->key, row->mutation->EncodeKey(row->table()));
  ARM_RETURN_IF_ERROR(row->mutation->CheckSchema(row->table()));
  return absl::OkStatus();
}

uint64_t LockOf(const Parts& parts, const RowWrite& row) {
  return parts.locks.HashRow(row.table().descriptor.id.value(), row.key);
}

bool WantsCollection(std::string_view metrics, const RowWrite& row) {
  return metrics == "SIZE" && row.mutation->writes() && !row.table().local_indexes.empty();
}

absl::StatusOr<bool> ReadBefore(const Parts& parts, store::ReadMode mode, bool with_collection, RowWrite* row,
                                bool is_locked) {
  // A second read may find less than the first one: the first value may have been queued and have failed since.
  row->before.reset();
  const store::Database& database = *parts.database;
  const store::Table& table = row->table();
  ARM_ASSIGN_OR_RETURN(const store::GetResult item,
                       is_locked ? ReadLocked(parts, table, row->key, mode, &row->old_value, &row->decided_on)
                                 : database.rows().Get(table.data, row->key, mode, &row->old_value));
  if (item == store::GetResult::kWouldBlock) return false;
  if (with_collection) {
    ARM_ASSIGN_OR_RETURN(const store::GetResult size,
                         database.rows().GetCounter(table.collections, index::CollectionKey(table, row->key), mode,
                                                    &row->collection_bytes));
    if (size == store::GetResult::kWouldBlock) return false;
  }
  if (item == store::GetResult::kMissing) return true;
  absl::StatusOr<codec::StoredItemView> parsed = codec::ParseStoredItem(row->old_value);
  if (!parsed.ok()) return WithContext(parsed.status(), table.descriptor.name);
  row->before = *parsed;
  return true;
}

size_t DecisionCost(const RowWrite& row) {
  const RowMutation& mutation = *row.mutation;
  const store::Table& table = row.table();
  const size_t images = row.old_value.size() + mutation.item_or_key().bytes().size();
  const size_t constants = mutation.expressions() == nullptr ? 0 : mutation.expressions()->values.size();
  if (IsLongToAnswer(row.old_value)) return kInlineBytesMax + 1;
  // The row, the change record, and an entry in each index.
  return (images + constants) * (2 + table.local_indexes.size() + table.global_indexes.size()) + EvaluationBytes(row);
}

size_t EvaluationBytes(const RowWrite& row) {
  if (row.mutation->expressions() == nullptr) return 0;
  const expr::BoundExpressions& bound = row.mutation->expressions()->bound;
  expr::EvaluationCost cost;
  if (bound.condition.has_value()) cost += expr::CostOf(*bound.condition);
  if (bound.update.has_value()) cost.readings += expr::ReadingsOf(*bound.update);
  return cost.BytesFor(row.old_value.size());
}

bool FailedItems::Take(size_t bytes) {
  if (bytes_ + bytes > model::kTransactMaxWireBytes) return false;
  // Each item is in the row's error, in that of the request, and in a copy of that while the answer is made.
  constexpr size_t kCopies = 3;
  const bool has_memory = !is_refused_ && memory_->TrySet(kCopies * (bytes_ + bytes));
  const bool is_taken = has_memory && (shared_room_ == nullptr || shared_room_->TryTake(bytes));
  if (is_taken) bytes_ += bytes;
  if (has_memory && !is_taken) memory_->Set(kCopies * bytes_);
  is_refused_ = !has_memory && shared_room_ == nullptr;
  return is_taken;
}

absl::Status CheckCondition(const RowWrite& row, FailedItems* failed) {
  const RequestExpressions* const expressions = row.mutation->expressions();
  if (expressions == nullptr || !expressions->bound.condition.has_value()) return absl::OkStatus();
  const std::optional<model::ItemView> before = row.before_item();
  if (expr::Evaluate(*expressions->bound.condition, before.value_or(model::ItemView()))) return absl::OkStatus();
  const bool with_item =
      row.mutation->request().return_values_on_condition_check_failure == "ALL_OLD" && before.has_value();
  if (!with_item) return ConditionalCheckFailedError({});
  std::string plain;
  std::string_view item = before->bytes();
  if (row.before->compact_numbers) item = plain = model::PlainItem(item);
  return ConditionalCheckFailedError(failed->Take(item.size()) ? item : std::string_view());
}

absl::Status MakeEffect(RowWrite* row) {
  if (!row->mutation->writes()) return absl::OkStatus();
  const store::Table& table = row->table();
  const std::optional<model::ItemView> before = row->before_item();
  RowEffect& effect = row->effect;
  ARM_ASSIGN_OR_RETURN(effect.after, row->mutation->Apply(before, &effect.made));
  if (effect.after != nullptr) {
    ARM_RETURN_IF_ERROR(row->mutation->CheckResult(table, *effect.after, /*created=*/!before.has_value()));
    ARM_RETURN_IF_ERROR(CheckSizeWithLocalIndexes(table, *effect.after, row->mutation->TooLargeText()));
  }
  if (!table.has_indexes()) return absl::OkStatus();
  const index::ItemDelta delta(table.descriptor.key, ImageBefore(*row), ImageAfter(effect));
  effect.local = delta.ChangesOf(table.local_indexes);
  effect.global = delta.ChangesOf(table.global_indexes);
  return absl::OkStatus();
}

absl::Status CheckPutSize(const RowWrite& row) {
  if (!row.mutation->is_put() || row.table().local_indexes.empty()) return absl::OkStatus();
  codec::CanonicalItem made;
  ARM_ASSIGN_OR_RETURN(const codec::CanonicalItem* const item, row.mutation->Apply(std::nullopt, &made));
  return CheckSizeWithLocalIndexes(row.table(), *item, row.mutation->TooLargeText());
}

absl::Status CheckBacklogs(const Parts& parts, const RowWrite& row) {
  for (const index::EntryChange& change : row.effect.global) {
    // An index under construction does not throttle writes: its backlog is kept on purpose. Nor does one that stands
    // still, because a throttled write could never be repeated with success.
    if (change.index->build != nullptr || change.index->progress == nullptr) continue;
    if (change.index->progress->is_stalled()) continue;
    const store::BacklogLoad waiting = change.index->progress->backlog().load();
    if (waiting.records < parts.live.gsi_backlog_records_max() && waiting.bytes < parts.live.gsi_backlog_bytes_max()) {
      continue;
    }
    NoteThrottled(parts, row.table(), change.index,
                  change.put_key.has_value() ? *change.put_key : change.removed_key.value_or(""));
    return ThrottlingError(
        Cat("Throughput exceeds the current capacity of your table or index. The global secondary "
            "index ",
            change.index->descriptor.name, " is too far behind its table; try again when it has caught up"),
        kBacklogRetryMs);
  }
  return absl::OkStatus();
}

store::WriteUnit BuildUnit(RowWrite* row) {
  const store::Table& table = row->table();
  RowEffect& effect = row->effect;
  store::WriteUnit unit(row->pinned.table);
  store::StatsDelta delta;
  if (row->before.has_value()) {
    delta.items -= 1;
    delta.bytes -= static_cast<int64_t>(row->before->api_size);
  }
  if (effect.after != nullptr) {
    delta.items += 1;
    delta.bytes += static_cast<int64_t>(effect.after->api_size);
    const std::string head = codec::StoredItemHead(*effect.after);
    if (!table.has_indexes()) unit.Reserve(1, row->key.size() + head.size() + effect.after->bytes.size());
    unit.Put(table.data, row->key, head, effect.after->bytes);
  } else {
    unit.Delete(table.data, row->key);
  }
  unit.AddStats(table.data, delta);
  effect.collection_growth = index::AddLocalIndexChanges(table, row->key, delta, effect.local, &unit);
  const int64_t now_ms = absl::ToUnixMillis(absl::Now());
  index::RecordGlobalIndexChanges(table, row->key, now_ms, effect.global, &unit);
  RecordStreamChange(*row, now_ms, &unit);
  RecordExpiryChange(*row, &unit);
  return unit;
}

void ReleaseImages(RowWrite* row) {
  RowEffect& effect = row->effect;
  row->images_released = true;
  if (row->before.has_value()) {
    row->before->item = model::ItemView();
    row->before->converted.reset();
  }
  GiveBack(&row->old_value);
  GiveBack(&effect.made.bytes);
  for (std::vector<index::EntryChange>* const changes : {&effect.local, &effect.global}) {
    for (index::EntryChange& change : *changes) change.put_item.parts.clear();
  }
}

}  // namespace armature::engine
