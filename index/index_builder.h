#ifndef ARMATURE_INDEX_INDEX_BUILDER_H_
#define ARMATURE_INDEX_INDEX_BUILDER_H_

// Builds global indexes that are added to existing tables.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "index/gsi_applier.h"
#include "storage/base/strong_type.h"
#include "storage/base/worker.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/database.h"

namespace armature::index {

struct IndexBuilderOptions {
  // Limits on one page of the table, which is read and then written.
  size_t page_rows = 512;
  size_t page_bytes = size_t{512} << 10;
  // Maximum share of time that the builder works while clients write.
  double share_under_load = 0.3;
};

// A worker on one thread. All indexes under construction take turns, a page each. store::IndexBuild describes the
// steps. The catalog and the build records hold all state needed to continue after a kill.
//
// Thread-safety: thread-safe. Lifetime: database and applier must outlive it.
class IndexBuilder {
 public:
  IndexBuilder(store::Database* database, GsiApplier* applier, const IndexBuilderOptions& options);
  ~IndexBuilder();
  IndexBuilder(const IndexBuilder&) = delete;
  IndexBuilder& operator=(const IndexBuilder&) = delete;

  void Start();
  // Finishes the current page. Further pages are built after the next start.
  void Stop();

  // Result of a turn: `building`: some index is under construction; `advanced`: at least one of them made progress.
  struct Turn {
    bool building = false;
    bool advanced = false;
  };
  // Processes a page of each index. Called by the thread, and by tests without Start. Errors: those of the store, if no
  // index made progress. Completed pages stay.
  absl::StatusOr<Turn> RunOnce();

 private:
  Worker::Next Work();
  // True if clients have written since the last turn.
  bool IsLoaded();
  absl::StatusOr<bool> Advance(const std::shared_ptr<const store::CatalogSnapshot>& snapshot, const store::Table& table,
                               const store::Index& index);
  absl::StatusOr<bool> FinishScan(const std::shared_ptr<const store::CatalogSnapshot>& snapshot,
                                  const store::Table& table, const store::Index& index, ChangeSequence last_seen);
  absl::Status ScanPage(const std::shared_ptr<const store::CatalogSnapshot>& snapshot, const store::Table& table,
                        const store::Index& index);

  store::Database* const database_;
  GsiApplier* const applier_;
  const IndexBuilderOptions options_;
  // Used by the working thread only: the number of committed units at the last turn, and for each index whose last page
  // is written, the highest sequence that its scan may have seen.
  uint64_t units_seen_ = 0;
  absl::flat_hash_map<IndexId, ChangeSequence> scanned_;
  Worker worker_{"arm-build", [this] { return Work(); }};
};

}  // namespace armature::index

#endif  // ARMATURE_INDEX_INDEX_BUILDER_H_
