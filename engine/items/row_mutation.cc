#include "engine/items/row_mutation.h"

#include <utility>

#include "engine/capacity.h"
#include "engine/items/early_release.h"
#include "engine/items/request_report.h"
#include "engine/items/row_write.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/model/limits.h"

namespace armature::engine {
namespace {

// A write in progress.
struct Write {
  WaitingRequests::Token token;  // first, so that it is destroyed last
  Parts* parts;
  RequestContext context;
  Callback<WriteResult> done;
  RowWrite row;
  store::LockTable::Guard guard;
  std::shared_ptr<store::QueuedRow> queued;  // null: the lock is held until the write is durable
  WriteResult result;
  // Start of the current wait. Stored here rather than in the continuations, so that these fit their holders without
  // heap allocation.
  int64_t wait_begin_ns = 0;

  const WriteRequest& request() const { return row.mutation->request(); }
  void Fail(const absl::Status& status) {
    guard.Release(store::LockTable::NextWaiter::kOnPool);
    std::move(done)(status);
  }
};
using WritePtr = std::shared_ptr<Write>;

// Answers a write that is durable, or that changed nothing.
void Answer(const WritePtr& write, ChangeSequence sequence) {
  write->guard.Release(store::LockTable::NextWaiter::kOnPool);
  write->result.change_sequence = sequence.value();
  std::move(write->done)(std::move(write->result));
}

// The attributes requested by ReturnValues, if any. Moves the bytes of a whole item out of `row`.
std::optional<ItemBytes> TakeAttributes(std::string_view mode, RowWrite* row) {
  if (mode.ends_with("_OLD") ? !row->before.has_value() : row->effect.after == nullptr) return std::nullopt;
  if (mode == "ALL_OLD") return AnsweredItem(nullptr, *row->before, std::move(row->old_value));
  codec::CanonicalItem& made = row->effect.made;
  if (mode == "ALL_NEW") return ItemBytes(AnsweredBytes(std::move(made.bytes), made.compact_numbers), 0);
  std::string part;
  bool compact_numbers = false;
  if (mode == "UPDATED_OLD") {
    part = row->mutation->UpdatedPart(row->before->item);
    compact_numbers = row->before->compact_numbers;
  } else if (mode == "UPDATED_NEW") {
    part = row->mutation->UpdatedPart(row->effect.after->view());
    compact_numbers = row->effect.after->compact_numbers;
  }
  if (part.empty()) return std::nullopt;
  return ItemBytes(AnsweredBytes(std::move(part), compact_numbers), 0);
}

// Fills the answer. Nothing uses the items after this.
void FillResult(Write* write) {
  const WriteRequest& request = write->request();
  RowWrite& row = write->row;
  const absl::StatusOr<CapacityReport> report = ParseCapacityReport(request.return_consumed_capacity);
  write->result.capacity =
      ReportWrite(*report, *request.table_name, row.table_units(), row.effect.local, row.effect.global);
  if (WantsCollection(request.return_item_collection_metrics, row)) {
    write->result.collection = MetricsOf(row, row.effect.collection_growth);
  }
  write->result.attributes = TakeAttributes(request.return_values, &row);
}

// Takes the memory for the attributes that the answer returns: after the write it is too late to refuse it.
absl::Status TakeMemory(const RowWrite& row, WriteResult* result) {
  const std::string_view mode = row.mutation->request().return_values;
  if (mode.empty() || mode == "NONE") return absl::OkStatus();
  const size_t new_bytes = row.effect.after == nullptr ? 0 : row.effect.after->bytes.size();
  result->item_bytes = mode.ends_with("_OLD") ? row.old_value.size() : new_bytes;
  return result->memory.TrySet(MemoryOfItems(result->item_bytes)) ? absl::OkStatus() : NoMemoryForAnswerError();
}

// Checks the condition, computes the new item, and takes memory and capacity for the write. A write that failed its
// condition is charged for the item that it read.
absl::Status Decide(const Parts& parts, RowWrite* row, WriteResult* result) {
  // Admission is repeated: other requests may have used the capacity during the wait for the row lock.
  ARM_RETURN_IF_ERROR(AdmitWrite(parts, row->table(), row->key));
  FailedItems failed(&result->memory);
  if (absl::Status condition = CheckCondition(*row, &failed); !condition.ok()) {
    if (failed.is_refused()) return NoMemoryForAnswerError();
    ChargeWrite(parts, row->table(), row->key, row->lost_units());
    return condition;
  }
  ARM_RETURN_IF_ERROR(MakeEffect(row));
  ARM_RETURN_IF_ERROR(TakeMemory(*row, result));
  ARM_RETURN_IF_ERROR(CheckBacklogs(parts, *row));
  return TakeWrite(parts, row->table(), row->key, row->table_units(), row->effect.local, row->effect.global);
}

UnwrittenAnswer UnwrittenOf(const WritePtr& write) {
  return {write->row.decided_on, AnswerBytes(write->row.old_value), std::move(write->guard), write->context.trace};
}

// Fails a write for a reason that was found in the row.
void FailDecided(const WritePtr& write, const absl::Status& status) {
  AfterQueued(write->parts, UnwrittenOf(write), status, [write](const absl::Status& outcome) { write->Fail(outcome); });
}

void AnswerUnchanged(const WritePtr& write) {
  UnwrittenAnswer unwritten = UnwrittenOf(write);
  FillResult(write.get());
  AfterQueued(write->parts, std::move(unwritten), absl::OkStatus(), [write](const absl::Status& durable) {
    if (!durable.ok()) return write->Fail(durable);
    const absl::StatusOr<ChangeSequence> sequence = write->parts->database->CommitNothing();
    if (!sequence.ok()) return write->Fail(sequence.status());
    Answer(write, *sequence);
  });
}

void DecideAndCommit(const WritePtr& write) {
  RowWrite& row = write->row;
  Parts* const parts = write->parts;
  if (const absl::Status decided = Decide(*parts, &row, &write->result); !decided.ok())
    return FailDecided(write, decided);
  if (row.changes_nothing()) return AnswerUnchanged(write);
  store::WriteUnit unit = BuildUnit(&row);
  // The answer may run, on another thread, before the commit returns. The lock and the queued row are then still needed
  // here.
  EarlyGuard early;
  std::shared_ptr<store::QueuedRow> queued;
  store::CommitTerms terms{row.decided_on};
  if (ReleasesEarly(*parts, {&unit, 1}, &write->guard)) {
    write->queued = queued = QueuedRowOf(row);
    terms.held_bytes = queued->byte_size();
    early = std::make_shared<store::LockTable::Guard>(std::move(write->guard));
  }
  FillResult(write.get());
  ReleaseImages(&row);
  write->wait_begin_ns = RequestTrace::Begin(write->context.trace);
  parts->write_gate.CommitBegins();
  const DecidedOn epoch = parts->database->Commit(
      std::move(unit),
      [write, early](absl::StatusOr<ChangeSequence> sequence) {
        write->parts->write_gate.CommitEnds();
        RequestTrace::End(write->context.trace, WaitFor::kCommit, write->wait_begin_ns);
        if (write->queued != nullptr) write->parts->queued_rows.Settle(write->queued.get());
        if (!sequence.ok()) return write->Fail(sequence.status());
        Answer(write, *sequence);
      },
      terms);
  if (early == nullptr || !epoch.has_value()) return;
  parts->queued_rows.Add(std::move(queued), *epoch);
  early->Release();
}

void ReadOld(const WritePtr& write, store::ReadMode mode) {
  const bool with_collection = WantsCollection(write->request().return_item_collection_metrics, write->row);
  const int64_t begin_ns = RequestTrace::Begin(write->context.trace);
  const absl::StatusOr<bool> read = ReadBefore(*write->parts, mode, with_collection, &write->row);
  RequestTrace::End(write->context.trace, WaitFor::kRead, begin_ns);
  if (!read.ok()) return write->Fail(read.status());
  if (!*read) {
    write->wait_begin_ns = RequestTrace::Begin(write->context.trace);
    RunHolder(
        write->parts,
        [write] {
          RequestTrace::End(write->context.trace, WaitFor::kQueue, write->wait_begin_ns);
          ReadOld(write, store::ReadMode::kMayBlock);
        },
        [write](const absl::Status& status) { write->Fail(status); });
    return;
  }
  if (mode == store::ReadMode::kMayBlock || DecisionCost(write->row) <= kInlineBytesMax) return DecideAndCommit(write);
  write->wait_begin_ns = RequestTrace::Begin(write->context.trace);
  RunHolder(
      write->parts,
      [write] {
        RequestTrace::End(write->context.trace, WaitFor::kQueue, write->wait_begin_ns);
        DecideAndCommit(write);
      },
      [write](const absl::Status& status) { write->Fail(status); });
}

}  // namespace

void RunMutation(Parts* parts, RequestContext context, std::unique_ptr<const RowMutation> mutation,
                 Callback<WriteResult> done) {
  auto write = std::make_shared<Write>();
  write->token = parts->waiting.Enter();
  write->parts = parts;
  write->context = std::move(context);
  write->done = std::move(done);
  write->result.memory = HeldMemory(write->context.memory);
  RowWrite& row = write->row;
  row.mutation = std::move(mutation);
  if (const absl::Status found = FindRow(*parts, &row); !found.ok()) return write->Fail(found);
  // Checked first, so that a client that ignores throttling costs little.
  if (const absl::Status admitted = AdmitWrite(*parts, row.table(), row.key); !admitted.ok())
    return write->Fail(admitted);
  // Estimate: the original request and the structures made from it.
  const RequestExpressions* const expressions = row.mutation->expressions();
  const size_t names = expressions == nullptr ? 0 : expressions->bound.replaced_bytes;
  const size_t bytes = sizeof(Write) + 2 * (write->request().message_bytes + names);
  write->wait_begin_ns = RequestTrace::Begin(write->context.trace);
  parts->locks.Acquire(
      LockOf(*parts, row), write->context.deadline,
      [write](absl::StatusOr<store::LockTable::Guard> guard) {
        RequestTrace::End(write->context.trace, WaitFor::kLock, write->wait_begin_ns);
        if (!guard.ok()) return write->Fail(guard.status());
        write->guard = *std::move(guard);
        if (const absl::Status wanted = CheckStillWanted(write->context); !wanted.ok()) return write->Fail(wanted);
        ReadOld(write, store::ReadMode::kNoWait);
      },
      bytes);
}

}  // namespace armature::engine
