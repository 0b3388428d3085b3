#include "storage/model/key_schema.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "storage/model/item_view.h"

namespace armature::model::key_schema_test {

const KeySchema kTableKey = {.partition = {{"pk", ScalarType::kString}}, .sort = {{"sk", ScalarType::kNumber}}};
const KeySchema kIndexKey = {.partition = {{"tenant", ScalarType::kString}, {"pk", ScalarType::kString}},
                             .sort = {{"at", ScalarType::kBinary}}};

std::string ItemOf(const std::vector<std::string>& sorted_names) {
  std::string item;
  for (const std::string& name : sorted_names) {
    AppendAttribute(name, *ValueView::FromWire("\x0A\x01v"), &item);
  }
  return item;
}

TEST(KeySchema, FindsItsAttributesInBothGroups) {
  EXPECT_EQ(kTableKey.Find("pk")->type, ScalarType::kString);
  EXPECT_EQ(kTableKey.Find("sk")->type, ScalarType::kNumber);
  EXPECT_EQ(kTableKey.Find("PK"), nullptr);
  EXPECT_TRUE(kIndexKey.Contains("at"));
  EXPECT_FALSE(kIndexKey.Contains("sk"));
  EXPECT_EQ(kIndexKey.size(), 3u);
}

TEST(KeySchema, UnionHoldsEachNameOnceInByteOrder) {
  EXPECT_EQ(UnionOfKeyNames(kTableKey, kIndexKey), (std::vector<std::string>{"at", "pk", "sk", "tenant"}));
  EXPECT_EQ(UnionOfKeyNames(kTableKey, kTableKey), (std::vector<std::string>{"pk", "sk"}));
}

TEST(KeySchema, PicksAttributesThatAreThere) {
  const std::string item = ItemOf({"a", "b", "c", "d"});
  EXPECT_EQ(PickAttributes(ItemView(item), {"b", "d"}), ItemOf({"b", "d"}));
  EXPECT_EQ(PickAttributes(ItemView(item), {"", "aa", "b", "z"}), ItemOf({"b"}));
  EXPECT_EQ(PickAttributes(ItemView(item), {"a", "b", "c", "d"}), item);
  EXPECT_EQ(PickAttributes(ItemView(item), {}), "");
  EXPECT_EQ(PickAttributes(ItemView(), {"a"}), "");
}

TEST(KeySchema, ScalarTypesAreValueTypes) {
  EXPECT_EQ(ToValueType(ScalarType::kString), ValueType::kString);
  EXPECT_EQ(ToValueType(ScalarType::kNumber), ValueType::kNumber);
  EXPECT_EQ(ToValueType(ScalarType::kBinary), ValueType::kBinary);
  EXPECT_EQ(ScalarTypeName(ScalarType::kBinary), "B");
}

}  // namespace armature::model::key_schema_test
