#ifndef ARMATURE_ENGINE_EXPIRY_EXPIRER_H_
#define ARMATURE_ENGINE_EXPIRY_EXPIRER_H_

// Deletes items whose time has come.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/strong_type.h"
#include "storage/base/worker.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/expiry/expiry_index.h"

namespace armature::engine {

struct Parts;

// Current values are those of the last look at each table.
struct ExpiryStats {
  uint64_t expired = 0;    // number of items deleted since the start
  uint64_t waiting = 0;    // number of items whose time has come; counted up to kCountMax in each table
  int64_t overdue_ms = 0;  // time since the oldest of them should have been deleted
  uint64_t filling = 0;    // number of tables whose index by time is not complete
};

// A worker on one thread. Tables take turns, a page of rows each.
//
// When time to live is switched on, requests in progress may not know of it. Once they have ended, the table is scanned
// for items with a time; from then on, writes maintain the index in their own batch. When it is switched off, the rows
// of the index are removed by range, again after the requests that know the earlier state. Progress is on disk, so a
// restart continues.
//
// An item is deleted through the write path: under its row lock, if it still has the time of its row and the clock is
// past it, out of all indexes, with a record in the stream. No capacity is charged. Between pages the thread pauses,
// so that clients get most of the machine.
//
// Thread-safety: thread-safe. Lifetime: uses the parts until Stop.
class Expirer {
 public:
  static constexpr uint64_t kCountMax = 100'000;

  explicit Expirer(Parts* parts) : parts_(parts) {}
  ~Expirer() { Stop(); }
  Expirer(const Expirer&) = delete;
  Expirer& operator=(const Expirer&) = delete;

  void Start();
  // Finishes the current page.
  void Stop();

  // Begins a turn: the interval of the options has changed.
  void Wake() { worker_.Wake(); }

  ExpiryStats stats() const;

 private:
  // A due row of the index.
  struct DueRow {
    int64_t due_ms;
    std::string row_key;
  };

  struct Page;
  struct Deletion;

  // Progress of the work on a table.
  struct TableWork {
    std::optional<store::ExpiryState> state;  // as on disk
    bool is_loaded = false;
    // The sweep in progress: rows that are due before until_ms.
    bool is_sweeping = false;
    int64_t until_ms = 0;
    std::string next_key;
    int64_t least_left_ms = store::DueMark::kNone;  // least due time of the rows that could not be deleted
    // No row is due before this, as far as known.
    int64_t swept_ms = 0;
    int64_t noted_ms = store::DueMark::kNone;  // taken from the mark at the sweep before
    int sweeps = 0;
    int64_t sweep_end_ns = 0;  // of the last one; 0: there was none
    uint64_t waiting = 0;
    int64_t overdue_ms = 0;
  };

  Worker::Next Work();
  // Processes a page of each table that has work. Returns true if there is more to do at once.
  bool RunOnce();
  absl::StatusOr<bool> Advance(const std::shared_ptr<const store::Table>& table, TableWork* work);
  absl::StatusOr<bool> Clear(const store::Table& table, store::ExpiryPhase next, TableWork* work);
  absl::Status ScanPage(const store::Table& table, TableWork* work);
  absl::StatusOr<bool> Sweep(const std::shared_ptr<const store::Table>& table, TableWork* work);
  absl::Status BeginSweep(const store::Table& table, TableWork* work);
  void EndSweep(TableWork* work);
  absl::StatusOr<std::vector<DueRow>> ReadDueRows(const store::Table& table, TableWork* work) const;
  // Deletes what has expired, and waits for the end.
  void DeleteRows(const std::shared_ptr<const store::Table>& table, std::vector<DueRow> rows, TableWork* work);
  void Delete(const std::shared_ptr<Deletion>& deletion);
  absl::Status Decide(Deletion* deletion);
  void PublishStats();
  int64_t NowMs() const;

  Parts* const parts_;
  std::map<TableId, TableWork> tables_;  // used by the working thread only
  mutable absl::Mutex mutex_;
  ExpiryStats stats_ ABSL_GUARDED_BY(mutex_);
  Worker worker_{"arm-expiry", [this] { return Work(); }};
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_EXPIRY_EXPIRER_H_
