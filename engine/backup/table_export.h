#ifndef ARMATURE_ENGINE_BACKUP_TABLE_EXPORT_H_
#define ARMATURE_ENGINE_BACKUP_TABLE_EXPORT_H_

// Export of all items of a table at one point in time, page by page.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/items/request.h"
#include "engine/tables/table_description.h"
#include "storage/base/timer_queue.h"

namespace armature::engine {

struct Parts;

// Limit on concurrent exports: each keeps all overwritten versions of every row on disk.
inline constexpr int kExportsMax = 4;

// Made by Engine::OpenExport. Holds a snapshot and the table's rows, which stay on disk even if the table is deleted.
// Other tables, and the table's indexes, are created and deleted meanwhile as at other times. If no page is requested
// for EngineOptions::export_patience, the export releases both, and the next page fails.
//
// Pages are read by a thread of their own, so that exports take no threads from clients' requests.
//
// Thread-safety: thread-safe, but one page at a time. Lifetime: shared; the engine must outlive it.
class TableExport : public std::enable_shared_from_this<TableExport> {
 public:
  // Blocks briefly. Errors: ResourceNotFoundException, ValidationException; LimitExceededException beyond kExportsMax.
  static absl::StatusOr<std::shared_ptr<TableExport>> Open(Parts* parts, const std::string& table_name);
  ~TableExport();
  TableExport(const TableExport&) = delete;
  TableExport& operator=(const TableExport&) = delete;

  // The table's description when the export was opened.
  const TableDescription& table() const { return description_; }
  // The export contains all changes up to this one, and perhaps later ones.
  uint64_t change_sequence() const { return change_sequence_; }

  // Passes the next items in key order to `page`, about a megabyte, and returns true if there are more. `page` must
  // live until then. Errors: DeadlineExceeded if the export was closed for inactivity; DataLoss. After an error or the
  // last page the export holds no resources.
  void ReadPage(PageWriter* page, Callback<bool> done);

 private:
  struct Held;  // the snapshot and the objects it depends on
  TableExport(Parts* parts, TableDescription description, std::unique_ptr<Held> held);

  absl::StatusOr<bool> ReadPageNow(const Held& held, PageWriter* page);
  void EndPage(bool has_more);
  void BeginWait() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GiveUpIfIdle(uint64_t wait);

  Parts* const parts_;
  const TableDescription description_;
  const uint64_t change_sequence_;
  std::string next_key_;  // used by the page in progress only
  absl::Mutex mutex_;
  std::shared_ptr<const Held> held_ ABSL_GUARDED_BY(mutex_);  // null: released
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t wait_ ABSL_GUARDED_BY(mutex_) = 0;  // number of waits for the next request
  TimerQueue::TimerId timer_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_BACKUP_TABLE_EXPORT_H_
