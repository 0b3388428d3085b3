// The API's backups of tables, and tables restored from them.

#include "engine/backup/table_backups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/tables/contributor_insights.h"
#include "engine/tables/resource_policies.h"
#include "engine/tables/table_ops.h"
#include "engine/tables/table_settings.h"
#include "storage/model/table_name.h"
#include "storage/model/table_update.h"
#include "tests/unit/engine/engine_test_util.h"

namespace armature::engine::table_backups_test {

using codec::N;
using codec::S;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kTable[] = "orders";
constexpr int kItems = 1200;  // more than one commit of a restore

EngineOptions WithBackups(const test::TempDir& directory) {
  EngineOptions options;
  options.backup.directory = directory.path("backups");
  return options;
}

model::TableDefinition IndexedTable(const std::string& name) {
  model::TableDefinition definition = PlainTable(name);
  definition.attribute_definitions = {{"pk", "S"}, {"sk", "N"}, {"state", "S"}, {"at", "N"}};
  definition.local_indexes = {IndexOf("by_state_here", {{"pk", "HASH"}, {"state", "RANGE"}}, "KEYS_ONLY")};
  definition.global_indexes = {IndexOf("by_state", {{"state", "HASH"}, {"at", "RANGE"}}, "INCLUDE", {"text"}),
                               IndexOf("by_at", {{"at", "HASH"}}, "ALL")};
  return definition;
}

std::string Order(int number) {
  const std::string text = std::to_string(number);
  return PlainItem(std::to_string(number % 5), text,
                   {{"state", S(number % 3 == 0 ? "open" : "sent")}, {"at", N(text)}, {"text", S("text " + text)}});
}

class TableBackupsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(engine_.CreateTable(IndexedTable(kTable)).ok());
    Fill(0, kItems);
  }

  void Fill(int begin, int end) {
    for (int number = begin; number < end; ++number) {
      const absl::StatusOr<WriteResult> put = engine_.Put(WriteTo(kTable, Order(number)));
      ASSERT_TRUE(put.ok()) << put.status();
    }
  }

  absl::StatusOr<TableBackup> Create(const std::string& name, const std::string& table = kTable) {
    Answer<TableBackup> answer;
    engine_->CreateBackup({.table_name = table, .backup_name = name}, answer.Catch());
    return answer.Take();
  }
  absl::StatusOr<TableBackup> DescribeBackup(const std::string& arn) {
    Answer<TableBackup> answer;
    engine_->DescribeBackup(arn, answer.Catch());
    return answer.Take();
  }
  absl::StatusOr<TableBackup> Delete(const std::string& arn) {
    Answer<TableBackup> answer;
    engine_->DeleteBackup(arn, answer.Catch());
    return answer.Take();
  }
  absl::StatusOr<ListTableBackupsResult> List(ListTableBackupsRequest request = {}) {
    Answer<ListTableBackupsResult> answer;
    engine_->ListTableBackups(std::move(request), answer.Catch());
    return answer.Take();
  }
  std::vector<std::string> Names(ListTableBackupsRequest request = {}) {
    const absl::StatusOr<ListTableBackupsResult> list = List(std::move(request));
    EXPECT_TRUE(list.ok()) << list.status();
    std::vector<std::string> names;
    if (!list.ok()) return names;
    for (const TableBackup& backup : list->backups) names.push_back(backup.name);
    return names;
  }
  absl::Status WaitUntilAvailable(const std::string& arn) {
    return TestEngine::WaitUntil([&] {
      const absl::StatusOr<TableBackup> backup = DescribeBackup(arn);
      return backup.ok() && backup->status == BackupStatus::kAvailable;
    });
  }
  // Creates a backup, waits until it is available, and returns its ARN.
  std::string Backup(const std::string& name) {
    const absl::StatusOr<TableBackup> made = Create(name);
    EXPECT_TRUE(made.ok()) << made.status();
    if (!made.ok()) return "";
    EXPECT_EQ(made->status, BackupStatus::kCreating);
    EXPECT_TRUE(WaitUntilAvailable(made->arn).ok());
    return made->arn;
  }
  absl::StatusOr<TableDescription> Restore(RestoreTableRequest request) {
    Answer<TableDescription> answer;
    engine_->RestoreTableFromBackup(std::move(request), answer.Catch());
    return answer.Take();
  }
  absl::Status WaitUntilActive(const std::string& table) {
    return TestEngine::WaitUntil([&] {
      const absl::StatusOr<TableDescription> described = engine_.Describe(table);
      return described.ok() && described->descriptor.state == model::TableState::kActive;
    });
  }
  std::vector<std::string> Items(const std::string& table, const std::string& index = "") {
    ReadRequest request;
    request.table_name = table;
    if (!index.empty()) request.index_name = index;
    std::vector<std::string> items;
    std::optional<std::string> start;
    do {
      request.exclusive_start_key_wire = start;
      const absl::StatusOr<Page> page = engine_.Scan(request);
      EXPECT_TRUE(page.ok()) << page.status();
      if (!page.ok()) break;
      items.insert(items.end(), page->items.begin(), page->items.end());
      start = page->result.last_evaluated_key;
    } while (start.has_value());
    std::sort(items.begin(), items.end());
    return items;
  }

  test::TempDir directory_;
  TestEngine engine_{store::Durability::kOs, WithBackups(directory_)};
};

