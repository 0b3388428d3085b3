#ifndef ARMATURE_ENGINE_BACKUP_TABLE_EXPORT_H_
#define ARMATURE_ENGINE_BACKUP_TABLE_EXPORT_H_

// All items of a table as of one moment, page by page.

#include <atomic>
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

// At most so many exports at once: each keeps every old version of every row on disk.
inline constexpr int kExportsMax = 4;

// What holds a place among them.
class ExportSlot {
 public:
  // Nullopt if there is none left. `taken` must outlive the slot.
  static std::optional<ExportSlot> Take(std::atomic<int>* taken);
  ~ExportSlot();
  ExportSlot(ExportSlot&& other) noexcept : taken_(other.taken_) { other.taken_ = nullptr; }
  ExportSlot& operator=(ExportSlot&&) = delete;

 private:
  explicit ExportSlot(std::atomic<int>* taken) : taken_(taken) {}
  std::atomic<int>* taken_;  // null: moved from
};

// Made by Engine::OpenExport. Holds a snapshot and the table, whose files stay as long, even if it is deleted. Whoever
// asks for no page for EngineOptions::export_patience loses both, and is told with the next page.
//
// Pages are read by the thread that checks indexes: that takes nothing from reads and writes of clients.
//
// Thread-safety: thread-safe, but one page at a time. Lifetime: shared; the engine must outlive it.
class TableExport : public std::enable_shared_from_this<TableExport> {
 public:
  // Blocks a little. Errors: ResourceNotFoundException, ValidationException; LimitExceededException beyond kExportsMax.
  static absl::StatusOr<std::shared_ptr<TableExport>> Open(Parts* parts, const std::string& table_name);
  ~TableExport();
  TableExport(const TableExport&) = delete;
  TableExport& operator=(const TableExport&) = delete;

  // The table when it was opened.
  const TableDescription& table() const { return description_; }
  // All changes up to this one are in it, later ones perhaps.
  uint64_t change_sequence() const { return change_sequence_; }

  // Gives `page` the next items, about a megabyte of them, in the order of keys, and answers whether there are more.
  // `page` must live until then. Errors: DeadlineExceeded if it was given up; DataLoss. After an error or
  // the last page it holds nothing any more.
  void ReadPage(PageWriter* page, Callback<bool> done);

 private:
  struct Held;  // the snapshot and what it needs
  TableExport(Parts* parts, TableDescription description, std::unique_ptr<Held> held);

  absl::StatusOr<bool> ReadPageNow(const Held& held, PageWriter* page);
  void EndPage(bool has_more);
  void BeginWait() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GiveUpIfIdle();

  Parts* const parts_;
  const TableDescription description_;
  const uint64_t change_sequence_;
  std::string next_key_;  // belongs to the page under way
  absl::Mutex mutex_;
  std::shared_ptr<const Held> held_ ABSL_GUARDED_BY(mutex_);  // null: given up
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time patience_end_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  TimerQueue::TimerId timer_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_BACKUP_TABLE_EXPORT_H_
