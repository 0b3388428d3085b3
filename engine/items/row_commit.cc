#include "engine/items/row_commit.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/types/span.h"
#include "engine/capacity.h"
#include "engine/items/expressions.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/stored_item.h"

namespace armature::engine {
namespace {

// Takes the memory for the attributes that the answer returns: after the write it is too late to refuse it. Without
// memory, attributes that the answer can do without are left out.
absl::Status TakeMemory(const RowWrite& row, WriteResult* result) {
  const std::string_view mode = row.mutation->request().return_values;
  if (mode.empty() || mode == "NONE") return absl::OkStatus();
  const size_t new_bytes = row.effect.after == nullptr ? 0 : row.effect.after->bytes.size();
  result->item_bytes = mode.ends_with("_OLD") ? row.old_value.size() : new_bytes;
  result->is_item_left_out = !result->memory.TrySet(MemoryOfItems(result->item_bytes));
  const bool is_needed = row.mutation->request().shared_room == nullptr;
  return result->is_item_left_out && is_needed ? NoMemoryForAnswerError() : absl::OkStatus();
}

// Epoch of the earliest queued value among the rows.
DecidedOn DecidedOnOf(const RowJob& job) {
  DecidedOn earliest;
  for (const RowWrite* const row : job.rows) {
    if (row->decided_on.has_value()) earliest = std::min(earliest.value_or(*row->decided_on), *row->decided_on);
  }
  return earliest;
}

// True if the commit of `units` should release the locks of the job when it is queued. Called once for each commit.
bool ReleasesEarly(RowJob* job, absl::Span<const store::WriteUnit> units) {
  // A unit that may be refused alone keeps its locks: the writes decided on it would have to fail for its reason.
  return !job->parts->queued_rows.is_full() && job->guard.TakeEarlyRelease() &&
         std::none_of(units.begin(), units.end(), [](const store::WriteUnit& unit) { return unit.has_counters(); });
}

// The row after the write, for the next holder of its lock.
std::shared_ptr<store::QueuedRow> QueuedRowOf(const RowWrite& row) {
  std::optional<std::string> value;
  if (const codec::CanonicalItem* const after = row.effect.after; after != nullptr) {
    value = Cat(codec::StoredItemHead(*after), after->bytes);
  }
  return std::make_shared<store::QueuedRow>(row.table().descriptor.id, row.key, std::move(value));
}

// Sets terms and callback for the commit of `units`, and releases the images of the rows.
EarlyRelease Prepare(const RowJobPtr& job, absl::Span<const store::WriteUnit> units, store::CommitTerms* terms,
                     store::CommitCallback* done) {
  EarlyRelease early;
  terms->decided_on = DecidedOnOf(*job);
  if (ReleasesEarly(job.get(), units)) {
    for (const RowWrite* const row : job->rows) {
      if (row->changes_nothing()) continue;
      job->queued.push_back(QueuedRowOf(*row));
      terms->held_bytes += job->queued.back()->byte_size();
    }
    early = {std::make_shared<store::LockTable::Guard>(std::move(job->guard)), job->queued};
  }
  job->FillAnswer();
  for (RowWrite* const row : job->rows) ReleaseImages(row);
  if (job->is_gated) job->parts->write_gate.CommitBegins();
  *done = [job, guard = early.guard](absl::StatusOr<ChangeSequence> outcome) {
    if (job->is_gated) job->parts->write_gate.CommitEnds();
    if (job->commit_begin_ns != 0) RequestTrace::End(job->trace, WaitFor::kCommit, job->commit_begin_ns);
    job->End(std::move(outcome));
  };
  return early;
}

// To be called with the result of the commit, as the last act: the next waiter may continue behind it.
void ReleaseQueued(Parts* parts, EarlyRelease early, DecidedOn queued_in) {
  if (early.guard == nullptr || !queued_in.has_value()) return;
  for (std::shared_ptr<store::QueuedRow>& row : early.rows) parts->queued_rows.Add(std::move(row), *queued_in);
  early.guard->Release();
}

// Answers a job that writes nothing.
void AnswerUnwritten(const RowJobPtr& job, absl::Status outcome, store::LockTable::NextWaiter next) {
  UnwrittenAnswer unwritten{DecidedOnOf(*job), 0, std::move(job->guard), job->trace, next};
  for (const RowWrite* const row : job->rows) unwritten.bytes += AnswerBytes(row->old_value);
  if (outcome.ok()) job->FillAnswer();
  AfterQueued(job->parts, std::move(unwritten), std::move(outcome), [job](const absl::Status& durable) {
    if (!durable.ok()) return job->End(durable);
    job->End(job->parts->database->commits().CommitNothing());
  });
}

}  // namespace

void RowJob::End(absl::StatusOr<ChangeSequence> outcome) {
  for (const std::shared_ptr<store::QueuedRow>& row : queued) parts->queued_rows.Settle(row.get());
  guard.Release(store::LockTable::NextWaiter::kOnPool);
  Answer(std::move(outcome));
}

size_t AnswerBytes(std::string_view stored) { return IsLongToAnswer(stored) ? kInlineBytesMax + 1 : stored.size(); }

void AfterQueued(Parts* parts, UnwrittenAnswer answer, absl::Status outcome,
                 absl::AnyInvocable<void(absl::Status) &&> then) {
  if (!answer.decided_on.has_value()) {
    answer.guard.Release(store::LockTable::NextWaiter::kOnPool);
    return std::move(then)(std::move(outcome));
  }
  const int64_t begin_ns = RequestTrace::Begin(answer.trace);
  parts->database->commits().WhenDurable(
      *answer.decided_on, answer.bytes,
      [parts, bytes = answer.bytes, trace = std::move(answer.trace), begin_ns, outcome = std::move(outcome),
       then = std::move(then)](const absl::StatusOr<ChangeSequence>& durable) mutable {
        RequestTrace::End(trace, WaitFor::kCommit, begin_ns);
        if (!durable.ok()) return std::move(then)(durable.status());
        if (bytes <= kInlineBytesMax) return std::move(then)(std::move(outcome));
        // The answers of other requests must not wait while this one is encoded.
        parts->holder_pool.RunAdmitted(
            [outcome = std::move(outcome), then = std::move(then)]() mutable { std::move(then)(std::move(outcome)); });
      });
  // The last act: the next waiter may continue behind it.
  answer.guard.Release(answer.next);
}

absl::Status DecideAlone(const Parts& parts, RowWrite* row, WriteResult* result) {
  const WriteRequest& request = row->mutation->request();
  // Admission is repeated: other requests may have used the capacity during the wait for the row lock.
  ARM_RETURN_IF_ERROR(AdmitWrite(parts, row->table(), row->key));
  FailedItems failed(&result->memory, request.shared_room.get());
  if (absl::Status condition = CheckCondition(*row, &failed); !condition.ok()) {
    if (failed.is_refused()) return NoMemoryForAnswerError();
    if (request.lost_units != nullptr) *request.lost_units = row->lost_units();
    ChargeWrite(parts, row->table(), row->key, row->lost_units());
    return condition;
  }
  ARM_RETURN_IF_ERROR(MakeEffect(row));
  ARM_RETURN_IF_ERROR(TakeMemory(*row, result));
  ARM_RETURN_IF_ERROR(CheckBacklogs(parts, *row));
  return TakeWrite(parts, row->table(), row->key, row->table_units(), row->effect.local, row->effect.global);
}

void CommitDecided(const RowJobPtr& job, absl::Status decided, std::vector<store::WriteUnit> further) {
  std::vector<store::WriteUnit> units;
  if (decided.ok()) {
    units.reserve(job->rows.size() + further.size());
    for (RowWrite* const row : job->rows) {
      if (!row->changes_nothing()) units.push_back(BuildUnit(row));
    }
    for (store::WriteUnit& unit : further) units.push_back(std::move(unit));
  }
  if (units.empty()) return AnswerUnwritten(job, std::move(decided), store::LockTable::NextWaiter::kBehindThis);
  store::CommitTerms terms;
  store::CommitCallback done;
  EarlyRelease early = Prepare(job, units, &terms, &done);
  job->commit_begin_ns = RequestTrace::Begin(job->trace);
  const DecidedOn queued_in = job->parts->database->commits().CommitAll(std::move(units), std::move(done), terms);
  ReleaseQueued(job->parts, std::move(early), queued_in);
}

CommitGroup::CommitGroup(Parts* parts, size_t jobs_max) : parts_(parts) {
  commits_.reserve(jobs_max);
  releases_.reserve(jobs_max);
}

void CommitGroup::Add(const RowJobPtr& job, absl::Status decided) {
  RowWrite* const row = job->rows.front();
  if (!decided.ok() || row->changes_nothing()) {
    return AnswerUnwritten(job, std::move(decided), store::LockTable::NextWaiter::kOnPool);
  }
  store::Commitment& commit = commits_.emplace_back(store::Commitment{BuildUnit(row), {}, {}});
  releases_.push_back(Prepare(job, {&commit.unit, 1}, &commit.terms, &commit.done));
}

void CommitGroup::Commit() {
  const std::vector<DecidedOn> queued_in = parts_->database->commits().CommitEach(std::move(commits_));
  for (size_t i = 0; i < queued_in.size(); ++i) ReleaseQueued(parts_, std::move(releases_[i]), queued_in[i]);
}

}  // namespace armature::engine
