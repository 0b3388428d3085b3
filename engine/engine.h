#ifndef ARMATURE_ENGINE_ENGINE_H_
#define ARMATURE_ENGINE_ENGINE_H_

// All operations of the API on items and tables of one database, independent of the wire protocol.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/access/pattern.h"
#include "engine/access/resource_policy.h"
#include "engine/backup/backup_jobs.h"
#include "engine/backup/point_in_time.h"
#include "engine/backup/table_backups.h"
#include "engine/backup/table_export.h"
#include "engine/check/index_check.h"
#include "engine/expiry/expirer.h"
#include "engine/items/request.h"
#include "engine/streams/stream_ops.h"
#include "engine/tables/hot_keys.h"
#include "engine/tables/resource_policies.h"
#include "engine/tables/table_ops.h"
#include "engine/transfer/transfer_ops.h"
#include "engine/watch/table_watch.h"
#include "index/index_builder.h"
#include "storage/model/table_update.h"
#include "storage/store/database.h"

namespace armature::archive {
class Shipper;
}

namespace armature::engine {

struct Parts;

struct EngineOptions {
  // Three pools have this number of threads each: one runs queries, scans and operations that wait for the disk, one
  // requests that hold row locks, and one parses and plans statements.
  size_t read_threads = 2;
  // Maximum numbers of requests that wait for the pool of queries and scans, where refused ones wait, too, and for each
  // other pool. Further requests are throttled.
  size_t read_queue_max = 16'384;
  size_t pool_queue_max = 4096;
  size_t applier_threads = 1;  // apply changes to global indexes, a table on one of them at a time
  size_t lock_stripes = 16'384;
  index::IndexBuilderOptions index_build;
  // Writes to a global index whose backlog has reached either limit are throttled.
  uint64_t gsi_backlog_records_max = 1'000'000;
  uint64_t gsi_backlog_bytes_max = uint64_t{1} << 30;
  bool enforce_throughput = true;  // throttle requests beyond provisioned throughput and the maxima of on-demand tables
  // Monotonic clock in nanoseconds; null: the system's. Called on any thread. For tests.
  std::function<int64_t()> monotonic_ns = nullptr;
  // Wall clock in milliseconds since 1970, where the clock of tokens starts and by which items expire; null: the
  // system's. Called on any thread. For tests.
  std::function<int64_t()> unix_ms = nullptr;
  // Time that a transaction waits for row locks, and that a single-item write waits for a transaction's row lock.
  absl::Duration transaction_wait = absl::Seconds(5);
  // Time that DescribeTable of a table in creation or deletion waits for its end, and CreateTable for the end of the
  // deletion of a table of the same name.
  absl::Duration describe_wait = absl::ZeroDuration();
  // Time that CreateTable holds back its answer until the table can be used, and DeleteTable until it is gone.
  absl::Duration table_wait = absl::Seconds(10);
  // Time that a read of a global index waits for the writes that were acknowledged before it. Zero: it does not wait.
  absl::Duration index_read_wait = absl::ZeroDuration();
  // Interval at which items that have expired are looked for.
  absl::Duration expiry_interval = absl::Seconds(5);
  size_t watches_max = 1000;
  absl::Duration export_patience = absl::Minutes(2);  // time after which an export without requests is closed
  BackupOptions backup = {};
  archive::Shipper* archive = nullptr;  // from which tables are restored; null: none. Outlives the engine
  TransferOptions transfer = {};
  bool apply_changes = true;  // false: changes do not reach the global indexes; for tests, which apply them explicitly
};

// Numbers of tasks that wait for threads, and the state of the engine's background work.
struct EngineStats {
  size_t read_queue_tasks = 0;
  uint64_t read_queue_refused = 0;  // since the start: the queue was full, or the task had waited too long
  size_t plan_queue_tasks = 0;
  uint64_t plan_queue_refused = 0;     // as read_queue_refused
  uint64_t plans = 0;                  // of statements, since the start
  size_t parked_writes = 0;            // held back during an overload
  uint64_t parked_writes_refused = 0;  // since the start
  size_t holder_queue_tasks = 0;
  size_t table_queue_tasks = 0;
  size_t backup_queue_tasks = 0;
  size_t check_queue_tasks = 0;
  ExpiryStats expiry;
  WatchStats watches;
  TransferStats transfers;
};

// Operations are asynchronous: they validate on the caller's thread without blocking, and call back once, on this or
// another thread. Errors are API errors with the documented texts, or internal ones without an API payload.
//
// Thread-safety: thread-safe.
// Lifetime: the database must outlive the engine. Destroy the engine when no new requests arrive: the destructor
// completes the requests in progress. Requests that wait for row locks or indexes end with ServiceUnavailable, the
// others with their results. No callback runs after it.
class Engine {
 public:
  Engine(store::Database* database, const EngineOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void GetItem(const RequestContext& context, GetItemRequest request, Callback<GetItemResult> done);
  void PutItem(RequestContext context, WriteRequest request, Callback<WriteResult> done);
  void UpdateItem(RequestContext context, WriteRequest request, Callback<WriteResult> done);
  void DeleteItem(RequestContext context, WriteRequest request, Callback<WriteResult> done);
  void BatchGetItem(RequestContext context, BatchGetRequest request, Callback<BatchGetResult> done);
  void BatchWriteItem(RequestContext context, BatchWriteRequest request, Callback<BatchWriteResult> done);
  void TransactGetItems(RequestContext context, TransactGetRequest request, Callback<TransactGetResult> done);
  void TransactWriteItems(RequestContext context, TransactWriteRequest request, Callback<TransactWriteResult> done);
  // `page` must live until `done` is called.
  void Query(RequestContext context, ReadRequest request, PageWriter* page, Callback<ReadResult> done);
  void Scan(RequestContext context, ReadRequest request, PageWriter* page, Callback<ReadResult> done);

  // The answers say CREATING and DELETING, as the table was when the change was accepted, and are given when it can be
  // used or is gone, at the latest after the time of the options. `deadline`: the client's. The wait for the end of a
  // transition leaves it half of the time.
  void CreateTable(model::TableDefinition definition, Callback<TableDescription> done, Deadline deadline = {});
  void DeleteTable(const std::optional<std::string>& name_or_arn, Callback<TableDescription> done,
                   Deadline deadline = {});
  // `deadline`: as for CreateTable.
  void DescribeTable(const std::optional<std::string>& name_or_arn, Callback<TableDescription> done,
                     Deadline deadline = {});
  void ListTables(const std::optional<std::string>& start_after, std::optional<int64_t> limit,
                  Callback<ListTablesResult> done);
  void UpdateTable(model::TableUpdate update, Callback<TableDescription> done);
  // Runs `fn(database, request)`, which returns a status or a StatusOr<T>, on a thread that may wait for the disk. For
  // settings of tables (engine/tables), which need nothing else of the engine.
  template <class T, class Fn, class Request>
  void RunOnDatabase(Callback<T> done, Fn fn, Request request) {
    auto shared_done = std::make_shared<Callback<T>>(std::move(done));
    const auto run = [shared_done, fn, request = std::move(request), database = database()] {
      if constexpr (std::is_same_v<T, Nothing>) {
        const absl::Status status = fn(database, request);
        std::move (*shared_done)(status.ok() ? absl::StatusOr<Nothing>(Nothing()) : status);
      } else {
        std::move (*shared_done)(fn(database, request));
      }
    };
    PostToTablePool(run, [shared_done](const absl::Status& refused) { std::move (*shared_done)(refused); });
  }

  // See resource_policies.h. When they answer, requests are checked by the new state.
  void PutResourcePolicy(PutResourcePolicyRequest request, Callback<std::string> done);
  void DeleteResourcePolicy(DeleteResourcePolicyRequest request, Callback<std::string> done);

  // Counts the plan of a statement.
  void CountPlan();
  // Runs `work` on the pool of plans, for the part of a request that computes before its operations on items. Calls
  // `refused` instead, on this or another thread, if too many requests wait (RequestQueue).
  void RunPlanner(absl::AnyInvocable<void() &&> work, absl::AnyInvocable<void(absl::Status) &&> refused);
  // The monotonic clock of the options.
  int64_t ClockNs() const;

  // See stream_ops.h. The other operations on streams need the database only and do not block.
  void GetRecords(GetRecordsRequest request, Callback<GetRecordsResult> done);

  // See table_watch.h. Does not block.
  absl::StatusOr<std::shared_ptr<TableWatch>> OpenWatch(const WatchRequest& request);

  // See table_backups.h. ListTableBackups is the operation ListBackups.
  void CreateBackup(CreateBackupRequest request, Callback<TableBackup> done);
  void DescribeBackup(std::optional<std::string> arn, Callback<TableBackup> done);
  void ListTableBackups(ListTableBackupsRequest request, Callback<ListTableBackupsResult> done);
  void DeleteBackup(std::optional<std::string> arn, Callback<TableBackup> done);
  void RestoreTableFromBackup(RestoreTableRequest request, Callback<TableDescription> done);
  // See point_in_time.h.
  void RestoreTableToPointInTime(RestoreToPointInTimeRequest request, Callback<TableDescription> done);
  // That of the options; null: none.
  const archive::Shipper* archive() const;
  void ListIndexStatus(std::optional<std::string> table_name, Callback<std::vector<IndexStatus>> done);

  // See index_check.h. One page at a time for all callers together.
  void ListIndexViolations(ListIndexViolationsRequest request, Callback<ListIndexViolationsResult> done);
  void VerifyTable(VerifyTableRequest request, Callback<VerifyTableResult> done);

  // See hot_keys.h.
  void GetHotKeys(HotKeysRequest request, Callback<HotKeys> done);
  std::vector<HotKeyShare> HotKeyShares() const;

  // See table_export.h.
  void OpenExport(std::string table_name, Callback<std::shared_ptr<TableExport>> done);

  // See transfer_ops.h.
  void StartExport(StartExportRequest request, Callback<model::TransferRecord> done);
  void StartImport(StartImportRequest request, Callback<model::TransferRecord> done);
  void StartBulkPut(StartBulkPutRequest request, Callback<model::TransferRecord> done);
  void DescribeTransfer(TransferName name, Callback<model::TransferRecord> done);
  void CancelTransfer(TransferName name, Callback<model::TransferRecord> done);
  void ListTransfers(ListTransfersRequest request, Callback<TransferPage> done);

  // See backup_jobs.h.
  BackupJobs* backups();
  void ListDatabaseBackups(std::string directory, Callback<std::vector<store::BackupEntry>> done);
  void RestoreTableOf(RestoreTableOfRequest request, Callback<TableDescription> done);

  // The policy that requests on a table or a stream are checked by, beside those of the caller; see ResourcePolicies.
  std::shared_ptr<const access::ResourcePolicy> FindResourcePolicy(std::string_view name_or_arn) const;
  // The most work that a policy of a table or a stream takes.
  access::MatchWeight PolicyWeightMax() const;

  // Ends watches, and requests that wait for global indexes or for states of tables, present and future: the server is
  // about to stop.
  void EndWaits();

  // CrowdBegins notes that more requests wait at a part of a front than it can serve, CrowdEnds that this has ended.
  // Meanwhile fewer writes are under way at once.
  void CrowdBegins();
  void CrowdEnds();
  // True while writes are held back, because too many are under way.
  bool HoldsWritesBack() const;

  // Takes the members of `options` that may change while the engine serves (LiveOptions), and the limits and the
  // schedule of its backups.
  void ChangeOptions(const EngineOptions& options);

  store::Database* database() const;
  EngineStats stats() const;

 private:
  void PostToTablePool(absl::AnyInvocable<void() &&> run, absl::AnyInvocable<void(absl::Status) &&> refused);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ENGINE_H_
