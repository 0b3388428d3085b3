#include "engine/backup/table_backup_requests.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::engine::table_backup_requests_test {

constexpr std::string_view kTableArn = "arn:aws:dynamodb:local:000000000000:table/Cats";
constexpr std::string_view kArn = "arn:aws:dynamodb:local:000000000000:table/Cats/backup/01489602797149-73d8d5bc";

// "OK", or name and text of the exception.
std::string Told(const absl::Status& status) {
  if (status.ok()) return "OK";
  const std::optional<ApiError> error = GetApiError(status);
  return error.has_value() ? Cat(ApiErrorName(error->type), ": ", error->message) : status.ToString();
}

std::string Violation(std::string_view value, std::string_view path, std::string_view constraint) {
  return Cat("Value ", value, " at '", path, "' failed to satisfy constraint: Member must ", constraint);
}

std::string One(std::string_view value, std::string_view path, std::string_view constraint) {
  return Cat("ValidationException: 1 validation error detected: ", Violation(value, path, constraint));
}

TEST(BackupArn, IsMadeOfItsPartsAndTakenApart) {
  EXPECT_EQ(MakeBackupArn(kTableArn, 1489602797149, 0x73d8d5bc), kArn);
  const absl::StatusOr<BackupArnParts> parts = ParseBackupArn(kArn);
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(parts->table_name, "Cats");
  EXPECT_EQ(parts->time_ms, 1489602797149);
  EXPECT_EQ(parts->random, 0x73d8d5bcU);
}

