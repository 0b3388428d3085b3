#include "engine/check/index_check.h"

#include <charconv>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/time/clock.h"
#include "engine/parts.h"
#include "glog/logging.h"
#include "index/index_delta.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/codec/key_codec.h"
#include "storage/codec/stored_item.h"
#include "storage/model/plain_item.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

using Kind = IndexDifference::Kind;

constexpr size_t kPageRowsMax = 512;
constexpr size_t kPageBytesMax = size_t{1} << 20;
constexpr absl::Duration kRowPatience = absl::Seconds(30);
// Limit while a row is locked, because writers of the row wait meanwhile.
constexpr absl::Duration kLockedPatience = absl::Seconds(1);
constexpr int kAttemptsMax = 20;
constexpr absl::Duration kAttemptPause = absl::Milliseconds(50);

struct CheckedRow {
  std::string key;
  std::string value;
};

struct Page {
  std::vector<CheckedRow> rows;
  std::string next_key;  // empty: the end
};

absl::StatusOr<Page> ReadPageOfRows(const store::Database& database, const store::Keyspace& keyspace,
                                    std::string begin) {
  Page page;
  size_t bytes = 0;
  ARM_ASSIGN_OR_RETURN(const store::RangeEnd end,
                       database.rows().ReadRange(keyspace, {std::move(begin), ""}, store::Direction::kForward,
                                                 [&](std::string_view key, std::string_view value) {
                                                   page.rows.push_back({std::string(key), std::string(value)});
                                                   bytes += value.size();
                                                   return page.rows.size() < kPageRowsMax && bytes < kPageBytesMax
                                                              ? store::RowVerdict::kContinue
                                                              : store::RowVerdict::kStop;
                                                 }));
  if (end != store::RangeEnd::kReached) page.next_key = page.rows.back().key + '\0';
  return page;
}

absl::Status BadPositionError() { return ValidationError("The position is none that this operation has given"); }

// A position consists of the id of the checked index (0 for the table), a colon, and the next key.
struct Position {
  IndexId index;
  std::string key;
};

std::string ToString(const Position& position) { return Cat(position.index.value(), ":", position.key); }

absl::StatusOr<Position> ParsePosition(std::string_view text) {
  if (text.empty()) return Position{};
  uint32_t id = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || stop == text.data() + text.size() || *stop != ':') return BadPositionError();
  return Position{IndexId(id), std::string(stop + 1, text.data() + text.size())};
}

// The indexes that must agree with the table, sorted by id.
std::vector<const store::Index*> CheckableIndexes(const store::Table& table) {
  std::vector<const store::Index*> indexes;
  for (const auto* group : {&table.local_indexes, &table.global_indexes}) {
    for (const store::Index& index : *group) {
      if (index.is_maintained() && index.build == nullptr) indexes.push_back(&index);
    }
  }
  return indexes;
}

bool IsGlobal(const store::Index& index) { return index.descriptor.kind == model::IndexKind::kGlobal; }

std::string KeyOf(const store::Table& table, const model::ItemView& item) {
  return model::PlainItem(model::PickAttributes(item, table.key_names));
}

// True if a row holds this item, in whatever version.
bool IsSame(std::string_view value, const codec::CanonicalItem& item) {
  const absl::StatusOr<codec::StoredItemView> stored = codec::ParseStoredItem(value);
  return stored.ok() && stored->api_size == item.api_size && stored->item.bytes() == item.bytes;
}

// A check of one table. The caller holds its snapshot.
class Verifier {
 public:
  Verifier(Parts* parts, const PinnedTable& pinned, bool repair)
      : parts_(parts), pinned_(pinned), table_(*pinned.table), repair_(repair) {}

