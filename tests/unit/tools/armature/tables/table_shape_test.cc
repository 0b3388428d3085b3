#include "tools/armature/tables/table_shape.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/strings.h"
#include "tools/armature/message_json.h"

namespace armature::cli::table_shape_test {

using testing::HasSubstr;

// The request as JSON, or the error.
std::string Creation(const TableShape& shape) {
  const auto request = CreationOfTable("T", shape);
  if (!request.ok()) return std::string(request.status().message());
  Json json = MessageToJson(*request);
  json.erase("TableName");
  json.erase("BillingMode");
  return CompactJson(json);
}

TEST(TableShape, KeyIsAPartitionAttributeAndASortAttribute) {
  EXPECT_EQ(Creation({.key = "id"}), R"({"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
                                     R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]})");
  EXPECT_EQ(Creation({.key = " user:B , at:N "}),
            R"({"AttributeDefinitions":[{"AttributeName":"user","AttributeType":"B"},)"
            R"({"AttributeName":"at","AttributeType":"N"}],)"
            R"("KeySchema":[{"AttributeName":"user","KeyType":"HASH"},{"AttributeName":"at","KeyType":"RANGE"}]})");
}

TEST(TableShape, IndexHasUpToFourAttributesOnEachSideOfItsBar) {
  const auto request = CreationOfTable("T", {.key = "id", .indexes = {"X=a,b,c,d|e,f:N,g,h"}});
  ASSERT_TRUE(request.ok()) << request.status();
  ASSERT_EQ(request->global_secondary_indexes_size(), 1);
  const auto& index = request->global_secondary_indexes(0);
  EXPECT_EQ(index.index_name(), "X");
  ASSERT_EQ(index.key_schema_size(), 8);
  EXPECT_EQ(index.key_schema(3).attribute_name(), "d");
  EXPECT_EQ(index.key_schema(3).key_type(), api::v1::KEY_TYPE_HASH);
  EXPECT_EQ(index.key_schema(5).attribute_name(), "f");
  EXPECT_EQ(index.key_schema(5).key_type(), api::v1::KEY_TYPE_RANGE);
  EXPECT_EQ(index.projection().projection_type(), api::v1::PROJECTION_TYPE_ALL);
  EXPECT_EQ(request->attribute_definitions_size(), 9);
}

TEST(TableShape, ProjectionIsInParentheses) {
  const auto request = CreationOfTable(
      "T", {.key = "id", .indexes = {"A=a (keys)", "B = b | c ( total , note )", "C=c(all)"}, .locals = {}});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->global_secondary_indexes(0).projection().projection_type(), api::v1::PROJECTION_TYPE_KEYS_ONLY);
  const auto& some = request->global_secondary_indexes(1).projection();
  EXPECT_EQ(some.projection_type(), api::v1::PROJECTION_TYPE_INCLUDE);
  EXPECT_THAT(some.non_key_attributes(), testing::ElementsAre("total", "note"));
  EXPECT_EQ(request->global_secondary_indexes(2).projection().projection_type(), api::v1::PROJECTION_TYPE_ALL);
  EXPECT_THAT(Creation({.key = "id", .indexes = {"A=a (keys"}}), HasSubstr("must be the end"));
  EXPECT_THAT(Creation({.key = "id", .indexes = {"A=a (keys) b"}}), HasSubstr("must be the end"));
  EXPECT_THAT(Creation({.key = "id", .indexes = {"A=a ()"}}), HasSubstr("the parentheses hold"));
}

TEST(TableShape, LocalIndexSharesThePartitionOfItsTable) {
  const auto request = CreationOfTable("T", {.key = "id,at", .locals = {"ByTotal=total:N"}});
  ASSERT_TRUE(request.ok()) << request.status();
  const auto& index = request->local_secondary_indexes(0);
  EXPECT_EQ(index.key_schema(0).attribute_name(), "id");
  EXPECT_EQ(index.key_schema(1).attribute_name(), "total");
  EXPECT_THAT(Creation({.key = "id,at", .locals = {"L=a,b"}}), HasSubstr("one sort attribute"));
}

TEST(TableShape, TypeIsGivenOnceAtAnyPlace) {
  const auto request = CreationOfTable("T", {.key = "id", .indexes = {"A=x|n", "B=n:N|x"}});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->attribute_definitions(2).attribute_name(), "n");
  EXPECT_EQ(request->attribute_definitions(2).attribute_type(), api::v1::SCALAR_ATTRIBUTE_TYPE_N);
  EXPECT_THAT(Creation({.key = "id", .indexes = {"A=n:N", "B=n:S"}}), HasSubstr("n has two types"));
}

TEST(TableShape, ColonsMayBelongToNames) {
  const auto request = CreationOfTable("T", {.key = "Country:State:City"});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->key_schema(0).attribute_name(), "Country:State:City");
  const auto typed = CreationOfTable("T", {.key = "a:N:S"});
  ASSERT_TRUE(typed.ok()) << typed.status();
  EXPECT_EQ(typed->key_schema(0).attribute_name(), "a:N");
  for (const char* const key : {"id:X", "id:n", "id:number", "id:"}) {
    EXPECT_THAT(Creation({.key = key}), HasSubstr("no type is called")) << key;
  }
}

TEST(TableShape, FaultsQuoteTheText) {
  EXPECT_THAT(Creation({.key = ""}), HasSubstr("write the key as"));
  EXPECT_THAT(Creation({.key = "a,b,c"}), HasSubstr("'a,b,c': write the key as"));
  EXPECT_THAT(Creation({.key = "a,"}), HasSubstr("has no name"));
  EXPECT_THAT(Creation({.key = "id", .indexes = {"a|b"}}), HasSubstr("'a|b': the index has no name"));
  EXPECT_THAT(Creation({.key = "id", .indexes = {"=a"}}), HasSubstr("the index has no name"));
  EXPECT_THAT(Creation({.key = "id", .indexes = {"X="}}), HasSubstr("the index has no key"));
  EXPECT_THAT(Creation({.key = "id", .indexes = {"X=|a"}}), HasSubstr("no partition attribute"));
}

TEST(TableShape, TwoAttributesOfAnIndexNeedABar) {
  EXPECT_THAT(
      Creation({.key = "id", .indexes = {"X=a,b"}}),
      HasSubstr("is b a sort attribute? Then write 'a | b'; if the partition has both, end with a bar: 'a,b |'"));
  const auto request = CreationOfTable("T", {.key = "id", .indexes = {"X=a,b |"}});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->global_secondary_indexes(0).key_schema(1).key_type(), api::v1::KEY_TYPE_HASH);
}

TEST(TableShape, AddedIndexTakesTypesFromItsTable) {
  api::v1::TableDescription table;
  table.set_table_name("T");
  table.add_attribute_definitions()->set_attribute_name("n");
  table.mutable_attribute_definitions(0)->set_attribute_type(api::v1::SCALAR_ATTRIBUTE_TYPE_N);
  const auto request = AdditionOfIndex(table, "X=n|m");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->attribute_definitions(0).attribute_type(), api::v1::SCALAR_ATTRIBUTE_TYPE_N);
  EXPECT_EQ(request->attribute_definitions(1).attribute_type(), api::v1::SCALAR_ATTRIBUTE_TYPE_S);
  EXPECT_FALSE(AdditionOfIndex(table, "X=n:S").ok());
}

}  // namespace armature::cli::table_shape_test