TEST(BackupArn, DigitsAreAsManyForSmallAndLargeParts) {
  EXPECT_EQ(MakeBackupArn("a", 7, 0xA), "a/backup/00000000000007-0000000a");
  EXPECT_EQ(MakeBackupArn("a", 99'999'999'999'999, 0xFFFF'FFFF), "a/backup/99999999999999-ffffffff");
  for (const int64_t time_ms : {int64_t{0}, int64_t{1}, int64_t{99'999'999'999'999}}) {
    for (const uint32_t random : {0U, 1U, 0xFFFF'FFFFU}) {
      const std::string arn = MakeBackupArn(kTableArn, time_ms, random);
      const absl::StatusOr<BackupArnParts> parts = ParseBackupArn(arn);
      ASSERT_TRUE(parts.ok()) << arn;
      EXPECT_EQ(parts->time_ms, time_ms);
      EXPECT_EQ(parts->random, random);
    }
  }
}

TEST(BackupArn, TellsWhetherRegionAndAccountAreThoseOfTheDaemon) {
  constexpr std::string_view kOtherRegion =
      "arn:aws:dynamodb:eu-west-1:000000000000:table/Cats/backup/01489602797149-73d8d5bc";
  absl::StatusOr<BackupArnParts> parts = ParseBackupArn(kOtherRegion);
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(parts->table_name, "Cats");
  EXPECT_FALSE(parts->is_of_this_region);
  EXPECT_TRUE(parts->is_of_this_account);
  EXPECT_EQ(LocalBackupArn(kOtherRegion), kArn);
  parts = ParseBackupArn("arn:aws:dynamodb:local:123456789012:table/Cats/backup/01489602797149-73d8d5bc");
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_TRUE(parts->is_of_this_region);
  EXPECT_FALSE(parts->is_of_this_account);
  EXPECT_EQ(LocalBackupArn(kArn), kArn);
  EXPECT_EQ(LocalBackupArn("Cats"), "Cats");
}

TEST(BackupArn, WhatIsNoneIsTold) {
  for (const std::string_view arn :
       {"", "Cats", "arn:aws:dynamodb:local:000000000000:table/Cats",
        "arn:aws:dynamodb:local:000000000000:table/Cats/backup/", "Cats/backup/01489602797149-73d8d5bc",
        "arn:aws:dynamodb:local:000000000000:table/Cats/index/01489602797149-73d8d5bc",
        "arn:aws:dynamodb:local:000000000000:table//backup/01489602797149-73d8d5bc",
        "arn:aws:dynamodb:local:000000000000:table/C ts/backup/01489602797149-73d8d5bc",
        "arn:aws:dynamodb:local:000000000000:global/Cats/backup/01489602797149-73d8d5bc",
        "arn:aws:dynamodb:local:0:table/Cats/backup/01489602797149-73d8d5bc",
        "arn:aws:s3:local:000000000000:table/Cats/backup/01489602797149-73d8d5bc",
        "arn:aws:dynamodb:local:000000000000:table/Cats/backup/1489602797149-73d8d5bc",
        "arn:aws:dynamodb:local:000000000000:table/Cats/backup/-1489602797149-73d8d5bc",
        "arn:aws:dynamodb:local:000000000000:table/Cats/backup/01489602797149_73d8d5bc",
        "arn:aws:dynamodb:local:000000000000:table/Cats/backup/01489602797149-73D8D5BC",
        "arn:aws:dynamodb:local:000000000000:table/Cats/backup/01489602797149-73d8d5bg",
        "arn:aws:dynamodb:local:000000000000:table/Cats/backup/01489602797149-73d8d5bc1",
        "arn:aws:dynamodb:local:000000000000:table/Cats/backup/01489602797149-73d8d5bc/backup/"}) {
    EXPECT_EQ(Told(ParseBackupArn(arn).status()), "ValidationException: Invalid Backup ARN") << arn;
  }
}

TEST(CreateBackupRequest, NamesATableAndTheBackup) {
  EXPECT_EQ(Told(CheckCreateBackup({.table_name = "Cats", .backup_name = "a.b-C_1"})), "OK");
  EXPECT_EQ(Told(CheckCreateBackup({.table_name = std::string(kTableArn), .backup_name = std::string(255, 'b')})),
            "OK");
  EXPECT_EQ(Told(CheckCreateBackup({})),
            Cat("ValidationException: 2 validation errors detected: ", Violation("null", "tableName", "not be null"),
                "; ", Violation("null", "backupName", "not be null")));
  EXPECT_EQ(Told(CheckCreateBackup({.table_name = "Cats", .backup_name = "ab"})),
            One("'ab'", "backupName", "have length greater than or equal to 3"));
  const std::string long_name(256, 'b');
  EXPECT_EQ(Told(CheckCreateBackup({.table_name = "Cats", .backup_name = long_name})),
            One(Cat("'", long_name, "'"), "backupName", "have length less than or equal to 255"));
  EXPECT_EQ(Told(CheckCreateBackup({.table_name = "Cats", .backup_name = "my backup"})),
            One("'my backup'", "backupName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"));
  EXPECT_EQ(Told(CheckCreateBackup({.table_name = "", .backup_name = ""})),
            Cat("ValidationException: 2 validation errors detected: ",
                Violation("''", "tableName", "have length greater than or equal to 1"), "; ",
                Violation("''", "backupName", "have length greater than or equal to 3")));
}

TEST(CreateBackupRequest, ThePartsOfAnArnComeAfterTheShape) {
  const std::string arn = "arn:aws:dynamodb:local:000000000000:stream/Cats";
  EXPECT_EQ(Told(CheckCreateBackup({.table_name = arn, .backup_name = "a"})),
            One("'a'", "backupName", "have length greater than or equal to 3"));
  EXPECT_EQ(Told(CheckCreateBackup({.table_name = arn, .backup_name = "abc"})),
            Cat("ValidationException: 1 validation error detected: Invalid resource type in '", arn, "'"));
}

TEST(BackupArnRequest, NamesABackup) {
  EXPECT_EQ(Told(CheckBackupArn(std::string(kArn))), "OK");
  EXPECT_EQ(Told(CheckBackupArn(std::nullopt)), One("null", "backupArn", "not be null"));
  const std::string short_text(36, 'a');
  EXPECT_EQ(Told(CheckBackupArn(short_text)),
            One(Cat("'", short_text, "'"), "backupArn", "have length greater than or equal to 37"));
  const std::string fair_text(37, 'a');
  EXPECT_EQ(Told(CheckBackupArn(fair_text)), "ValidationException: Invalid Backup ARN");
  const std::string full_text(1024, 'a');
  EXPECT_EQ(Told(CheckBackupArn(full_text)), "ValidationException: Invalid Backup ARN");
  const std::string long_text(1025, 'a');
  EXPECT_EQ(Told(CheckBackupArn(long_text)),
            One(Cat("'", long_text, "'"), "backupArn", "have length less than or equal to 1024"));
}

TEST(ListBackupsRequest, NeedsNothing) {
  EXPECT_EQ(Told(CheckListTableBackups({})), "OK");
  ListTableBackupsRequest request;
  request.table_name = "Cats";
  request.limit = 1;
  request.from_ms = 5;
  request.until_ms = 5;
  request.exclusive_start_arn = std::string(kArn);
  for (const std::string_view type : {"USER", "SYSTEM", "AWS_BACKUP", "ALL"}) {
    request.type = std::string(type);
    EXPECT_EQ(Told(CheckListTableBackups(request)), "OK");
  }
  request.limit = 100;
  EXPECT_EQ(Told(CheckListTableBackups(request)), "OK");
}

TEST(ListBackupsRequest, ViolationsAreToldInTheOrderOfTheMembers) {
  ListTableBackupsRequest request;
  request.table_name = "a b";
  request.limit = 0;
  request.exclusive_start_arn = "x";
  request.type = "MINE";
  EXPECT_EQ(Told(CheckListTableBackups(request)),
            Cat("ValidationException: 4 validation errors detected: ",
                Violation("'a b'", "tableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"), "; ",
                Violation("'0'", "limit", "have value greater than or equal to 1"), "; ",
                Violation("'x'", "exclusiveStartBackupArn", "have length greater than or equal to 37"), "; ",
                Violation("'MINE'", "backupType", "satisfy enum value set: [USER, SYSTEM, AWS_BACKUP, ALL]")));
  ListTableBackupsRequest large;
  large.limit = 101;
  EXPECT_EQ(Told(CheckListTableBackups(large)), One("'101'", "limit", "have value less than or equal to 100"));
}

TEST(ListBackupsRequest, ThePartsOfArnsComeAfterTheShape) {
  ListTableBackupsRequest request;
  request.table_name = "arn:aws:dynamodb:local:000000000000:stream/Cats";
  request.exclusive_start_arn = Cat(kTableArn, "/backup/x");
  EXPECT_EQ(
      Told(CheckListTableBackups(request)),
      Cat("ValidationException: 1 validation error detected: Invalid resource type in '", *request.table_name, "'"));
  request.table_name = std::string(kTableArn);
  EXPECT_EQ(Told(CheckListTableBackups(request)), "ValidationException: Invalid Backup ARN");
}

RestoreTableRequest Restore() {
  RestoreTableRequest request;
  request.target_table_name = "Dogs";
  request.backup_arn = std::string(kArn);
  return request;
}

model::IndexDefinition Index(std::string_view name) {
  model::IndexDefinition index;
  index.index_name = std::string(name);
  index.key_schema = {{"p", "HASH"}};
  index.projection.projection_type = "ALL";
  return index;
}

TEST(RestoreTableRequest, NamesATargetAndABackup) {
  EXPECT_EQ(Told(CheckRestoreTable(Restore())), "OK");
  EXPECT_EQ(Told(CheckRestoreTable({})), Cat("ValidationException: 2 validation errors detected: ",
                                             Violation("null", "targetTableName", "not be null"), "; ",
                                             Violation("null", "backupArn", "not be null")));
  RestoreTableRequest request = Restore();
  request.target_table_name = "ab";
  EXPECT_EQ(Told(CheckRestoreTable(request)), One("'ab'", "targetTableName", "have length greater than or equal to 3"));
  // An ARN is not allowed, because the table does not exist yet.
  request.target_table_name = std::string(kTableArn);
  EXPECT_EQ(Told(CheckRestoreTable(request)),
            One(Cat("'", kTableArn, "'"), "targetTableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"));
  request = Restore();
  request.backup_arn = std::string(kTableArn);
  EXPECT_EQ(Told(CheckRestoreTable(request)), "ValidationException: Invalid Backup ARN");
}

TEST(RestoreTableRequest, ChecksTheFrontOfTheArn) {
  constexpr std::string_view kNotValid = "ValidationException: Invalid Request: BackupArn is not valid";
  RestoreTableRequest request = Restore();
  for (const std::string_view front :
       {"arn:aws:dynamodb:eu-west-1:000000000000", "arn:aws-cn:dynamodb:local:000000000000",
        "arn:aws:s3:local:000000000000", "arn:aws:dynamodb:local:me"}) {
    request.backup_arn = Cat(front, ":table/Cats/backup/01489602797149-73d8d5bc");
    EXPECT_EQ(Told(CheckRestoreTable(request)), kNotValid) << front;
  }
  request.backup_arn = "arn:aws:dynamodb:local:123456789012:table/Cats/backup/01489602797149-73d8d5bc";
  EXPECT_EQ(Told(CheckRestoreTable(request)), "AccessDeniedException: Access is denied");
}

TEST(RestoreTableRequest, OverridesHaveTheShapesOfCreateTable) {
  RestoreTableRequest request = Restore();
  request.billing_mode = "PROVISIONED";
  request.provisioned = {1, 1};
  request.on_demand_max = {5, 5};
  request.sse = model::SseDefinition{true, "KMS", ""};
  request.global_indexes = {Index("one")};
  request.local_indexes.emplace();
  EXPECT_EQ(Told(CheckRestoreTable(request)), "OK");

  request.billing_mode = "FREE";
  request.global_indexes->push_back(Index("ab"));
  request.global_indexes->back().provisioned = {0, 1};
  request.local_indexes = {Index("c d")};
  request.provisioned = {model::kThroughputNotGiven, 0};
  request.sse->type = "ROT13";
  EXPECT_EQ(
      Told(CheckRestoreTable(request)),
      Cat("ValidationException: 7 validation errors detected: ",
          Violation("'FREE'", "billingModeOverride", "satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]"), "; ",
          Violation("'ab'", "globalSecondaryIndexOverride.2.member.indexName",
                    "have length greater than or equal to 3"),
          "; ",
          Violation("'0'", "globalSecondaryIndexOverride.2.member.provisionedThroughput.readCapacityUnits",
                    "have value greater than or equal to 1"),
          "; ",
          Violation("'c d'", "localSecondaryIndexOverride.1.member.indexName",
                    "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
          "; ", Violation("null", "provisionedThroughputOverride.readCapacityUnits", "not be null"), "; ",
          Violation("'0'", "provisionedThroughputOverride.writeCapacityUnits", "have value greater than or equal to 1"),
          "; ", Violation("'ROT13'", "sSESpecificationOverride.sSEType", "satisfy enum value set: [AES256, KMS]")));
}

TEST(NoSuchBackup, NamesTheBackup) {
  EXPECT_EQ(Told(NoSuchBackupError(kArn)), Cat("BackupNotFoundException: Backup not found: ", kArn));
}

}  // namespace armature::engine::table_backup_requests_test
