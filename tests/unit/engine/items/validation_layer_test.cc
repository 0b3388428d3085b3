#include "engine/items/validation_layer.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "engine/items/request_items_text.h"
#include "storage/model/constraint_list.h"
#include "tests/unit/engine/engine_test_util.h"

namespace armature::engine::validation_layer_test {

std::string Nested(int levels, bool maps) {
  std::string value = codec::S("x");
  for (int i = 0; i < levels; ++i) value = maps ? codec::M({{"k", value}}) : codec::L({codec::N("1"), value});
  return value;
}

TableKeys OneKey(std::string wire) {
  TableKeys table;
  table.table_name = "Cats";
  table.key_wires.emplace().push_back(std::move(wire));
  return table;
}

TEST(Nesting, CountsTheMapsAndListsAroundAValue) {
  for (const bool maps : {false, true}) {
    EXPECT_FALSE(ValueNestsBeyond(Nested(0, maps), 0));
    EXPECT_TRUE(ValueNestsBeyond(Nested(1, maps), 0));
    EXPECT_FALSE(ValueNestsBeyond(Nested(62, maps), 62));
    EXPECT_TRUE(ValueNestsBeyond(Nested(63, maps), 62));
    EXPECT_TRUE(ValueNestsBeyond(Nested(2000, maps), 62));
    EXPECT_TRUE(NestsBeyond(codec::Item({{"a", codec::S("x")}, {"b", Nested(63, maps)}}), 62));
    EXPECT_FALSE(NestsBeyond(codec::Item({{"a", codec::S("x")}, {"b", Nested(62, maps)}}), 62));
  }
}

TEST(Nesting, StopsAtMalformedBytes) {
  codec::ForEachDamage(codec::Item({{"a", Nested(3, true)}, {"b", Nested(3, false)}}), [](std::string_view bytes) {
    NestsBeyond(bytes, 2);
    ValueNestsBeyond(bytes, 2);
    RequestItemsText({OneKey(std::string(bytes))}, 200);
  });
}

TEST(RequestItemsText, IsTruncated) {
  const std::string text = RequestItemsText({OneKey(codec::Item({{"name", codec::S(std::string(1000, 'x'))}}))}, 100);
  EXPECT_EQ(text, model::Shown(Cat(R"({"Cats":{"Keys":[{"name":{"S":")", std::string(1000, 'x')), 100));
  EXPECT_LE(RequestItemsText({OneKey(codec::Item({{"name", Nested(2000, false)}}))}, 4096).size(), 4099U);
}

// Each operation has one row in the table of layers.
TEST(Layers, OfOperations) {
  static_assert(LayerOf(ItemOperation::kPutItem) == ValidationLayer::kEnveloped);
  static_assert(LayerOf(ItemOperation::kStatement) == ValidationLayer::kOlder);
  static_assert(RulesOf(LayerOf(ItemOperation::kUpdateItem)).charges_updates);
  static_assert(!RulesOf(LayerOf(ItemOperation::kTransactWriteItems)).charges_updates);
  static_assert(!RulesOf(LayerOf(ItemOperation::kScan)).short_enums);
}

}  // namespace armature::engine::validation_layer_test