TEST_F(TableBackupsTest, AreMadeListedAndDeleted) {
  const absl::StatusOr<TableDescription> table = engine_.Describe(kTable);
  ASSERT_TRUE(table.ok());
  const std::string first = Backup("first");
  const std::string second = Backup("second");
  ASSERT_TRUE(engine_.CreateTable(PlainTable("other")).ok());
  const absl::StatusOr<TableBackup> others = Create("third", "other");
  ASSERT_TRUE(others.ok()) << others.status();
  ASSERT_TRUE(WaitUntilAvailable(others->arn).ok());
  EXPECT_THAT(Names(), ElementsAre("first", "second", "third"));
  EXPECT_THAT(Names({.table_name = kTable}), ElementsAre("first", "second"));
  EXPECT_THAT(Names({.table_name = "missing"}), IsEmpty());
  EXPECT_THAT(Names({.type = "SYSTEM"}), IsEmpty());
  EXPECT_THAT(Names({.from_ms = others->creation_time_ms}), ElementsAre("third"));
  EXPECT_THAT(Names({.until_ms = others->creation_time_ms}), ElementsAre("first", "second"));
  const absl::StatusOr<ListTableBackupsResult> page = List({.limit = 1});
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->last_evaluated_arn, first);
  EXPECT_THAT(Names({.limit = 1, .exclusive_start_arn = first}), ElementsAre("second"));

  const absl::StatusOr<TableBackup> described = DescribeBackup(first);
  ASSERT_TRUE(described.ok());
  EXPECT_EQ(described->table, table->descriptor);
  EXPECT_EQ(described->item_count, kItems);
  const absl::StatusOr<TableBackup> deleted = Delete(first);
  ASSERT_TRUE(deleted.ok()) << deleted.status();
  EXPECT_EQ(deleted->status, BackupStatus::kDeleted);
  EXPECT_EQ(ErrorNameOf(DescribeBackup(first).status()), "BackupNotFoundException");
  EXPECT_EQ(ErrorNameOf(Delete(first).status()), "BackupNotFoundException");
  engine_.Reopen();
  EXPECT_THAT(Names(), ElementsAre("second", "third"));
}

