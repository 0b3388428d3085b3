#include "engine/table_restore.h"

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "engine/item_collection.h"
#include "engine/parts.h"
#include "glog/logging.h"
#include "index/gsi_recorder.h"
#include "index/index_delta.h"
#include "index/lsi_maintainer.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/stored_item.h"
#include "storage/store/backup_reader.h"
#include "storage/store/index_backlog.h"

namespace armature::engine {
namespace {

constexpr absl::Duration kPause = absl::Milliseconds(10);
// Committed together: enough for an fsync to cost little, little enough for clients' writes not to wait.
constexpr size_t kChunkRows = 500;
constexpr size_t kChunkBytes = 1 << 20;
// Global indexes of the table are kept near it, so that the log stays short.
constexpr uint64_t kBacklogMax = 20'000;

absl::Status StoppingError() { return absl::CancelledError("the server is about to stop"); }

absl::StatusOr<PinnedTable> Pin(const Parts& parts, TableId id) {
  PinnedTable pinned;
  pinned.snapshot = parts.database->catalog();
  pinned.table = pinned.snapshot->Find(id);
  if (pinned.table == nullptr) return absl::NotFoundError("the table is gone");
  return pinned;
}

// Collects rows of one table and commits them. Used by one thread.
class RowLoader {
 public:
  RowLoader(Parts* parts, PinnedTable pinned, const std::atomic<bool>* is_stopping)
      : parts_(parts), pinned_(std::move(pinned)), is_stopping_(is_stopping) {}

  // `value`: of the row, as stored. Errors: DataLoss; those of Database::CommitAll.
  absl::Status Add(std::string_view key, std::string_view value) {
    const store::Table& table = *pinned_.table;
    ARM_ASSIGN_OR_RETURN(const codec::StoredItemView stored, codec::ParseStoredItem(value));
    store::WriteUnit unit(pinned_.snapshot);
    const store::StatsDelta delta{1, static_cast<int64_t>(stored.api_size)};
    unit.Put(table.data, key, value);
    unit.AddStats(table.data, delta);
    if (!table.local_indexes.empty()) {
      const std::vector<index::EntryChange> local =
          index::IndexDelta(table.local_indexes, table.descriptor.key, std::nullopt, stored.item);
      index::AddLocalIndexChanges(table, CollectionKey(table, key), delta, local, &unit);
    }
    const std::vector<index::EntryChange> global =
        index::IndexDelta(table.global_indexes, table.descriptor.key, std::nullopt, stored.item);
    index::RecordGlobalIndexChanges(table, key, absl::ToUnixMillis(absl::Now()), global, &unit);
    bytes_ += unit.byte_size();
    units_.push_back(std::move(unit));
    return units_.size() < kChunkRows && bytes_ < kChunkBytes ? absl::OkStatus() : Flush();
  }

  absl::Status Flush() {
    if (units_.empty()) return absl::OkStatus();
    ARM_RETURN_IF_ERROR(WaitForIndexes());
    absl::Notification done;
    absl::Status committed;
    parts_->database->CommitAll(std::exchange(units_, {}), [&](const absl::StatusOr<ChangeSequence>& result) {
      committed = result.status();
      done.Notify();
    });
    done.WaitForNotification();
    bytes_ = 0;
    ARM_RETURN_IF_ERROR(committed);
    // Not the same snapshot to the end: it keeps tables that are deleted meanwhile.
    ARM_ASSIGN_OR_RETURN(pinned_, Pin(*parts_, pinned_.table->descriptor.id));
    return absl::OkStatus();
  }

  // Until no more than so many changes wait for any global index of the table.
  absl::Status WaitForIndexes(uint64_t records_max = kBacklogMax) const {
    for (const store::Index& index : pinned_.table->global_indexes) {
      while (index.progress != nullptr && index.progress->backlog().load().records > records_max) {
        if (*is_stopping_) return StoppingError();
        absl::SleepFor(kPause);
      }
    }
    return absl::OkStatus();
  }

 private:
  Parts* const parts_;
  PinnedTable pinned_;
  const std::atomic<bool>* const is_stopping_;
  std::vector<store::WriteUnit> units_;
  size_t bytes_ = 0;
};

}  // namespace

void TableRestores::Start(const Restore& restore) {
  pool_.RunAdmitted([this, restore] { Run(restore); });
}

void TableRestores::Run(const Restore& restore) {
  const absl::Time start = absl::Now();
  absl::Status status = Fill(restore);
  if (is_stopping_) return;
  if (status.ok()) status = parts_->database->FinishRestore(restore.target);
  if (status.ok()) {
    LOG(INFO) << "restore: done table=" << restore.target.value() << " backup=" << restore.backup
              << " took_ms=" << absl::ToInt64Milliseconds(absl::Now() - start);
    return;
  }
  LOG(ERROR) << "restore: failed, the table is deleted table=" << restore.target.value() << " backup=" << restore.backup
             << " status=" << status;
  const absl::Status abandoned = parts_->database->AbandonRestore(restore.target);
  if (!abandoned.ok()) LOG(ERROR) << "restore: the next start deletes the table status=" << abandoned;
}

absl::Status TableRestores::Fill(const Restore& restore) {
  ARM_ASSIGN_OR_RETURN(PinnedTable pinned, Pin(*parts_, restore.target));
  while (pinned.table->lease == nullptr) {
    if (is_stopping_) return StoppingError();
    absl::SleepFor(kPause);
    ARM_ASSIGN_OR_RETURN(pinned, Pin(*parts_, restore.target));
  }
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<store::BackupReader> reader,
                       store::BackupReader::Open(restore.directory, restore.backup));
  RowLoader loader(parts_, std::move(pinned), &is_stopping_);
  absl::Status loaded;
  ARM_RETURN_IF_ERROR(reader->ReadTable(restore.source, [&](std::string_view key, std::string_view value) {
    loaded = is_stopping_ ? StoppingError() : loader.Add(key, value);
    return loaded.ok() ? store::RowVerdict::kContinue : store::RowVerdict::kStop;
  }));
  ARM_RETURN_IF_ERROR(loaded);
  ARM_RETURN_IF_ERROR(loader.Flush());
  // The table is whole when its indexes are.
  return loader.WaitForIndexes(0);
}

}  // namespace armature::engine