  // Checks rows of the table: each must have its entries.
  absl::StatusOr<std::string> CheckTablePage(const std::string& begin, VerifyTableResult* result) {
    absl::StatusOr<Page> page = ReadPageOfRows(database(), table_.data, begin);
    result->keyspace_rows = table_.data.stats->items();
    // The rows behind the damage cannot be read; the indexes can.
    if (absl::IsDataLoss(page.status())) {
      ReportUnreadable("", begin, page.status(), result);
      return "";
    }
    ARM_RETURN_IF_ERROR(page.status());
    result->rows_checked = static_cast<int64_t>(page->rows.size());
    std::vector<const store::Index*> indexes = CheckableIndexes(table_);
    for (const CheckedRow& row : page->rows) {
      const absl::StatusOr<codec::StoredItemView> stored = codec::ParseStoredItem(row.value);
      if (!stored.ok()) {
        result->differences.push_back({"", Kind::kDamaged, "", row.key, false});
        continue;
      }
      for (auto index = indexes.begin(); index != indexes.end();) {
        const absl::Status checked = CheckRow(**index, row.key, stored->item, result);
        if (!checked.ok() && !absl::IsDataLoss(checked)) return checked;
        if (!checked.ok()) ReportUnreadable((*index)->descriptor.name, "", checked, result);
        index = checked.ok() ? index + 1 : indexes.erase(index);
      }
    }
    return page->next_key;
  }

  // Checks rows of an index: each must belong to an item.
  absl::StatusOr<std::string> CheckIndexPage(const store::Index& index, const std::string& begin,
                                             VerifyTableResult* result) {
    result->keyspace = index.descriptor.name;
    result->keyspace_rows = index.keyspace.stats->items();
    const absl::StatusOr<Page> page = ReadPageOfRows(database(), index.keyspace, begin);
    if (absl::IsDataLoss(page.status())) {
      ReportUnreadable(index.descriptor.name, begin, page.status(), result);
      return "";
    }
    ARM_RETURN_IF_ERROR(page.status());
    result->rows_checked = static_cast<int64_t>(page->rows.size());
    for (const CheckedRow& row : page->rows) {
      const absl::Status checked = CheckEntry(index, row, result);
      if (absl::IsDataLoss(checked)) {
        ReportUnreadable(index.descriptor.name, row.key, checked, result);
        return "";
      }
      ARM_RETURN_IF_ERROR(checked);
    }
    return page->next_key;
  }

 private:
  // Compares the index with a row of the table.
  absl::Status CheckRow(const store::Index& index, const std::string& base_key, const model::ItemView& item,
                        VerifyTableResult* result) {
    const std::optional<index::Entry> entry = index::MakeEntry(index, table_.descriptor.key, item);
    if (!entry.has_value()) return absl::OkStatus();
    ARM_ASSIGN_OR_RETURN(const bool agrees, Holds(index, *entry));
    return agrees ? absl::OkStatus() : Recheck(index, base_key, std::nullopt, result);
  }

  // Compares an entry of the index with its row of the table.
  absl::Status CheckEntry(const store::Index& index, const CheckedRow& row, VerifyTableResult* result) {
    const std::optional<std::string> base_key = BaseKeyOf(row.value);
    if (!base_key.has_value()) return RemoveDamaged(index, row, result);
    ARM_ASSIGN_OR_RETURN(const Expected expected, ExpectedOf(index, *base_key));
    if (!expected.is_readable) return absl::OkStatus();
    // The contents of an entry at its right place were compared by the check of the table.
    const bool stands = expected.entry.has_value() && expected.entry->key == row.key;
    return stands ? absl::OkStatus() : Recheck(index, *base_key, row.key, result);
  }

  // Reports a part of an index, or of the table if `name` is empty, that cannot be read. The status names the file,
  // which clients need not know.
  void ReportUnreadable(const std::string& name, const std::string& key, const absl::Status& status,
                        VerifyTableResult* result) const {
    LOG(ERROR) << "verify: cannot be read table=" << table_.descriptor.name << " index=" << name
               << " status=" << status;
    result->differences.push_back({name, Kind::kDamaged, "", key, false});
  }

  const store::Database& database() const { return *parts_->database; }

  // Key of the table row that the entry belongs to.
  std::optional<std::string> BaseKeyOf(std::string_view entry_value) const {
    const absl::StatusOr<codec::StoredItemView> stored = codec::ParseStoredItem(entry_value);
    if (!stored.ok()) return std::nullopt;
    return codec::EncodeTableKey(table_.descriptor.key, stored->item);
  }

  absl::StatusOr<std::optional<std::string>> Get(const store::Keyspace& keyspace, std::string_view key) const {
    std::string value;
    ARM_ASSIGN_OR_RETURN(const store::GetResult got,
                         database().rows().Get(keyspace, key, store::ReadMode::kMayBlock, &value));
    if (got == store::GetResult::kMissing) return std::nullopt;
    return value;
  }

