#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "armature/client/client.h"
#include "armature/client/item_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/strings.h"
#include "tests/unit/client/fake_connection.h"

namespace armature::client {
namespace {

using ::testing::SizeIs;

constexpr std::string_view kArn = "arn:aws:dynamodb:local:000000000000:table/";

template <class Request>
Request On(std::string_view table) {
  Request request;
  request.set_table_name(std::string(table));
  return request;
}

template <class Response>
Response At(uint64_t sequence) {
  Response response;
  response.set_change_sequence(sequence);
  return response;
}

// Answers writes with the configured sequence, and other requests with an empty message.
class SequenceConnection final : public Connection {
 public:
  absl::Status Call(const Method& method, const CallContext&, const google::protobuf::Message& request,
                    google::protobuf::Message* response) override {
    if (!failure.ok()) return failure;
    const auto* field = response->GetDescriptor()->FindFieldByName("change_sequence");
    if (field != nullptr) response->GetReflection()->SetUInt64(response, field, next_sequence);
    if (method.name == "Query") query = static_cast<const api::v1::QueryRequest&>(request);
    if (method.name == "Scan") scan = static_cast<const api::v1::ScanRequest&>(request);
    if (during_call) std::exchange(during_call, nullptr)();
    return absl::OkStatus();
  }

  uint64_t next_sequence = 0;
  absl::Status failure;
  std::function<void()> during_call;  // called before the next answer is returned
  api::v1::QueryRequest query;        // last request
  api::v1::ScanRequest scan;
};

class ReadYourWrites : public ::testing::Test {
 protected:
  void Put(std::string_view table, uint64_t sequence) {
    connection_->next_sequence = sequence;
    ASSERT_TRUE(client_.PutItem(On<api::v1::PutItemRequest>(table)).ok());
  }
  // The sequence that a query of an index of the table demands.
  static uint64_t Demanded(const Client& client, SequenceConnection& connection, std::string_view table) {
    auto request = On<api::v1::QueryRequest>(table);
    request.set_index_name("by_x");
    EXPECT_TRUE(client.Query(request).ok());
    return connection.query.at_least_sequence();
  }
  uint64_t Demanded(std::string_view table) { return Demanded(client_, *connection_, table); }

