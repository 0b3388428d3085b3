// Hints beside the errors of the daemon.

#include <memory>
#include <string>

#include "armature/client/errors.h"
#include "armature/client/item_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/client/fake_connection.h"

namespace armature::client::hints_test {

class HintsTest : public ::testing::Test {
 protected:
  HintsTest() : client_(connection_, Options()) {}

  static ClientOptions Options() {
    ClientOptions options;
    options.retry = NoRetries();
    return options;
  }

  void Refuse(const std::string& message, const std::string& exception = "ValidationException") {
    api::v1::ErrorDetail detail;
    detail.set_exception(exception);
    connection_->Fail(WithDetail(absl::InvalidArgumentError(message), detail));
  }

  // Lets the client see a description. The next call is refused with the message.
  void DescribeThenRefuse(const std::string& table, const std::string& message) {
    api::v1::DescribeTableResponse response;
    response.mutable_table()->set_table_name(table);
    const auto define = [&](const std::string& name, api::v1::ScalarAttributeType type) {
      auto* const definition = response.mutable_table()->add_attribute_definitions();
      definition->set_attribute_name(name);
      definition->set_attribute_type(type);
    };
    define("user", api::v1::SCALAR_ATTRIBUTE_TYPE_S);
    define("at", api::v1::SCALAR_ATTRIBUTE_TYPE_N);
    response.mutable_table()->add_key_schema()->set_attribute_name("user");
    auto* const index = response.mutable_table()->add_global_secondary_indexes();
    index->set_index_name("by_time");
    index->add_key_schema()->set_attribute_name("at");
    connection_->Answer(response);
    Refuse(message);
    ASSERT_TRUE(client_.DescribeTable({}).ok());
  }

  const std::shared_ptr<FakeConnection> connection_ = std::make_shared<FakeConnection>();
  const Client client_;
};

TEST_F(HintsTest, LeaveTheTextOfTheDaemonAsItIs) {
  Refuse("Requested resource not found", "ResourceNotFoundException");
  api::v1::GetItemRequest get;
  get.set_table_name("users");
  const absl::Status status = client_.GetItem(get).status();
  EXPECT_EQ(status.message(), "Requested resource not found");
  EXPECT_EQ(HintOf(status), "table users");
  EXPECT_EQ(Describe(status), "ResourceNotFoundException: Requested resource not found (table users)");
}

TEST_F(HintsTest, NameTheKeyThatWasGivenAndThatOfTheTable) {
  DescribeThenRefuse("visits", "The provided key element does not match the schema");
  api::v1::GetItemRequest get;
  get.set_table_name("visits");
  *get.mutable_key() = ItemBuilder().Set("usr", S("ann")).Set("at", N("1")).Build();
  EXPECT_EQ(HintOf(client_.GetItem(get).status()),
            "table visits; the given key is at (N), usr (S); the key of visits is user (S)");
}

TEST_F(HintsTest, NameTheAttributesOfAKeyCondition) {
  DescribeThenRefuse("visits", "Query condition missed key schema element: at");
  api::v1::QueryRequest query;
  query.set_table_name("visits");
  query.set_index_name("by_time");
  query.set_key_condition_expression("#u = :u AND begins_with(day, :d) and n BETWEEN :1 AND :2");
  (*query.mutable_expression_attribute_names())["#u"] = "user";
  EXPECT_EQ(HintOf(client_.Query(query).status()),
            "table visits; index by_time; the key condition names user, day, n; the key of visits/by_time is at (N)");
}

TEST_F(HintsTest, NameTheTablesOfATransaction) {
  Refuse("Requested resource not found");
  api::v1::TransactWriteItemsRequest request;
  request.add_transact_items()->mutable_put()->set_table_name("users");
  request.add_transact_items()->mutable_delete_()->set_table_name("orders");
  EXPECT_EQ(HintOf(client_.TransactWriteItems(request).status()), "tables orders, users");
}

TEST_F(HintsTest, NameTheLargestAttribute) {
  Refuse("Item size has exceeded the maximum allowed size");
  api::v1::PutItemRequest put;
  put.set_table_name("users");
  *put.mutable_item() = ItemBuilder().Set("id", S("ann")).Set("text", S(std::string(10, 'x'))).Build();
  EXPECT_EQ(HintOf(client_.PutItem(put).status()),
            "table users; an item has at most 409600 bytes, with the names of its attributes; the largest attribute is "
            "text with 12 bytes");
}

TEST_F(HintsTest, FindANumberWithTooManyDigits) {
  Refuse("Attempting to store more than 38 significant digits in a Number");
  api::v1::PutItemRequest put;
  put.set_table_name("users");
  const std::string digits = "1" + std::string(38, '2');
  *put.mutable_item() =
      ItemBuilder().Set("a", N("100e30")).Set("m", M({{"l", L({N("1"), N("-0.0" + digits)})}})).Build();
  EXPECT_EQ(HintOf(client_.PutItem(put).status()), "table users; the number is in the attribute m.l[1]");
  api::v1::UpdateItemRequest update;
  update.set_table_name("users");
  (*update.mutable_expression_attribute_values())[":a"] = N(digits);
  EXPECT_EQ(HintOf(client_.UpdateItem(update).status()), "table users; the number is in the value :a");
}

TEST_F(HintsTest, HaveTheWayOutForReservedWords) {
  Refuse("Attribute name is a reserved keyword; reserved keyword: status");
  api::v1::PutItemRequest put;
  EXPECT_EQ(HintOf(client_.PutItem(put).status()),
            "in an expression, #status stands for the attribute status if expression_attribute_names has it");
}

TEST_F(HintsTest, AreNotGivenForErrorsOfTheNetwork) {
  connection_->Fail(absl::UnavailableError("lost"));
  api::v1::GetItemRequest get;
  get.set_table_name("users");
  EXPECT_EQ(HintOf(client_.GetItem(get).status()), "");
}

}  // namespace armature::client::hints_test
