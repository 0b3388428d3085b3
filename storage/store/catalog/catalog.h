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
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "storage/base/strong_type.h"
#include "storage/base/timer_queue.h"
#include "storage/model/table_descriptor.h"
#include "storage/store/catalog/capacity_bucket.h"
#include "storage/store/catalog/index_build.h"
#include "storage/store/keyspace.h"
#include "storage/store/log/change_log.h"

namespace armature::store {

class RocksDb;

// Held by whoever uses the column families of a table or an index, or one state of a table. When the last holder lets
// go, `on_release` runs: only then may the families be dropped, or is everybody known to see the later state.
class FamilyLease {
 public:
  explicit FamilyLease(std::function<void()> on_release) : on_release_(std::move(on_release)) {}
  ~FamilyLease() { on_release_(); }
  FamilyLease(const FamilyLease&) = delete;
  FamilyLease& operator=(const FamilyLease&) = delete;

 private:
  const std::function<void()> on_release_;
};

// An index and where it lives.
struct Index {
  model::IndexDescriptor descriptor;
  Keyspace keyspace;
  // Key attributes of index and table, each once, sorted: what a page key holds and what is always projected.
  std::vector<std::string> key_names;
  // Global indexes only, and only if they have their family.
  std::shared_ptr<IndexProgress> progress;
  std::shared_ptr<FamilyLease> lease;
  std::shared_ptr<IndexBuild> build;  // while it is being filled
  // Global indexes: what of their capacity is used. One for all states of the catalog, until the index is gone.
  std::shared_ptr<CapacityBuckets> buckets = std::make_shared<CapacityBuckets>();

  // Whether writes reach it. Not so while it waits for its family, or for being dropped.
  bool is_maintained() const {
    const bool waits = descriptor.state == model::IndexState::kCreating && !descriptor.backfilling;
    return !waits && descriptor.state != model::IndexState::kDeleting;
  }
};

// A table and where it lives. Immutable. While it is CREATING its keyspaces are null.
struct Table {
  model::TableDescriptor descriptor;
  Keyspace data;
  Keyspace collections;  // only with local indexes
  std::vector<std::string> key_names;
  std::vector<Index> local_indexes;  // parallel to the descriptor's
  std::vector<Index> global_indexes;
  std::shared_ptr<FamilyLease> lease;
  std::shared_ptr<FamilyLease> state_lease;  // of this state of the table
  // What of its capacity is used. One for all states of the table while it can be used.
  std::shared_ptr<CapacityBuckets> buckets = std::make_shared<CapacityBuckets>();

  bool has_indexes() const { return !local_indexes.empty() || !global_indexes.empty(); }
  const Index* FindIndex(std::string_view name) const;
};

// The catalog at one moment. Thread-safety: immutable. Lifetime: everything in it lives as long as it is held.
class CatalogSnapshot {
 public:
  // The table called `name` in whatever state, or null.
  const Table* Find(std::string_view name) const;
  const Table* Find(TableId id) const;
  // By name, in byte order.
  const std::map<std::string, std::shared_ptr<const Table>, std::less<>>& tables() const { return tables_; }

 private:
  friend class Catalog;
  std::map<std::string, std::shared_ptr<const Table>, std::less<>> tables_;
};

// ResourceInUse, for a table that cannot be changed yet.
absl::Status TableIsBeingCreatedError(std::string_view name);

// Keeps the descriptors, on disk and in memory. Thread-safety: thread-safe.
class Catalog {
 public:
  // Reads the descriptors; opens the keyspaces of every table that has its families.
  static absl::StatusOr<std::unique_ptr<Catalog>> Open(RocksDb* db, TimerQueue* timers);

  std::shared_ptr<const CatalogSnapshot> snapshot() const;
  // Waits until the table is gone, or has its families. False if that takes longer.
  bool AwaitOpen(TableId table, absl::Duration patience) const;

  // Gives the table and its indexes ids, a uuid and a creation time, and persists it as CREATING.
  // Errors: ResourceInUse if the name is taken; LimitExceeded beyond the configured number of families.
  absl::StatusOr<model::TableDescriptor> Add(model::TableDescriptor descriptor);
  // Persists the table as DELETING. From then on new snapshots do not hold its families. Errors: ResourceNotFound;
  // ResourceInUse if it is not ACTIVE; ValidationException if it is protected.
  // `left` gets the progress of the table's global indexes, which nobody advances any more: close it outside of locks.
  absl::StatusOr<model::TableDescriptor> MarkDeleting(std::string_view name,
                                                      std::vector<std::shared_ptr<IndexProgress>>* left);