  std::shared_ptr<SequenceConnection> connection_ = std::make_shared<SequenceConnection>();
  const Client plain_{connection_};
  const Client client_ = plain_.WithReadYourWrites();
};

TEST_F(ReadYourWrites, QueriesAndScansOfAnIndexDemandTheHighestSequenceOfTheTable) {
  EXPECT_EQ(Demanded("orders"), 0u);
  Put("orders", 7);
  Put("orders", 12);
  Put("orders", 9);
  Put("users", 40);
  EXPECT_EQ(Demanded("orders"), 12u);
  EXPECT_EQ(Demanded("users"), 40u);
  EXPECT_EQ(Demanded("others"), 0u);
  auto scan = On<api::v1::ScanRequest>("orders");
  scan.set_index_name("by_x");
  ASSERT_TRUE(client_.Scan(scan).ok());
  EXPECT_EQ(connection_->scan.at_least_sequence(), 12u);
}

TEST_F(ReadYourWrites, NothingIsDemandedOfTables) {
  Put("orders", 7);
  ASSERT_TRUE(client_.Query(On<api::v1::QueryRequest>("orders")).ok());
  EXPECT_EQ(connection_->query.at_least_sequence(), 0u);
  ASSERT_TRUE(client_.Scan(On<api::v1::ScanRequest>("orders")).ok());
  EXPECT_EQ(connection_->scan.at_least_sequence(), 0u);
}

TEST_F(ReadYourWrites, ARequestsOwnSequenceCountsIfItIsHigher) {
  Put("orders", 7);
  auto request = On<api::v1::QueryRequest>("orders");
  request.set_index_name("by_x");
  for (const auto& [own, demanded] : {std::pair<uint64_t, uint64_t>{6, 7}, {7, 7}, {8, 8}}) {
    request.set_at_least_sequence(own);
    ASSERT_TRUE(client_.Query(request).ok());
    EXPECT_EQ(connection_->query.at_least_sequence(), demanded) << own;
  }
}

TEST_F(ReadYourWrites, TheRestOfTheRequestStaysAsItIs) {
  Put("orders", 7);
  auto request = On<api::v1::QueryRequest>("orders");
  request.set_index_name("by_x");
  request.set_key_condition_expression("a = :a");
  (*request.mutable_expression_attribute_values())[":a"] = S("b");
  request.set_limit(3);
  ASSERT_TRUE(client_.Query(request).ok());
  request.set_at_least_sequence(7);
  EXPECT_EQ(connection_->query.DebugString(), request.DebugString());
}

TEST_F(ReadYourWrites, ArnsAndNamesMeanTheSameTable) {
  Put(Cat(kArn, "orders"), 7);
  EXPECT_EQ(Demanded("orders"), 7u);
  Put("users", 8);
  EXPECT_EQ(Demanded(Cat(kArn, "users")), 8u);
}

TEST_F(ReadYourWrites, EveryKindOfWriteCounts) {
  connection_->next_sequence = 3;
  ASSERT_TRUE(client_.UpdateItem(On<api::v1::UpdateItemRequest>("a")).ok());
  EXPECT_EQ(Demanded("a"), 3u);
  connection_->next_sequence = 4;
  ASSERT_TRUE(client_.DeleteItem(On<api::v1::DeleteItemRequest>("a")).ok());
  EXPECT_EQ(Demanded("a"), 4u);

  connection_->next_sequence = 5;
  api::v1::BatchWriteItemRequest batch;
  (*batch.mutable_request_items())["a"].add_requests();
  (*batch.mutable_request_items())["b"].add_requests();
  ASSERT_TRUE(client_.BatchWriteItem(batch).ok());
  EXPECT_EQ(Demanded("a"), 5u);
  EXPECT_EQ(Demanded("b"), 5u);

  connection_->next_sequence = 6;
  api::v1::TransactWriteItemsRequest transaction;
  transaction.add_transact_items()->mutable_put()->set_table_name("a");
  transaction.add_transact_items()->mutable_delete_()->set_table_name("b");
  transaction.add_transact_items()->mutable_update()->set_table_name("c");
  transaction.add_transact_items()->mutable_condition_check()->set_table_name("d");
  ASSERT_TRUE(client_.TransactWriteItems(transaction).ok());
  EXPECT_EQ(Demanded("a"), 6u);
  EXPECT_EQ(Demanded("b"), 6u);
  EXPECT_EQ(Demanded("c"), 6u);
  EXPECT_EQ(Demanded("d"), 0u) << "only looked at";
}

TEST_F(ReadYourWrites, FailedWritesAreNotRemembered) {
  connection_->next_sequence = 7;
  connection_->failure = ApiError(absl::StatusCode::kFailedPrecondition, "ConditionalCheckFailedException");
  EXPECT_FALSE(client_.PutItem(On<api::v1::PutItemRequest>("orders")).ok());
  connection_->failure = absl::OkStatus();
  EXPECT_EQ(Demanded("orders"), 0u);
}

TEST_F(ReadYourWrites, CopiesShareTheSessionAndOthersDoNot) {
  const Client copy = client_;
  const Client other = client_.WithReadYourWrites();
  connection_->next_sequence = 7;
  ASSERT_TRUE(copy.PutItem(On<api::v1::PutItemRequest>("orders")).ok());
  EXPECT_EQ(Demanded(client_, *connection_, "orders"), 7u);
  EXPECT_EQ(Demanded(other, *connection_, "orders"), 0u);
  EXPECT_EQ(Demanded(plain_, *connection_, "orders"), 0u);
  connection_->next_sequence = 9;
  ASSERT_TRUE(other.PutItem(On<api::v1::PutItemRequest>("orders")).ok());
  ASSERT_TRUE(plain_.PutItem(On<api::v1::PutItemRequest>("orders")).ok());
  EXPECT_EQ(Demanded(client_, *connection_, "orders"), 7u);
}

TEST_F(ReadYourWrites, PagesAndItemsBelongToTheSession) {
  Put("orders", 7);
  auto query = On<api::v1::QueryRequest>("orders");
  query.set_index_name("by_x");
  ASSERT_TRUE(client_.QueryPages(query).NextPage().ok());
  EXPECT_EQ(connection_->query.at_least_sequence(), 7u);
  auto scan = On<api::v1::ScanRequest>("orders");
  scan.set_index_name("by_x");
  ASSERT_TRUE(client_.ScanItems(scan).NextItem().ok());
  EXPECT_EQ(connection_->scan.at_least_sequence(), 7u);
}

TEST_F(ReadYourWrites, ADeletedTableIsForgotten) {
  Put("orders", 7);
  Put("users", 8);
  connection_->failure = ApiError(absl::StatusCode::kInvalidArgument, "ValidationException");
  EXPECT_FALSE(client_.DeleteTable(On<api::v1::DeleteTableRequest>("orders")).ok());
  connection_->failure = absl::OkStatus();
  EXPECT_EQ(Demanded("orders"), 7u) << "still there";
  ASSERT_TRUE(client_.DeleteTable(On<api::v1::DeleteTableRequest>(Cat(kArn, "orders"))).ok());
  EXPECT_EQ(Demanded("orders"), 0u);
  EXPECT_EQ(Demanded("users"), 8u);
}

// One thread deletes the table. Before it gets the answer, another thread has recreated the table and written to it.
TEST_F(ReadYourWrites, ALateAnswerToADeletionForgetsNoLaterWrite) {
  Put("orders", 7);
  connection_->during_call = [this] { Put("orders", 11); };
  ASSERT_TRUE(client_.DeleteTable(On<api::v1::DeleteTableRequest>("orders")).ok());
  EXPECT_EQ(Demanded("orders"), 11u);
}

TEST(ReadYourWritesRetries, TheLastAttemptsAnswerCounts) {
  FakeClient fake;
  const Client client = fake.Make().WithReadYourWrites();
  fake.connection->Fail(Throttled());
  fake.connection->Answer(At<api::v1::PutItemResponse>(7));
  ASSERT_TRUE(client.PutItem(On<api::v1::PutItemRequest>("orders")).ok());
  fake.connection->Answer(api::v1::QueryResponse());
  auto query = On<api::v1::QueryRequest>("orders");
  query.set_index_name("by_x");
  static_cast<void>(client.Query(query));
  ASSERT_THAT(fake.connection->seen, SizeIs(3));
  EXPECT_EQ(fake.connection->RequestOf<api::v1::QueryRequest>(2).at_least_sequence(), 7u);
}

// Answers each write with the next sequence, from any thread. A query must demand at least the sequence of its thread's
// last write, which is passed in its limit.
class CountingConnection final : public Connection {
 public:
  absl::Status Call(const Method&, const CallContext&, const google::protobuf::Message& request,
                    google::protobuf::Message* response) override {
    if (auto* put = google::protobuf::DynamicCastToGenerated<api::v1::PutItemResponse>(response)) {
      put->set_change_sequence(++last_);
    } else {
      const auto& query = static_cast<const api::v1::QueryRequest&>(request);
      if (query.at_least_sequence() < static_cast<uint64_t>(query.limit())) ++missed;
    }
    return absl::OkStatus();
  }

  std::atomic<int> missed = 0;

 private:
  std::atomic<uint64_t> last_ = 0;
};

TEST(ReadYourWritesThreads, EachSeesAtLeastItsOwn) {
  const auto connection = std::make_shared<CountingConnection>();
  const Client client = Client(connection).WithReadYourWrites();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([client] {
      for (int i = 0; i < 500; ++i) {
        const auto put = client.PutItem(On<api::v1::PutItemRequest>("orders"));
        auto query = On<api::v1::QueryRequest>("orders");
        query.set_index_name("by_x");
        query.set_limit(static_cast<int32_t>(put->change_sequence()));
        static_cast<void>(client.Query(query));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(connection->missed, 0);
}

}  // namespace
}  // namespace armature::client
