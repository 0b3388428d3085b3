#include "armature/client/wait.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/client/fake_connection.h"

namespace armature::client {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

api::v1::DescribeTableResponse Table(api::v1::TableStatus table, api::v1::IndexStatus index) {
  api::v1::DescribeTableResponse response;
  response.mutable_table()->set_table_name("t");
  response.mutable_table()->set_table_status(table);
  response.mutable_table()->add_global_secondary_indexes()->set_index_status(index);
  return response;
}

admin::v1::ListIndexStatusResponse Indexes(admin::v1::IndexState state, uint64_t applied) {
  admin::v1::ListIndexStatusResponse response;
  response.add_indexes()->set_kind(admin::v1::INDEX_KIND_LOCAL);
  auto& index = *response.add_indexes();
  index.set_kind(admin::v1::INDEX_KIND_GLOBAL);
  index.set_state(state);
  index.set_applied_sequence(applied);
  return response;
}

absl::Status NoSuchTable() { return ApiError(absl::StatusCode::kNotFound, "ResourceNotFoundException"); }

TEST(WaitForTable, EndsWhenTableAndIndexesAreActive) {
  FakeClient fake;
  fake.connection->Fail(NoSuchTable());
  fake.connection->Answer(Table(api::v1::TABLE_STATUS_CREATING, api::v1::INDEX_STATUS_CREATING));
  fake.connection->Answer(Table(api::v1::TABLE_STATUS_ACTIVE, api::v1::INDEX_STATUS_CREATING));
  fake.connection->Answer(Table(api::v1::TABLE_STATUS_ACTIVE, api::v1::INDEX_STATUS_ACTIVE));
  EXPECT_TRUE(WaitForTable(fake.Make(), "t", fake.clock->now + absl::Seconds(5)).ok());
  EXPECT_THAT(fake.connection->seen, SizeIs(4));
}

TEST(WaitForTable, TellsAtTheDeadlineWhatIsMissing) {
  FakeClient fake;
  fake.connection->Answer(Table(api::v1::TABLE_STATUS_CREATING, api::v1::INDEX_STATUS_CREATING));
  const absl::Time deadline = fake.clock->now + absl::Seconds(5);
  const absl::Status status = WaitForTable(fake.Make(), "t", deadline);
  EXPECT_TRUE(absl::IsDeadlineExceeded(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("TABLE_STATUS_CREATING"));
  EXPECT_LT(fake.clock->now, deadline);
}

TEST(WaitForTable, PassesErrorsOnAtOnce) {
  FakeClient fake;
  fake.connection->Fail(ApiError(absl::StatusCode::kInvalidArgument, "ValidationException"));
  const absl::Status status = WaitForTable(fake.Make(), "t", fake.clock->now + absl::Seconds(5));
  EXPECT_EQ(ErrorName(status), "ValidationException");
  EXPECT_THAT(fake.connection->seen, SizeIs(1));
}

TEST(WaitForTableGone, EndsWhenThereIsNoSuchTable) {
  FakeClient fake;
  fake.connection->Answer(Table(api::v1::TABLE_STATUS_DELETING, api::v1::INDEX_STATUS_DELETING));
  fake.connection->Fail(NoSuchTable());
  EXPECT_TRUE(WaitForTableGone(fake.Make(), "t", fake.clock->now + absl::Seconds(5)).ok());
  EXPECT_THAT(fake.connection->seen, SizeIs(2));
}

TEST(WaitForIndexes, EndsWhenGlobalIndexesHaveTheSequence) {
  FakeClient fake;
  fake.connection->Answer(Indexes(admin::v1::INDEX_STATE_CREATING, 9));
  fake.connection->Answer(Indexes(admin::v1::INDEX_STATE_ACTIVE, 6));
  fake.connection->Answer(Indexes(admin::v1::INDEX_STATE_ACTIVE, 7));
  EXPECT_TRUE(WaitForIndexes(fake.Make(), "t", 7, fake.clock->now + absl::Seconds(5)).ok());
  ASSERT_THAT(fake.connection->seen, SizeIs(3));
  EXPECT_EQ(fake.connection->RequestOf<admin::v1::ListIndexStatusRequest>(0).table_name(), "t");
}

TEST(WaitForIndexes, TellsAtTheDeadlineHowFarTheIndexIs) {
  FakeClient fake;
  fake.connection->Answer(Indexes(admin::v1::INDEX_STATE_ACTIVE, 6));
  const absl::Status status = WaitForIndexes(fake.Make(), "t", 7, fake.clock->now + absl::Seconds(1));
  EXPECT_TRUE(absl::IsDeadlineExceeded(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("6 of 7"));
}

api::v1::DescribeBackupResponse Backup(api::v1::BackupStatus status) {
  api::v1::DescribeBackupResponse response;
  response.mutable_backup_description()->mutable_backup_details()->set_backup_status(status);
  return response;
}

TEST(WaitForBackup, EndsWhenItIsAvailable) {
  FakeClient fake;
  fake.connection->Answer(Backup(api::v1::BACKUP_STATUS_CREATING));
  fake.connection->Answer(Backup(api::v1::BACKUP_STATUS_AVAILABLE));
  EXPECT_TRUE(WaitForBackup(fake.Make(), "b", fake.clock->now + absl::Seconds(5)).ok());
  EXPECT_THAT(fake.connection->seen, SizeIs(2));
  EXPECT_EQ(fake.connection->RequestOf<api::v1::DescribeBackupRequest>(1).backup_arn(), "b");
}

// A failed backup is removed, so waiting for it ends with an error.
TEST(WaitForBackup, TellsOfABackupThatIsNotThere) {
  FakeClient fake;
  fake.connection->Answer(Backup(api::v1::BACKUP_STATUS_CREATING));
  fake.connection->Fail(ApiError(absl::StatusCode::kNotFound, "BackupNotFoundException"));
  EXPECT_EQ(ErrorName(WaitForBackup(fake.Make(), "b", fake.clock->now + absl::Seconds(5))), "BackupNotFoundException");
  EXPECT_THAT(fake.connection->seen, SizeIs(2));
}

}  // namespace
}  // namespace armature::client