  absl::StatusOr<bool> Holds(const store::Index& index, const index::Entry& entry) const {
    ARM_ASSIGN_OR_RETURN(const std::optional<std::string> value, Get(index.keyspace, entry.key));
    return value.has_value() && IsSame(*value, entry.item);
  }

  // The entry that an index should hold for a row. For an unreadable row nothing is known: its entries may be the only
  // copy, and are not touched. The check of the table reports the row.
  struct Expected {
    bool is_readable = true;
    std::optional<index::Entry> entry;
  };
  absl::StatusOr<Expected> ExpectedOf(const store::Index& index, std::string_view base_key) const {
    const absl::StatusOr<std::optional<std::string>> value = Get(table_.data, base_key);
    if (absl::IsDataLoss(value.status())) return Expected{false, std::nullopt};
    ARM_RETURN_IF_ERROR(value.status());
    if (!value->has_value()) return Expected();
    const absl::StatusOr<codec::StoredItemView> stored = codec::ParseStoredItem(**value);
    if (!stored.ok()) return Expected{false, std::nullopt};
    return Expected{true, index::MakeEntry(index, table_.descriptor.key, stored->item)};
  }

  // True if the index agrees with the row: the index holds the row's entry, and `entry_key`, if given, is not a second
  // entry of the row.
  absl::StatusOr<bool> Agrees(const store::Index& index, const std::string& base_key,
                              const std::optional<std::string>& entry_key) const {
    ARM_ASSIGN_OR_RETURN(const Expected expected, ExpectedOf(index, base_key));
    if (!expected.is_readable) return true;
    if (!entry_key.has_value()) return expected.entry.has_value() ? Holds(index, *expected.entry) : true;
    if (expected.entry.has_value() && expected.entry->key == *entry_key) return true;
    ARM_ASSIGN_OR_RETURN(const std::optional<std::string> value, Get(index.keyspace, *entry_key));
    return !value.has_value() || BaseKeyOf(*value) != base_key;
  }

  // Locks the row, when its last write is durable. A write that fails is no reason to end the check: the row is locked
  // again after a pause.
  absl::StatusOr<store::LockTable::Guard> Lock(std::string_view base_key) const {
    const TableId table = table_.descriptor.id;
    for (int attempt = 1;; ++attempt) {
      ARM_ASSIGN_OR_RETURN(store::LockTable::Guard guard,
                           Await<absl::StatusOr<store::LockTable::Guard>>([&](auto then) {
                             parts_->locks.Acquire(parts_->locks.HashRow(table.value(), base_key),
                                                   Deadline::After(kRowPatience), std::move(then));
                           }));
      const std::shared_ptr<const store::QueuedRow> queued = parts_->queued_rows.Find(table, base_key);
      if (queued == nullptr) return guard;
      const absl::StatusOr<ChangeSequence> durable = Await<absl::StatusOr<ChangeSequence>>([&](auto then) {
        parts_->database->commits().WhenDurable(queued->epoch(), /*held_bytes=*/0, std::move(then));
      });
      if (durable.ok()) return guard;
      if (attempt == kAttemptsMax) return durable.status();
      guard.Release();
      Await<absl::Status>([&](auto then) {
        parts_->timers.AtMonotonic(MonotonicAfter(kAttemptPause),
                                   [then = std::move(then)]() mutable { std::move(then)(absl::OkStatus()); });
      }).IgnoreError();
    }
  }

  // Waits until the index contains all acknowledged writes.
  absl::Status WaitForIndex(const store::Index& index, absl::Duration patience = kRowPatience) const {
    if (!IsGlobal(index)) return absl::OkStatus();
    if (index.progress->is_stalled()) {
      return DataLossError(Cat("the index ", index.descriptor.name, " stands still: its changes cannot be applied"));
    }
    const ChangeSequence last = parts_->database->change_log().watermark();
    parts_->applier.OnAppended({table_.descriptor.id});
    return Await<absl::Status>(
        [&](auto then) { index.progress->WhenApplied(last, Deadline::After(patience), std::move(then)); });
  }

  // Locks the row at a moment when the index contains all acknowledged writes.
  absl::StatusOr<store::LockTable::Guard> LockWithIndex(const store::Index& index, const std::string& base_key) const {
    for (int attempt = 1;; ++attempt) {
      // Waits without the lock first: clients must not wait for an index that lags behind.
      ARM_RETURN_IF_ERROR(WaitForIndex(index));
      ARM_ASSIGN_OR_RETURN(store::LockTable::Guard guard, Lock(base_key));
      const absl::Status caught_up = WaitForIndex(index, kLockedPatience);
      if (caught_up.ok()) return guard;
      if (attempt == kAttemptsMax || !absl::IsDeadlineExceeded(caught_up)) return caught_up;
    }
  }

