#include "index/index_delta.h"

#include <iterator>
#include <random>
#include <utility>

#include "index/index_entry.h"
#include "storage/codec/change_codec.h"
#include "storage/codec/stored_item.h"
#include "tests/unit/index/index_test_util.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::index::index_delta_test {

using store::StringKey;

// Items with key (p, s). An empty text means no item. Otherwise it holds the value of `g` ("-": none), of the projected
// `a`, and of `z`, which is not projected.
std::string MakeItem(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> attributes = {{"a", std::string(1, text[1])}};
  if (text[0] != '-') attributes.emplace_back("g", std::string(1, text[0]));
  attributes.insert(attributes.end(), {{"pk", "p"}, {"sk", "s"}, {"z", std::string(1, text[2])}});
  return StringItem(attributes);
}

struct DeltaCase {
  std::string_view what, before, after;
  std::string_view removed, put;  // values of g in the keys
};
constexpr DeltaCase kCases[] = {
    {"nothing to nothing", "", "", "", ""},
    {"item comes", "", "1az", "", "1"},
    {"item comes without key", "", "-az", "", ""},
    {"item goes", "1az", "", "1", ""},
    {"item without key goes", "-az", "", "", ""},
    {"key comes", "-az", "1az", "", "1"},
    {"key goes", "1az", "-az", "1", ""},
    {"key changes", "1az", "2az", "1", "2"},
    {"key and content change", "1az", "2bz", "1", "2"},
    {"content changes", "1az", "1bz", "", "1"},
    {"what is not projected changes", "1az", "1ay", "", ""},
    {"nothing changes", "1az", "1az", "", ""},
    {"item outside changes", "-az", "-by", "", ""},
};

TEST(IndexDelta, TellsWhatGoesAndWhatComes) {
  const model::KeySchema table_key = StringKey({"pk"}, {"sk"});
  const std::vector<store::Index> indexes = {
      BareIndex(model::IndexKind::kGlobal, StringKey({"g"}, {}), table_key, {model::ProjectionType::kInclude, {"a"}})};
  for (const DeltaCase& c : kCases) {
    SCOPED_TRACE(c.what);
    const std::string before_bytes = c.before.empty() ? "" : MakeItem(c.before);
    const std::string after_bytes = c.after.empty() ? "" : MakeItem(c.after);
    std::optional<model::ItemView> before;
    std::optional<model::ItemView> after;
    if (!c.before.empty()) before = model::ItemView(before_bytes);
    if (!c.after.empty()) after = model::ItemView(after_bytes);
    const std::vector<EntryChange> changes = IndexDelta(indexes, table_key, before, after);
    if (c.removed.empty() && c.put.empty()) {
      EXPECT_TRUE(changes.empty());
      continue;
    }
    ASSERT_EQ(changes.size(), 1u);
    const EntryChange& change = changes[0];
    EXPECT_EQ(change.index, indexes.data());
    ASSERT_EQ(change.removed_key.has_value(), !c.removed.empty());
    if (change.removed_key.has_value()) {
      EXPECT_EQ(*change.removed_key, HashedKey({std::string(c.removed)}, {"p", "s"}));
    }
    ASSERT_EQ(change.put_key.has_value(), !c.put.empty());
    const bool was = !c.before.empty() && c.before[0] != '-';
    const bool is = !c.after.empty() && c.after[0] != '-';
    EXPECT_EQ(change.old_size.has_value(), was);
    EXPECT_EQ(change.new_size.has_value(), is);
    EXPECT_EQ(change.item_delta(), static_cast<int64_t>(is) - static_cast<int64_t>(was));
    // Attributes a, g, pk and sk with values of one byte.
    constexpr int64_t kEntryBytes = 2 + 2 + 3 + 3;
    EXPECT_EQ(change.byte_delta(), kEntryBytes * change.item_delta());
    if (change.put_key.has_value()) {
      EXPECT_EQ(*change.put_key, HashedKey({std::string(c.put)}, {"p", "s"}));
      const std::string value =
          codec::EncodeStoredItem({change.put_item.Join(), change.put_item.api_size, change.put_item.compact_numbers});
      const absl::StatusOr<codec::StoredItemView> stored = codec::ParseStoredItem(value);
      ASSERT_TRUE(stored.ok());
      EXPECT_EQ(stored->api_size, size_t{kEntryBytes});
      EXPECT_EQ(stored->item.Find("a")->scalar(), c.after.substr(1, 1));
      EXPECT_FALSE(stored->item.Find("z").has_value());
    }
  }
}

