#include "engine/engine.h"

#include <algorithm>
#include <functional>
#include <type_traits>
#include <utility>

#include "absl/time/clock.h"
#include "engine/capacity.h"
#include "engine/items/entry_points.h"
#include "engine/items/read_plan.h"
#include "engine/items/row_mutation.h"
#include "engine/parts.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::engine {
namespace {

// Limit on the wait of a read for a global index, because the read holds its table.
constexpr absl::Duration kWaitForIndexMax = absl::Seconds(60);

using Plan = absl::StatusOr<std::shared_ptr<ReadPlan>>;

// A page of at most this many rows is read on the caller's thread, as far as it is in memory and its filter is cheap:
// another thread would cost more.
constexpr int64_t kInlineRowsMax = 128;

bool ReadsInline(const ReadPlan& plan) { return plan.request.limit.value_or(INT64_MAX) <= kInlineRowsMax; }

void ReadOnPool(Parts* parts, RequestContext context, const std::shared_ptr<ReadPlan>& plan, PageWriter* page,
                Callback<ReadResult> done) {
  auto shared_done = std::make_shared<Callback<ReadResult>>(std::move(done));
  const int64_t begin_ns = RequestTrace::Begin(context.trace);
  RunOnReadPool(
      parts,
      [parts, context = std::move(context), plan, page, shared_done, begin_ns] {
        RequestTrace::End(context.trace, WaitFor::kQueue, begin_ns);
        // Admission is repeated: other requests may have used the capacity during the wait for a thread.
        const absl::Status admitted = AdmitRead(*parts, plan->table(), plan->index, plan->partition);
        if (!admitted.ok()) return std::move(*shared_done)(admitted);
        const int64_t read_begin_ns = RequestTrace::Begin(context.trace);
        absl::StatusOr<std::optional<ReadResult>> result =
            ReadPage(*parts, context, *plan, store::ReadMode::kMayBlock, page);
        RequestTrace::End(context.trace, WaitFor::kRead, read_begin_ns);
        if (!result.ok()) return std::move(*shared_done)(result.status());
        std::move (*shared_done)(**std::move(result));
      },
      [shared_done](const absl::Status& refused) { std::move (*shared_done)(refused); });
}

void ReadNow(Parts* parts, RequestContext context, const std::shared_ptr<ReadPlan>& plan, PageWriter* page,
             Callback<ReadResult> done) {
  if (ReadsInline(*plan)) {
    absl::StatusOr<std::optional<ReadResult>> result =
        ReadPage(*parts, context, *plan, store::ReadMode::kMemoryOnly, page);
    if (!result.ok()) return std::move(done)(result.status());
    if (result->has_value()) return std::move(done)(**std::move(result));
  }
  ReadOnPool(parts, std::move(context), plan, page, std::move(done));
}

// Reads when `index` contains all changes up to `at_least`. At the deadline the read fails, or, `if_late`, goes on.
void ReadWhenApplied(Parts* parts, RequestContext context, const std::shared_ptr<ReadPlan>& plan,
                     ChangeSequence at_least, Deadline deadline, bool if_late, PageWriter* page,
                     Callback<ReadResult> done) {
  // If the table's log is empty up to the sequence, only a run of the applier advances the cursor.
  parts->applier.OnAppended({plan->table().descriptor.id});
  const int64_t begin_ns = RequestTrace::Begin(context.trace);
  plan->index->progress->WhenApplied(at_least, deadline,
                                     [token = parts->waiting.Enter(), parts, context = std::move(context), plan, page,
                                      begin_ns, if_late, done = std::move(done)](const absl::Status& waited) mutable {
                                       RequestTrace::End(context.trace, WaitFor::kIndex, begin_ns);
                                       if (!waited.ok() && !(if_late && absl::IsDeadlineExceeded(waited)))
                                         return std::move(done)(waited);
                                       ReadOnPool(parts, std::move(context), plan, page, std::move(done));
                                     });
}

void RunRead(Parts* parts, RequestContext context, Plan plan, PageWriter* page, Callback<ReadResult> done) {
  if (!plan.ok()) return std::move(done)(plan.status());
  const absl::Status admitted = AdmitRead(*parts, (*plan)->table(), (*plan)->index, (*plan)->partition);
  if (!admitted.ok()) return std::move(done)(admitted);
  const store::Index* const index = (*plan)->index;
  if (index == nullptr || index->progress == nullptr) {
    return ReadNow(parts, std::move(context), *plan, page, std::move(done));
  }
  ChangeSequence at_least((*plan)->request.at_least_sequence);
  const bool is_settled = at_least == ChangeSequence() && parts->options.index_read_wait > absl::ZeroDuration();
  if (is_settled && index->progress->backlog().may_wait()) {
    const absl::Duration patience = std::min(parts->options.index_read_wait, context.deadline.left() / 2);
    if (patience > absl::ZeroDuration()) {
      at_least = index->progress->backlog().last();
      return ReadWhenApplied(parts, std::move(context), *plan, at_least, Deadline::After(patience), /*if_late=*/true,
                             page, std::move(done));
    }
  }
  if (const ChangeSequence base = parts->database->change_log().epoch_base();
      at_least != ChangeSequence() && at_least < base) {
    return std::move(done)(ValidationError(Cat("AtLeastSequence ", at_least.value(),
                                               " is of another history of this database, which was restored, copied "
                                               "or made anew since: its sequences begin after ",
                                               base.value())));
  }
  const ChangeSequence applied = index->build == nullptr
                                     ? parts->database->change_log().AppliedBy(index->progress.get())
                                     : index->progress->applied();
  if (applied >= at_least) {
    return ReadNow(parts, std::move(context), *plan, page, std::move(done));
  }
  if (const ChangeSequence last = parts->database->change_log().watermark(); at_least > last) {
    return std::move(done)(ValidationError(
        Cat("AtLeastSequence ", at_least.value(), " is none of this server's: its last change is ", last.value())));
  }
  const Deadline deadline = std::min(context.deadline, Deadline::After(kWaitForIndexMax));
  ReadWhenApplied(parts, std::move(context), *plan, at_least, deadline, /*if_late=*/false, page, std::move(done));
}

void RunWrite(Parts* parts, RequestContext context, WriteKind kind, WriteRequest request, Callback<WriteResult> done) {
  const ValidationLayer layer = request.from_statement ? LayerOf(ItemOperation::kStatement) : LayerOf(kind);
  absl::StatusOr<std::unique_ptr<const RowMutation>> mutation =
      MakeMutation(kind, std::move(request), layer, &parts->parse_cache);
  if (!mutation.ok()) return std::move(done)(mutation.status());
  RunMutation(parts, std::move(context), *std::move(mutation), std::move(done));
}

// Parks a write that came during an overload.
void ParkWrite(Parts* parts, RequestContext context, WriteKind kind, WriteRequest request, Callback<WriteResult> done) {
  struct Parked {
    WaitingRequests::Token token;
    RequestContext context;
    WriteRequest request;
    Callback<WriteResult> done;
  };
  auto parked =
      std::make_shared<Parked>(Parked{parts->waiting.Enter(), std::move(context), std::move(request), std::move(done)});
  const int64_t begin_ns = RequestTrace::Begin(parked->context.trace);
  parts->write_gate.Park(
      [parts, kind, parked, begin_ns] {
        RequestTrace::End(parked->context.trace, WaitFor::kQueue, begin_ns);
        if (absl::Status wanted = CheckStillWanted(parked->context); !wanted.ok()) {
          return std::move(parked->done)(std::move(wanted));
        }
        RunWrite(parts, std::move(parked->context), kind, std::move(parked->request), std::move(parked->done));
      },
      [parked](const absl::Status& refused) { std::move(parked->done)(refused); });
}

// Begins the write now, or later if there are too many.
void BeginWrite(Parts* parts, RequestContext context, WriteKind kind, WriteRequest request,
                Callback<WriteResult> done) {
  if (parts->write_gate.MayBegin()) {
    return RunWrite(parts, std::move(context), kind, std::move(request), std::move(done));
  }
  ParkWrite(parts, std::move(context), kind, std::move(request), std::move(done));
}

absl::Status ServerStopsError() { return ServiceUnavailableError("The server is stopping"); }

bool IsBeingDeleted(const store::Database& database, std::string_view table_name) {
  const std::shared_ptr<const store::CatalogSnapshot> catalog = database.catalog();
  const store::Table* const table = catalog->Find(table_name);
  return table != nullptr && table->descriptor.state == model::TableState::kDeleting;
}

// Runs `fn(target, request)`, which may block and returns a StatusOr<T>, on a pool.
template <class T, class Fn, class Target, class Request>
void RunBlocking(ThreadPool* pool, Callback<T> done, Fn fn, Target target, Request request) {
  auto shared_done = std::make_shared<Callback<T>>(std::move(done));
  RunOnPool(
      pool, [shared_done, fn, target, request = std::move(request)] { std::move (*shared_done)(fn(target, request)); },
      [shared_done](const absl::Status& refused) { std::move (*shared_done)(refused); });
}

// Changes a policy, and parses it before the answer, not at the first request that is checked by it.
template <class Request, absl::StatusOr<std::string> (*fn)(store::Database*, const Request&)>
absl::StatusOr<std::string> ChangePolicies(Parts* parts, const Request& request) {
  absl::StatusOr<std::string> revision = fn(parts->database, request);
  if (revision.ok()) parts->policies.Refresh();
  return revision;
}

absl::StatusOr<TableDescription> CreateWithPolicy(Parts* parts, const model::TableDefinition& definition) {
  absl::StatusOr<TableDescription> created = CreateTable(parts->database, definition);
  if (definition.resource_policy.has_value()) parts->policies.Refresh();
  return created;
}

// After a pass over the catalog: tables may be gone or restored. Refused by a full queue, the policies of tables that
// are gone stay in memory until the next change.
void RefreshPoliciesSoon(Parts* parts) {
  if (parts->refreshes_policies.exchange(true)) return;
  RunOnPool(
      &parts->table_pool,
      [parts] {
        parts->refreshes_policies = false;
        parts->policies.RefreshTables();
      },
      [parts](const absl::Status&) { parts->refreshes_policies = false; });
}

// Holds back the answer of a change that makes or removes a table until the table can be used or is gone: programs go
// on with the next step as soon as they have it. No thread waits.
Callback<TableDescription> HeldBack(Parts* parts, Deadline deadline, Callback<TableDescription> done) {
  return [parts, deadline, done = std::move(done)](absl::StatusOr<TableDescription> changed) mutable {
    if (!changed.ok()) return std::move(done)(std::move(changed));
    const std::string name = changed->descriptor.name;
    const TableId table = changed->descriptor.id;
    const absl::Duration patience = std::min(parts->live.table_wait(), deadline.left() / 2);
    parts->table_waits.WhenSettled(
        name, table, patience,
        [done = std::move(done), changed = std::move(changed)]() mutable { std::move(done)(std::move(changed)); });
  };
}

}  // namespace

