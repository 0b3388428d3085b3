// Local secondary indexes: the guide's Thread table with LastPostIndex, which projects Replies.

#include "armature/client/wait.h"
#include "tests/support/daemon_test.h"

namespace armature::test {
namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;

class SourceLsi : public DaemonTest {
 protected:
  SourceLsi() { CreateSample("Thread"); }

  // The guide's query with further members.
  static std::string LastPosts(std::string_view members) {
    return R"({"TableName": "Thread", "IndexName": "LastPostIndex",
        "KeyConditionExpression": "ForumName = :v_forum and LastPostDateTime between :v_start and :v_end",
        "ExpressionAttributeValues": {":v_start": {"S": "2015-08-31T00:00:00.000Z"},
            ":v_end": {"S": "2015-11-31T00:00:00.000Z"}, ":v_forum": {"S": "EC2"}},)" +
           std::string(members) + "}";
  }
};

TEST_F(SourceLsi, AnswersTheGuidesQueryFromTheIndex) {
  const auto page =
      Query(LastPosts(R"("ConsistentRead": false, "ProjectionExpression": "Subject, LastPostDateTime, Replies")"));
  std::vector<std::string> rows;
  for (const client::Item& item : page.items()) rows.push_back(ToJson(item));
  EXPECT_THAT(rows, ElementsAre(Canonical(R"({"Subject": {"S": "uuu"}, "Replies": {"N": "2"},
                                      "LastPostDateTime": {"S": "2015-09-01T08:15:00.000Z"}})"),
                                Canonical(R"({"Subject": {"S": "zzz"}, "Replies": {"N": "0"},
                                      "LastPostDateTime": {"S": "2015-10-18T07:33:42.000Z"}})"),
                                Canonical(R"({"Subject": {"S": "vvv"}, "Replies": {"N": "7"},
                                      "LastPostDateTime": {"S": "2015-11-20T19:40:12.000Z"}})")));
  EXPECT_EQ(page.count(), 3);
  EXPECT_EQ(page.scanned_count(), 3);
  EXPECT_FALSE(page.has_last_evaluated_key());
}

TEST_F(SourceLsi, AnswersWhatIsProjectedIfNothingElseIsAsked) {
  const auto page = Query(LastPosts(R"("ScanIndexForward": false)"));
  EXPECT_THAT(Column(page.items(), "Subject"), ElementsAre("vvv", "zzz", "uuu"));
  EXPECT_THAT(Names(page.items(0)), ElementsAre("ForumName", "LastPostDateTime", "Replies", "Subject"));
}

TEST_F(SourceLsi, SortsAWholeForumBothWays) {
  const std::string query = R"({"TableName": "Thread", "IndexName": "LastPostIndex",
      "KeyConditionExpression": "ForumName = :f", "ExpressionAttributeValues": {":f": {"S": "S3"}},
      "ScanIndexForward": )";
  EXPECT_THAT(Column(Query(query + "true}").items(), "Subject"), ElementsAre("ddd", "bbb", "ccc", "aaa"));
  EXPECT_THAT(Column(Query(query + "false}").items(), "Subject"), ElementsAre("aaa", "ccc", "bbb", "ddd"));
}

TEST_F(SourceLsi, FetchesFromTheTableWhatIsNotProjected) {
  const auto page = Query(LastPosts(R"("ProjectionExpression": "Subject, LastPostDateTime, Replies, Tags",
      "ConsistentRead": true, "ReturnConsumedCapacity": "INDEXES")"));
  EXPECT_THAT(Column(page.items(), "Subject"), ElementsAre("uuu", "zzz", "vvv"));
  EXPECT_THAT(Names(page.items(0)), IsSupersetOf({"LastPostDateTime", "Replies", "Subject", "Tags"}));
  // Three items below 4 KB take a unit each, and their entries take one together.
  EXPECT_DOUBLE_EQ(page.consumed_capacity().capacity_units(), 4);
  EXPECT_DOUBLE_EQ(page.consumed_capacity().table().capacity_units(), 3);
  EXPECT_DOUBLE_EQ(page.consumed_capacity().local_secondary_indexes().at("LastPostIndex").capacity_units(), 1);
  const auto whole = Query(LastPosts(R"("Select": "ALL_ATTRIBUTES")"));
  const auto table = Query(R"({"TableName": "Thread", "KeyConditionExpression": "ForumName = :f AND Subject = :s",
      "ExpressionAttributeValues": {":f": {"S": "EC2"}, ":s": {"S": "uuu"}}})");
  ASSERT_EQ(whole.items_size(), 3);
  EXPECT_EQ(ToJson(whole.items(0)), ToJson(table.items(0)));
}

