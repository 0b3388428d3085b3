#include "daemon/json/item_requests.h"

#include <gtest/gtest.h>

#include <string>

#include "storage/base/strings.h"
#include "storage/model/limits.h"

namespace armature::daemon::item_requests_test {

constexpr int kMany = 5000;

std::string Repeated(const std::string& element, int times) {
  std::string list = "[";
  for (int i = 0; i < times; ++i) list += (i == 0 ? "" : ",") + element;
  return list + "]";
}

// Tables named t0, t1, ..., each with `value`.
std::string Tables(const std::string& value, int times) {
  std::string map = "{";
  for (int i = 0; i < times; ++i) map += Cat(i == 0 ? "" : ",", "\"t", i, "\":", value);
  return map + "}";
}

std::string RequestItems(const std::string& value) { return Cat("{\"RequestItems\":", value, "}"); }
std::string TransactItems(const std::string& value) { return Cat("{\"TransactItems\":", value, "}"); }

// Three bytes of JSON would take hundreds in memory.
TEST(GroupRequests, ListsBeyondTheirLimitsAreNotKept) {
  const auto keys = ParseBatchGetItem(RequestItems(Cat("{\"table\":{\"Keys\":", Repeated("{}", kMany), "}}")));
  ASSERT_TRUE(keys.ok()) << keys.status();
  EXPECT_EQ(keys->tables.at(0).key_wires->size(), model::kBatchGetKeysMax + 1);
  const auto tables = ParseBatchGetItem(RequestItems(Tables("{}", kMany)));
  ASSERT_TRUE(tables.ok()) << tables.status();
  EXPECT_EQ(tables->tables.size(), model::kBatchGetKeysMax + 1);

  const auto writes = ParseBatchWriteItem(RequestItems(Cat("{\"table\":", Repeated("{}", kMany), "}")));
  ASSERT_TRUE(writes.ok()) << writes.status();
  EXPECT_EQ(writes->tables.at(0).writes.size(), model::kBatchWritesMax + 1);
  const auto written_tables = ParseBatchWriteItem(RequestItems(Tables("[{}]", kMany)));
  ASSERT_TRUE(written_tables.ok()) << written_tables.status();
  EXPECT_EQ(written_tables->tables.size(), model::kBatchWritesMax + 1);

  const auto gets = ParseTransactGetItems(TransactItems(Repeated("{}", kMany)));
  ASSERT_TRUE(gets.ok()) << gets.status();
  EXPECT_EQ(gets->gets.size(), model::kTransactActionsMax + 1);
  const auto actions = ParseTransactWriteItems(TransactItems(Repeated("{}", kMany)));
  ASSERT_TRUE(actions.ok()) << actions.status();
  EXPECT_EQ(actions->actions.size(), model::kTransactActionsMax + 1);
}

TEST(GroupRequests, WhatIsNotKeptIsStillRead) {
  EXPECT_FALSE(ParseTransactWriteItems(TransactItems("[{},{},7]")).ok());
  const std::string many = Repeated("{}", kMany);
  EXPECT_FALSE(ParseTransactWriteItems(TransactItems(many.substr(0, many.size() - 1) + ",7]")).ok());
  EXPECT_FALSE(ParseTransactGetItems(TransactItems(many.substr(0, many.size() - 1) + ",7]")).ok());
}

TEST(GroupRequests, OfTwoTablesWithOneNameTheLastCounts) {
  const auto request = ParseBatchWriteItem(RequestItems("{\"a\":[{},{}],\"b\":[{}],\"a\":[{}]}"));
  ASSERT_TRUE(request.ok()) << request.status();
  ASSERT_EQ(request->tables.size(), 2u);
  EXPECT_EQ(request->tables[0].table_name, "b");
  EXPECT_EQ(request->tables[1].table_name, "a");
  EXPECT_EQ(request->tables[1].writes.size(), 1u);
}

TEST(ItemRequests, OfMembersWithOneNameTheLastCounts) {
  const auto put = ParsePutItem(R"({"TableName":"a","Item":{"x":{"S":"1"}},"Expected":{"a":{"Exists":true}},)"
                                R"("TableName":"b","Item":{},"Expected":{"c":{"Exists":false},"b":{}}})");
  ASSERT_TRUE(put.ok()) << put.status();
  EXPECT_EQ(put->table_name, "b");
  EXPECT_EQ(put->item_wire, "");
  ASSERT_EQ(put->expressions.legacy.expected->size(), 2U);
  EXPECT_EQ(put->expressions.legacy.expected->at(0).attribute, "b");
  EXPECT_EQ(put->expressions.legacy.expected->at(1).exists, false);
}

// In documents, absent members differ from empty ones.
TEST(ItemRequests, AbsentMembersAreNotEmpty) {
  const auto query = ParseQuery("{}");
  ASSERT_TRUE(query.ok());
  EXPECT_FALSE(query->table_name.has_value());
  EXPECT_FALSE(query->expressions.legacy.attributes_to_get.has_value());
  const auto empty = ParseQuery(R"({"TableName":"","AttributesToGet":[],"Select":""})");
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->table_name, "");
  EXPECT_TRUE(empty->expressions.legacy.attributes_to_get->empty());
  EXPECT_EQ(empty->select, kEmptyWord);
  EXPECT_FALSE(ParseTransactGetItems("{}")->given);
}

// The messages of gRPC have this field. The JSON protocol has it in a header.
TEST(ItemRequests, TheSequenceOfAQueryIsNoMember) {
  const auto query = ParseQuery(R"({"TableName":"t","AtLeastSequence":7})");
  ASSERT_TRUE(query.ok());
  EXPECT_EQ(query->at_least_sequence, 0U);
}

TEST(ItemRequests, AnActionMayHaveTheMembersOfAllActions) {
  const auto writes = ParseTransactWriteItems(TransactItems(
      R"([{"ConditionCheck":{"Item":{"a":{"S":"x"}},"UpdateExpression":"u"},"Put":{"Key":{"b":{"S":"y"}}}}])"));
  ASSERT_TRUE(writes.ok()) << writes.status();
  ASSERT_EQ(writes->actions.size(), 1U);
  EXPECT_EQ(writes->actions[0].given, 2U);
  EXPECT_EQ(writes->actions[0].kind, engine::WriteKind::kPut);
  EXPECT_TRUE(writes->actions[0].write.item_wire.has_value());
  EXPECT_FALSE(writes->actions[0].write.expressions.update.has_value());
}

}  // namespace armature::daemon::item_requests_test
