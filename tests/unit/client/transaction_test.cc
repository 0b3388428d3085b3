#include "armature/client/transaction.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/client/fake_connection.h"

namespace armature::client::transaction_test {

using ::testing::SizeIs;

Item Key(std::string_view id) { return ItemBuilder().Set("id", S(id)).Build(); }

TEST(Transaction, HasTheFourActions) {
  Transaction transaction;
  transaction.Put("t", Key("a")).If("attribute_not_exists(#i)").Name("#i", "id");
  transaction.Update("t", Key("b"), "SET x = :x").Value(":x", N(1));
  transaction.Delete("t", Key("c")).If("x = :x").Value(":x", N(2)).ShowItemOnFailure();
  transaction.Check("u", Key("d"), "attribute_exists(x)");
  const api::v1::TransactWriteItemsRequest& request = transaction.request();
  ASSERT_EQ(request.transact_items_size(), 4);
  EXPECT_EQ(request.transact_items(0).put().condition_expression(), "attribute_not_exists(#i)");
  EXPECT_EQ(request.transact_items(0).put().expression_attribute_names().at("#i"), "id");
  EXPECT_EQ(request.transact_items(1).update().update_expression(), "SET x = :x");
  EXPECT_EQ(request.transact_items(2).delete_().expression_attribute_values().at(":x").n(), "2");
  EXPECT_EQ(request.transact_items(2).delete_().return_values_on_condition_check_failure(),
            api::v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD);
  EXPECT_EQ(request.transact_items(3).condition_check().table_name(), "u");
}

TEST(Transaction, EachHasATokenOfItsOwn) {
  EXPECT_EQ(NewClientToken().size(), 32u);
  EXPECT_NE(Transaction().request().client_request_token(), Transaction().request().client_request_token());
}

TEST(Transaction, ARequestWithoutATokenGetsOneAndKeepsItOverAttempts) {
  FakeClient fake;
  fake.connection->Fail(absl::UnavailableError("lost"));
  fake.connection->Answer(api::v1::TransactWriteItemsResponse());
  api::v1::TransactWriteItemsRequest request;
  request.add_transact_items()->mutable_put()->set_table_name("t");
  ASSERT_TRUE(fake.Make().TransactWriteItems(request).ok());
  ASSERT_THAT(fake.connection->seen, SizeIs(2));
  const auto first = fake.connection->RequestOf<api::v1::TransactWriteItemsRequest>(0);
  const auto second = fake.connection->RequestOf<api::v1::TransactWriteItemsRequest>(1);
  EXPECT_THAT(first.client_request_token(), SizeIs(32));
  EXPECT_EQ(first.client_request_token(), second.client_request_token());
  request.set_client_request_token("mine");
  ASSERT_TRUE(fake.Make().TransactWriteItems(request).ok());
  EXPECT_EQ(fake.connection->RequestOf<api::v1::TransactWriteItemsRequest>(2).client_request_token(), "mine");
}

TEST(Transaction, AConflictIsRepeatedAndAFalseConditionIsNot) {
  const auto cancelled = [](std::initializer_list<const char*> codes) {
    api::v1::ErrorDetail detail;
    detail.set_exception("TransactionCanceledException");
    for (const char* const code : codes) detail.add_cancellation_reasons()->set_code(code);
    return WithDetail(absl::AbortedError("cancelled"), detail);
  };
  EXPECT_TRUE(IsTransient(cancelled({"None", "TransactionConflict"})));
  EXPECT_TRUE(IsTransient(cancelled({"ThrottlingError", "ProvisionedThroughputExceeded"})));
  EXPECT_FALSE(IsTransient(cancelled({"TransactionConflict", "ConditionalCheckFailed"})));
  EXPECT_FALSE(IsTransient(cancelled({"ValidationError"})));
  EXPECT_FALSE(IsTransient(cancelled({})));
  EXPECT_TRUE(IsTransient(ApiError(absl::StatusCode::kAborted, "TransactionConflictException")));
  EXPECT_TRUE(IsTransient(ApiError(absl::StatusCode::kAborted, "TransactionInProgressException")));
}

}  // namespace armature::client::transaction_test
