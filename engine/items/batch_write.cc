#include "engine/items/entry_points.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "engine/capacity.h"
#include "engine/items/constraints.h"
#include "engine/items/item_key.h"
#include "engine/items/request_report.h"
#include "engine/items/row_commit.h"
#include "engine/items/row_write.h"
#include "engine/read_step.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/key_codec.h"
#include "storage/model/limits.h"

namespace armature::engine {
namespace {

struct Batch;

// One write of the batch.
struct Member final : RowJob {
  Member(Batch* whole, size_t place);

  void Answer(absl::StatusOr<ChangeSequence> outcome) override;

  Batch* const batch;
  const size_t table;  // its place in the request
  RowWrite row;
  absl::StatusOr<ChangeSequence> answer = ChangeSequence();
};

struct Batch {
  WaitingRequests::Token token;  // first, so that it is destroyed last
  Parts* parts;
  RequestContext context;
  BatchWriteRequest request;
  Callback<BatchWriteResult> done;
  std::vector<std::unique_ptr<Member>> members;
  std::atomic<size_t> unfinished = 0;
};
using BatchPtr = std::shared_ptr<Batch>;
// Each holds the batch.
using MemberPtr = std::shared_ptr<Member>;

// Members that hold their row locks and run together.
struct Wave {
  Parts* parts;
  std::vector<MemberPtr> members;

