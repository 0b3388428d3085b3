#include "engine/items/row_mutation.h"

#include <utility>

#include "engine/capacity.h"
#include "engine/items/request_report.h"
#include "engine/items/row_commit.h"
#include "engine/items/row_write.h"
#include "engine/read_step.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/model/limits.h"

namespace armature::engine {
namespace {

// A write in progress.
struct Write final : RowJob {
  using RowJob::RowJob;

  RequestContext context;
  Callback<WriteResult> done;
  RowWrite row;
  bool is_read = false;
  WriteResult result;
  // Start of the current wait. Stored here rather than in the continuations, so that these fit their holders without
  // heap allocation.
  int64_t wait_begin_ns = 0;

  const WriteRequest& request() const { return row.mutation->request(); }
  void FillAnswer() override;
  void Answer(absl::StatusOr<ChangeSequence> outcome) override {
    if (!outcome.ok()) return std::move(done)(outcome.status());
    result.change_sequence = outcome->value();
    std::move(done)(std::move(result));
  }
};
using WritePtr = std::shared_ptr<Write>;

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

// Nothing uses the items after this.
void Write::FillAnswer() {
  const WriteRequest& request = this->request();
  const absl::StatusOr<CapacityReport> report = ParseCapacityReport(request.return_consumed_capacity);
  result.capacity = ReportWrite(*report, *request.table_name, row.table_units(), row.effect.local, row.effect.global);
  if (WantsCollection(request.return_item_collection_metrics, row)) {
    result.collection = MetricsOf(row, row.effect.collection_growth);
  }
  if (result.is_item_left_out) return;
  result.attributes = TakeAttributes(request.return_values, &row);
  if (!result.attributes.has_value() || request.shared_room == nullptr) return;
  // With its numbers written out, the item may be many times as large as before.
  result.is_item_left_out = !request.shared_room->TryTake(result.attributes->view().size());
  if (result.is_item_left_out) result.attributes.reset();
}

// A step (RunStep): reads the old item, decides and commits.
absl::StatusOr<bool> ReadAndCommit(const WritePtr& write, store::ReadMode mode) {
  RowWrite& row = write->row;
  const bool is_on_pool = mode == store::ReadMode::kMayBlock;
  if (is_on_pool) RequestTrace::End(write->trace, WaitFor::kQueue, write->wait_begin_ns);
  if (!write->is_read) {
    const bool with_collection = WantsCollection(write->request().return_item_collection_metrics, row);
    const int64_t begin_ns = RequestTrace::Begin(write->trace);
    const absl::StatusOr<bool> read = ReadBefore(*write->parts, mode, with_collection, &row);
    RequestTrace::End(write->trace, WaitFor::kRead, begin_ns);
    if (!read.ok()) return read;
    write->is_read = *read;
  }
  if (!is_on_pool && !(write->is_read && DecisionCost(row) <= kInlineBytesMax)) {
    write->wait_begin_ns = RequestTrace::Begin(write->trace);
    return false;
  }
  CommitDecided(write, DecideAlone(*write->parts, &row, &write->result));
  return true;
}

}  // namespace

void RunMutation(Parts* parts, RequestContext context, std::unique_ptr<const RowMutation> mutation,
                 Callback<WriteResult> done) {
  auto write = std::make_shared<Write>(parts);
  write->token = parts->waiting.Enter();
  write->trace = context.trace;
  write->rows = {&write->row};
  write->is_gated = true;
  write->context = std::move(context);
  write->done = std::move(done);
  write->result.memory = HeldMemory(write->context.memory);
  RowWrite& row = write->row;
  row.mutation = std::move(mutation);
  if (const absl::Status found = FindRow(*parts, &row); !found.ok()) return write->End(found);
  // Checked first, so that a client that ignores throttling costs little.
  if (const absl::Status admitted = AdmitWrite(*parts, row.table(), row.key); !admitted.ok())
    return write->End(admitted);
  // Estimate: the original request and the structures made from it.
  const RequestExpressions* const expressions = row.mutation->expressions();
  const size_t names = expressions == nullptr ? 0 : expressions->bound.replaced_bytes;
  const size_t bytes = sizeof(Write) + 2 * (write->request().message_bytes + names);
  write->wait_begin_ns = RequestTrace::Begin(write->trace);
  parts->locks.Acquire(
      LockOf(*parts, row), write->context.deadline,
      [write](absl::StatusOr<store::LockTable::Guard> guard) {
        RequestTrace::End(write->trace, WaitFor::kLock, write->wait_begin_ns);
        if (!guard.ok()) return write->End(guard.status());
        write->guard = *std::move(guard);
        if (const absl::Status wanted = CheckStillWanted(write->context); !wanted.ok()) return write->End(wanted);
        RunStep<ReadAndCommit>(RunHolder, write, store::ReadMode::kNoWait);
      },
      bytes);
}

}  // namespace armature::engine
