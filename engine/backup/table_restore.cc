#include "engine/backup/table_restore.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "engine/backup/loaded_chunks.h"
#include "engine/parts.h"
#include "glog/logging.h"
#include "index/index_delta.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/stored_item.h"

namespace armature::engine {
namespace {

constexpr absl::Duration kAbandonEvery = absl::Seconds(1);
// Rows committed together: enough to make the fsync cheap, few enough not to delay clients' writes.
constexpr size_t kChunkRows = 500;
constexpr size_t kChunkBytes = 1 << 20;

absl::Status StoppingError() { return absl::CancelledError("the server is about to stop"); }

absl::StatusOr<PinnedTable> Pin(const Parts& parts, TableId id) {
  PinnedTable pinned{parts.database->catalog()->Hold(id)};
  if (pinned.table == nullptr) return absl::NotFoundError("the table is gone");
  return pinned;
}

bool IsThrottling(const absl::Status& status) {
  const std::optional<ApiError> error = GetApiError(status);
  return error.has_value() && error->type == ApiErrorType::kThrottling;
}

// Collects rows of one table and commits them. Used by one thread.
class RowLoader {
 public:
  RowLoader(Parts* parts, PinnedTable pinned, StopSignal* stopping)
      : parts_(parts), pinned_(std::move(pinned)), stopping_(stopping) {}

  // `value` is the row as stored. Errors: DataLoss; those of Commits::CommitAll.
  absl::Status Add(std::string_view key, std::string_view value) {
    rows_.emplace_back(key, value);
    bytes_ += key.size() + value.size();
    return rows_.size() < kChunkRows && bytes_ < kChunkBytes ? absl::OkStatus() : Flush();
  }

  absl::Status Flush() {
    if (rows_.empty()) return absl::OkStatus();
    absl::StatusOr<ChangeSequence> committed = Commit();
    // The commit queue is full of clients' writes.
    while (IsThrottling(committed.status())) {
      if (stopping_->WaitFor(kLoadPatience)) return StoppingError();
      committed = Commit();
    }
    if (!committed.ok()) return committed.status();
    rows_.clear();
    bytes_ = 0;
    // Pins the table anew, because an index that is removed meanwhile is dropped when no one holds the earlier state.
    ARM_ASSIGN_OR_RETURN(pinned_, Pin(*parts_, pinned_.table->descriptor.id));
    return chunks_.Add(*pinned_.table, *committed);
  }

  // Waits until the indexes contain all rows.
  absl::Status AwaitIndexes() { return chunks_.AwaitAll(*pinned_.table); }

 private:
  absl::StatusOr<store::WriteUnit> UnitOf(std::string_view key, std::string_view value) const {
    const store::Table& table = *pinned_.table;
    ARM_ASSIGN_OR_RETURN(const codec::StoredItemView stored, codec::ParseStoredItem(value));
    store::WriteUnit unit(pinned_.table);
    const store::StatsDelta delta{1, static_cast<int64_t>(stored.api_size)};
    unit.Put(table.data, key, value);
    unit.AddStats(table.data, delta);
    if (!table.has_indexes()) return unit;
    const index::ItemDelta changes(table.descriptor.key, std::nullopt,
                                   index::ItemImage(stored.item, {stored.api_size, stored.compact_numbers}));
    index::AddLocalIndexChanges(table, key, delta, changes.ChangesOf(table.local_indexes), &unit);
    index::RecordGlobalIndexChanges(table, key, absl::ToUnixMillis(absl::Now()),
                                    changes.ChangesOf(table.global_indexes), &unit);
    return unit;
  }

  absl::StatusOr<ChangeSequence> Commit() const {
    std::vector<store::WriteUnit> units;
    for (const auto& [key, value] : rows_) {
      ARM_ASSIGN_OR_RETURN(store::WriteUnit unit, UnitOf(key, value));
      units.push_back(std::move(unit));
    }
    return Await<absl::StatusOr<ChangeSequence>>(
        [&](auto then) { parts_->database->commits().CommitAll(std::move(units), std::move(then)); });
  }

  Parts* const parts_;
  PinnedTable pinned_;
  StopSignal* const stopping_;
  std::vector<std::pair<std::string, std::string>> rows_;  // rows of the next chunk
  size_t bytes_ = 0;
  LoadedChunks chunks_{parts_, [this] { return stopping_->is_stopped(); }};
};

}  // namespace

void TableRestores::Start(Restore restore) {
  pool_.RunAdmitted([this, restore = std::move(restore)]() mutable { Run(std::move(restore)); });
}

void TableRestores::Run(Restore restore) {
  const int64_t start_ns = MonotonicNs();
  absl::Status status = store::ErrorIn(*restore.place, Fill(restore));
  if (stopping_.is_stopped()) return;
  // Before the table becomes visible: clients may delete the backup then.
  restore.backup.reset();
  restore.place.reset();
  if (status.ok()) status = parts_->database->tables().FinishRestore(restore.target);
  if (status.ok()) {
    LOG(INFO) << "restore: done table=" << restore.target.value()
              << " took_ms=" << (MonotonicNs() - start_ns) / 1'000'000;
    return;
  }
  LOG(ERROR) << "restore: failed, deleting the table table=" << restore.target.value() << " status=" << status;
  // Retried until it succeeds: the table's rows may be what fills the disk.
  absl::Status abandoned = parts_->database->tables().AbandonRestore(restore.target);
  while (!abandoned.ok()) {
    LOG_EVERY_N(ERROR, 60) << "restore: cannot delete the table yet status=" << abandoned;
    if (stopping_.WaitFor(kAbandonEvery)) return;
    abandoned = parts_->database->tables().AbandonRestore(restore.target);
  }
}

absl::Status TableRestores::Fill(const Restore& restore) {
  while (!parts_->database->tables().AwaitOpen(restore.target, kLoadPatience)) {
    if (stopping_.is_stopped()) return StoppingError();
  }
  ARM_ASSIGN_OR_RETURN(PinnedTable pinned, Pin(*parts_, restore.target));
  RowLoader loader(parts_, std::move(pinned), &stopping_);
  absl::Status loaded;
  ARM_RETURN_IF_ERROR(restore.backup->ReadTable(restore.source, [&](std::string_view key, std::string_view value) {
    loaded = stopping_.is_stopped() ? StoppingError() : loader.Add(key, value);
    return loaded.ok() ? store::RowVerdict::kContinue : store::RowVerdict::kStop;
  }));
  ARM_RETURN_IF_ERROR(loaded);
  ARM_RETURN_IF_ERROR(loader.Flush());
  // The table is complete when its indexes are.
  return loader.AwaitIndexes();
}

}  // namespace armature::engine