  // Compares the index's entry for the row with the expected one, while neither can change. `entry_key`: the suspicious
  // entry, if any.
  absl::Status Recheck(const store::Index& index, const std::string& base_key,
                       const std::optional<std::string>& entry_key, VerifyTableResult* result) {
    ARM_RETURN_IF_ERROR(WaitForIndex(index));
    ARM_ASSIGN_OR_RETURN(const bool agrees, Agrees(index, base_key, entry_key));
    if (agrees) return absl::OkStatus();
    ARM_ASSIGN_OR_RETURN(const store::LockTable::Guard guard, LockWithIndex(index, base_key));
    ARM_ASSIGN_OR_RETURN(const Expected expected, ExpectedOf(index, base_key));
    if (!expected.is_readable) return absl::OkStatus();
    const std::optional<index::Entry>& entry = expected.entry;
    if (entry_key.has_value()) {
      if (entry.has_value() && entry->key == *entry_key) return absl::OkStatus();
      return RecheckOrphan(index, base_key, *entry_key, result);
    }
    if (!entry.has_value()) return absl::OkStatus();
    ARM_ASSIGN_OR_RETURN(const std::optional<std::string> found, Get(index.keyspace, entry->key));
    if (found.has_value() && IsSame(*found, entry->item)) return absl::OkStatus();
    index::EntryChange change;
    change.index = &index;
    change.put_key = entry->key;
    change.put_item = {{entry->item.bytes}, /*is_whole=*/true, entry->item.api_size, entry->item.compact_numbers};
    change.new_size = entry->item.api_size;
    if (found.has_value()) {
      const absl::StatusOr<codec::StoredItemView> stored = codec::ParseStoredItem(*found);
      change.old_size = stored.ok() ? stored->api_size : 0;
    }
    return Report({index.descriptor.name, found.has_value() ? Kind::kWrong : Kind::kMissing,
                   KeyOf(table_, entry->item.view()), entry->key, false},
                  base_key, std::move(change), result);
  }

  // Reports `entry_key`, which is not a valid entry of row `base_key`, unless it changed. The row is locked.
  absl::Status RecheckOrphan(const store::Index& index, const std::string& base_key, const std::string& entry_key,
                             VerifyTableResult* result) {
    ARM_ASSIGN_OR_RETURN(const std::optional<std::string> orphan, Get(index.keyspace, entry_key));
    // If the entry belongs to another item by now, a write or a repair has replaced it.
    if (!orphan.has_value() || BaseKeyOf(*orphan) != base_key) return absl::OkStatus();
    ARM_ASSIGN_OR_RETURN(const codec::StoredItemView stored, codec::ParseStoredItem(*orphan));
    index::EntryChange change;
    change.index = &index;
    change.removed_key = entry_key;
    change.old_size = stored.api_size;
    return Report({index.descriptor.name, Kind::kOrphan, KeyOf(table_, stored.item), entry_key, false}, base_key,
                  std::move(change), result);
  }

  // Reports an unreadable entry. If it is a row's right entry, the check of the table has rewritten it already. But a
  // write of that row may make it the right entry meanwhile, so the row is locked. Nobody writes an entry whose key is
  // that of no row.
  absl::Status RemoveDamaged(const store::Index& index, const CheckedRow& row, VerifyTableResult* result) {
    const absl::StatusOr<std::string> attributes =
        index::DecodeIndexKey(index.descriptor.kind, index.descriptor.key, table_.descriptor.key, row.key);
    std::optional<std::string> base_key;
    if (attributes.ok()) base_key = codec::EncodeTableKey(table_.descriptor.key, model::ItemView(*attributes));
    store::LockTable::Guard guard;
    if (base_key.has_value()) {
      ARM_ASSIGN_OR_RETURN(guard, LockWithIndex(index, *base_key));
    } else {
      ARM_RETURN_IF_ERROR(WaitForIndex(index));
    }
    ARM_ASSIGN_OR_RETURN(const std::optional<std::string> now, Get(index.keyspace, row.key));
    if (now != row.value) return absl::OkStatus();
    index::EntryChange change;
    change.index = &index;
    change.removed_key = row.key;
    change.old_size = 0;
    return Report({index.descriptor.name, Kind::kDamaged, "", row.key, false}, row.key, std::move(change), result);
  }