Engine::Engine(store::Database* database, const EngineOptions& options)
    : parts_(std::make_unique<Parts>(database, options)) {
  if (options.apply_changes) parts_->applier.Start();
  parts_->builder.Start();
  parts_->policies.Refresh();
  parts_->database->SetCatalogListener(&parts_->policies, [parts = parts_.get()] { RefreshPoliciesSoon(parts); });
  StartTokenClock(parts_.get());
  SweepTokensIfDue(parts_.get());
  parts_->expirer.Start();
  parts_->transfers.Start();
}

Engine::~Engine() {
  // The order matters: every continuation of a request finds the parts that it uses. Requests that wait for each other
  // or for indexes end at once; requests that were sent to the committer end with its answer.
  EndWaits();
  parts_->database->SetCatalogListener(&parts_->policies, nullptr);
  parts_->table_waits.Stop();
  parts_->transfers.Stop();
  parts_->watches.Stop();
  parts_->locks.Close(ServerStopsError());
  parts_->expirer.Stop();
  parts_->check_pool.Stop();
  parts_->export_pool.Stop();
  parts_->waiting.AwaitNone();
  parts_->builder.Stop();
  parts_->applier.Stop();
  parts_->table_pool.Stop();
  parts_->backup_pool.Stop();
  parts_->plan_pool.Stop();
  parts_->read_pool.Stop();
  parts_->holder_pool.Stop();
}

