#include "engine/backup/table_export.h"

#include <atomic>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/time/clock.h"
#include "engine/parts.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/codec/stored_item.h"
#include "storage/model/plain_item.h"
#include "storage/model/table_name.h"
#include "storage/store/database.h"

namespace armature::engine {
namespace {

constexpr size_t kPageBytes = size_t{1} << 20;

// One of the kExportsMax slots.
class ExportSlot {
 public:
  // Nullopt if none is free. `taken`, the number of slots in use, must outlive the slot.
  static std::optional<ExportSlot> Take(std::atomic<int>* taken) {
    if (taken->fetch_add(1) < kExportsMax) return ExportSlot(taken);
    taken->fetch_sub(1);
    return std::nullopt;
  }
  ~ExportSlot() {
    if (taken_ != nullptr) taken_->fetch_sub(1);
  }
  ExportSlot(ExportSlot&& other) noexcept : taken_(other.taken_) { other.taken_ = nullptr; }
  ExportSlot& operator=(ExportSlot&&) = delete;

 private:
  explicit ExportSlot(std::atomic<int>* taken) : taken_(taken) {}
  std::atomic<int>* taken_;  // null: moved from
};

}  // namespace

// Members in order of construction; destroyed in reverse.
struct TableExport::Held {
  ExportSlot slot;
  std::shared_ptr<const store::FamilyLease> table;
  std::unique_ptr<const store::KeyspaceSnapshot> snapshot;
};

absl::StatusOr<std::shared_ptr<TableExport>> TableExport::Open(Parts* parts, const std::string& table_name) {
  ARM_RETURN_IF_ERROR(model::CheckRequiredTableReference(table_name));
  ARM_ASSIGN_OR_RETURN(const PinnedTable pinned, FindTable(*parts->database, table_name));
  std::optional<ExportSlot> slot = ExportSlot::Take(&parts->exports);
  if (!slot.has_value()) {
    return LimitExceededError(Cat("At most ", kExportsMax, " exports can run at the same time"));
  }
  TableDescription description = Describe(*pinned.table);
  // Only the table's rows are held for the whole time: its state, and all other tables, may change meanwhile.
  auto held = std::make_unique<Held>(Held{*std::move(slot), pinned.table->lease, nullptr});
  held->snapshot = parts->database->rows().TakeSnapshot(pinned.table->data);
  std::shared_ptr<TableExport> made(new TableExport(parts, std::move(description), std::move(held)));
  absl::MutexLock lock(&made->mutex_);
  made->BeginWait();
  return made;
}

TableExport::TableExport(Parts* parts, TableDescription description, std::unique_ptr<Held> held)
    : parts_(parts),
      description_(std::move(description)),
      change_sequence_(held->snapshot->sequence().value()),
      held_(std::move(held)) {}

TableExport::~TableExport() {
  // The timer's callback has a weak pointer only and does nothing once this object is gone.
  absl::MutexLock lock(&mutex_);
  parts_->timers.Cancel(timer_);
}

void TableExport::BeginWait() {
  const int64_t patience_end_ns = MonotonicAfter(parts_->options.export_patience);
  timer_ = parts_->timers.AtMonotonic(patience_end_ns, [weak = weak_from_this(), wait = ++wait_] {
    if (const std::shared_ptr<TableExport> self = weak.lock()) self->GiveUpIfIdle(wait);
  });
}

void TableExport::GiveUpIfIdle(uint64_t wait) {
  std::shared_ptr<const Held> last;  // destroyed after the lock is released
  absl::MutexLock lock(&mutex_);
  // The timer of an earlier wait may fire late.
  if (!is_reading_ && wait == wait_) last = std::move(held_);
}

void TableExport::ReadPage(PageWriter* page, Callback<bool> done) {
  std::shared_ptr<const Held> held;
  {
    absl::MutexLock lock(&mutex_);
    held = held_;
    is_reading_ = held != nullptr;
    if (is_reading_) parts_->timers.Cancel(timer_);
  }
  if (held == nullptr) {
    return std::move(done)(
        DeadlineExceededError("The export was given up, as nothing more of it was read for too long"));
  }
  // Never refused: there are few exports, each with one page in progress.
  parts_->export_pool.RunAdmitted(
      [self = shared_from_this(), held = std::move(held), page, done = std::move(done)]() mutable {
        absl::StatusOr<bool> has_more = self->ReadPageNow(*held, page);
        self->EndPage(has_more.ok() && *has_more);
        // Before the callback, whose receiver may want to open another export in this slot.
        held.reset();
        std::move(done)(std::move(has_more));
      });
}

void TableExport::EndPage(bool has_more) {
  absl::MutexLock lock(&mutex_);
  is_reading_ = false;
  if (has_more) {
    BeginWait();
  } else {
    held_ = nullptr;
  }
}

absl::StatusOr<bool> TableExport::ReadPageNow(const Held& held, PageWriter* page) {
  size_t bytes = 0;
  std::string last_key;
  absl::Status damage;
  ARM_ASSIGN_OR_RETURN(const store::RangeEnd end,
                       held.snapshot->ReadRange({next_key_, ""}, [&](std::string_view key, std::string_view value) {
                         const absl::StatusOr<codec::StoredItemView> stored = codec::ParseStoredItem(value);
                         if (!stored.ok()) {
                           damage = WithContext(stored.status(), Cat("row ", Sv(absl::BytesToHexString(Av(key))),
                                                                     " of table ", description_.descriptor.name));
                           return store::RowVerdict::kStop;
                         }
                         if (stored->compact_numbers) {
                           const std::string item = model::PlainItem(stored->item.bytes());
                           page->Add(item);
                           bytes += item.size();
                         } else {
                           page->Add(stored->item.bytes());
                           bytes += value.size();
                         }
                         last_key = key;
                         return bytes < kPageBytes ? store::RowVerdict::kContinue : store::RowVerdict::kStop;
                       }));
  ARM_RETURN_IF_ERROR(damage);
  if (end == store::RangeEnd::kReached) return false;
  next_key_ = std::move(last_key) + '\0';
  return true;
}

}  // namespace armature::engine
