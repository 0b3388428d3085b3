#include "daemon/api/item_messages.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "armature/api/v1/items.pb.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"
#include "storage/model/wire.h"

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

// As protobuf requires: of repeated names the last one counts, and repeated values are merged.
TEST(GroupMessages, RepeatedFieldsOfAnEntryAreMerged) {
  const auto list_of = [](const std::string& wire) {
    std::string list;
    model::AppendBytesField(v1::WriteRequestList::kRequestsFieldNumber, wire, &list);
    return list;
  };
  v1::WriteRequest put;
  put.mutable_put_request();
  v1::WriteRequest remove;
  remove.mutable_delete_request();
  std::string entry;
  model::AppendBytesField(2, list_of(put.SerializeAsString()), &entry);
  model::AppendBytesField(1, "first", &entry);
  model::AppendBytesField(2, list_of(remove.SerializeAsString()), &entry);
  model::AppendBytesField(9, "unknown", &entry);
  model::AppendBytesField(1, "second", &entry);
  model::AppendBytesField(2, list_of(put.SerializeAsString()), &entry);
  std::string message;
  model::AppendBytesField(v1::BatchWriteItemRequest::kRequestItemsFieldNumber, entry, &message);

  const auto batch = ParseBatchWriteItem(message);
  ASSERT_TRUE(batch.ok()) << batch.status();
  ASSERT_EQ(batch->tables.size(), 1u);
  EXPECT_EQ(batch->tables[0].table_name, "second");
  std::string kinds;
  for (const engine::BatchWrite& write : batch->tables[0].writes) kinds += write.is_put ? "put " : "delete ";
  EXPECT_EQ(kinds, "put delete put ");
  std::string unnamed;
  model::AppendBytesField(1, "\xFF", &unnamed);
  std::string malformed;
  model::AppendBytesField(v1::BatchWriteItemRequest::kRequestItemsFieldNumber, unnamed, &malformed);
  EXPECT_FALSE(ParseBatchWriteItem(malformed).ok());
}

// The last member of a oneof on the wire counts, and the ones before it are gone.
TEST(GroupMessages, TheLastOperationOfAnElementCounts) {
  v1::WriteRequest put;
  (*put.mutable_put_request()->mutable_item()->mutable_attributes())["pk"].set_s("put");
  v1::WriteRequest remove;
  (*remove.mutable_delete_request()->mutable_key()->mutable_attributes())["pk"].set_s("deleted");
  std::string list;
  for (const v1::WriteRequest* const last : {&remove, &put}) {
    model::AppendBytesField(v1::WriteRequestList::kRequestsFieldNumber,
                            put.SerializeAsString() + remove.SerializeAsString() + last->SerializeAsString(), &list);
  }
  std::string entry;
  model::AppendBytesField(1, "table", &entry);
  model::AppendBytesField(2, list, &entry);
  std::string message;
  model::AppendBytesField(v1::BatchWriteItemRequest::kRequestItemsFieldNumber, entry, &message);
  const auto batch = ParseBatchWriteItem(message);
  ASSERT_TRUE(batch.ok()) << batch.status();
  const std::vector<engine::BatchWrite>& writes = batch->tables.at(0).writes;
  ASSERT_EQ(writes.size(), 2u);
  EXPECT_FALSE(writes[0].is_put);
  EXPECT_TRUE(writes[0].is_delete);
  EXPECT_FALSE(writes[0].put_wire.has_value());
  EXPECT_EQ(writes[0].delete_wire, remove.delete_request().key().SerializeAsString());
  EXPECT_TRUE(writes[1].is_put);
  EXPECT_FALSE(writes[1].is_delete);
  EXPECT_EQ(writes[1].put_wire, put.put_request().item().SerializeAsString());
  EXPECT_FALSE(writes[1].delete_wire.has_value());

  v1::TransactWriteItem first;
  first.mutable_put()->set_table_name("put");
  first.mutable_put()->set_condition_expression("a = b");
  v1::TransactWriteItem second;
  second.mutable_delete_()->set_table_name("deleted");
  std::string request;
  model::AppendBytesField(v1::TransactWriteItemsRequest::kTransactItemsFieldNumber,
                          first.SerializeAsString() + second.SerializeAsString(), &request);
  const auto transaction = ParseTransactWriteItems(request);
  ASSERT_TRUE(transaction.ok()) << transaction.status();
  const engine::TransactAction& action = transaction->actions.at(0);
  EXPECT_EQ(action.kind, engine::WriteKind::kDelete);
  EXPECT_EQ(action.write.table_name, "deleted");
  EXPECT_FALSE(action.write.expressions.condition.has_value());
}

}  // namespace armature::daemon::group_messages_test
