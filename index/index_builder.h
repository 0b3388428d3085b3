#ifndef ARMATURE_INDEX_INDEX_BUILDER_H_
#define ARMATURE_INDEX_INDEX_BUILDER_H_

// Fills global indexes that are added to tables in use.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "index/gsi_applier.h"
#include "storage/base/strong_type.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/database.h"

namespace armature::index {

struct IndexBuilderOptions {
  // A page of the table that is read and written at a time.
  size_t page_rows = 512;
  size_t page_bytes = size_t{512} << 10;
  // While clients write, the builder works no more than this share of the time.
  double share_under_load = 0.3;
};

// A worker on one thread. All indexes that are being filled take turns, a page each; see store::IndexBuild for how one
// becomes whole. Everything it needs to go on after a kill is in the catalog and in the build records.
//
// Thread-safety: thread-safe. Lifetime: database and applier must outlive it.
class IndexBuilder {
 public:
  IndexBuilder(store::Database* database, GsiApplier* applier, const IndexBuilderOptions& options);
  ~IndexBuilder();
  IndexBuilder(const IndexBuilder&) = delete;
  IndexBuilder& operator=(const IndexBuilder&) = delete;

  void Start();
  // Finishes the page under way. What is left is done after the next start.
  void Stop();

  // What a turn found: whether indexes are being filled, and whether one of them got further by it.
  struct Turn {
    bool building = false;
    bool advanced = false;
  };
  // A page of each index. Called by the thread, and by tests that do not Start.
  // Errors: those of the store, if nothing got further; what was done stays.
  absl::StatusOr<Turn> RunOnce();

 private:
  void Work();
  void Wake();
  // Does not return before `pause` is over, something has happened, or the builder stops.
  void WaitForWork(absl::Duration pause);
  void GiveWay(absl::Duration busy);
  absl::StatusOr<bool> Advance(const std::shared_ptr<const store::CatalogSnapshot>& snapshot, const store::Table& table,
                               const store::Index& index);
  absl::StatusOr<bool> FinishScan(const std::shared_ptr<const store::CatalogSnapshot>& snapshot,
                                  const store::Table& table, const store::Index& index, ChangeSequence last_seen);
  absl::Status ScanPage(const std::shared_ptr<const store::CatalogSnapshot>& snapshot, const store::Table& table,
                        const store::Index& index);

  store::Database* const database_;
  GsiApplier* const applier_;
  const IndexBuilderOptions options_;
  // Used by the working thread only: what clients had committed at the last turn, and the highest sequence that the
  // scan of an index may have seen, once its last page is written.
  uint64_t units_seen_ = 0;
  absl::flat_hash_map<IndexId, ChangeSequence> scanned_;
  absl::Mutex mutex_;
  absl::CondVar wake_;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace armature::index

#endif  // ARMATURE_INDEX_INDEX_BUILDER_H_