  void End(const absl::Status& status) {
    for (const MemberPtr& member : members) member->End(status);
  }
  void Refuse(const absl::Status& status) { End(status); }
};

Member::Member(Batch* whole, size_t place) : RowJob(whole->parts), batch(whole), table(place) {
  trace = batch->context.trace;
  rows = {&row};
}

absl::Status CheckWriteShape(const BatchWriteRequest& request) {
  if (request.tables.empty()) return ValidationError("The requestItems parameter is required for BatchWriteItem");
  model::ConstraintList constraints;
  CheckCapacityReport(request.return_consumed_capacity, &constraints);
  CheckCollectionReport(request.return_item_collection_metrics, &constraints);
  // Enumerations are reported without the violations of RequestItems.
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  size_t writes = 0;
  for (const TableWrites& table : request.tables) {
    if (!IsRequestItemsKey(table.table_name)) {
      AddRequestItemsKeys(Cat("{", model::Shown(table.table_name), "=...}"), &constraints);
    }
    writes += table.writes.size();
    if (table.writes.empty() || table.writes.size() > model::kBatchWritesMax) {
      constraints.Add(PrintedRequestItems(table.table_name, table.writes.empty() ? "[]" : "[...]"), "requestItems",
                      "Map value must satisfy constraint: [Member must have length less than or equal to 25, Member "
                      "must have length greater than or equal to 1]");
    }
    for (size_t i = 0; i < table.writes.size(); ++i) {
      const BatchWrite& write = table.writes[i];
      const auto add_null = [&](std::string_view member) {
        constraints.AddNull(
            Cat("requestItems.", model::Shown(table.table_name), ".member.", i + 1, ".member.", member));
      };
      if (write.is_put && !write.put_wire.has_value()) add_null("putRequest.item");
      if (write.is_delete && !write.delete_wire.has_value()) add_null("deleteRequest.key");
    }
  }
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  if (writes > model::kBatchWritesMax) {
    return ValidationError("Too many items requested for the BatchWriteItem call");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<const RowMutation>> MutationOf(const std::string& table_name, BatchWrite&& write,
                                                              expr::ParseCache* cache) {
  if (write.is_put == write.is_delete) {
    return ValidationError(
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes");
  }
  WriteRequest request;
  request.table_name = table_name;
  request.item_wire = write.is_put ? std::move(write.put_wire) : std::move(write.delete_wire);
  return MakeMutation(write.is_put ? WriteKind::kPut : WriteKind::kDelete, std::move(request),
                      LayerOf(ItemOperation::kBatchWriteItem), cache);
}

// In a batch, errors about a put name its key, like errors about a delete.
absl::StatusOr<std::string> EncodeKey(const RowWrite& row) {
  absl::StatusOr<std::string> key = row.mutation->EncodeKey(row.table());
  if (!key.ok() && !codec::EncodeTableKey(row.table().descriptor.key, row.mutation->item_or_key()).has_value()) {
    return ValidationError(kKeyMismatch);
  }
  return key;
}

// Creates the members that write to one table.
absl::Status TakeWrites(Batch* batch, size_t table) {
  TableWrites& request = batch->request.tables[table];
  const size_t first = batch->members.size();
  for (BatchWrite& write : request.writes) {
    auto member = std::make_unique<Member>(batch, table);
    ARM_ASSIGN_OR_RETURN(member->row.mutation,
                         MutationOf(request.table_name, std::move(write), &batch->parts->parse_cache));
    batch->members.push_back(std::move(member));
  }
  ARM_ASSIGN_OR_RETURN(const PinnedTable pinned, FindTable(*batch->parts->database, request.table_name));
  absl::flat_hash_set<std::string_view, StringHash, std::equal_to<>> keys;
  keys.reserve(request.writes.size());
  bool repeated = false;
  for (size_t i = first; i < batch->members.size(); ++i) {
    RowWrite& row = batch->members[i]->row;
    row.pinned = pinned;
    ARM_ASSIGN_OR_RETURN(row.key, EncodeKey(row));
    ARM_RETURN_IF_ERROR(row.mutation->CheckSchema(row.table()));
    ARM_RETURN_IF_ERROR(CheckPutSize(row));
    repeated = !keys.insert(row.key).second || repeated;
  }
  return repeated ? ValidationError(kDuplicateKeysText) : absl::OkStatus();
}

absl::Status Prepare(Batch* batch) {
  ARM_RETURN_IF_ERROR(CheckWriteShape(batch->request));
  std::vector<std::string_view> names;
  size_t writes = 0;
  for (const TableWrites& table : batch->request.tables) {
    names.emplace_back(table.table_name);
    writes += table.writes.size();
  }
  batch->members.reserve(writes);
  ARM_RETURN_IF_ERROR(CheckTablesOnce(names));
  for (size_t i = 0; i < batch->request.tables.size(); ++i) ARM_RETURN_IF_ERROR(TakeWrites(batch, i));
  return absl::OkStatus();
}

// Outcome of a member, as it affects the whole call.
enum class Outcome : uint8_t {
  kDone,
  kLeft,       // returned as unprocessed
  kThrottled,  // as kLeft, but if all members are throttled the call fails with that error
  kFailed,
};

Outcome OutcomeOf(const absl::Status& status) {
  if (status.ok()) return Outcome::kDone;
  const std::optional<ApiError> error = GetApiError(status);
  if (!error.has_value()) return Outcome::kFailed;
  switch (error->type) {
    case ApiErrorType::kTransactionConflict:
    case ApiErrorType::kDeadlineExceeded:
      return Outcome::kLeft;
    case ApiErrorType::kProvisionedThroughputExceeded:
    case ApiErrorType::kThrottling:
    case ApiErrorType::kCancelled:  // no one reads the answer
      return Outcome::kThrottled;
    default:
      return Outcome::kFailed;
  }
}

// The error of the whole call: a member failed permanently, or all members were throttled.
absl::Status ErrorOf(const Batch& batch) {
  absl::Status first;
  bool all_throttled = true;
  for (const auto& member : batch.members) {
    const absl::Status& status = member->answer.status();
    const Outcome outcome = OutcomeOf(status);
    if (outcome == Outcome::kFailed) return status;
    all_throttled = all_throttled && outcome == Outcome::kThrottled;
    if (first.ok()) first = status;
  }
  return all_throttled ? first : absl::OkStatus();
}

BatchWrite AgainOf(const RowWrite& row, bool is_put) {
  BatchWrite write;
  (is_put ? write.is_put : write.is_delete) = true;
  // With compact numbers: written out they may take ten times the request, which then could not be sent again.
  (is_put ? write.put_wire : write.delete_wire) = std::string(row.mutation->item_or_key().bytes());
  return write;
}

void Finish(Batch* batch) {
  if (const absl::Status error = ErrorOf(*batch); !error.ok()) return std::move(batch->done)(error);
  BatchWriteResult result;
  const BatchWriteRequest& request = batch->request;
  CapacitySums capacity(request.return_consumed_capacity);
  CollectionReports collections(request.return_item_collection_metrics);
  size_t unprocessed_table = SIZE_MAX;
  for (const auto& member : batch->members) {
    if (member->answer.ok()) {
      result.change_sequence = std::max(result.change_sequence, member->answer->value());
      const RowWrite& row = member->row;
      const std::string& name = request.tables[member->table].table_name;
      capacity.Add(row.table().descriptor.id,
                   ReportWrite(capacity.report(), name, row.table_units(), row.effect.local, row.effect.global));
      collections.Add(name, row);
      continue;
    }
    if (unprocessed_table != member->table) {
      unprocessed_table = member->table;
      result.unprocessed.push_back({request.tables[member->table].table_name, {}});
    }
    result.unprocessed.back().writes.push_back(AgainOf(member->row, member->row.mutation->is_put()));
  }
  result.capacity = capacity.Take();
  result.collections = collections.Take();
  std::move(batch->done)(std::move(result));
}

void Member::Answer(absl::StatusOr<ChangeSequence> outcome) {
  answer = std::move(outcome);
  if (batch->unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) Finish(batch);
}

// A step (RunStep): reads and decides all members, then commits them together. Members whose rows are not in memory,
// and all after kInlineBytesMax of work, remain for the pool.
absl::StatusOr<bool> RunWave(const std::shared_ptr<Wave>& wave, store::ReadMode mode) {
  const Batch& batch = *wave->members.front()->batch;
  const size_t cost_max = mode == store::ReadMode::kMemoryOnly ? kInlineBytesMax : SIZE_MAX;
  size_t cost = 0;
  std::vector<MemberPtr> cold;
  CommitGroup decided(batch.parts, wave->members.size());
  for (const MemberPtr& member : wave->members) {
    RowWrite& row = member->row;
    if (cost > cost_max) {
      cold.push_back(member);
      continue;
    }
    if (absl::Status wanted = CheckStillWanted(batch.context); !wanted.ok()) {
      member->End(std::move(wanted));
      continue;
    }
    const bool with_collection = WantsCollection(batch.request.return_item_collection_metrics, row);
    absl::StatusOr<bool> read = ReadBefore(*batch.parts, mode, with_collection, &row);
    if (read.ok() && *read) cost += DecisionCost(row);
    if (read.ok() && (!*read || cost > cost_max)) {
      cold.push_back(member);
      continue;
    }
    WriteResult nothing;
    decided.Add(member, read.ok() ? DecideAlone(*batch.parts, &row, &nothing) : read.status());
  }
  decided.Commit();
  wave->members = std::move(cold);
  return wave->members.empty();
}

void BeginWave(Parts* parts, std::vector<MemberPtr> members) {
  RunStep<RunWave>(RunHolder, std::make_shared<Wave>(Wave{parts, std::move(members)}), store::ReadMode::kMemoryOnly);
}

void WaitForRow(const MemberPtr& member, size_t bytes) {
  member->parts->locks.Acquire(
      LockOf(*member->parts, member->row), member->batch->context.deadline,
      [member](absl::StatusOr<store::LockTable::Guard> guard) {
        if (!guard.ok()) return member->End(guard.status());
        member->guard = *std::move(guard);
        BeginWave(member->parts, {member});
      },
      bytes);
}

void Run(const BatchPtr& batch) {
  batch->unfinished = batch->members.size();
  std::vector<MemberPtr> free;
  std::vector<MemberPtr> locked;
  free.reserve(batch->members.size());
  for (const auto& each : batch->members) {
    const MemberPtr member(batch, each.get());
    // Checked first, so that a client that ignores throttling costs little.
    if (absl::Status admitted = AdmitWrite(*batch->parts, member->row.table(), member->row.key); !admitted.ok()) {
      member->End(std::move(admitted));
      continue;
    }
    std::optional<store::LockTable::Guard> guard = batch->parts->locks.TryAcquire(LockOf(*batch->parts, member->row));
    (guard.has_value() ? free : locked).push_back(member);
    if (guard.has_value()) member->guard = *std::move(guard);
  }
  // No member holds a row lock while it waits for another one.
  const size_t bytes = 2 * batch->request.message_bytes / batch->members.size();
  if (!free.empty()) BeginWave(batch->parts, std::move(free));
  for (const MemberPtr& member : locked) WaitForRow(member, bytes);
}

}  // namespace

void RunBatchWrite(Parts* parts, RequestContext context, BatchWriteRequest request, Callback<BatchWriteResult> done) {
  auto batch = std::make_shared<Batch>();
  batch->token = parts->waiting.Enter();
  batch->parts = parts;
  batch->context = std::move(context);
  batch->request = std::move(request);
  batch->done = std::move(done);
  if (const absl::Status status = Prepare(batch.get()); !status.ok()) return std::move(batch->done)(status);
  Run(batch);
}

}  // namespace armature::engine
