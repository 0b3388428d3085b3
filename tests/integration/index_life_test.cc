// Indexes are created, deleted and verified, through the daemon and the command line.

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "armature/client/wait.h"
#include "storage/store/database.h"
#include "tests/support/daemon_test.h"
#include "tools/armature/command.h"

namespace armature::test::index_life_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kTable[] = R"({"TableName": "Orders", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}, {"AttributeName": "customer", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "GlobalSecondaryIndexes": [{"IndexName": "ByCustomer", "Projection": {"ProjectionType": "ALL"},
      "KeySchema": [{"AttributeName": "customer", "KeyType": "HASH"}]}]})";

constexpr char kCreate[] = R"({"TableName": "Orders",
    "AttributeDefinitions": [{"AttributeName": "amount", "AttributeType": "N"}],
    "GlobalSecondaryIndexUpdates": [{"Create": {"IndexName": "ByTotal", "Projection": {"ProjectionType": "KEYS_ONLY"},
      "KeySchema": [{"AttributeName": "amount", "KeyType": "HASH"}]}}]})";

constexpr int kOrders = 600;

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

class IndexLifeTest : public DaemonTest {
 protected:
  IndexLifeTest() {
    Create(kTable);
    for (int i = 0; i < kOrders; ++i) {
      api::v1::PutItemRequest put;
      put.set_table_name("Orders");
      *put.mutable_item() = client::ItemBuilder()
                                .Set("id", client::S(std::to_string(i)))
                                .Set("customer", client::S("c" + std::to_string(i % 7)))
                                .Set("amount", i == 5 ? client::S("five") : client::N(std::to_string(i)))
                                .Build();
      EXPECT_TRUE(client().PutItem(put).ok());
    }
    EXPECT_TRUE(client::WaitForIndexes(client(), "Orders", 0, absl::Now() + absl::Seconds(30)).ok());
  }

  // Runs the command line, with the daemon's address unless `offline`.
  Outcome Armature(std::vector<std::string> arguments, bool offline = false) {
    if (!offline) arguments.insert(arguments.begin(), {"--endpoint", daemon().address()});
    std::ostringstream out;
    std::ostringstream err;
    const int code = cli::RunCli(arguments, out, err);
    return {code, out.str(), err.str()};
  }

  // Deletes an entry, writes one with wrong content and one without an item, while the daemon is stopped.
  void DamageIndex() {
    ASSERT_EQ(daemon().Stop(), 0);
    store::DatabaseOptions options;
    options.path = daemon().data_dir();
    const absl::StatusOr<std::unique_ptr<store::Database>> database = store::Database::Open(options);
    ASSERT_TRUE(database.ok()) << database.status();
    const std::shared_ptr<const store::CatalogSnapshot> catalog = (*database)->catalog();
    const store::Table& table = *catalog->Find("Orders");
    const store::Keyspace& index = table.FindIndex("ByCustomer")->keyspace;
    std::vector<std::pair<std::string, std::string>> rows;
    ASSERT_TRUE((*database)
                    ->rows()
                    .ReadRange(index, {}, store::Direction::kForward,
                               [&rows](std::string_view key, std::string_view value) {
                                 rows.emplace_back(key, value);
                                 return store::RowVerdict::kContinue;
                               })
                    .ok());
    ASSERT_EQ(rows.size(), static_cast<size_t>(kOrders));
    store::WriteUnit unit(catalog);
    unit.Delete(index, rows[0].first);
    unit.Put(index, rows[1].first, rows[2].second);
    unit.Put(index, rows[3].first + "x", rows[3].second);
    ASSERT_TRUE((*database)->change_log().CommitConsumed(unit, table.descriptor.id, {}).ok());
  }
};

