#include "tools/armature/items/table_keys.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/strings.h"
#include "tools/armature/plain_json.h"

namespace armature::cli::table_keys_test {

using testing::HasSubstr;

TargetKey Key(std::vector<KeyAttribute> attributes) { return {.name = "orders", .attributes = std::move(attributes)}; }

const KeyAttribute kText{"id", api::v1::SCALAR_ATTRIBUTE_TYPE_S, true};
const KeyAttribute kNumber{"n", api::v1::SCALAR_ATTRIBUTE_TYPE_N, false};
const KeyAttribute kBinary{"b", api::v1::SCALAR_ATTRIBUTE_TYPE_B, true};

std::string Read(const TargetKey& key, const std::vector<std::string>& texts) {
  const absl::StatusOr<api::v1::Item> item = KeyFromTexts(key, texts);
  return item.ok() ? PlainItem(*item) : std::string(Sv(item.status().message()));
}

std::string Target(const std::string& text) {
  const absl::StatusOr<ItemTarget> target = ParseTarget(text);
  return target.ok() ? Cat(target->table, " ", target->index) : std::string(Sv(target.status().message()));
}

TEST(TableKeysTest, ASlashSeparatesTableAndIndex) {
  EXPECT_EQ(Target("orders"), "orders ");
  EXPECT_EQ(Target("orders/by_status"), "orders by_status");
  EXPECT_EQ(Target("arn:aws:dynamodb:local:0:table/orders"), "arn:aws:dynamodb:local:0:table/orders ");
  EXPECT_EQ(Target("arn:aws:dynamodb:local:0:table/orders/index/i"), "arn:aws:dynamodb:local:0:table/orders i");
  EXPECT_THAT(Target("orders/"), HasSubstr("lacks the name of the index"));
  EXPECT_THAT(Target("/x"), HasSubstr("lacks the name of the table"));
}

TEST(TableKeysTest, TextsHaveTheTypesOfTheKey) {
  EXPECT_EQ(Read(Key({kText, kNumber}), {"007", "-1.50"}), R"({"id": "007", "n": -1.50})");
  EXPECT_EQ(Read(Key({kBinary}), {"AP8="}), R"({"b": {"B": "AP8="}})");
  EXPECT_EQ(Read(Key({kText}), {"-"}), R"({"id": "-"})");
}

TEST(TableKeysTest, KeysMayBeNamed) {
  EXPECT_EQ(Read(Key({kText, kNumber}), {"n=5", "id=a=b"}), R"({"id": "a=b", "n": 5})");
  // Only if all are.
  EXPECT_EQ(Read(Key({kText, kNumber}), {"id=a", "5"}), R"({"id": "id=a", "n": 5})");
  EXPECT_EQ(Read(Key({kText}), {"idea=1"}), R"({"id": "idea=1"})");
  EXPECT_THAT(Read(Key({kText, kNumber}), {"id=a", "id=b"}), HasSubstr("id is given twice"));
}

TEST(TableKeysTest, KeysMayBeJson) {
  EXPECT_EQ(Read(Key({kText, kNumber}), {R"({"id": "{", "n": {"N": "5"}})"}), R"({"id": "{", "n": 5})");
  EXPECT_EQ(Read(Key({kText, kNumber}), {R"({"id": "a"})"}), "the key lacks n; orders has the key id (S), n (N)");
  EXPECT_THAT(Read(Key({kText}), {R"({"id": "a", "x": 1})"}), HasSubstr("has other attributes"));
  EXPECT_EQ(Read(Key({kText}), {R"(id={"a": 1})"}), R"({"id": "{\"a\": 1}"})");
}

TEST(TableKeysTest, FaultsNameTheKey) {
  EXPECT_EQ(Read(Key({kText, kNumber}), {"a"}), "1 value for a key of 2 attributes; orders has the key id (S), n (N)");
  EXPECT_EQ(Read(Key({kText}), {"a", "b"}), "2 values for a key of 1 attribute; orders has the key id (S)");
  EXPECT_EQ(Read(Key({kText}), {""}), "the key attribute id must not be empty; orders has the key id (S)");
  EXPECT_EQ(Read(Key({kNumber}), {"x"}), "the key attribute n is a number, not \"x\"; orders has the key n (N)");
  EXPECT_EQ(Read(Key({kNumber}), {""}), "the key attribute n is a number, not \"\"; orders has the key n (N)");
  for (const char* text : {"AP8", "x", "", "===="}) {
    EXPECT_THAT(Read(Key({kBinary}), {text}), HasSubstr("the key attribute b is binary in base64")) << text;
  }
  EXPECT_THAT(Read(Key({kText}), {"\xff"}), HasSubstr("not UTF-8"));
}

TEST(TableKeysTest, KeysAreShownWithTheirTable) {
  const TargetKey key = Key({kText, kNumber});
  EXPECT_EQ(ShowKey(key, *KeyFromTexts(key, {"KSUID9", "5"})), "id = KSUID9, n = 5 in orders");
}

}  // namespace armature::cli::table_keys_test