TEST_F(SourceLsi, TellsTheItemCollectionOfAnUpdate) {
  const auto answer = client().UpdateItem(FromJson<api::v1::UpdateItemRequest>(R"({"TableName": "Thread",
      "Key": {"ForumName": {"S": "EC2"}, "Subject": {"S": "uuu"}}, "UpdateExpression": "SET Replies = :n",
      "ExpressionAttributeValues": {":n": {"N": "3"}}, "ReturnItemCollectionMetrics": "SIZE"})"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(ToJson(answer->item_collection_metrics().item_collection_key()),
            Canonical(R"({"ForumName": {"S": "EC2"}})"));
  EXPECT_THAT(answer->item_collection_metrics().size_estimate_range_gb(), ElementsAre(0.0, 1.0));
}

TEST_F(SourceLsi, HoldsEachWriteAtOnceForConsistentReads) {
  const std::string ec2 = R"({"TableName": "Thread", "IndexName": "LastPostIndex", "ConsistentRead": true,
      "KeyConditionExpression": "ForumName = :f", "ExpressionAttributeValues": {":f": {"S": "EC2"}}})";
  Put("Thread", R"({"ForumName": {"S": "EC2"}, "Subject": {"S": "new"}, "Replies": {"N": "1"},
                    "LastPostDateTime": {"S": "2015-10-01T00:00:00.000Z"}})");
  EXPECT_THAT(Column(Query(ec2).items(), "Subject"), ElementsAre("yyy", "uuu", "new", "zzz", "vvv"));
  // A later post moves the index entry.
  Put("Thread", R"({"ForumName": {"S": "EC2"}, "Subject": {"S": "new"}, "Replies": {"N": "2"},
                    "LastPostDateTime": {"S": "2016-01-01T00:00:00.000Z"}})");
  EXPECT_THAT(Column(Query(ec2).items(), "Subject"), ElementsAre("yyy", "uuu", "zzz", "vvv", "new"));
  EXPECT_THAT(Column(Query(ec2).items(), "Replies"), ElementsAre("18", "2", "0", "7", "2"));
  Delete("Thread", R"({"ForumName": {"S": "EC2"}, "Subject": {"S": "new"}})");
  EXPECT_THAT(Column(Query(ec2).items(), "Subject"), ElementsAre("yyy", "uuu", "zzz", "vvv"));
}

TEST_F(SourceLsi, RefusesAnIndexKeyOfAnotherType) {
  EXPECT_THAT(
      TryPut("Thread", R"({"ForumName": {"S": "EC2"}, "Subject": {"S": "bad"}, "LastPostDateTime": {"N": "1"}})"),
      IsRefused("ValidationException",
                "One or more parameter values were invalid: Type mismatch for Index Key LastPostDateTime "
                "Expected: S Actual: N IndexName: LastPostIndex"));
  EXPECT_EQ(Query(R"({"TableName": "Thread", "KeyConditionExpression": "ForumName = :f and Subject = :s",
                      "ExpressionAttributeValues": {":f": {"S": "EC2"}, ":s": {"S": "bad"}}})")
                .count(),
            0);
}

TEST_F(SourceLsi, LeavesOutItemsWithoutTheSortAttribute) {
  Put("Thread", R"({"ForumName": {"S": "RDS"}, "Subject": {"S": "silent"}, "Replies": {"N": "0"}})");
  const std::string rds = R"("ConsistentRead": true, "KeyConditionExpression": "ForumName = :f",
      "ExpressionAttributeValues": {":f": {"S": "RDS"}}})";
  EXPECT_THAT(Column(Query(R"({"TableName": "Thread", )" + rds).items(), "Subject"),
              ElementsAre("rrr", "silent", "sss", "ttt"));
  EXPECT_THAT(Column(Query(R"({"TableName": "Thread", "IndexName": "LastPostIndex", )" + rds).items(), "Subject"),
              ElementsAre("rrr", "sss", "ttt"));
}

