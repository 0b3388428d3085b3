#include "index/index_entry.h"

#include "tests/unit/index/index_test_util.h"

namespace armature::index::index_entry_test {

using model::IndexKind;
using store::StringKey;

const model::KeySchema kTableKey = StringKey({"pk"}, {"sk"});

std::optional<std::string> Key(IndexKind kind, const model::KeySchema& key, const std::string& item) {
  return EncodeIndexKey(kind, key, kTableKey, model::ItemView(item));
}

TEST(IndexKey, LocalKeyIsPartitionThenIndexSortThenTableSort) {
  EXPECT_EQ(Key(IndexKind::kLocal, StringKey({"pk"}, {"l"}), StringItem({{"l", "x"}, {"pk", "p"}, {"sk", "s"}})),
            HashedKey({"p"}, {"x", "s"}));
}

TEST(IndexKey, GlobalKeyEndsInTheWholeKeyOfTheTable) {
  EXPECT_EQ(
      Key(IndexKind::kGlobal, StringKey({"g"}, {"h"}), StringItem({{"g", "1"}, {"h", "2"}, {"pk", "p"}, {"sk", "s"}})),
      HashedKey({"1"}, {"2", "p", "s"}));
  EXPECT_EQ(Key(IndexKind::kGlobal, StringKey({"g"}, {}), StringItem({{"g", "1"}, {"pk", "p"}, {"sk", "s"}})),
            HashedKey({"1"}, {"p", "s"}));
}

TEST(IndexKey, GlobalKeyHashesAllPartitionAttributes) {
  EXPECT_EQ(Key(IndexKind::kGlobal, StringKey({"g", "h"}, {"sk"}),
                StringItem({{"g", "1"}, {"h", "2"}, {"pk", "p"}, {"sk", "s"}})),
            HashedKey({"1", "2"}, {"s", "p", "s"}));
}

TEST(IndexKey, IsDecodedToTheKeyAttributesOfIndexAndTable) {
  const std::string item = StringItem({{"g", "1"}, {"h", "2"}, {"pk", "p"}, {"sk", "s"}});
  const model::KeySchema global = StringKey({"g", "h"}, {"sk"});
  EXPECT_EQ(*DecodeIndexKey(IndexKind::kGlobal, global, kTableKey, *Key(IndexKind::kGlobal, global, item)), item);
  const std::string local_item = StringItem({{"l", "x"}, {"pk", "p"}, {"sk", "s"}});
  const model::KeySchema local = StringKey({"pk"}, {"l"});
  EXPECT_EQ(*DecodeIndexKey(IndexKind::kLocal, local, kTableKey, *Key(IndexKind::kLocal, local, local_item)),
            local_item);
  EXPECT_TRUE(absl::IsDataLoss(DecodeIndexKey(IndexKind::kLocal, local, kTableKey, "short").status()));
}

TEST(IndexKey, ItemWithoutAKeyAttributeIsNotInTheIndex) {
  const model::KeySchema global = StringKey({"g"}, {"h"});
  EXPECT_FALSE(Key(IndexKind::kGlobal, global, StringItem({{"g", "1"}, {"pk", "p"}, {"sk", "s"}})).has_value());
  EXPECT_FALSE(Key(IndexKind::kGlobal, global, StringItem({{"h", "1"}, {"pk", "p"}, {"sk", "s"}})).has_value());
  EXPECT_FALSE(Key(IndexKind::kLocal, StringKey({"pk"}, {"l"}), StringItem({{"pk", "p"}, {"sk", "s"}})).has_value());
}

TEST(IndexKey, ItemWhoseAttributeHasAnotherTypeIsNotInTheIndex) {
  model::KeySchema numeric = StringKey({"g"}, {});
  numeric.partition[0].type = model::ScalarType::kNumber;
  EXPECT_FALSE(Key(IndexKind::kGlobal, numeric, StringItem({{"g", "1"}, {"pk", "p"}, {"sk", "s"}})).has_value());
}

}  // namespace armature::index::index_entry_test