void Engine::EndWaits() {
  parts_->transfers.Interrupt();  // first: the others end waits of its jobs, which would take that for a failure
  parts_->table_waits.End();
  parts_->backups.EndWaits();
  parts_->write_gate.Close(ServerStopsError());
  parts_->watches.End(ServerStopsError());
  parts_->database->tables().EndWaits(ServerStopsError());
}

std::shared_ptr<const access::ResourcePolicy> Engine::FindResourcePolicy(std::string_view name_or_arn) const {
  return parts_->policies.Find(name_or_arn);
}

access::MatchWeight Engine::PolicyWeightMax() const { return parts_->policies.weight_max(); }

void Engine::CrowdBegins() { parts_->write_gate.CrowdBegins(); }
void Engine::CrowdEnds() { parts_->write_gate.CrowdEnds(); }
bool Engine::HoldsWritesBack() const { return parts_->write_gate.is_overloaded(); }

void Engine::ChangeOptions(const EngineOptions& options) {
  parts_->live.Take(options);
  parts_->backups.ChangeOptions(options.backup);
  // A turn that is due by the new interval begins at once.
  parts_->expirer.Wake();
}

store::Database* Engine::database() const { return parts_->database; }

EngineStats Engine::stats() const {
  return {.read_queue_tasks = parts_->read_pool.length(),
          .read_queue_refused = parts_->read_pool.refused(),
          .plan_queue_tasks = parts_->plan_pool.length(),
          .plan_queue_refused = parts_->plan_pool.refused(),
          .plans = parts_->plans.load(std::memory_order_relaxed),
          .parked_writes = parts_->write_gate.parked(),
          .parked_writes_refused = parts_->write_gate.refused(),
          .holder_queue_tasks = parts_->holder_pool.queue_length(),
          .table_queue_tasks = parts_->table_pool.queue_length(),
          .backup_queue_tasks = parts_->backup_pool.queue_length(),
          .check_queue_tasks = parts_->check_pool.queue_length(),
          .expiry = parts_->expirer.stats(),
          .watches = parts_->watches.stats(),
          .transfers = parts_->transfers.stats()};
}

