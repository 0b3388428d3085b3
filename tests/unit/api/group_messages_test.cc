#include "daemon/api/item_messages.h"

#include <gtest/gtest.h>

#include <string>

#include "armature/api/v1/items.pb.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"

namespace armature::daemon::group_messages_test {

namespace v1 = ::armature::api::v1;

constexpr int kMany = 5000;

// Two bytes of a message would take hundreds in memory.
TEST(GroupMessages, ListsBeyondTheirLimitsAreNotKept) {
  v1::BatchGetItemRequest many_keys;
  v1::BatchGetItemRequest many_tables;
  v1::BatchWriteItemRequest many_writes;
  v1::BatchWriteItemRequest many_written_tables;
  v1::TransactGetItemsRequest many_gets;
  v1::TransactWriteItemsRequest many_actions;
  for (int i = 0; i < kMany; ++i) {
    (*many_keys.mutable_request_items())["table"].add_keys();
    (*many_tables.mutable_request_items())[Cat("t", i)].add_keys();
    (*many_writes.mutable_request_items())["table"].add_requests();
    (*many_written_tables.mutable_request_items())[Cat("t", i)].add_requests();
    many_gets.add_transact_items();
    many_actions.add_transact_items();
  }
  const auto keys = ParseBatchGetItem(many_keys.SerializeAsString());
  ASSERT_TRUE(keys.ok()) << keys.status();
  EXPECT_EQ(keys->tables.at(0).key_wires->size(), model::kBatchGetKeysMax + 1);
  const auto tables = ParseBatchGetItem(many_tables.SerializeAsString());
  ASSERT_TRUE(tables.ok()) << tables.status();
  EXPECT_EQ(tables->tables.size(), model::kBatchGetKeysMax + 1);

  const auto writes = ParseBatchWriteItem(many_writes.SerializeAsString());
  ASSERT_TRUE(writes.ok()) << writes.status();
  EXPECT_EQ(writes->tables.at(0).writes.size(), model::kBatchWritesMax + 1);
  const auto written_tables = ParseBatchWriteItem(many_written_tables.SerializeAsString());
  ASSERT_TRUE(written_tables.ok()) << written_tables.status();
  EXPECT_EQ(written_tables->tables.size(), model::kBatchWritesMax + 1);

  const auto gets = ParseTransactGetItems(many_gets.SerializeAsString());
  ASSERT_TRUE(gets.ok()) << gets.status();
  EXPECT_EQ(gets->gets.size(), model::kTransactActionsMax + 1);
  const auto actions = ParseTransactWriteItems(many_actions.SerializeAsString());
  ASSERT_TRUE(actions.ok()) << actions.status();
  EXPECT_EQ(actions->actions.size(), model::kTransactActionsMax + 1);
}

TEST(GroupMessages, WhatIsNotKeptIsStillRead) {
  v1::TransactWriteItemsRequest request;
  for (int i = 0; i < kMany; ++i) request.add_transact_items();
  // An element with the wrong wire type.
  EXPECT_FALSE(ParseTransactWriteItems(request.SerializeAsString() + std::string("\x08\x07")).ok());
}

}  // namespace armature::daemon::group_messages_test
