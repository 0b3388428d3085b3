#include "daemon/api/pipeline_messages.h"

#include <string>

#include "armature/api/v1/items.pb.h"
#include "gtest/gtest.h"

namespace armature::daemon {
namespace {

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

}  // namespace
}  // namespace armature::daemon
