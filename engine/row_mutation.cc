#include "engine/row_mutation.h"

#include <utility>
#include <vector>

#include "engine/capacity.h"
#include "engine/constraints.h"
#include "engine/expr/condition_eval.h"
#include "engine/item_collection.h"
#include "engine/legacy.h"
#include "engine/throughput.h"
#include "index/gsi_recorder.h"
#include "index/index_delta.h"
#include "index/lsi_maintainer.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/stored_item.h"
#include "storage/model/limits.h"
#include "storage/store/index_backlog.h"

namespace armature::engine {
namespace {

// The applier does some ten thousand records in that time.
constexpr int64_t kBacklogRetryMs = 200;

// A write on its way.
struct Write {
  Parts* parts;
  RequestContext context;
  std::unique_ptr<const RowMutation> mutation;
  Callback<WriteResult> done;
  PinnedTable pinned;
  std::string key;
  store::LockTable::Guard guard;
  std::string old_value;          // as stored
  uint64_t collection_bytes = 0;  // before the write; only if wants_collection()
  WriteResult result;

  const store::Table& table() const { return *pinned.table; }
  // Whether the answer tells the size of the item collection.
  bool wants_collection() const {
    return mutation->request().return_item_collection_metrics == "SIZE" && !table().local_indexes.empty();
  }
  void Fail(const absl::Status& status) {
    guard.Release();
    std::move(done)(status);
  }
};
using WritePtr = std::shared_ptr<Write>;

// What the write does, once the old item is known.
struct Effect {
  std::optional<codec::CanonicalItem> after;
  std::vector<index::EntryChange> local;
  std::vector<index::EntryChange> global;
  int64_t collection_growth = 0;  // in bytes; once the unit was built
};

size_t StoredHeadSize(std::string_view stored, const model::ItemView& item) {
  return stored.size() - item.bytes().size();
}

// On a table with local indexes the item and all its entries together keep the item limit.
absl::Status CheckSizeWithLocalIndexes(const store::Table& table, const codec::CanonicalItem& item,
                                       std::string_view too_large_text) {
  if (item.api_size * (1 + table.local_indexes.size()) <= model::kItemSizeMaxBytes) return absl::OkStatus();
  size_t total = item.api_size;
  for (const index::EntryChange& entry :
       index::IndexDelta(table.local_indexes, table.descriptor.key, std::nullopt, model::ItemView(item.bytes))) {
    total += entry.new_size.value_or(0);
  }
  if (total <= model::kItemSizeMaxBytes) return absl::OkStatus();
  return ValidationError(too_large_text);
}

absl::Status CheckCondition(const Write& write, const std::optional<model::ItemView>& before) {
  const RequestExpressions* const expressions = write.mutation->expressions();
  if (expressions == nullptr || !expressions->bound.condition.has_value()) return absl::OkStatus();
  if (expr::Evaluate(*expressions->bound.condition, before.value_or(model::ItemView()))) return absl::OkStatus();
  const bool with_item =
      write.mutation->request().return_values_on_condition_check_failure == "ALL_OLD" && before.has_value();
  return ConditionalCheckFailedError(with_item ? before->bytes() : std::string_view());
}

// A write that touches a global index which is too far behind waits outside, or the log would grow without end. Not so
// while the index is being filled: its log is held on purpose.
absl::Status CheckBacklogs(const Write& write, const std::vector<index::EntryChange>& changes) {
  const EngineOptions& options = write.parts->options;
  for (const index::EntryChange& change : changes) {
    if (change.index->build != nullptr || change.index->progress == nullptr) continue;
    const store::BacklogLoad waiting = change.index->progress->backlog().load();
    if (waiting.records < options.gsi_backlog_records_max && waiting.bytes < options.gsi_backlog_bytes_max) continue;
    return ThrottlingError(
        Cat("Throughput exceeds the current capacity of your table or index. The global secondary "
            "index ",
            change.index->descriptor.name, " is too far behind its table; try again when it has caught up"),
        kBacklogRetryMs);
  }
  return absl::OkStatus();
}

absl::StatusOr<Effect> Decide(const Write& write, const std::optional<model::ItemView>& before) {
  ARM_RETURN_IF_ERROR(CheckCondition(write, before));
  Effect effect;
  ARM_ASSIGN_OR_RETURN(effect.after, write.mutation->Apply(before));
  const store::Table& table = write.table();
  std::optional<model::ItemView> after;
  if (effect.after.has_value()) {
    after = model::ItemView(effect.after->bytes);
    ARM_RETURN_IF_ERROR(write.mutation->CheckResult(table, *effect.after, /*created=*/!before.has_value()));
    ARM_RETURN_IF_ERROR(CheckSizeWithLocalIndexes(table, *effect.after, write.mutation->TooLargeText()));
  }
  effect.local = index::IndexDelta(table.local_indexes, table.descriptor.key, before, after);
  effect.global = index::IndexDelta(table.global_indexes, table.descriptor.key, before, after);
  ARM_RETURN_IF_ERROR(CheckBacklogs(write, effect.global));
  return effect;
}

store::WriteUnit BuildUnit(const Write& write, const std::optional<codec::StoredItemView>& before, Effect* effect) {
  const store::Table& table = write.table();
  store::WriteUnit unit(write.pinned.snapshot);
  store::StatsDelta delta;
  if (before.has_value()) {
    delta.items -= 1;
    delta.bytes -= static_cast<int64_t>(before->api_size);
  }
  if (effect->after.has_value()) {
    delta.items += 1;
    delta.bytes += static_cast<int64_t>(effect->after->api_size);
    unit.Put(table.data, write.key, codec::EncodeStoredItem(effect->after->bytes, effect->after->api_size));
  } else {
    unit.Delete(table.data, write.key);
  }
  unit.AddStats(table.data, delta);
  if (!table.local_indexes.empty()) {
    effect->collection_growth =
        index::AddLocalIndexChanges(table, CollectionKey(table, write.key), delta, effect->local, &unit);
  }
  index::RecordGlobalIndexChanges(table, write.key, absl::ToUnixMillis(absl::Now()), effect->global, &unit);
  return unit;
}

// The write is decided on and durable, or needed no write at all.
void Answer(const WritePtr& write, ChangeSequence sequence) {
  write->guard.Release();
  write->result.change_sequence = sequence.value();
  std::move(write->done)(std::move(write->result));
}

// What ReturnValues asks for, if there is any of it. Takes the bytes of a whole item away from `write` or `effect`.
std::optional<ItemBytes> TakeAttributes(Write* write, Effect* effect,
                                        const std::optional<codec::StoredItemView>& before) {
  const std::string_view mode = write->mutation->request().return_values;
  if (mode.ends_with("_OLD") ? !before.has_value() : !effect->after.has_value()) return std::nullopt;
  if (mode == "ALL_OLD") {
    const size_t head = StoredHeadSize(write->old_value, before->item);
    return ItemBytes(std::move(write->old_value), head);
  }
  if (mode == "ALL_NEW") return ItemBytes(std::move(effect->after->bytes), 0);
  std::string part;
  if (mode == "UPDATED_OLD") part = write->mutation->UpdatedPart(before->item);
  if (mode == "UPDATED_NEW") part = write->mutation->UpdatedPart(model::ItemView(effect->after->bytes));
  if (part.empty()) return std::nullopt;
  return ItemBytes(std::move(part), 0);
}

// The last that looks at the items.
void FillResult(Write* write, Effect* effect, const std::optional<codec::StoredItemView>& before) {
  const WriteRequest& request = write->mutation->request();
  const absl::StatusOr<CapacityReport> report = ParseCapacityReport(request.return_consumed_capacity);
  const size_t old_size = before.has_value() ? before->api_size : 0;
  const size_t new_size = effect->after.has_value() ? effect->after->api_size : 0;
  write->result.capacity = ReportWrite(*report, *write->mutation->request().table_name, WriteUnits(old_size, new_size),
                                       effect->local, effect->global);
  if (write->wants_collection()) {
    write->result.collection = MetricsOf(write->table(), write->mutation->item_or_key(),
                                         static_cast<int64_t>(write->collection_bytes) + effect->collection_growth);
  }
  write->result.attributes = TakeAttributes(write, effect, before);
}

// Refuses the write if there is no capacity for it, else takes its units. `effect`: what Decide made of the write; one
// whose condition failed is charged for the item that it looked at.
absl::Status TakeCapacity(const Write& write, const std::optional<codec::StoredItemView>& before,
                          const absl::StatusOr<Effect>& effect) {
  const size_t old_size = before.has_value() ? before->api_size : 0;
  if (!effect.ok()) {
    if (absl::IsFailedPrecondition(effect.status())) {
      ChargeWrite(*write.parts, write.table(), WriteUnits(old_size, 0));
    }
    return effect.status();
  }
  const size_t new_size = effect->after.has_value() ? effect->after->api_size : 0;
  return TakeWrite(*write.parts, write.table(), WriteUnits(old_size, new_size), effect->local, effect->global);
}

void DecideAndCommit(const WritePtr& write, bool has_old) {
  std::optional<codec::StoredItemView> before;
  std::optional<model::ItemView> before_item;
  if (has_old) {
    absl::StatusOr<codec::StoredItemView> parsed = codec::ParseStoredItem(write->old_value);
    if (!parsed.ok()) return write->Fail(WithContext(parsed.status(), write->table().descriptor.name));
    before = *parsed;
    before_item = parsed->item;
  }
  absl::StatusOr<Effect> effect = Decide(*write, before_item);
  if (const absl::Status taken = TakeCapacity(*write, before, effect); !taken.ok()) return write->Fail(taken);
  const bool changes_nothing = before.has_value()
                                   ? effect->after.has_value() && effect->after->bytes == before->item.bytes()
                                   : !effect->after.has_value();
  if (changes_nothing) {
    // Equal by value: nothing to write, nothing for indexes. What is there is durable already.
    FillResult(write.get(), &*effect, before);
    return Answer(write, write->parts->database->change_log().watermark());
  }
  store::WriteUnit unit = BuildUnit(*write, before, &*effect);
  FillResult(write.get(), &*effect, before);
  write->parts->database->Commit(std::move(unit), [write](absl::StatusOr<ChangeSequence> sequence) {
    if (!sequence.ok()) return write->Fail(sequence.status());
    Answer(write, *sequence);
  });
}

// The old item and, if the answer tells it, the size of its collection. kWouldBlock if one of them would.
absl::StatusOr<store::GetResult> ReadBefore(Write* write, store::ReadMode mode) {
  const store::Database& database = *write->parts->database;
  const store::Table& table = write->table();
  ARM_ASSIGN_OR_RETURN(const store::GetResult item, database.Get(table.data, write->key, mode, &write->old_value));
  if (item == store::GetResult::kWouldBlock || !write->wants_collection()) return item;
  ARM_ASSIGN_OR_RETURN(
      const store::GetResult size,
      database.GetCounter(table.collections, CollectionKey(table, write->key), mode, &write->collection_bytes));
  return size == store::GetResult::kWouldBlock ? size : item;
}

void ReadOld(const WritePtr& write, store::ReadMode mode) {
  const absl::StatusOr<store::GetResult> got = ReadBefore(write.get(), mode);
  if (!got.ok()) return write->Fail(got.status());
  if (*got == store::GetResult::kWouldBlock) {
    RunOnReadPool(
        write->parts, [write] { ReadOld(write, store::ReadMode::kMayBlock); },
        [write](const absl::Status& status) { write->Fail(status); });
    return;
  }
  DecideAndCommit(write, *got == store::GetResult::kFound);
}

}  // namespace

absl::Status CheckWriteRequest(const WriteRequest& request, std::string_view item_path) {
  ARM_RETURN_IF_ERROR(CheckShape(
      request.table_name, {item_path, request.item_wire.has_value()}, [&request](model::ConstraintList* constraints) {
        CheckOptionalEnum(request.return_consumed_capacity, "returnConsumedCapacity", kReturnConsumedCapacityValues,
                          constraints);
        CheckOptionalEnum(request.return_item_collection_metrics, "returnItemCollectionMetrics",
                          kReturnItemCollectionMetricsValues, constraints);
        CheckOptionalEnum(request.return_values, "returnValues", kReturnValuesValues, constraints);
        CheckOptionalEnum(request.return_values_on_condition_check_failure, "returnValuesOnConditionCheckFailure",
                          kReturnValuesOnFailureValues, constraints);
        CheckLegacyShapes(request.expressions.legacy, constraints);
      }));
  return CheckParameterStyles(request.expressions);
}

void RunMutation(Parts* parts, RequestContext context, std::unique_ptr<const RowMutation> mutation,
                 Callback<WriteResult> done) {
  auto write = std::make_shared<Write>();
  write->parts = parts;
  write->context = std::move(context);
  write->mutation = std::move(mutation);
  write->done = std::move(done);
  absl::StatusOr<PinnedTable> pinned = FindTable(*parts->database, *write->mutation->request().table_name);
  if (!pinned.ok()) return write->Fail(pinned.status());
  write->pinned = *std::move(pinned);
  absl::StatusOr<std::string> key = write->mutation->EncodeKey(write->table());
  if (!key.ok()) return write->Fail(key.status());
  write->key = *std::move(key);
  // At once, so that a client that goes on regardless costs little.
  if (const absl::Status admitted = AdmitWrite(*parts, write->table()); !admitted.ok()) return write->Fail(admitted);
  const uint64_t row = parts->locks.HashRow(write->table().descriptor.id.value(), write->key);
  // The request as it came, and what was made of it.
  const size_t bytes = sizeof(Write) + 2 * write->mutation->request().message_bytes;
  parts->locks.Acquire(
      row, write->context.deadline,
      [write](absl::StatusOr<store::LockTable::Guard> guard) {
        if (!guard.ok()) return write->Fail(guard.status());
        write->guard = *std::move(guard);
        if (const absl::Status wanted = CheckStillWanted(write->context); !wanted.ok()) return write->Fail(wanted);
        ReadOld(write, store::ReadMode::kMemoryOnly);
      },
      bytes);
}

}  // namespace armature::engine