void Engine::GetItem(const RequestContext& context, GetItemRequest request, Callback<GetItemResult> done) {
  RunGetItem(parts_.get(), context, std::move(request), std::move(done));
}

void Engine::PutItem(RequestContext context, WriteRequest request, Callback<WriteResult> done) {
  BeginWrite(parts_.get(), std::move(context), WriteKind::kPut, std::move(request), std::move(done));
}

void Engine::UpdateItem(RequestContext context, WriteRequest request, Callback<WriteResult> done) {
  BeginWrite(parts_.get(), std::move(context), WriteKind::kUpdate, std::move(request), std::move(done));
}

void Engine::DeleteItem(RequestContext context, WriteRequest request, Callback<WriteResult> done) {
  BeginWrite(parts_.get(), std::move(context), WriteKind::kDelete, std::move(request), std::move(done));
}

void Engine::BatchGetItem(RequestContext context, BatchGetRequest request, Callback<BatchGetResult> done) {
  RunBatchGet(parts_.get(), std::move(context), std::move(request), std::move(done));
}

void Engine::BatchWriteItem(RequestContext context, BatchWriteRequest request, Callback<BatchWriteResult> done) {
  RunBatchWrite(parts_.get(), std::move(context), std::move(request), std::move(done));
}

void Engine::TransactGetItems(RequestContext context, TransactGetRequest request, Callback<TransactGetResult> done) {
  RunTransactGet(parts_.get(), std::move(context), std::move(request), std::move(done));
}

void Engine::TransactWriteItems(RequestContext context, TransactWriteRequest request,
                                Callback<TransactWriteResult> done) {
  RunTransactWrite(parts_.get(), std::move(context), std::move(request), std::move(done));
}

void Engine::Query(RequestContext context, ReadRequest request, PageWriter* page, Callback<ReadResult> done) {
  RunRead(parts_.get(), std::move(context), PlanQuery(parts_.get(), std::move(request)), page, std::move(done));
}

void Engine::Scan(RequestContext context, ReadRequest request, PageWriter* page, Callback<ReadResult> done) {
  RunRead(parts_.get(), std::move(context), PlanScan(parts_.get(), std::move(request)), page, std::move(done));
}

void Engine::CreateTable(model::TableDefinition definition, Callback<TableDescription> done, Deadline deadline) {
  const bool is_leaving = IsBeingDeleted(*parts_->database, definition.table_name);
  const std::string name = definition.table_name;
  parts_->table_waits.WhenSettled(name, is_leaving ? parts_->live.describe_wait() : absl::ZeroDuration(),
                                  [parts = parts_.get(), definition = std::move(definition),
                                   done = HeldBack(parts_.get(), deadline, std::move(done))]() mutable {
                                    RunBlocking(&parts->table_pool, std::move(done), CreateWithPolicy, parts,
                                                std::move(definition));
                                  });
}