  absl::Status Report(IndexDifference difference, const std::string& base_key, index::EntryChange change,
                      VerifyTableResult* result) {
    if (repair_) {
      ARM_RETURN_IF_ERROR(Commit(base_key, std::move(change)));
      difference.repaired = true;
    }
    result->differences.push_back(std::move(difference));
    return absl::OkStatus();
  }

  absl::Status Commit(const std::string& base_key, index::EntryChange change) const {
    store::WriteUnit unit(pinned_.table);
    const bool global = IsGlobal(*change.index);
    std::vector<index::EntryChange> changes;
    changes.push_back(std::move(change));
    if (global) {
      index::RecordGlobalIndexChanges(table_, base_key, absl::ToUnixMillis(absl::Now()), changes, &unit);
    } else {
      index::AddLocalIndexChanges(table_, base_key, {}, changes, &unit);
    }
    return Await<absl::StatusOr<ChangeSequence>>(
               [&](auto then) { parts_->database->commits().Commit(std::move(unit), std::move(then)); })
        .status();
  }

  Parts* const parts_;
  const PinnedTable& pinned_;
  const store::Table& table_;
  const bool repair_;
};

absl::StatusOr<PinnedTable> FindNamedTable(const store::Database& database, const std::string& name) {
  ARM_RETURN_IF_ERROR(model::CheckRequiredTableReference(name));
  return FindTable(database, name);
}

}  // namespace

absl::StatusOr<ListIndexViolationsResult> ListIndexViolations(const Parts& parts,
                                                              const ListIndexViolationsRequest& request) {
  ARM_ASSIGN_OR_RETURN(const PinnedTable pinned, FindNamedTable(*parts.database, request.table_name));
  const store::Table& table = *pinned.table;
  const store::Index* const index = table.FindIndex(request.index_name);
  if (index == nullptr || !IsGlobal(*index) || index->descriptor.state == model::IndexState::kDeleting) {
    return ValidationError(Cat("The table does not have the specified global index: ", request.index_name));
  }
  ARM_ASSIGN_OR_RETURN(const Position position, ParsePosition(request.start_position));
  ARM_ASSIGN_OR_RETURN(Page page, ReadPageOfRows(*parts.database, table.data, position.key));
  ListIndexViolationsResult result;
  for (const CheckedRow& row : page.rows) {
    const absl::StatusOr<codec::StoredItemView> stored = codec::ParseStoredItem(row.value);
    if (!stored.ok()) continue;  // the check of the table reports it
    std::optional<index::KeyFault> fault = index::FindKeyFault(index->descriptor.key, stored->item);
    if (fault.has_value()) result.violations.push_back({KeyOf(table, stored->item), *std::move(fault)});
  }
  result.items_read = static_cast<int64_t>(page.rows.size());
  if (!page.next_key.empty()) result.next_position = ToString({IndexId(0), std::move(page.next_key)});
  return result;
}

absl::StatusOr<VerifyTableResult> VerifyTable(Parts* parts, const VerifyTableRequest& request) {
  ARM_ASSIGN_OR_RETURN(const PinnedTable pinned, FindNamedTable(*parts->database, request.table_name));
  ARM_ASSIGN_OR_RETURN(Position position, ParsePosition(request.start_position));
  Verifier verifier(parts, pinned, request.repair);
  VerifyTableResult result;
  std::string next_key;
  if (position.index == IndexId(0)) {
    ARM_ASSIGN_OR_RETURN(next_key, verifier.CheckTablePage(position.key, &result));
  } else {
    // An index that was deleted meanwhile has no rows to check.
    for (const store::Index* const index : CheckableIndexes(*pinned.table)) {
      if (index->descriptor.id != position.index) continue;
      ARM_ASSIGN_OR_RETURN(next_key, verifier.CheckIndexPage(*index, position.key, &result));
    }
  }
  if (!next_key.empty()) {
    result.next_position = ToString({position.index, std::move(next_key)});
    return result;
  }
  for (const store::Index* const index : CheckableIndexes(*pinned.table)) {
    if (position.index < index->descriptor.id) {
      result.next_position = ToString({index->descriptor.id, ""});
      break;
    }
  }
  return result;
}

}  // namespace armature::engine
