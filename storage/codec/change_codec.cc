#include "storage/codec/change_codec.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/key_codec.h"
#include "storage/codec/stored_item.h"
#include "storage/model/item_view.h"
#include "storage/model/wire.h"

namespace armature::codec {
namespace {

// Kinds of changes in records of version 1.
constexpr char kKindPut = 0;
constexpr char kKindDelete = 1;

// Flags of changes in records of version 2.
constexpr uint8_t kRemoves = 0x01;
constexpr uint8_t kPuts = 0x02;
// The keys are written whole. Otherwise the components of the table's key at their ends are left out.
constexpr uint8_t kWholeKeys = 0x04;
// The entry has all attributes of the record's item.
constexpr uint8_t kWholeItem = 0x08;
constexpr uint8_t kKnownFlags = kRemoves | kPuts | kWholeKeys | kWholeItem;

// Size of the shortest change in any version: index id, kind, and three more bytes at least.
constexpr size_t kChangeMinBytes = 5;
constexpr size_t kVarintsGuess = 32;

constexpr uint64_t ZigZag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t UnZigZag(uint64_t value) { return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1)); }
static_assert(ZigZag(-1) == 1 && ZigZag(1) == 2 && UnZigZag(1) == -1 && UnZigZag(2) == 1);

void AppendLengthPrefixed(std::string_view bytes, std::string* out) {
  model::AppendVarint(bytes.size(), out);
  out->append(bytes);
}

// Takes a varint in its shortest form. Longer forms are refused, because a number has exactly one encoding.
bool TakeLeastVarint(std::string_view* in, uint64_t* value) {
  const size_t size_before = in->size();
  return model::TakeVarint(in, value) && size_before - in->size() == model::VarintSize(*value);
}

bool TakeZigZag(std::string_view* in, int64_t* value) {
  uint64_t raw = 0;
  if (!TakeLeastVarint(in, &raw)) return false;
  *value = UnZigZag(raw);
  return true;
}

bool TakeLengthPrefixed(std::string_view* in, std::string_view* bytes) {
  uint64_t length = 0;
  if (!TakeLeastVarint(in, &length) || length > in->size()) return false;
  *bytes = in->substr(0, length);
  in->remove_prefix(length);
  return true;
}

bool TakeIndexId(std::string_view* in, IndexId* index) {
  uint64_t id = 0;
  if (!TakeLeastVarint(in, &id) || id > std::numeric_limits<uint32_t>::max()) return false;
  *index = IndexId(static_cast<uint32_t>(id));
  return true;
}

// The components of a key, without its hash. Keys of entries of global indexes end with those of their items.
std::string_view ComponentsOf(std::string_view key) { return key.substr(std::min(key.size(), kPartitionHashBytes)); }

// The attributes that a record holds: the whole item if an index has all of it, else those that some index has.
class SharedAttributes {
 public:
  explicit SharedAttributes(const ItemChange& change) {
    bool has_parts = false;
    for (const IndexChange& index : change.indexes) {
      if (index.put_item == nullptr) continue;
      if (index.put_item->is_whole) {
        whole_ = index.put_item->parts.front();
        has_whole_ = true;
      } else {
        has_parts = true;
      }
    }
    if (!has_parts) return;
    if (has_whole_) {
      std::string_view rest = whole_;
      model::RawAttribute attribute;
      while (model::ItemView::TakeRaw(&rest, &attribute)) entries_.push_back(attribute.entry);
    } else {
      CollectParts(change);
    }
  }

  void AppendTo(std::string* out) const {
    if (has_whole_) return AppendLengthPrefixed(whole_, out);
    size_t bytes = 0;
    for (const std::string_view entry : entries_) bytes += entry.size();
    model::AppendVarint(bytes, out);
    for (const std::string_view entry : entries_) out->append(entry);
  }

  bool HasAllOf(const ItemExcerpt& item) const {
    return item.is_whole || (!has_whole_ && item.parts.size() == entries_.size());
  }

  // Appends the places of the parts of `item`: their count, and for each the number of attributes that are left out
  // before it.
  void AppendPlaces(const ItemExcerpt& item, std::string* out) const {
    model::AppendVarint(item.parts.size(), out);
    auto next = entries_.begin();
    for (const std::string_view part : item.parts) {
      const auto from = next;
      while (next != entries_.end() && next->data() != part.data()) ++next;
      CHECK(next != entries_.end()) << "change record: an entry has an attribute that its item lacks";
      model::AppendVarint(static_cast<uint64_t>(next - from), out);
      ++next;
    }
  }

 private:
  void CollectParts(const ItemChange& change) {
    for (const IndexChange& index : change.indexes) {
      if (index.put_item == nullptr) continue;
      entries_.insert(entries_.end(), index.put_item->parts.begin(), index.put_item->parts.end());
    }
    const auto is_before = [](std::string_view a, std::string_view b) { return a.data() < b.data(); };
    std::sort(entries_.begin(), entries_.end(), is_before);
    const auto is_same = [](std::string_view a, std::string_view b) { return a.data() == b.data(); };
    entries_.erase(std::unique(entries_.begin(), entries_.end(), is_same), entries_.end());
  }