void Engine::DeleteTable(const std::optional<std::string>& name, Callback<TableDescription> done, Deadline deadline) {
  const auto delete_table = [](Parts* parts, const auto& table) -> absl::StatusOr<TableDescription> {
    ARM_RETURN_IF_ERROR(CheckNotBeingBackedUp(*parts, table));
    return engine::DeleteTable(parts->database, table);
  };
  RunBlocking(&parts_->table_pool, HeldBack(parts_.get(), deadline, std::move(done)), delete_table, parts_.get(), name);
}

void Engine::DescribeTable(const std::optional<std::string>& name, Callback<TableDescription> done, Deadline deadline) {
  absl::StatusOr<TableDescription> described = engine::DescribeTable(*parts_->database, name);
  if (!described.ok() || !IsInTransition(described->descriptor)) return std::move(done)(std::move(described));
  // Clients poll in intervals of many seconds, and a creation ends within milliseconds of the first question.
  const absl::Duration patience = std::min(parts_->live.describe_wait(), deadline.left() / 2);
  parts_->table_waits.WhenSettled(described->descriptor.name, patience,
                                  [database = parts_->database, name, done = std::move(done)]() mutable {
                                    std::move(done)(engine::DescribeTable(*database, name));
                                  });
}

void Engine::ListTables(const std::optional<std::string>& start_after, std::optional<int64_t> limit,
                        Callback<ListTablesResult> done) {
  std::move(done)(engine::ListTables(*parts_->database, start_after, limit));
}

void Engine::UpdateTable(model::TableUpdate update, Callback<TableDescription> done) {
  RunBlocking(&parts_->table_pool, std::move(done), engine::UpdateTable, parts_->database, std::move(update));
}

void Engine::PostToTablePool(absl::AnyInvocable<void() &&> run, absl::AnyInvocable<void(absl::Status) &&> refused) {
  RunOnPool(&parts_->table_pool, std::move(run), std::move(refused));
}

void Engine::PutResourcePolicy(PutResourcePolicyRequest request, Callback<std::string> done) {
  RunBlocking(&parts_->table_pool, std::move(done), ChangePolicies<PutResourcePolicyRequest, engine::PutResourcePolicy>,
              parts_.get(), std::move(request));
}

void Engine::DeleteResourcePolicy(DeleteResourcePolicyRequest request, Callback<std::string> done) {
  RunBlocking(&parts_->table_pool, std::move(done),
              ChangePolicies<DeleteResourcePolicyRequest, engine::DeleteResourcePolicy>, parts_.get(),
              std::move(request));
}

void Engine::CountPlan() { parts_->plans.fetch_add(1, std::memory_order_relaxed); }

void Engine::RunPlanner(absl::AnyInvocable<void() &&> work, absl::AnyInvocable<void(absl::Status) &&> refused) {
  const auto token = std::make_shared<WaitingRequests::Token>(parts_->waiting.Enter());
  parts_->plan_pool.Run(
      [token, work = std::move(work)]() mutable { std::move(work)(); },
      [token, refused = std::move(refused)](absl::Status status) mutable { std::move(refused)(std::move(status)); });
}

int64_t Engine::ClockNs() const { return NowNs(*parts_); }

void Engine::GetRecords(GetRecordsRequest request, Callback<GetRecordsResult> done) {
  auto shared_done = std::make_shared<Callback<GetRecordsResult>>(std::move(done));
  RunOnReadPool(
      parts_.get(),
      [parts = parts_.get(), shared_done, request = std::move(request)] {
        std::move (*shared_done)(engine::GetRecords(*parts->database, request));
      },
      [shared_done](const absl::Status& refused) { std::move (*shared_done)(refused); });
}

absl::StatusOr<std::shared_ptr<TableWatch>> Engine::OpenWatch(const WatchRequest& request) {
  return TableWatch::Open(parts_.get(), request);
}

void Engine::CreateBackup(CreateBackupRequest request, Callback<TableBackup> done) {
  RunBlocking(&parts_->table_pool, std::move(done), engine::CreateTableBackup, parts_.get(), std::move(request));
}

void Engine::DescribeBackup(std::optional<std::string> arn, Callback<TableBackup> done) {
  RunBlocking(&parts_->backup_pool, std::move(done), engine::DescribeTableBackup, std::cref(*parts_), std::move(arn));
}

void Engine::ListTableBackups(ListTableBackupsRequest request, Callback<ListTableBackupsResult> done) {
  RunBlocking(&parts_->backup_pool, std::move(done), engine::ListTableBackups, std::cref(*parts_), std::move(request));
}

