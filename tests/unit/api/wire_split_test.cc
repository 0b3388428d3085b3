#include "daemon/api/wire_split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "armature/api/v1/items.pb.h"
#include "tests/unit/codec/codec_test_util.h"
#include "tests/unit/model/random_seed.h"

namespace armature::daemon {
namespace {

// A length-delimited field with any number.
std::string Field(uint32_t number, std::string_view body) {
  std::string bytes;
  model::AppendVarint(number << 3 | 2, &bytes);
  model::AppendVarint(body.size(), &bytes);
  return bytes.append(body);
}

TEST(WireSplit, TakesItemAndValuesOutInWhateverOrderTheyCome) {
  const std::string item = codec::Item({{"pk", codec::S("a")}});
  std::string value_entry;
  model::AppendBytesField(1, ":v", &value_entry);
  model::AppendBytesField(2, codec::S("b"), &value_entry);
  std::vector<std::string> fields = {Field(1, "table"), Field(kItemField, item), Field(3, "cond"),
                                     Field(kValuesField, value_entry), std::string("\x30\x01", 2)};
  std::sort(fields.begin(), fields.end());
  int orders = 0;
  do {
    std::string request;
    std::string rest;
    for (const std::string& field : fields) {
      request += field;
      if (field != Field(kItemField, item) && field != Field(kValuesField, value_entry)) rest += field;
    }
    SplitRequest split;
    ASSERT_TRUE(Split(request, kNoLegacyFields, &split));
    EXPECT_EQ(split.item, item);
    EXPECT_EQ(split.values, codec::Item({{":v", codec::S("b")}}));
    EXPECT_EQ(split.rest, rest);
    ++orders;
  } while (std::next_permutation(fields.begin(), fields.end()));
  EXPECT_EQ(orders, 120);
}

TEST(WireSplit, RepeatedFieldsAreJoined) {
  const std::string a = codec::Item({{"a", codec::S("1")}});
  const std::string b = codec::Item({{"b", codec::S("2")}});
  SplitRequest split;
  ASSERT_TRUE(Split(Field(kItemField, a) + Field(kValuesField, "x") + Field(kItemField, b) + Field(kValuesField, "yz"),
                    kNoLegacyFields, &split));
  EXPECT_EQ(split.item, a + b);
  EXPECT_EQ(split.values, std::string("\x0a\x01x\x0a\x02yz"));
}

TEST(WireSplit, AbsentAndEmptyDiffer) {
  SplitRequest absent;
  ASSERT_TRUE(Split(Field(1, "table"), kNoLegacyFields, &absent));
  EXPECT_FALSE(absent.item.has_value());
  EXPECT_FALSE(absent.values.has_value());
  SplitRequest empty;
  ASSERT_TRUE(Split(Field(kItemField, ""), kNoLegacyFields, &empty));
  EXPECT_EQ(empty.item, "");
  SplitRequest nothing;
  ASSERT_TRUE(Split("", kNoLegacyFields, &nothing));
  EXPECT_EQ(nothing.rest, "");
}

TEST(WireSplit, PutsAgreeWithTheParserOfTheWholeMessage) {
  api::v1::PutItemRequest request;
  request.set_table_name("t");
  (*request.mutable_item()->mutable_attributes())["pk"].set_s("a");
  request.set_condition_expression("a = :v");
  (*request.mutable_expression_attribute_values())[":v"].set_n("1");
  (*request.mutable_expression_attribute_names())["#n"] = "name";
  SplitRequest split;
  ASSERT_TRUE(Split(request.SerializeAsString(), kNoLegacyFields, &split));
  api::v1::PutItemRequest rest;
  ASSERT_TRUE(rest.ParseFromString(split.rest));
  EXPECT_EQ(rest.table_name(), "t");
  EXPECT_EQ(rest.condition_expression(), "a = :v");
  EXPECT_EQ(rest.expression_attribute_names().at("#n"), "name");
  EXPECT_FALSE(rest.has_item());
  EXPECT_TRUE(rest.expression_attribute_values().empty());
  EXPECT_EQ(split.item, request.item().SerializeAsString());
}

TEST(WireSplit, BytesThatAreNoMessageAreRefused) {
  const std::string malformed[] = {
      "\x0a",                      // no length
      "\x0a\x05tabl",              // too short
      std::string("\x00\x01", 2),  // field 0
      "\x0b",                      // a group
      "\x0f",                      // wire type 7
      "\x10\x01",                  // the item as a varint
      "\x78\x01",                  // the values as a varint
      "\x15"
      "abcd",                                          // the item as four bytes
      "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",  // endless tag
  };
  for (const std::string& bytes : malformed) {
    SplitRequest split;
    EXPECT_FALSE(Split(bytes, kNoLegacyFields, &split)) << codec::ToHex(bytes);
  }
}

TEST(WireSplit, DamagedRequestsAreRefusedOrSplitInBounds) {
  const std::string valid =
      Field(1, "table") + Field(kItemField, codec::Item({{"pk", codec::S("a")}})) + Field(kValuesField, "entry");
  codec::ForEachDamage(valid, [](std::string_view bytes) {
    SplitRequest split;
    if (!Split(bytes, kNoLegacyFields, &split)) return;
    EXPECT_LE(split.rest.size() + split.item.value_or("").size(), bytes.size());
  });
}

}  // namespace
}  // namespace armature::daemon