  bool has_whole_ = false;
  std::string_view whole_;
  std::vector<std::string_view> entries_;
};

bool EndsWith(const std::optional<std::string_view>& key, std::string_view end) {
  return !key.has_value() || key->ends_with(end);
}

void AppendIndexChange(const IndexChange& change, const SharedAttributes& attributes, std::string_view table_components,
                       std::string* out) {
  const bool omits_ends = EndsWith(change.removed_key, table_components) && EndsWith(change.put_key, table_components);
  const size_t omitted = omits_ends ? table_components.size() : 0;
  const bool has_all = change.put_key.has_value() && attributes.HasAllOf(*change.put_item);
  model::AppendVarint(change.index.value(), out);
  out->push_back(static_cast<char>((change.removed_key.has_value() ? kRemoves : 0) |
                                   (change.put_key.has_value() ? kPuts : 0) | (omits_ends ? 0 : kWholeKeys) |
                                   (has_all ? kWholeItem : 0)));
  for (const std::optional<std::string_view>& key : {change.removed_key, change.put_key}) {
    if (key.has_value()) AppendLengthPrefixed(key->substr(0, key->size() - omitted), out);
  }
  if (change.put_key.has_value()) {
    AppendStoredItemHead(change.put_item->api_size, change.put_item->compact_numbers, out);
    if (!has_all) attributes.AppendPlaces(*change.put_item, out);
  }
  model::AppendVarint(ZigZag(change.item_delta), out);
  model::AppendVarint(ZigZag(change.byte_delta), out);
}

// Parses the changes of a record of version 2.
class ChangeReader {
 public:
  // `record` has its base key already. `rest`: the bytes behind the base key.
  ChangeReader(ChangeRecord* record, std::string_view rest)
      : record_(record), rest_(rest), table_components_(ComponentsOf(record->base_key)) {}

  absl::Status Read() {
    if (!TakeLengthPrefixed(&rest_, &item_)) {
      return DataLossError("change record: expected the item behind its length");
    }
    uint64_t count = 0;
    if (!TakeLeastVarint(&rest_, &count) || count > std::min(rest_.size() / kChangeMinBytes, kRecordIndexesMax)) {
      return DataLossError("change record: expected a count of changes that fit in the record");
    }
    record_->index_changes.reserve(2 * count);
    for (uint64_t i = 0; i < count; ++i) {
      if (!TakeChange()) return DataLossError(Cat("change record: malformed change ", i, " of ", count));
    }
    if (!rest_.empty()) return DataLossError(Cat("change record: ", rest_.size(), " bytes behind the last change"));
    JoinViews();
    return absl::OkStatus();
  }

 private:
  // A view of the record that points into the joined bytes once they are complete.
  struct Joined {
    size_t change;
    std::string_view IndexRowChange::*view;
    size_t offset;
    size_t size;
  };

  bool TakeChange() {
    IndexRowChange row;
    if (!TakeIndexId(&rest_, &row.index) || rest_.empty()) return false;
    const auto flags = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    if ((flags & ~kKnownFlags) != 0 || (flags & (kRemoves | kPuts)) == 0) return false;
    if ((flags & kWholeItem) != 0 && (flags & kPuts) == 0) return false;
    const size_t first = record_->index_changes.size();
    if ((flags & kRemoves) != 0) {
      row.is_delete = true;
      if (!TakeKey(flags, &row)) return false;
    }
    if ((flags & kPuts) != 0) {
      row.is_delete = false;
      if (!TakeKey(flags, &row) || !TakeValue(flags)) return false;
    }
    // The totals belong to the change as a whole. They are those of its first row.
    IndexRowChange& totals = record_->index_changes[first];
    return TakeZigZag(&rest_, &totals.item_delta) && TakeZigZag(&rest_, &totals.byte_delta);
  }

  // Adds `row` with the key that is next.
  bool TakeKey(uint8_t flags, IndexRowChange* row) {
    if (!TakeLengthPrefixed(&rest_, &row->key)) return false;
    record_->index_changes.push_back(*row);
    if ((flags & kWholeKeys) != 0) return true;
    const size_t offset = joined_.size();
    joined_.append(row->key).append(table_components_);
    views_.push_back({record_->index_changes.size() - 1, &IndexRowChange::key, offset, joined_.size() - offset});
    return true;
  }

  // Takes the value of the last row.
  bool TakeValue(uint8_t flags) {
    IndexRowChange& row = record_->index_changes.back();
    if (!TakeStoredItemHead(&rest_, &row.value_head)) return false;
    if ((flags & kWholeItem) != 0) {
      row.value = item_;
      return true;
    }
    uint64_t count = 0;
    if (!TakeLeastVarint(&rest_, &count) || count > rest_.size()) return false;
    const size_t offset = joined_.size();
    std::string_view attributes = item_;
    for (; count > 0; --count) {
      uint64_t skipped = 0;
      model::RawAttribute attribute;
      // Each attribute has at least a byte.
      if (!TakeLeastVarint(&rest_, &skipped) || skipped >= attributes.size()) return false;
      for (++skipped; skipped > 0; --skipped) {
        if (!model::ItemView::TakeRaw(&attributes, &attribute)) return false;
      }
      joined_.append(attribute.entry);
    }
    views_.push_back({record_->index_changes.size() - 1, &IndexRowChange::value, offset, joined_.size() - offset});
    return true;
  }