TEST_F(TableBackupsTest, ARestoredTableHasTheItemsOfThatMoment) {
  for (const std::optional<std::string>& index : {std::optional<std::string>(), std::optional<std::string>("by_at")}) {
    ASSERT_TRUE(UpdateContributorInsights(&engine_.database(), {kTable, index, "ENABLE", std::nullopt}).ok());
  }
  const std::vector<std::string> items = Items(kTable);
  const std::string arn = Backup("moment");
  Fill(kItems, kItems + 50);
  ASSERT_TRUE(engine_.Delete(WriteTo(kTable, PlainItem("0", "0", {}))).ok());
  const absl::StatusOr<TableDescription> made = Restore({.target_table_name = "copy", .backup_arn = arn});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->descriptor.state, model::TableState::kCreating);
  ASSERT_TRUE(made->descriptor.restore.has_value());
  EXPECT_EQ(made->descriptor.restore->backup_arn, arn);
  EXPECT_TRUE(made->descriptor.restore->in_progress);
  ASSERT_TRUE(WaitUntilActive("copy").ok());
  const absl::StatusOr<TableDescription> copy = engine_.Describe("copy");
  ASSERT_TRUE(copy.ok());
  EXPECT_FALSE(copy->descriptor.restore->in_progress);
  EXPECT_EQ(copy->totals.item_count, kItems);
  EXPECT_EQ(copy->local_indexes[0].item_count, kItems);
  EXPECT_EQ(copy->global_indexes[0].item_count, kItems);
  EXPECT_FALSE(copy->descriptor.settings.contributor_insights.has_value());
  for (const model::IndexDescriptor& index : copy->descriptor.global_indexes) {
    EXPECT_FALSE(index.contributor_insights.has_value()) << index.name;
  }
  EXPECT_EQ(Items("copy"), items);
  EXPECT_EQ(Items("copy", "by_at"), items);
  EXPECT_EQ(Items("copy", "by_state_here").size(), size_t{kItems});
  // The restored table is an ordinary table.
  EXPECT_TRUE(engine_.Put(WriteTo("copy", Order(7777))).ok());
  engine_.Reopen();
  EXPECT_EQ(Items("copy").size(), size_t{kItems} + 1);
  EXPECT_TRUE(engine_.DeleteTable("copy").ok());
}

// The last backup of a page is often the first one that a clean-up deletes.
TEST_F(TableBackupsTest, ABackupThatCannotBeReadNowIsNotMissing) {
  const std::string arn = Backup("first");
  const std::string manifest = directory_.path("backups") + "/manifests/1";
  std::filesystem::rename(manifest, manifest + ".kept");
  std::filesystem::create_directory(manifest);  // reading it fails, as on a failing disk
  EXPECT_EQ(DescribeBackup(arn).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Restore({.target_table_name = "copy", .backup_arn = arn}).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Names(), IsEmpty());
  std::filesystem::remove(manifest);
  std::filesystem::rename(manifest + ".kept", manifest);
  EXPECT_TRUE(DescribeBackup(arn).ok());
  std::filesystem::remove(manifest);
  EXPECT_EQ(ErrorNameOf(DescribeBackup(arn).status()), "BackupNotFoundException");
}

TEST_F(TableBackupsTest, APageBeginsBehindOneThatIsGone) {
  const std::string first = Backup("first");
  Backup("second");
  ASSERT_TRUE(Delete(first).ok());
  EXPECT_THAT(Names({.exclusive_start_arn = first}), ElementsAre("second"));
}

TEST_F(TableBackupsTest, NothingIsDeletedThatIsStillNeeded) {
  // The second backup waits for the first.
  const absl::StatusOr<TableBackup> first = Create("first");
  const absl::StatusOr<TableBackup> second = Create("second");
  ASSERT_TRUE(second.ok()) << second.status();
  const absl::Status refused = engine_.DeleteTable(kTable).status();
  EXPECT_EQ(ErrorNameOf(refused), "ResourceInUseException");
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("being backed up"));
  ASSERT_TRUE(WaitUntilAvailable(first->arn).ok());
  ASSERT_TRUE(WaitUntilAvailable(second->arn).ok());
  const std::vector<std::string> items = Items(kTable);
  // Two restores: the second one waits.
  ASSERT_TRUE(Restore({.target_table_name = "copy1", .backup_arn = first->arn}).ok());
  ASSERT_TRUE(Restore({.target_table_name = "copy2", .backup_arn = second->arn}).ok());
  EXPECT_EQ(ErrorNameOf(Delete(second->arn).status()), "BackupInUseException");
  ASSERT_TRUE(WaitUntilActive("copy1").ok());
  ASSERT_TRUE(WaitUntilActive("copy2").ok());
  EXPECT_EQ(Items("copy2"), items);
  EXPECT_TRUE(Delete(second->arn).ok());
  EXPECT_TRUE(engine_.DeleteTable(kTable).ok());
}