  // Lets `change` work on a copy of the table's descriptor, persists the copy, and publishes it: later snapshots have
  // it, older ones stay as they are. Whatever `change` returns but OK is the answer, and nothing is changed then. It
  // sees the table in whatever state, runs while the catalog is locked, so it must be short, and may change settings,
  // definitions of attributes, whether it is being restored, append a CREATING global index without an id, which gets
  // one here, and make a global index DELETING; the table is UPDATING then. The answer is nullopt if there is no such
  // table. `left`: as for MarkDeleting.
  absl::StatusOr<std::optional<model::TableDescriptor>> Update(
      std::string_view name, absl::FunctionRef<absl::Status(model::TableDescriptor*)> change,
      std::vector<std::shared_ptr<IndexProgress>>* left);

  // For the DDL worker. The family of a CREATING index exists: the table becomes ACTIVE, and writes reach the index.
  absl::Status BeginBackfill(TableId table, IndexId index);
  // The filled index becomes ACTIVE. Nothing happens if it is not being filled (any more).
  absl::Status ActivateIndex(TableId table, IndexId index);
  // True when nobody holds the family of a DELETING index any more.
  bool IsReleased(TableId table, IndexId index) const;
  // Forgets a deleted index whose family is gone; the table becomes ACTIVE.
  absl::Status RemoveIndex(TableId table, IndexId index);
  // Whether somebody still holds the table as it was before its last change.
  bool HasHoldersOfEarlierStates(TableId table) const;

  // For the DDL worker. The families exist; the tables become ACTIVE, all at once.
  absl::Status Activate(const std::vector<TableId>& tables);
  // True when nobody holds the families of a DELETING table any more.
  bool IsReleased(TableId table) const;
  // Forgets a deleted table and everything stored beside its families.
  absl::Status Remove(const model::TableDescriptor& table);

  // Called (on any thread) when a lease ran out: of a deleted table or index, or of an earlier state of a table. Must
  // be short.
  void SetReleaseListener(std::function<void()> listener);

  // Every family that a table of `descriptor` has.
  static std::vector<std::string> FamilyNames(const model::TableDescriptor& descriptor);

  // Reads the highest change sequence ever used.
  static absl::StatusOr<ChangeSequence> ReadLastSequence(RocksDb* db);

 private:
  struct ReleaseSignal;

  Catalog(RocksDb* db, TimerQueue* timers);
  absl::Status Load();
  absl::StatusOr<std::shared_ptr<const Table>> OpenTable(model::TableDescriptor descriptor)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Index> OpenGlobalIndex(const model::TableDescriptor& table, const model::IndexDescriptor& descriptor);
  absl::StatusOr<Keyspace> OpenKeyspace(const model::TableDescriptor& table, const std::string& family) const;
  // Lets `change` work on the next state of a table and one of its global indexes, and persists and publishes them if
  // it says so. A build record goes with the build. Nothing happens without such an index.
  absl::Status ChangeIndex(TableId table, IndexId index,
                           absl::FunctionRef<absl::StatusOr<bool>(Table*, Index*)> change);
  std::shared_ptr<FamilyLease> NewLease() const;
  // A copy of `table` for its next state.
  std::shared_ptr<Table> NextState(const Table& table) const;
  absl::Status CheckFamilyCeiling(const model::TableDescriptor& wanted) const;
  absl::Status Persist(const model::TableDescriptor& descriptor);
  void Publish(std::vector<std::shared_ptr<const Table>> changed, std::string_view removed)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  RocksDb* const db_;
  TimerQueue* const timers_;
  const std::shared_ptr<ReleaseSignal> release_;
  // Serialises changes; held across their writes.
  absl::Mutex mutex_;
  uint32_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  mutable absl::Mutex snapshot_mutex_;
  std::shared_ptr<const CatalogSnapshot> snapshot_ ABSL_GUARDED_BY(snapshot_mutex_);
  // Leases of what is DELETING; index 0: of the table.
  std::map<std::pair<TableId, IndexId>, std::weak_ptr<FamilyLease>> detached_ ABSL_GUARDED_BY(snapshot_mutex_);
  std::map<TableId, std::vector<std::weak_ptr<FamilyLease>>> earlier_states_ ABSL_GUARDED_BY(snapshot_mutex_);
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_CATALOG_CATALOG_H_
