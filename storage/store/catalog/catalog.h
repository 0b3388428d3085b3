#ifndef ARMATURE_STORAGE_STORE_CATALOG_CATALOG_H_
#define ARMATURE_STORAGE_STORE_CATALOG_CATALOG_H_

// All tables and indexes, as immutable snapshots that requests pin.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/strong_type.h"
#include "storage/base/timer_queue.h"
#include "storage/model/table_descriptor.h"
#include "storage/store/catalog/capacity_bucket.h"
#include "storage/store/catalog/catalog_record.h"
#include "storage/store/catalog/key_traffic.h"
#include "storage/store/expiry/expiry_index.h"
#include "storage/store/keyspace.h"
#include "storage/store/log/change_log.h"
#include "storage/store/stream/stream_log.h"

namespace armature::store {

class RocksDb;

// Held by users of the keyspaces of a table or an index, or by users of one state of a table. When the last
// holder releases it, `on_release` runs: from then on the families may be dropped, or all users see the later state.
class FamilyLease {
 public:
  explicit FamilyLease(std::function<void()> on_release) : on_release_(std::move(on_release)) {}
  ~FamilyLease() { on_release_(); }
  FamilyLease(const FamilyLease&) = delete;
  FamilyLease& operator=(const FamilyLease&) = delete;

 private:
  const std::function<void()> on_release_;
};

// The state of an index build in memory, shared by all states of the catalog. Thread-safety: thread-safe.
class IndexBuild {
 public:
  explicit IndexBuild(BuildState state) : state_(std::move(state)) {}

  BuildState state() const {
    const absl::MutexLock lock(&mutex_);
    return state_;
  }
  BuildPhase phase() const {
    const absl::MutexLock lock(&mutex_);
    return state_.phase;
  }
  void Set(BuildState state) {
    const absl::MutexLock lock(&mutex_);
    state_ = std::move(state);
  }

 private:
  mutable absl::Mutex mutex_;
  BuildState state_ ABSL_GUARDED_BY(mutex_);
};

// An index and its keyspace.
struct Index {
  model::IndexDescriptor descriptor;
  Keyspace keyspace;
  // Key attributes of index and table, without duplicates, sorted: the attributes of a page key, always projected.
  std::vector<std::string> key_names;
  // Set for global indexes that are or may be maintained.
  std::shared_ptr<IndexProgress> progress;
  std::shared_ptr<FamilyLease> lease;
  std::shared_ptr<IndexBuild> build;  // set while the index is under construction
  // Capacity of a global index. Shared by all states of the catalog until the index is gone.
  std::shared_ptr<CapacityBuckets> buckets = std::make_shared<CapacityBuckets>();

  // Shared by all states of the catalog while contributor insights of the index are enabled; otherwise null.
  std::shared_ptr<KeyTraffic> traffic;

  // True if writes reach the index. False before its construction begins, and while it waits for being dropped.
  bool is_maintained() const {
    const bool waits = descriptor.state == model::IndexState::kCreating && !descriptor.backfilling;
    return !waits && descriptor.state != model::IndexState::kDeleting;
  }
};

// One state of a table, and its keyspaces. Immutable. While it is held, the families of the table and of its indexes
// stay, and its users may see this state. While the table is CREATING its keyspaces are null.
struct Table {
  model::TableDescriptor descriptor;
  Keyspace data;
  Keyspace collections;  // only with local indexes
  std::vector<std::string> key_names;
  std::vector<Index> local_indexes;  // parallel to the descriptor's
  std::vector<Index> global_indexes;
  std::shared_ptr<FamilyLease> lease;
  std::shared_ptr<FamilyLease> state_lease;  // lease of this state of the table
  // The stream of the table. Shared by all its states.
  std::shared_ptr<const StreamSwitch> stream;
  // Rows by the time at which items expire, of all tables. Null if time to live is off.
  Keyspace expiry;
  // Shared by all usable states of the table.
  std::shared_ptr<DueMark> due_mark = std::make_shared<DueMark>();
  // Capacity of the table. Shared by all its usable states.
  std::shared_ptr<CapacityBuckets> buckets = std::make_shared<CapacityBuckets>();
  // Shared by all usable states of the table while its contributor insights are enabled; otherwise null.
  std::shared_ptr<KeyTraffic> traffic;