TEST_F(TableBackupsTest, ABackupSurvivesItsTable) {
  const std::vector<std::string> items = Items(kTable);
  const std::string arn = Backup("last");
  ASSERT_TRUE(engine_.DeleteTable(kTable).ok());
  ASSERT_TRUE(engine_.WaitForTableGone(kTable).ok());
  ASSERT_TRUE(Restore({.target_table_name = kTable, .backup_arn = arn}).ok());
  ASSERT_TRUE(WaitUntilActive(kTable).ok());
  EXPECT_EQ(Items(kTable), items);
}

TEST_F(TableBackupsTest, OverridesTakeThePlaceOfWhatTheTableHad) {
  const std::string arn = Backup("moment");
  RestoreTableRequest request{.target_table_name = "copy", .backup_arn = arn};
  request.global_indexes = {IndexOf("renamed", {{"state", "HASH"}, {"at", "RANGE"}}, "INCLUDE", {"text"})};
  request.global_indexes->front().provisioned = model::Throughput{5, 6};
  request.local_indexes = std::vector<model::IndexDefinition>();
  request.billing_mode = "PROVISIONED";
  EXPECT_EQ(ErrorNameOf(Restore(request).status()), "ValidationException");
  request.provisioned = model::Throughput{7, 8};
  RestoreTableRequest other = request;
  other.global_indexes->front().projection = {"KEYS_ONLY", std::nullopt};
  const absl::Status no_such = Restore(other).status();
  EXPECT_THAT(std::string(no_such.message()), ::testing::HasSubstr("Index renamed does not match"));
  // One definition under two names, and two definitions with one name.
  other = request;
  other.global_indexes->push_back(other.global_indexes->front());
  other.global_indexes->back().index_name = "again";
  EXPECT_THAT(std::string(Restore(other).status().message()), ::testing::HasSubstr("Index again does not match"));
  other = request;
  other.local_indexes.reset();
  other.global_indexes->front().index_name = "by_state_here";
  EXPECT_THAT(std::string(Restore(other).status().message()), ::testing::HasSubstr("Duplicate index name"));
  other = request;
  other.provisioned = model::Throughput{int64_t{1} << 60, 1};
  EXPECT_EQ(ErrorNameOf(Restore(other).status()), "ValidationException");
  ASSERT_TRUE(Restore(request).ok());
  ASSERT_TRUE(WaitUntilActive("copy").ok());
  const absl::StatusOr<TableDescription> copy = engine_.Describe("copy");
  ASSERT_TRUE(copy.ok());
  ASSERT_EQ(copy->descriptor.global_indexes.size(), 1u);
  EXPECT_EQ(copy->descriptor.global_indexes[0].name, "renamed");
  EXPECT_EQ(copy->descriptor.global_indexes[0].provisioned, (model::Throughput{5, 6}));
  EXPECT_TRUE(copy->descriptor.local_indexes.empty());
  EXPECT_EQ(copy->descriptor.settings.provisioned, (model::Throughput{7, 8}));
  EXPECT_EQ(copy->global_indexes[0].item_count, kItems);
}

TEST_F(TableBackupsTest, WhatCannotBeIsRefused) {
  EXPECT_EQ(ErrorNameOf(Create("first", "missing").status()), "TableNotFoundException");
  const std::string arn = Backup("first");
  EXPECT_EQ(ErrorNameOf(Restore({.target_table_name = kTable, .backup_arn = arn}).status()),
            "TableAlreadyExistsException");
  std::string unknown = arn;
  unknown.back() = unknown.back() == '0' ? '1' : '0';
  EXPECT_EQ(ErrorNameOf(Restore({.target_table_name = "copy", .backup_arn = unknown}).status()),
            "BackupNotFoundException");
  EXPECT_EQ(ErrorNameOf(DescribeBackup(unknown).status()), "BackupNotFoundException");
  TestEngine without;
  ASSERT_TRUE(without.CreateTable(PlainTable(kTable)).ok());
  Answer<TableBackup> answer;
  without->CreateBackup({.table_name = kTable, .backup_name = "first"}, answer.Catch());
  const absl::Status refused = answer.Take().status();
  EXPECT_EQ(ErrorNameOf(refused), "ValidationException");
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("--backup_dir"));
}

