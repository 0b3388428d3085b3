#include "daemon/message_json/message_documents.h"

#include <gtest/gtest.h>

#include <string>

#include "armature/api/v1/statements.pb.h"
#include "armature/api/v1/tables.pb.h"
#include "daemon/api/table_messages.h"
#include "daemon/message_json/given_fields.h"
#include "daemon/message_json/message_names.h"
#include "tests/unit/daemon/json/document_test_util.h"

namespace armature::daemon::message_documents_test {

namespace v1 = ::armature::api::v1;

TEST(MessageReader, OfMembersWithOneNameTheLastCounts) {
  const auto request = ReadAs<v1::UpdateTableRequest>(R"({"TableName": "A", "BillingMode": "FREE",
      "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "x"}}], "SSESpecification": {"Enabled": true},
      "BillingMode": "PROVISIONED", "TableName": "B", "GlobalSecondaryIndexUpdates": [],
      "SSESpecification": {"SSEType": "NONE"}})");
  ASSERT_TRUE(request.ok()) << request.status();
  const model::TableUpdate update = ToTableUpdate(*request);
  EXPECT_EQ(update.table_name, "B");
  EXPECT_EQ(update.billing_mode, "PROVISIONED");
  EXPECT_TRUE(update.global_index_updates.has_value() && update.global_index_updates->empty());
  EXPECT_FALSE(update.sse->enabled.has_value());
  EXPECT_EQ(update.sse->type, "NONE");
}

// A oneof holds one member only. The engine must see that there are several.
TEST(MessageReader, MembersThatExcludeEachOtherAreAllKept) {
  const auto request = ReadAs<v1::UpdateTableRequest>(R"({"GlobalSecondaryIndexUpdates": [
      {"Update": {"IndexName": "u"}, "Create": {"IndexName": "c", "Projection": {"ProjectionType": "SOME"}},
       "Delete": {"IndexName": "d"}, "Update": {"IndexName": "v"}}]})");
  ASSERT_TRUE(request.ok()) << request.status();
  const model::TableUpdate update = ToTableUpdate(*request);
  const model::GlobalIndexUpdate& entry = update.global_index_updates->at(0);
  EXPECT_EQ(entry.update->index_name, "v");
  EXPECT_EQ(entry.create->index_name, "c");
  EXPECT_EQ(entry.create->projection.projection_type, "SOME");
  EXPECT_EQ(entry.remove, "d");
}

TEST(MessageReader, IntegersBeyond32BitsAreKept) {
  constexpr int kLimit = v1::ListTablesRequest::kLimitFieldNumber;
  EXPECT_EQ(GivenInteger(*ReadAs<v1::ListTablesRequest>(R"({"Limit": 3000000000})"), kLimit), 3'000'000'000);
  EXPECT_EQ(GivenInteger(*ReadAs<v1::ListTablesRequest>(R"({"Limit": -1})"), kLimit), -1);
  EXPECT_EQ(GivenInteger(*ReadAs<v1::ListTablesRequest>(R"({"Limit": 3000000000, "Limit": 7})"), kLimit), 7);
  EXPECT_EQ(GivenInteger(*ReadAs<v1::ListTablesRequest>("{}"), kLimit), std::nullopt);
}

// The protocol has change sequences in headers.
TEST(MessageReader, ChangeSequencesAreNoMembers) {
  const auto request = ReadAs<v1::ExecuteStatementRequest>(R"({"Statement": "s", "AtLeastSequence": "x"})");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->at_least_sequence(), 0U);
  EXPECT_EQ(ReadAs<v1::ExecuteStatementRequest>(R"({"AtLeastSequence": 7})")->at_least_sequence(), 0U);
}

TEST(MessageReader, TheZeroValueOfAnEnumIsNoWord) {
  constexpr int kMode = v1::CreateTableRequest::kBillingModeFieldNumber;
  EXPECT_EQ(GivenEnum(*ReadAs<v1::CreateTableRequest>(R"({"BillingMode": "UNSPECIFIED"})"), kMode), "UNSPECIFIED");
  EXPECT_EQ(GivenEnum(*ReadAs<v1::CreateTableRequest>(R"({"BillingMode": ""})"), kMode), kEmptyWord);
  EXPECT_EQ(GivenEnum(*ReadAs<v1::CreateTableRequest>("{}"), kMode), std::nullopt);
}

TEST(MessageReader, ASmallDocumentMakesNoLargeMessage) {
  std::string document = R"({"GlobalSecondaryIndexes": [)";
  for (size_t i = 0; i < 3 * kListElementsMax; ++i) document += "{},";
  const auto request = ReadAs<v1::CreateTableRequest>(document + R"({"IndexName": "last"}]})");
  ASSERT_TRUE(request.ok()) << request.status();
  ASSERT_EQ(static_cast<size_t>(request->global_secondary_indexes_size()), kListElementsMax);
  EXPECT_EQ(request->global_secondary_indexes().rbegin()->index_name(), "last");
  EXPECT_FALSE(ReadAs<v1::CreateTableRequest>(document + "1]}").ok()) << "what is not kept is read";
}

TEST(MessageNames, FollowTheDocuments) {
  EXPECT_EQ(JsonName("table_name"), "TableName");
  EXPECT_EQ(JsonName("creation_date_time_ms"), "CreationDateTime");
  EXPECT_EQ(JsonName("uptime_ms"), "UptimeMs");
  EXPECT_EQ(JsonName("sse_specification"), "SSESpecification");
  EXPECT_EQ(JsonName("kms_master_key_id"), "KMSMasterKeyId");
  EXPECT_EQ(JsonName("size_estimate_range_gb"), "SizeEstimateRangeGB");
}

}  // namespace armature::daemon::message_documents_test