TEST(IndexDelta, EachIndexIsJudgedByItself) {
  const model::KeySchema table_key = StringKey({"pk"}, {"sk"});
  const std::vector<store::Index> indexes = {
      BareIndex(model::IndexKind::kGlobal, StringKey({"g"}, {}), table_key, {model::ProjectionType::kKeysOnly, {}}),
      BareIndex(model::IndexKind::kGlobal, StringKey({"a"}, {}), table_key, {model::ProjectionType::kKeysOnly, {}}),
      BareIndex(model::IndexKind::kLocal, StringKey({"pk"}, {"z"}), table_key, {model::ProjectionType::kAll, {}})};
  const std::string before = MakeItem("1az");
  const std::string after = MakeItem("1bz");
  const std::vector<EntryChange> changes =
      IndexDelta(indexes, table_key, model::ItemView(before), model::ItemView(after));
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].index, &indexes[1]);
  EXPECT_TRUE(changes[0].removed_key.has_value());
  EXPECT_EQ(changes[1].index, &indexes[2]);
  EXPECT_FALSE(changes[1].removed_key.has_value());
}

// Random items and indexes.
class Chance {
 public:
  explicit Chance(uint64_t seed) : rng_(seed) {}

  size_t Below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(rng_); }
  const char* Name() {
    constexpr const char* kNames[] = {"a", "b", "c", "d", "e", "f"};
    return kNames[Below(std::size(kNames))];
  }
  model::KeyAttribute KeyAttribute() {
    constexpr model::ScalarType kTypes[] = {model::ScalarType::kString, model::ScalarType::kNumber,
                                            model::ScalarType::kBinary};
    return {Name(), kTypes[Below(std::size(kTypes))]};
  }
  std::string Value() {
    switch (Below(9)) {
      case 0:
        return codec::N(std::to_string(static_cast<int>(Below(5)) - 2));
      case 1:
        return codec::N(Below(2) == 0 ? "1e50" : "1.50");
      case 2:
        return codec::B(std::string(Below(3), 'b'));
      case 3:
        return codec::L({codec::S("x"), codec::N("1e-70")});
      case 4:
        return codec::S(std::string(Below(2) == 0 ? 1024 + Below(2) : 2048 + Below(2), 'l'));
      default:
        return codec::S(std::string(Below(3), 's'));
    }
  }
  codec::CanonicalItem Item(std::string_view pk, std::string_view sk) {
    codec::Attributes attributes = {{"pk", codec::S(pk)}, {"sk", codec::S(sk)}};
    for (size_t i = Below(6); i > 0; --i) attributes.emplace_back(Name(), Value());
    return *codec::CanonicalizeItem(codec::Item(attributes));
  }
  store::Index Index(uint32_t id, const model::KeySchema& table_key) {
    const bool is_global = Below(3) > 0;
    model::KeySchema key;
    if (is_global) {
      for (size_t i = 1 + Below(2); i > 0; --i) key.partition.push_back(KeyAttribute());
      for (size_t i = Below(3); i > 0; --i) key.sort.push_back(KeyAttribute());
    } else {
      key = {table_key.partition, {KeyAttribute()}};
    }
    model::Projection projection;
    projection.type = static_cast<model::ProjectionType>(Below(3));
    if (projection.type == model::ProjectionType::kInclude) projection.non_key_attributes = {Name(), Name()};
    store::Index index = BareIndex(is_global ? model::IndexKind::kGlobal : model::IndexKind::kLocal, key, table_key,
                                   std::move(projection));
    index.descriptor.id = IndexId(id);
    return index;
  }

 private:
  std::mt19937_64 rng_;
};