// Simulates a restore that was interrupted by a kill of the daemon.
TEST(TableRestore, OneThatDidNotFinishIsOutOfReachAndGoesWithTheNextStart) {
  TestEngine engine;
  ASSERT_TRUE(engine.CreateTable(IndexedTable(kTable)).ok());
  absl::StatusOr<TableDescription> source = engine.Describe(kTable);
  ASSERT_TRUE(source.ok());
  model::TableDescriptor copy = source->descriptor;
  copy.name = "copy";
  copy.restore =
      model::RestoreOrigin{.backup_arn = "backup", .source_table_arn = "table", .time_ms = 5, .in_progress = true};
  const absl::StatusOr<model::TableDescriptor> made = engine.database().tables().Create(copy);
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_TRUE(TestEngine::WaitUntil([&] {
                return engine.database().catalog()->Find(made->id)->descriptor.state == model::TableState::kActive;
              }).ok());
  EXPECT_EQ(engine.Describe("copy")->descriptor.state, model::TableState::kCreating);
  EXPECT_EQ(ErrorNameOf(engine.Put(WriteTo("copy", Order(1))).status()), "ResourceNotFoundException");
  ReadRequest scan;
  scan.table_name = "copy";
  EXPECT_EQ(ErrorNameOf(engine.Scan(scan).status()), "ResourceNotFoundException");
  EXPECT_EQ(ErrorNameOf(engine.DeleteTable("copy").status()), "ResourceInUseException");
  EXPECT_EQ(ErrorNameOf(engine.CreateTable(PlainTable("copy"))), "ResourceInUseException");
  store::Database* const database = engine->database();
  constexpr std::string_view kGone = "ResourceNotFoundException";
  const auto expiry =
      UpdateTimeToLive(database, {.table_name = "copy", .specification = TimeToLiveSpecification{true, "at"}});
  EXPECT_EQ(ErrorNameOf(expiry.status()), kGone);
  EXPECT_EQ(ErrorNameOf(DescribeTimeToLive(*database, "copy").status()), kGone);
  model::TableUpdate update;
  update.table_name = "copy";
  update.deletion_protection = true;
  EXPECT_EQ(ErrorNameOf(UpdateTable(database, update).status()), kGone);
  const std::string arn = model::TableArn("copy");
  EXPECT_EQ(ErrorNameOf(TagResource(database, {.resource_arn = arn, .tags = model::Tags{{"key", "value"}}})), kGone);
  EXPECT_EQ(ErrorNameOf(ListTagsOfResource(*database, {.resource_arn = arn, .next_token = {}}).status()), kGone);
  EXPECT_EQ(ErrorNameOf(GetResourcePolicy(*database, {arn}).status()), kGone);
  EXPECT_EQ(ErrorNameOf(DescribeContributorInsights(*database, "copy", std::nullopt).status()), kGone);
  EXPECT_EQ(ErrorNameOf(DescribeContinuousBackups(*database, nullptr, "copy").status()), "TableNotFoundException");
  const auto recovery = UpdateContinuousBackups(
      database, nullptr, {.table_name = "copy", .specification = PointInTimeRecoverySpecification{true, std::nullopt}});
  EXPECT_EQ(ErrorNameOf(recovery.status()), "TableNotFoundException");
  engine.Reopen();
  EXPECT_TRUE(engine.WaitForTableGone("copy").ok());
  EXPECT_TRUE(engine.Describe(kTable).ok());
}

}  // namespace armature::engine::table_backups_test