  bool has_indexes() const { return !local_indexes.empty() || !global_indexes.empty(); }
  const Index* FindIndex(std::string_view name) const;
};

// The catalog at one point in time. Thread-safety: immutable. Lifetime: its contents live as long as it is held.
class CatalogSnapshot {
 public:
  // The table called `name` in any state, or null.
  const Table* Find(std::string_view name) const;
  const Table* Find(TableId id) const;
  // The table called `name`, or null, to be held without the snapshot, which would keep all other tables from being
  // deleted and changed.
  std::shared_ptr<const Table> Hold(std::string_view name) const;
  std::shared_ptr<const Table> Hold(TableId id) const;
  // All tables, sorted by name in byte order.
  const std::map<std::string, std::shared_ptr<const Table>, std::less<>>& tables() const { return tables_; }
  // Tables that are being created or deleted, or have an index that is.
  const std::map<TableId, std::shared_ptr<const Table>>& unsettled() const { return unsettled_; }
  // Number of column families that all tables and indexes need once each of them was written.
  size_t families_needed() const { return families_needed_; }

 private:
  friend class Catalog;
  size_t families_needed_ = 0;
  std::map<TableId, std::shared_ptr<const Table>> unsettled_;
  std::map<std::string, std::shared_ptr<const Table>, std::less<>> tables_;
  absl::flat_hash_map<TableId, const Table*> by_id_;  // of `tables_`
};

// ResourceInUse for a table that cannot be changed yet.
absl::Status TableIsBeingCreatedError(std::string_view name);

// Stores the descriptors on disk and in memory. Changes are durable and visible when the methods return.
//
// Thread-safety: thread-safe.
class Catalog {
 public:
  // Reads the descriptors, and opens the keyspaces of every table.
  // Begins the streams of tables whose settings have one that does not exist: format 2 kept the setting only.
  static absl::StatusOr<std::unique_ptr<Catalog>> Open(RocksDb* db, TimerQueue* timers, StreamLog* streams);

  std::shared_ptr<const CatalogSnapshot> snapshot() const;
  // Waits until the table is gone or can be used. Returns false if that takes longer than `patience`.
  bool AwaitOpen(TableId table, absl::Duration patience) const;

  // Assigns ids, a uuid and a creation time to the table and its indexes, and persists it as CREATING; the DDL worker
  // does the rest. Errors: ResourceInUse if the name is taken; LimitExceeded beyond the configured number of families:
  // those that tables may need are counted, so that no write to a table meets the limit; ServiceUnavailable while there
  // is little space.
  absl::StatusOr<model::TableDescriptor> Create(model::TableDescriptor descriptor);
  // Persists the table as DELETING, and ends the waits for its global indexes; the DDL worker does the rest. Later
  // snapshots do not hold its families. Errors: ResourceNotFound; ResourceInUse if the table is not ACTIVE, or is being
  // restored; ValidationException if it is protected.
  absl::StatusOr<model::TableDescriptor> Delete(std::string_view name);

  // Applies `change` to a copy of the table's descriptor, persists the copy, and publishes it in later snapshots. An
  // error of `change` is returned, and nothing changes. Returns nullopt if the table does not exist. Errors, too:
  // ResourceInUse while it is being restored. `change` runs while the catalog is locked, so it must be short. It may
  // change settings and attribute definitions, append a CREATING global index without id (which gets its id here), and
  // make a global index DELETING; the table is UPDATING after the last two. Ends the waits for an index in deletion.
  absl::StatusOr<std::optional<model::TableDescriptor>> Update(
      std::string_view name, absl::FunctionRef<absl::Status(model::TableDescriptor*)> change);

  // Ends the restore state of a table: FinishRestore makes it an ordinary table, AbandonRestore deletes it. Both do
  // nothing if no such table exists.
  absl::Status FinishRestore(TableId table);
  absl::Status AbandonRestore(TableId table);
  // Deletes the tables whose restore was interrupted by the end of the process. Imports go on.
  void AbandonRestores();

  // Ends all waits for global indexes, present and future, with `status`. Called before the server stops.
  void EndWaits(const absl::Status& status) const;

  // For the DDL worker: the table of a CREATING index becomes ACTIVE, and writes reach the index.
  absl::Status BeginBackfill(TableId table, IndexId index);
  // For the builder of an index: records the log position from which the index will apply changes, and begins the scan.
  absl::Status BeginIndexScan(TableId table, const Index& index);
  // Writes entries made by the scan together with its progress in one batch, without fsync, because a crash repeats the
  // scan. Errors: ServiceUnavailable, too, while there is little space.
  absl::Status CommitBuilt(const WriteUnit& unit, TableId table, const Index& index, const BuildState& state);
  // Makes an index that was built ACTIVE. Does nothing if the index is not under construction (any more).
  absl::Status ActivateIndex(TableId table, IndexId index);
  // True when no one holds the family of a DELETING index any more.
  bool IsReleased(TableId table, IndexId index) const;
  // Removes a deleted index whose family is gone; the table becomes ACTIVE.
  absl::Status RemoveIndex(TableId table, IndexId index);
  // True when no earlier state of the table is held: all holders see it with the index that was added last.
  bool IsKnownToAll(TableId table) const;