TEST_F(SourceLsi, KeepsItemsOfOneSortValueApart) {
  for (const char* const subject : {"x1", "x2", "x3"}) {
    Put("Thread", std::string(R"({"ForumName": {"S": "SQS"}, "LastPostDateTime": {"S": "2015"}, "Subject": {"S": ")") +
                      subject + R"("}})");
  }
  const auto page = Query(R"({"TableName": "Thread", "IndexName": "LastPostIndex", "ConsistentRead": true,
      "KeyConditionExpression": "ForumName = :f and LastPostDateTime = :d",
      "ExpressionAttributeValues": {":f": {"S": "SQS"}, ":d": {"S": "2015"}}})");
  EXPECT_THAT(Column(page.items(), "Subject"), testing::UnorderedElementsAre("x1", "x2", "x3"));
}

TEST_F(SourceLsi, ScansAndFiltersTheIndex) {
  EXPECT_EQ(Scan(R"({"TableName": "Thread", "IndexName": "LastPostIndex"})").count(), 11);
  const auto busy = Scan(R"({"TableName": "Thread", "IndexName": "LastPostIndex", "FilterExpression": "Replies > :r",
      "ExpressionAttributeValues": {":r": {"N": "11"}}, "ConsistentRead": true})");
  EXPECT_THAT(Column(busy.items(), "Subject"), testing::UnorderedElementsAre("aaa", "yyy", "ttt"));
  EXPECT_EQ(busy.scanned_count(), 11);
}

TEST_F(SourceLsi, ProjectsKeysOnlyOrAll) {
  Create(R"({"TableName": "Two", "BillingMode": "PAY_PER_REQUEST",
      "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}, {"AttributeName": "s", "AttributeType": "S"},
                               {"AttributeName": "t", "AttributeType": "N"}],
      "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "s", "KeyType": "RANGE"}],
      "LocalSecondaryIndexes": [
        {"IndexName": "Keys", "Projection": {"ProjectionType": "KEYS_ONLY"},
         "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "t", "KeyType": "RANGE"}]},
        {"IndexName": "Whole", "Projection": {"ProjectionType": "ALL"},
         "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "t", "KeyType": "RANGE"}]}]})");
  Put("Two", R"({"p": {"S": "a"}, "s": {"S": "b"}, "t": {"N": "3"}, "more": {"L": [{"BOOL": true}]}})");
  const std::string rest = R"(, "KeyConditionExpression": "p = :p", "ConsistentRead": true,
      "ExpressionAttributeValues": {":p": {"S": "a"}})";
  EXPECT_THAT(Names(Query(R"({"TableName": "Two", "IndexName": "Keys")" + rest + "}").items(0)),
              ElementsAre("p", "s", "t"));
  EXPECT_THAT(Names(Query(R"({"TableName": "Two", "IndexName": "Whole")" + rest + "}").items(0)),
              ElementsAre("more", "p", "s", "t"));
  EXPECT_EQ(Query(R"({"TableName": "Two", "IndexName": "Whole", "Select": "ALL_ATTRIBUTES")" + rest + "}").count(), 1);
}

TEST_F(SourceLsi, IsGoneWithTheTable) {
  api::v1::DeleteTableRequest request;
  request.set_table_name("Thread");
  ASSERT_TRUE(client().DeleteTable(request).ok());
  ASSERT_TRUE(client::WaitForTableGone(client(), "Thread", absl::Now() + absl::Seconds(30)).ok());
  EXPECT_EQ(client::ErrorName(TryScan(R"({"TableName": "Thread", "IndexName": "LastPostIndex"})")),
            "ResourceNotFoundException");
  CreateSample("Thread");
  EXPECT_EQ(Scan(R"({"TableName": "Thread", "IndexName": "LastPostIndex"})").count(), 11);
}

}  // namespace
}  // namespace armature::test