void Engine::DeleteBackup(std::optional<std::string> arn, Callback<TableBackup> done) {
  RunBlocking(&parts_->backup_pool, std::move(done), engine::DeleteTableBackup, parts_.get(), std::move(arn));
}

void Engine::RestoreTableFromBackup(RestoreTableRequest request, Callback<TableDescription> done) {
  RunBlocking(&parts_->backup_pool, std::move(done), engine::RestoreTableFromBackup, parts_.get(), std::move(request));
}

void Engine::RestoreTableToPointInTime(RestoreToPointInTimeRequest request, Callback<TableDescription> done) {
  RunBlocking(&parts_->backup_pool, std::move(done), engine::RestoreTableToPointInTime, parts_.get(),
              std::move(request));
}

const archive::Shipper* Engine::archive() const { return parts_->options.archive; }

void Engine::ListIndexViolations(ListIndexViolationsRequest request, Callback<ListIndexViolationsResult> done) {
  RunBlocking(&parts_->check_pool, std::move(done), engine::ListIndexViolations, std::cref(*parts_),
              std::move(request));
}

void Engine::VerifyTable(VerifyTableRequest request, Callback<VerifyTableResult> done) {
  RunBlocking(&parts_->check_pool, std::move(done), engine::VerifyTable, parts_.get(), std::move(request));
}

void Engine::OpenExport(std::string table_name, Callback<std::shared_ptr<TableExport>> done) {
  RunBlocking(&parts_->export_pool, std::move(done), TableExport::Open, parts_.get(), std::move(table_name));
}

void Engine::StartExport(StartExportRequest request, Callback<model::TransferRecord> done) {
  RunBlocking(&parts_->table_pool, std::move(done), engine::StartExport, parts_.get(), std::move(request));
}

void Engine::StartImport(StartImportRequest request, Callback<model::TransferRecord> done) {
  RunBlocking(&parts_->table_pool, std::move(done), engine::StartImport, parts_.get(), std::move(request));
}

void Engine::StartBulkPut(StartBulkPutRequest request, Callback<model::TransferRecord> done) {
  RunBlocking(&parts_->table_pool, std::move(done), engine::StartBulkPut, parts_.get(), std::move(request));
}

void Engine::DescribeTransfer(TransferName name, Callback<model::TransferRecord> done) {
  RunBlocking(&parts_->table_pool, std::move(done), engine::DescribeTransfer, parts_.get(), std::move(name));
}

void Engine::CancelTransfer(TransferName name, Callback<model::TransferRecord> done) {
  RunBlocking(&parts_->table_pool, std::move(done), engine::CancelTransfer, parts_.get(), std::move(name));
}

void Engine::ListTransfers(ListTransfersRequest request, Callback<TransferPage> done) {
  RunBlocking(&parts_->table_pool, std::move(done), engine::ListTransfers, parts_.get(), std::move(request));
}

BackupJobs* Engine::backups() { return &parts_->backups; }

void Engine::ListDatabaseBackups(std::string directory, Callback<std::vector<store::BackupEntry>> done) {
  const auto list = [](BackupJobs* backups, const std::string& from) {
    absl::StatusOr<std::vector<store::BackupEntry>> entries = backups->List(from);
    // Clients allowed to call this may see the text of the error.
    if (!entries.ok() && !GetApiError(entries.status()).has_value()) {
      entries = ValidationError(Sv(entries.status().message()));
    }
    return entries;
  };
  RunBlocking(&parts_->backup_pool, std::move(done), list, &parts_->backups, std::move(directory));
}

void Engine::RestoreTableOf(RestoreTableOfRequest request, Callback<TableDescription> done) {
  RunBlocking(&parts_->backup_pool, std::move(done), engine::RestoreTableOf, parts_.get(), std::move(request));
}

void Engine::GetHotKeys(HotKeysRequest request, Callback<HotKeys> done) {
  const auto find = [](const Parts* parts, const HotKeysRequest& wanted) { return FindHotKeys(*parts, wanted); };
  RunBlocking(&parts_->table_pool, std::move(done), find, parts_.get(), std::move(request));
}

std::vector<HotKeyShare> Engine::HotKeyShares() const { return HotKeySharesOf(*parts_); }

void Engine::ListIndexStatus(std::optional<std::string> table_name, Callback<std::vector<IndexStatus>> done) {
  RunBlocking(&parts_->table_pool, std::move(done), engine::ListIndexStatus, parts_->database, std::move(table_name));
}

}  // namespace armature::engine