// The change by its definition: the entries of the item before and after, each made by itself.
void ExpectDefinition(const store::Index& index, const model::KeySchema& table_key,
                      const std::optional<codec::CanonicalItem>& before,
                      const std::optional<codec::CanonicalItem>& after, const EntryChange* change) {
  std::optional<Entry> old_entry;
  std::optional<Entry> new_entry;
  if (before.has_value()) old_entry = MakeEntry(index, table_key, before->view());
  if (after.has_value()) new_entry = MakeEntry(index, table_key, after->view());
  const bool same_key = old_entry.has_value() && new_entry.has_value() && old_entry->key == new_entry->key;
  const bool is_equal = (!old_entry.has_value() && !new_entry.has_value()) ||
                        (same_key && old_entry->item.bytes == new_entry->item.bytes);
  ASSERT_EQ(change == nullptr, is_equal);
  if (change == nullptr) return;
  ASSERT_EQ(change->removed_key.has_value(), old_entry.has_value() && !same_key);
  if (change->removed_key.has_value()) {
    ASSERT_EQ(*change->removed_key, old_entry->key);
  }
  ASSERT_EQ(change->put_key.has_value(), new_entry.has_value());
  ASSERT_EQ(change->old_size.has_value(), old_entry.has_value());
  if (old_entry.has_value()) {
    ASSERT_EQ(*change->old_size, old_entry->item.api_size);
  }
  ASSERT_EQ(change->new_size.has_value(), new_entry.has_value());
  if (!new_entry.has_value()) return;
  ASSERT_EQ(*change->put_key, new_entry->key);
  ASSERT_EQ(*change->new_size, new_entry->item.api_size);
  ASSERT_EQ(change->put_item.Join(), new_entry->item.bytes);
  ASSERT_EQ(change->put_item.api_size, new_entry->item.api_size);
  // Requests may set it without need: a duplicate attribute that was dropped had such a number.
  ASSERT_TRUE(change->put_item.compact_numbers || !new_entry->item.compact_numbers);
  ASSERT_EQ(change->put_item.stored_bytes(), codec::EncodeStoredItem(new_entry->item).size());
}

// The change record of `changes` of global indexes has their rows.
void ExpectRecorded(const std::vector<EntryChange>& changes, std::string_view base_key) {
  store::Table table;
  store::WriteUnit unit(nullptr);
  RecordGlobalIndexChanges(table, base_key, 77, changes, &unit);
  ASSERT_EQ(unit.has_record(), !changes.empty());
  if (changes.empty()) return;
  const absl::StatusOr<codec::ChangeRecord> record = codec::ParseChangeRecord(unit.record());
  ASSERT_TRUE(record.ok()) << record.status();
  ASSERT_EQ(record->base_key, base_key);
  auto row = record->index_changes.begin();
  for (const EntryChange& change : changes) {
    ASSERT_NE(row, record->index_changes.end());
    EXPECT_EQ(row->item_delta, change.item_delta());
    EXPECT_EQ(row->byte_delta, change.byte_delta());
    for (const auto* const key : {&change.removed_key, &change.put_key}) {
      if (!key->has_value()) continue;
      ASSERT_NE(row, record->index_changes.end());
      ASSERT_EQ(row->index, change.index->descriptor.id);
      ASSERT_EQ(row->is_delete, key == &change.removed_key);
      ASSERT_EQ(row->key, **key);
      if (!row->is_delete) {
        ASSERT_EQ(Cat(row->value_head, row->value),
                  codec::EncodeStoredItem(
                      {change.put_item.Join(), change.put_item.api_size, change.put_item.compact_numbers}));
      }
      ++row;
    }
  }
  ASSERT_EQ(row, record->index_changes.end());
}

TEST(IndexDelta, ChangesAndRecordsAreThoseOfEntriesMadeByThemselves) {
  Chance chance(PrintedTestSeed());
  const model::KeySchema table_key = StringKey({"pk"}, {"sk"});
  for (int round = 0; round < 5'000; ++round) {
    std::vector<store::Index> indexes;
    for (uint32_t id = 1 + static_cast<uint32_t>(chance.Below(4)); id > 0; --id) {
      indexes.push_back(chance.Index(id, table_key));
    }
    const std::string sk(chance.Below(4), 'k');
    std::optional<codec::CanonicalItem> before;
    std::optional<codec::CanonicalItem> after;
    if (chance.Below(4) > 0) before = chance.Item("p", sk);
    if (chance.Below(4) > 0) after = chance.Below(4) == 0 ? before : chance.Item("p", sk);
    const auto image = [&](const std::optional<codec::CanonicalItem>& item) -> std::optional<ItemImage> {
      if (!item.has_value()) return std::nullopt;
      if (chance.Below(2) == 0) return item->view();
      return ItemImage(item->view(), {item->api_size, item->compact_numbers});
    };
    const std::vector<EntryChange> changes = IndexDelta(indexes, table_key, image(before), image(after));
    auto change = changes.begin();
    std::vector<EntryChange> global;
    for (const store::Index& index : indexes) {
      const bool has_change = change != changes.end() && change->index == &index;
      ASSERT_NO_FATAL_FAILURE(ExpectDefinition(index, table_key, before, after, has_change ? &*change : nullptr));
      if (has_change && index.descriptor.kind == model::IndexKind::kGlobal) global.push_back(*change);
      if (has_change) ++change;
    }
    ASSERT_EQ(change, changes.end());
    ASSERT_NO_FATAL_FAILURE(ExpectRecorded(global, HashedKey({"p"}, {sk})));
  }
}

}  // namespace armature::index::index_delta_test