  void JoinViews() {
    if (views_.empty()) return;
    auto joined = std::make_unique<const std::string>(std::move(joined_));
    const std::string_view bytes = *joined;
    for (const Joined& view : views_) {
      record_->index_changes[view.change].*view.view = bytes.substr(view.offset, view.size);
    }
    record_->joined = std::move(joined);
  }

  ChangeRecord* const record_;
  std::string_view rest_;
  const std::string_view table_components_;
  std::string_view item_;
  std::string joined_;
  std::vector<Joined> views_;
};

// Takes a change of a record of version 1.
bool TakeRepeatedChange(std::string_view* in, IndexRowChange* change) {
  if (!TakeIndexId(in, &change->index) || in->empty()) return false;
  const char kind = in->front();
  if (kind != kKindPut && kind != kKindDelete) return false;
  in->remove_prefix(1);
  change->is_delete = kind == kKindDelete;
  if (!TakeLengthPrefixed(in, &change->key)) return false;
  if (!change->is_delete && !TakeLengthPrefixed(in, &change->value)) return false;
  return TakeZigZag(in, &change->item_delta) && TakeZigZag(in, &change->byte_delta);
}

// Parses the changes of a record of version 1.
absl::Status ReadRepeatedChanges(std::string_view bytes, ChangeRecord* record) {
  uint64_t count = 0;
  if (!TakeLeastVarint(&bytes, &count) || count > bytes.size() / kChangeMinBytes) {
    return DataLossError("change record: expected a count of changes that fit in the record");
  }
  record->index_changes.resize(count);
  for (uint64_t i = 0; i < count; ++i) {
    if (!TakeRepeatedChange(&bytes, &record->index_changes[i])) {
      return DataLossError(Cat("change record: malformed change ", i, " of ", count));
    }
  }
  if (!bytes.empty()) return DataLossError(Cat("change record: ", bytes.size(), " bytes behind the last change"));
  return absl::OkStatus();
}

}  // namespace

size_t ItemExcerpt::stored_bytes() const {
  size_t bytes = StoredItemHeadBytes(api_size);
  for (const std::string_view part : parts) bytes += part.size();
  return bytes;
}

std::string ItemExcerpt::Join() const {
  std::string joined;
  if (!is_whole) joined.reserve(stored_bytes());
  for (const std::string_view part : parts) joined.append(part);
  return joined;
}

std::string EncodeItemChange(const ItemChange& change) {
  CHECK_LE(change.indexes.size(), kRecordIndexesMax);
  const SharedAttributes attributes(change);
  std::string bytes;
  size_t size = 2 * kVarintsGuess + change.base_key.size();
  size_t item_bytes = 0;
  for (const IndexChange& index : change.indexes) {
    size += kVarintsGuess + index.removed_key.value_or("").size() + index.put_key.value_or("").size();
    if (index.put_item != nullptr) item_bytes = std::max(item_bytes, index.put_item->stored_bytes());
  }
  bytes.reserve(size + item_bytes);
  bytes.push_back(kChangeRecordVersion);
  model::AppendVarint(ZigZag(change.time_ms), &bytes);
  AppendLengthPrefixed(change.base_key, &bytes);
  attributes.AppendTo(&bytes);
  model::AppendVarint(change.indexes.size(), &bytes);
  const std::string_view table_components = ComponentsOf(change.base_key);
  for (const IndexChange& index : change.indexes) AppendIndexChange(index, attributes, table_components, &bytes);
  return bytes;
}

absl::StatusOr<ChangeRecord> ParseChangeRecord(std::string_view bytes) {
  if (bytes.empty()) return DataLossError("change record: expected a version byte, found nothing");
  const char version = bytes.front();
  if (version != kRepeatingChangeVersion && version != kChangeRecordVersion) {
    return DataLossError(Cat("change record: expected a version up to ", static_cast<int>(kChangeRecordVersion),
                             ", found ", static_cast<int>(static_cast<uint8_t>(version))));
  }
  bytes.remove_prefix(1);
  ChangeRecord record;
  if (!TakeZigZag(&bytes, &record.time_ms)) {
    return DataLossError("change record: expected the time as a varint");
  }
  if (!TakeLengthPrefixed(&bytes, &record.base_key)) {
    return DataLossError("change record: expected the base key behind its length");
  }
  if (version == kRepeatingChangeVersion) {
    ARM_RETURN_IF_ERROR(ReadRepeatedChanges(bytes, &record));
  } else {
    ARM_RETURN_IF_ERROR(ChangeReader(&record, bytes).Read());
  }
  return record;
}

}  // namespace armature::codec
