// Clients that read their own writes from global indexes.

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "armature/client/wait.h"
#include "storage/base/strings.h"
#include "tests/support/daemon_test.h"

namespace armature::test::read_your_writes_test {

using client::Client;
using client::ItemBuilder;
using client::N;
using client::S;

constexpr int kThreads = 4;
constexpr int kRounds = 50;

constexpr char kTable[] = R"({"TableName": "posts", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"},
                             {"AttributeName": "author", "AttributeType": "S"},
                             {"AttributeName": "at", "AttributeType": "N"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "GlobalSecondaryIndexes": [{"IndexName": "by_author", "Projection": {"ProjectionType": "ALL"},
        "KeySchema": [{"AttributeName": "author", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}]}]})";

api::v1::PutItemRequest PutOf(const std::string& author, int at) {
  api::v1::PutItemRequest request;
  request.set_table_name("posts");
  *request.mutable_item() =
      ItemBuilder().Set("id", S(Cat(author, "/", at))).Set("author", S(author)).Set("at", N(at)).Build();
  return request;
}

// The ids of an author's two latest posts, or the error.
std::vector<std::string> Latest(const Client& client, const std::string& author) {
  api::v1::QueryRequest request;
  request.set_table_name("posts");
  request.set_index_name("by_author");
  request.set_key_condition_expression("author = :a");
  (*request.mutable_expression_attribute_values())[":a"] = S(author);
  request.set_scan_index_forward(false);
  request.set_limit(2);
  const auto answer = client.Query(request);
  if (!answer.ok()) return {answer.status().ToString()};
  return Column(answer->items(), "id");
}

std::string Newest(const Client& client, const std::string& author) {
  const std::vector<std::string> latest = Latest(client, author);
  return latest.empty() ? "" : latest.front();
}

class ReadYourWritesTest : public DaemonTest {
 protected:
  ReadYourWritesTest() { Create(kTable); }
};

// Writes and reads in turns. Returns the first failure, or "".
std::string WriteAndRead(const Client& client, const std::string& author) {
  std::vector<std::string> expected;
  for (int at = 1; at <= kRounds; ++at) {
    if (const auto put = client.PutItem(PutOf(author, at)); !put.ok()) return put.status().ToString();
    expected.insert(expected.begin(), Cat(author, "/", at));
    expected.resize(std::min<size_t>(expected.size(), 2));
    if (Latest(client, author) != expected) return Cat("put ", at, " is not seen");
    if (at % 5 != 0) continue;

    // Moves a post to the front of another author, and out of this author's partition.
    api::v1::UpdateItemRequest update;
    update.set_table_name("posts");
    (*update.mutable_key()->mutable_attributes())["id"] = S(expected.front());
    update.set_update_expression("SET author = :o");
    (*update.mutable_expression_attribute_values())[":o"] = S(Cat("other than ", author));
    if (const auto answer = client.UpdateItem(update); !answer.ok()) return answer.status().ToString();
    const std::string moved = expected.front();
    if (Newest(client, author) != expected.back()) return Cat("the update of ", at, " is not seen");
    if (Newest(client, Cat("other than ", author)) != moved) return Cat("the move of ", at, " is not seen");

    api::v1::DeleteItemRequest removal;
    removal.set_table_name("posts");
    (*removal.mutable_key()->mutable_attributes())["id"] = S(expected.back());
    if (const auto answer = client.DeleteItem(removal); !answer.ok()) return answer.status().ToString();
    const std::vector<std::string> left = Latest(client, author);
    if (!left.empty() && left.front() == expected.back()) return Cat("the deletion of ", at, " is not seen");
    expected = left;
  }
  return "";
}

TEST_F(ReadYourWritesTest, EachWriteIsSeenByTheNextQuery) {
  const Client session = client().WithReadYourWrites();
  std::vector<std::string> faults(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back(
        [&faults, t, session] { faults[static_cast<size_t>(t)] = WriteAndRead(session, Cat("author", t)); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(faults, testing::Each(""));
}

TEST_F(ReadYourWritesTest, AScanOfTheIndexSeesTheWriteToo) {
  const Client session = client().WithReadYourWrites();
  for (int at = 1; at <= kRounds; ++at) {
    ASSERT_TRUE(session.PutItem(PutOf("one", at)).ok());
    const auto answer = session.Scan(FromJson<api::v1::ScanRequest>(
        R"({"TableName": "arn:aws:dynamodb:local:000000000000:table/posts", "IndexName": "by_author"})"));
    ASSERT_TRUE(answer.ok()) << answer.status();
    ASSERT_EQ(answer->count(), at);
  }
}

// The session does not know of the deletion, so it demands the last sequence of the old table.
TEST_F(ReadYourWritesTest, ATableThatOthersCreatedAnewIsReadAtOnce) {
  const Client session = client().WithReadYourWrites();
  for (int at = 1; at <= kRounds; ++at) ASSERT_TRUE(session.PutItem(PutOf("one", at)).ok());
  ASSERT_TRUE(client().DeleteTable(FromJson<api::v1::DeleteTableRequest>(R"({"TableName": "posts"})")).ok());
  ASSERT_TRUE(client::WaitForTableGone(client(), "posts", absl::Now() + absl::Seconds(30)).ok());
  Create(kTable);
  EXPECT_THAT(Latest(session, "one"), testing::IsEmpty());
  ASSERT_TRUE(session.PutItem(PutOf("one", 1)).ok());
  EXPECT_THAT(Latest(session, "one"), testing::ElementsAre("one/1"));
}

TEST_F(ReadYourWritesTest, SessionsSurviveARestartOfTheDaemon) {
  const Client before = client().WithReadYourWrites();
  uint64_t last = 0;
  for (int at = 1; at <= kRounds; ++at) {
    const auto put = before.PutItem(PutOf("one", at));
    ASSERT_TRUE(put.ok()) << put.status();
    last = put->change_sequence();
  }
  daemon().Kill();
  daemon().Restart();
  // The daemon has another address now. A session would demand this sequence.
  auto request = FromJson<api::v1::QueryRequest>(
      R"({"TableName": "posts", "IndexName": "by_author", "KeyConditionExpression": "author = :a",
          "ExpressionAttributeValues": {":a": {"S": "one"}}})");
  request.set_at_least_sequence(last);
  const auto answer = client().Query(request);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->count(), kRounds);
  // Beyond the sequences that the start before had reserved.
  request.set_at_least_sequence(last + (uint64_t{1} << 30));
  EXPECT_EQ(client::ErrorName(client().Query(request).status()), "ValidationException") << "at once";
}

}  // namespace armature::test::read_your_writes_test
