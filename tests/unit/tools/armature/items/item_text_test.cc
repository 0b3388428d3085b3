#include "tools/armature/items/item_text.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/armature/items/item_table.h"
#include "tools/armature/plain_json.h"

namespace armature::cli::item_text_test {

api::v1::Item Item(const std::string& plain) {
  auto item = ItemFromPlain(plain);
  EXPECT_TRUE(item.ok()) << plain << ": " << item.status();
  return item.ok() ? *item : api::v1::Item();
}

std::string Yaml(const std::string& plain) { return YamlItem(Item(plain), {}, JsonDialect::kPlain, 0); }

std::vector<api::v1::Item> Items(const std::vector<std::string>& plain) {
  std::vector<api::v1::Item> items;
  for (const std::string& each : plain) items.push_back(Item(each));
  return items;
}

TEST(ItemTextTest, TypedItemsKeepTheOrderOfPlainOnes) {
  EXPECT_EQ(ItemText(Item(R"({"a": 1, "b": "x", "c": [1]})"), {"b"}, JsonDialect::kTyped),
            R"({"b":{"S":"x"},"a":{"N":"1"},"c":{"L":[{"N":"1"}]}})");
  EXPECT_EQ(ItemText(Item("{}"), {}, JsonDialect::kTyped), "{}");
}

TEST(ItemTextTest, CellsShowValuesToPeople) {
  const api::v1::Item item = Item(
      R"({"a": "x", "b": "", "c": 1.50, "d": null, "e": true, "f": {"SS": ["x", "y"]}, "g": {"NS": [1, 2]},
          "h": {"B": "AP8="}, "i": {"BS": ["AP8="]}, "j": [1, "x"], "k": {"l": "m"}})");
  std::vector<std::string> cells;
  for (const auto& [name, value] : OrderedAttributes(item, {})) cells.push_back(CellText(*value));
  EXPECT_THAT(cells, testing::ElementsAre("x", "\"\"", "1.50", "NULL", "true", "{x, y}", "{1, 2}", "AP8=", "{AP8=}",
                                          "[1, \"x\"]", "{\"l\": \"m\"}"));
}

TEST(ItemTextTest, YamlNestsListsAndMaps) {
  EXPECT_EQ(Yaml(R"({"a": [1, [2, {"x": []}], {}], "m": {"k": {"l": "v"}, "o": null}})"),
            "a:\n  - 1\n  -\n    - 2\n    -\n      x: []\n  - {}\nm:\n  k:\n    l: v\n  o: null\n");
  EXPECT_EQ(Yaml(R"({"s": {"SS": ["x"]}, "b": {"B": "AP8="}, "t": {"M": {"S": "x"}}})"),
            "b: {\"B\": \"AP8=\"}\ns: {\"SS\": [\"x\"]}\nt: {\"M\": {\"S\": \"x\"}}\n");
  EXPECT_EQ(Yaml("{}"), "{}\n");
  EXPECT_EQ(YamlItem(Item(R"({"a": 1, "b": [2]})"), {"b"}, JsonDialect::kPlain, 2), "b:\n    - 2\n  a: 1\n");
}

TEST(ItemTextTest, YamlQuotesDoubtfulTexts) {
  for (const std::string text :
       {"",     "yes", "No", "TRUE",       "null", "~",  "y",  "1",  "1e3", "0x1f", ".inf", "- a",     "a: b",
        "a #b", "a ",  " a", "2026-01-01", "@a",   "*a", "&a", "!a", "é",   "a,b",  "[a",   "12:30:45"}) {
    EXPECT_EQ(Yaml(R"({"k": ")" + text + R"("})"), R"(k: ")" + text + "\"\n");
    if (!text.empty()) {
      EXPECT_EQ(Yaml(R"({")" + text + R"(": 1})"), R"(")" + text + "\": 1\n");
    }
  }
  EXPECT_EQ(Yaml(R"({"k": "a-b c.d_e"})"), "k: a-b c.d_e\n");
  EXPECT_EQ(Yaml(R"({"k": "a\n\u2028\u0085"})"), "k: \"a\\n\\u2028\\u0085\"\n");
}

TEST(ItemTableTest, KeysComeFirstAndNumbersStandRight) {
  const ItemTable table = LayOutItems(Items({R"({"id": "a", "n": 5, "x": null})",
                                             R"({"id": "bb", "n": 100, "mixed": 1})", R"({"id": "c", "mixed": "s"})"}),
                                      {"id", "absent"}, 0);
  EXPECT_EQ(table.text,
            "id  mixed    n  x\n"
            "a            5  NULL\n"
            "bb  1      100\n"
            "c   s\n");
  EXPECT_EQ(table.hidden_columns, 0u);
}

TEST(ItemTableTest, CellsAreCutToTheWidth) {
  const std::string longer(100, 'x');
  const ItemTable table =
      LayOutItems(Items({R"({"a": "short", "b": ")" + longer + R"(", "c": "é)" + longer + R"("})"}), {}, 40);
  EXPECT_EQ(table.text,
            "a      b                c\nshort  " + std::string(14, 'x') + "…  é" + std::string(13, 'x') + "…\n");
}

TEST(ItemTableTest, ColumnsWithoutRoomAreHidden) {
  const ItemTable table =
      LayOutItems(Items({R"({"a": "aaaaaaaaaa", "b": "bbbbbbbbbb", "c": "cccccccccc", "d": 1})"}), {}, 20);
  EXPECT_EQ(table.hidden_columns, 2u);
  EXPECT_EQ(table.text, "a          b\naaaaaaaa…  bbbbbbbb…\n");
  EXPECT_EQ(LayOutItems(Items({R"({"abc": 1})"}), {}, 1).text, "…\n1\n");
}

TEST(ItemTableTest, ControlCharactersAreEscaped) {
  EXPECT_EQ(LayOutItems(Items({R"({"a\n": "\u001b[2J\u009b"})"}), {}, 0).text, "a\\n\n\\x1b[2J\\x9b\n");
}

TEST(ItemTableTest, NothingToShowIsNothing) {
  EXPECT_EQ(LayOutItems({}, {"id"}, 80).text, "");
  EXPECT_EQ(LayOutItems(Items({"{}"}), {"id"}, 80).text, "");
}

}  // namespace armature::cli::item_text_test
