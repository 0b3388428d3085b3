#include "index/index_delta.h"

#include "storage/codec/stored_item.h"
#include "tests/unit/index/index_test_util.h"

namespace armature::index {
namespace {

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
      const absl::StatusOr<codec::StoredItemView> stored = codec::ParseStoredItem(change.put_value);
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

}  // namespace
}  // namespace armature::index
