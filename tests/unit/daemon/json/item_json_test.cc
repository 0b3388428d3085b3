#include "daemon/message_json/item_json.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/daemon/json/json_test_util.h"
#include "tests/unit/storage/codec/codec_test_util.h"

namespace armature::daemon::item_json_test {

using codec::Item;

TEST(ItemJson, PrintsEveryType) {
  EXPECT_EQ(JsonOf(Item({{"a", codec::S("x\"y")},
                         {"b", codec::N("1.5")},
                         {"c", codec::B("hi")},
                         {"d", codec::Bool(1)},
                         {"e", codec::Bool(0)},
                         {"f", codec::Null(1)},
                         {"g", codec::Ss({"", "x"})},
                         {"h", codec::Ns({"1", "2"})},
                         {"i", codec::Bs({"a", "b"})},
                         {"j", codec::L({codec::S("x"), codec::L({}), codec::M({})})},
                         {"k\n", codec::M({{"m", codec::S("")}, {"n", codec::Null(1)}})}})),
            R"({"a":{"S":"x\"y"},"b":{"N":"1.5"},"c":{"B":"aGk="},"d":{"BOOL":true},"e":{"BOOL":false},)"
            R"("f":{"NULL":true},"g":{"SS":["","x"]},"h":{"NS":["1","2"]},"i":{"BS":["YQ==","Yg=="]},)"
            R"("j":{"L":[{"S":"x"},{"L":[]},{"M":{}}]},"k\n":{"M":{"m":{"S":""},"n":{"NULL":true}}}})");
  EXPECT_EQ(JsonOf(""), "{}");
}

TEST(ItemJson, ItemsFollowEachOther) {
  JsonWriter writer;
  writer.BeginArray();
  for (int i = 0; i < 3; ++i) WriteItem(Item({{"p", codec::N(std::to_string(i))}}), &writer);
  writer.EndArray();
  EXPECT_EQ(writer.Take(), R"([{"p":{"N":"0"}},{"p":{"N":"1"}},{"p":{"N":"2"}}])");
}

TEST(ItemJson, DamagedBytesAreAShorterItem) {
  const std::string whole =
      Item({{"a", codec::S("x")}, {"b", codec::L({codec::Ns({"1"}), codec::M({{"k", codec::B("z")}})})}});
  codec::ForEachDamage(whole, [](std::string_view bytes) {
    const std::string json = JsonOf(bytes);
    EXPECT_TRUE(json.starts_with("{") && json.ends_with("}"));
  });
  std::string deep = codec::S("x");
  for (int i = 0; i < 10'000; ++i) deep = codec::L({deep});
  EXPECT_LT(JsonOf(Item({{"a", deep}})).size(), 2000u);
}

TEST(ItemJson, PrintsSingleValues) {
  JsonWriter writer;
  writer.BeginArray();
  WriteAttributeValue(codec::N("7"), &writer);
  WriteAttributeValue("", &writer);
  writer.EndArray();
  EXPECT_EQ(writer.Take(), R"([{"N":"7"},{}])");
}

}  // namespace armature::daemon::item_json_test
