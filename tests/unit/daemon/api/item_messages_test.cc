#include "daemon/api/item_messages.h"

#include <gtest/gtest.h>

#include <string>

#include "armature/api/v1/items.pb.h"
#include "gtest/gtest.h"
#include "storage/base/api_error.h"
#include "tests/unit/storage/codec/codec_test_util.h"

namespace armature::daemon::item_messages_test {

namespace v1 = ::armature::api::v1;

TEST(ItemMessages, UpdateHandsItsKeyAndValuesOverAsTheyStandOnTheWire) {
  v1::UpdateItemRequest message;
  message.set_table_name("T");
  (*message.mutable_key()->mutable_attributes())["pk"].set_s("a");
  message.set_update_expression("SET #n = :v");
  message.set_condition_expression("attribute_exists(#n)");
  (*message.mutable_expression_attribute_names())["#n"] = "name";
  (*message.mutable_expression_attribute_values())[":v"].set_n("1.0");
  message.set_return_values(v1::RETURN_VALUES_UPDATED_OLD);
  message.set_return_values_on_condition_check_failure(v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD);
  message.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_TOTAL);
  const absl::StatusOr<engine::WriteRequest> request = ParseUpdateItem(message.SerializeAsString());
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->table_name, "T");
  EXPECT_EQ(request->message_bytes, message.SerializeAsString().size());
  EXPECT_EQ(request->item_wire, codec::Item({{"pk", codec::S("a")}}));
  EXPECT_EQ(request->expressions.update, "SET #n = :v");
  EXPECT_EQ(request->expressions.condition, "attribute_exists(#n)");
  EXPECT_EQ(request->expressions.names->at("#n"), "name");
  EXPECT_EQ(request->expressions.values_wire, codec::Item({{":v", codec::N("1.0")}}));
  EXPECT_EQ(request->return_values, "UPDATED_OLD");
  EXPECT_EQ(request->return_values_on_condition_check_failure, "ALL_OLD");
  EXPECT_EQ(request->return_consumed_capacity, "TOTAL");
  EXPECT_TRUE(request->expressions.legacy.empty());
}

TEST(ItemMessages, GroupsKnowTheSizeOfTheirMessages) {
  v1::TransactGetItemsRequest gets;
  gets.add_transact_items()->mutable_get()->set_table_name("T");
  EXPECT_EQ(ParseTransactGetItems(gets.SerializeAsString())->message_bytes, gets.SerializeAsString().size());
  v1::TransactWriteItemsRequest writes;
  writes.add_transact_items()->mutable_put()->set_table_name("T");
  EXPECT_EQ(ParseTransactWriteItems(writes.SerializeAsString())->message_bytes, writes.SerializeAsString().size());
}

TEST(ItemMessages, AbsentAndEmptyUpdateExpressionsDiffer) {
  v1::UpdateItemRequest message;
  EXPECT_FALSE(ParseUpdateItem(message.SerializeAsString())->expressions.update.has_value());
  message.set_update_expression("");
  EXPECT_EQ(ParseUpdateItem(message.SerializeAsString())->expressions.update, "");
}

TEST(ItemMessages, UpdateHasLegacyParameters) {
  v1::UpdateItemRequest message;
  message.set_conditional_operator(v1::CONDITIONAL_OPERATOR_OR);
  (*message.mutable_expected())["a"].set_exists(false);
  (*message.mutable_attribute_updates())["b"].mutable_value()->set_s("x");
  const absl::StatusOr<engine::WriteRequest> request = ParseUpdateItem(message.SerializeAsString());
  ASSERT_TRUE(request.ok()) << request.status();
  const engine::LegacyParameters& legacy = request->expressions.legacy;
  EXPECT_EQ(legacy.conditional_operator, "OR");
  ASSERT_TRUE(legacy.expected.has_value());
  ASSERT_EQ(legacy.expected->size(), 1U);
  EXPECT_EQ(legacy.expected->at(0).attribute, "a");
  ASSERT_TRUE(legacy.attribute_updates.has_value());
  ASSERT_EQ(legacy.attribute_updates->size(), 1U);
  EXPECT_EQ(legacy.attribute_updates->at(0).value_wire, codec::S("x"));
}

TEST(ItemMessages, WritesTellTheItemCollection) {
  engine::WriteResult result;
  result.change_sequence = 7;
  v1::UpdateItemResponse message;
  ASSERT_TRUE(message.ParseFromString(SerializeRest(result)));
  EXPECT_FALSE(message.has_item_collection_metrics());
  result.collection = engine::ItemCollectionMetrics{codec::Item({{"pk", codec::S("a")}}), 2, 3};
  // All three answers have the same fields.
  v1::PutItemResponse put;
  v1::DeleteItemResponse removal;
  ASSERT_TRUE(message.ParseFromString(SerializeRest(result)));
  ASSERT_TRUE(put.ParseFromString(SerializeRest(result)));
  ASSERT_TRUE(removal.ParseFromString(SerializeRest(result)));
  EXPECT_EQ(message.change_sequence(), 7u);
  for (const v1::ItemCollectionMetrics& metrics :
       {message.item_collection_metrics(), put.item_collection_metrics(), removal.item_collection_metrics()}) {
    EXPECT_EQ(metrics.item_collection_key().attributes().at("pk").s(), "a");
    ASSERT_EQ(metrics.size_estimate_range_gb_size(), 2);
    EXPECT_EQ(metrics.size_estimate_range_gb(0), 2.0);
    EXPECT_EQ(metrics.size_estimate_range_gb(1), 3.0);
  }
}