TEST_F(IndexLifeTest, AnIndexIsMadeFollowedQueriedAndRemoved) {
  ASSERT_TRUE(client().UpdateTable(FromJson<api::v1::UpdateTableRequest>(kCreate)).ok());
  const Outcome followed = Armature({"--output", "table", "index", "status", "--table-name", "Orders", "--follow"});
  EXPECT_EQ(followed.code, 0) << followed.err;
  EXPECT_THAT(followed.out, AllOf(HasSubstr("ByTotal"), Not(HasSubstr("CREATING"))));
  ASSERT_TRUE(client::WaitForTable(client(), "Orders", absl::Now() + absl::Seconds(30)).ok());

  const auto found = client().Query(FromJson<api::v1::QueryRequest>(
      R"({"TableName": "Orders", "IndexName": "ByTotal", "KeyConditionExpression": "amount = :t",
          "ExpressionAttributeValues": {":t": {"N": "77"}}})"));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT(Column(found->items(), "id"), testing::ElementsAre("77"));

  const Outcome violations =
      Armature({"--output", "table", "index", "violations", "--table-name", "Orders", "--index-name", "ByTotal"});
  EXPECT_EQ(violations.code, 0) << violations.err;
  EXPECT_THAT(violations.out, AllOf(HasSubstr(R"({"id":{"S":"5"}})"), HasSubstr("amount"), HasSubstr("TYPE")));
  const Outcome unknown = Armature({"index", "violations", "--table-name", "Orders", "--index-name", "Nothing"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("ValidationException"));

  ASSERT_TRUE(
      client()
          .UpdateTable(FromJson<api::v1::UpdateTableRequest>(
              R"({"TableName": "Orders", "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "ByTotal"}}]})"))
          .ok());
  ASSERT_TRUE(client::WaitForTable(client(), "Orders", absl::Now() + absl::Seconds(30)).ok());
  EXPECT_THAT(Armature({"index", "status"}).out, Not(HasSubstr("ByTotal")));
}

TEST_F(IndexLifeTest, VerifyFindsAndMendsThroughTheDaemon) {
  const Outcome sound = Armature({"--output", "table", "verify"});
  EXPECT_EQ(sound.code, 0) << sound.err;
  EXPECT_EQ(sound.out, "1,200 rows of 1 tables checked, 0 differences\n");

  ASSERT_NO_FATAL_FAILURE(DamageIndex());
  daemon().Restart();
  const Outcome damaged = Armature({"--output", "table", "verify", "--table-name", "Orders"});
  EXPECT_EQ(damaged.code, 4);
  EXPECT_THAT(damaged.out, AllOf(HasSubstr("MISSING"), HasSubstr("WRONG"), HasSubstr("ORPHAN"), HasSubstr("ByCustomer"),
                                 HasSubstr("4 differences"), HasSubstr(R"({"id":{"S":")")));
  // One entry counts twice: as wrong for the item that it should represent, and as an orphan for the item that it
  // names.
  EXPECT_THAT(damaged.err, HasSubstr("4 differences; --repair repairs those of indexes"));
  const Outcome mended = Armature({"verify", "--repair"});
  EXPECT_EQ(mended.code, 4);
  EXPECT_THAT(mended.out, HasSubstr(R"("Repaired": true)"));
  EXPECT_THAT(mended.err, HasSubstr("were repaired"));
  EXPECT_EQ(Armature({"verify"}).code, 0);

  EXPECT_EQ(Armature({"verify", "--table-name", "Nowhere"}).code, 1);
}

TEST_F(IndexLifeTest, VerifyWorksOnADirectoryToo) {
  const Outcome running = Armature({"verify", "--data-dir", daemon().data_dir()}, /*offline=*/true);
  EXPECT_EQ(running.code, 2);
  EXPECT_THAT(running.err, HasSubstr("cannot open"));
  ASSERT_NO_FATAL_FAILURE(DamageIndex());
  EXPECT_EQ(Armature({"verify", "--data-dir", daemon().data_dir()}, /*offline=*/true).code, 4);
  EXPECT_EQ(Armature({"verify", "--repair", "--data-dir", daemon().data_dir()}, /*offline=*/true).code, 4);
  const Outcome sound = Armature({"--output", "table", "verify", "--data-dir", daemon().data_dir()}, /*offline=*/true);
  EXPECT_EQ(sound.code, 0) << sound.out << sound.err;
  const Outcome nothing = Armature({"verify", "--data-dir", "/nonexistent"}, /*offline=*/true);
  EXPECT_EQ(nothing.code, 2);
  EXPECT_EQ(nothing.err, "armature: /nonexistent holds no database of Armature\n");
}

}  // namespace armature::test::index_life_test