  // For the DDL worker: the tables become ACTIVE together. They need no families before the first write.
  absl::Status Activate(const std::vector<TableId>& tables);
  // True when no one holds the families of a DELETING table any more.
  bool IsReleased(TableId table) const;
  // Removes deleted tables and all their records outside of their families.
  absl::Status Remove(const std::vector<model::TableDescriptor>& tables);

  // Called (on any thread) when there may be work for the DDL worker: after a change, and when the last holder releases
  // a lease of a deleted table or index, or of an earlier state of a table. Must be short.
  void SetWorkListener(std::function<void()> listener);

  // Names of all families that a table of `descriptor` has once all of them were written.
  static std::vector<std::string> FamilyNames(const model::TableDescriptor& descriptor);

  // Reads the highest change sequence that was ever used, or that an index has passed.
  static absl::StatusOr<ChangeSequence> ReadLastSequence(RocksDb* db);

 private:
  struct WorkSignal;

  Catalog(RocksDb* db, TimerQueue* timers, StreamLog* streams);
  // Delete and Update of a table in any state of a restore. `left` receives the progress of global indexes that does
  // not advance any more; the caller closes it without holding locks.
  absl::StatusOr<model::TableDescriptor> MarkDeleting(std::string_view name,
                                                      std::vector<std::shared_ptr<IndexProgress>>* left);
  absl::StatusOr<model::TableDescriptor> DeleteAny(std::string_view name);
  absl::StatusOr<std::optional<model::TableDescriptor>> Change(
      std::string_view name, absl::FunctionRef<absl::Status(model::TableDescriptor*)> change,
      std::vector<std::shared_ptr<IndexProgress>>* left);
  absl::Status Load() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status BeginMissingStreams() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Writes the record of the table durably, those of a stream that begins or ends with the change, and `next_id`.
  absl::Status Persist(const model::TableDescriptor& table, uint32_t next_id, std::string_view context)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<std::shared_ptr<const Table>> OpenTable(model::TableDescriptor descriptor)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Index> OpenGlobalIndex(const model::TableDescriptor& table, const model::IndexDescriptor& descriptor);
  absl::StatusOr<Keyspace> OpenKeyspace(const model::TableDescriptor& table, const std::string& family) const;
  // Applies `change` to the next state of a table and one of its global indexes, and persists and publishes both if it
  // returns true. A build record is removed together with the build. Does nothing if the index does not exist.
  absl::Status ChangeIndex(TableId table, IndexId index,
                           absl::FunctionRef<absl::StatusOr<bool>(Table*, Index*)> change);
  std::shared_ptr<FamilyLease> NewLease() const;
  Keyspace ExpiryOf(const model::TableDescriptor& table) const;
  // The counts of a table or an index with these insights: `current` if they were enabled before.
  static std::shared_ptr<KeyTraffic> TrafficOf(const std::optional<model::ContributorInsights>& insights,
                                               std::shared_ptr<KeyTraffic> current);
  // A copy of `table` for its next state.
  std::shared_ptr<Table> NextState(const Table& table) const;
  absl::Status CheckFamilyCeiling(const model::TableDescriptor& wanted) const;
  void Publish(std::vector<std::shared_ptr<const Table>> changed, const std::vector<model::TableDescriptor>& removed)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  RocksDb* const db_;
  TimerQueue* const timers_;
  StreamLog* const streams_;
  const std::shared_ptr<WorkSignal> work_;
  // Serializes changes; held during their writes.
  absl::Mutex mutex_;
  uint32_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  mutable absl::Mutex snapshot_mutex_;
  mutable MonotonicWait published_;  // notified when the snapshot changes
  std::shared_ptr<const CatalogSnapshot> snapshot_ ABSL_GUARDED_BY(snapshot_mutex_);
  // Leases of DELETING tables and indexes; index 0 is the table itself.
  std::map<std::pair<TableId, IndexId>, std::weak_ptr<FamilyLease>> detached_ ABSL_GUARDED_BY(snapshot_mutex_);
  std::map<TableId, std::vector<std::weak_ptr<FamilyLease>>> earlier_states_ ABSL_GUARDED_BY(snapshot_mutex_);
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_CATALOG_CATALOG_H_