TEST(ItemMessages, UpdateThatIsNoMessageIsASerializationException) {
  const absl::Status status = ParseUpdateItem("\xff").status();
  ASSERT_TRUE(GetApiError(status).has_value()) << status;
  EXPECT_EQ(GetApiError(status)->type, ApiErrorType::kSerialization);
}

}  // namespace armature::daemon::item_messages_test

namespace armature::daemon::pipeline_messages_test {

namespace v1 = ::armature::api::v1;

PipelineOperation Parsed(const std::string& message) {
  PipelineOperation operation;
  EXPECT_TRUE(ParsePipelineRequest(message, &operation).ok());
  return operation;
}

TEST(PipelineMessages, TheNumbersAreThoseOfTheMessages) {
  EXPECT_EQ(kPipelineNumberFirst, uint32_t{v1::PipelineRequest::kGetItemFieldNumber});
  EXPECT_EQ(kPipelineNumberLast, uint32_t{v1::PipelineRequest::kTransactWriteItemsFieldNumber});
  EXPECT_EQ(kPipelineErrorNumber, uint32_t{v1::PipelineResponse::kErrorFieldNumber});
  // A response has the field number of its operation.
  const auto* const requests = v1::PipelineRequest::descriptor();
  const auto* const responses = v1::PipelineResponse::descriptor();
  for (int number = kPipelineNumberFirst; number <= static_cast<int>(kPipelineNumberLast); ++number) {
    EXPECT_EQ(requests->FindFieldByNumber(number)->name(), responses->FindFieldByNumber(number)->name());
  }
}

TEST(PipelineMessages, TheOperationIsLeftAsItStands) {
  v1::PipelineRequest request;
  request.set_id(300);
  request.mutable_put_item()->set_table_name("t");
  const std::string bytes = request.SerializeAsString();
  const PipelineOperation operation = Parsed(bytes);
  EXPECT_EQ(operation.id, 300u);
  EXPECT_EQ(operation.number, 3u);
  EXPECT_EQ(operation.request, request.put_item().SerializeAsString());
}

TEST(PipelineMessages, NothingIsAnOperationToo) {
  EXPECT_EQ(Parsed("").number, 0u);
  // Field 14 is unknown.
  EXPECT_EQ(Parsed(std::string("\x72\x01x", 3)).number, 0u);
}

// Parsing the bytes as a message must give the same result.
TEST(PipelineMessages, OfSeveralOperationsTheLastCountsAndPiecesAreMerged) {
  v1::PipelineRequest first;
  first.mutable_get_item()->set_table_name("first");
  v1::PipelineRequest second;
  second.mutable_get_item()->set_consistent_read(true);
  v1::PipelineRequest other;
  other.mutable_delete_item()->set_table_name("other");
  const std::string merged = first.SerializeAsString() + second.SerializeAsString();
  const PipelineOperation operation = Parsed(merged);
  v1::GetItemRequest get;
  ASSERT_TRUE(get.ParseFromString(std::string(operation.request)));
  EXPECT_EQ(get.table_name(), "first");
  EXPECT_TRUE(get.consistent_read());
  EXPECT_EQ(Parsed(merged + other.SerializeAsString()).number, 5u);
}

TEST(PipelineMessages, WhatIsNoMessageIsRefused) {
  v1::PipelineRequest request;
  request.set_id(5);
  request.mutable_get_item()->set_table_name("t");
  const std::string bytes = request.SerializeAsString();
  for (size_t length = 1; length < bytes.size(); ++length) {
    PipelineOperation operation;
    // The id alone is a complete message.
    EXPECT_EQ(ParsePipelineRequest(std::string_view(bytes).substr(0, length), &operation).ok(), length == 2) << length;
  }
  for (const std::string& wrong : {std::string("\x0A\x01x"), std::string("\x10\x01"), std::string("\x0B")}) {
    PipelineOperation operation;
    EXPECT_FALSE(ParsePipelineRequest(wrong, &operation).ok());
  }
}

TEST(PipelineMessages, HeadAndResultAreAResponse) {
  v1::GetItemResponse result;
  (*result.mutable_item()->mutable_attributes())["id"].set_s(std::string(1000, 'x'));
  const std::string bytes = result.SerializeAsString();
  v1::PipelineResponse response;
  ASSERT_TRUE(response.ParseFromString(PipelineResponseHead(1'000'000, 2, bytes.size()) + bytes));
  EXPECT_EQ(response.id(), 1'000'000u);
  ASSERT_TRUE(response.has_get_item());
  EXPECT_EQ(response.get_item().SerializeAsString(), bytes);
}

}  // namespace armature::daemon::pipeline_messages_test
