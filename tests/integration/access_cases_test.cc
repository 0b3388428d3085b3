// Rights of access keys, as one table of operations that is called over both protocols.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "armature/client/wait.h"
#include "daemon/json/json_api.h"
#include "engine/operations.h"
#include "grpcpp/support/status_code_enum.h"
#include "storage/base/strings.h"
#include "tests/support/daemon_test.h"
#include "tests/support/operation_client.h"
#include "tests/support/security_files.h"

namespace armature::test::access_cases_test {

using testing::HasSubstr;

constexpr std::string_view kArnPrefix = "arn:aws:dynamodb:local:000000000000:table/";
constexpr std::string_view kNoId = "01489602797149-73d8d5bc";

// An operation as a client calls it. TABLE stands for its table, BACKUP for a backup of that table, and EXPORT, IMPORT
// and BULK for jobs.
struct OperationCase {
  std::string_view name;
  std::string_view document;
  bool reader_may = false;  // on `orders`
  // The permission that is checked, if it is not the operation itself.
  std::string_view permission = {};
};

// In an order in which all of them succeed if the table exists.
constexpr OperationCase kCases[] = {
    {"PutItem", R"({"TableName": "TABLE", "Item": {"id": {"S": "a"}}})"},
    {"UpdateItem", R"({"TableName": "TABLE", "Key": {"id": {"S": "a"}}, "UpdateExpression": "SET x = :x",
                       "ExpressionAttributeValues": {":x": {"N": "1"}}})"},
    {"GetItem", R"({"TableName": "TABLE", "Key": {"id": {"S": "a"}}})", true},
    {"Query", R"({"TableName": "TABLE", "KeyConditionExpression": "id = :i",
                  "ExpressionAttributeValues": {":i": {"S": "a"}}})",
     true},
    {"Scan", R"({"TableName": "TABLE"})", true},
    {"DeleteItem", R"({"TableName": "TABLE", "Key": {"id": {"S": "a"}}})"},
    {"BatchWriteItem", R"({"RequestItems": {"TABLE": [{"PutRequest": {"Item": {"id": {"S": "b"}}}}]}})"},
    {"BatchGetItem", R"({"RequestItems": {"TABLE": {"Keys": [{"id": {"S": "b"}}]}}})"},
    {"TransactWriteItems", R"({"TransactItems": [{"Update": {"TableName": "TABLE", "Key": {"id": {"S": "b"}},
                                                             "UpdateExpression": "REMOVE x"}}]})",
     false, "UpdateItem"},
    {"TransactGetItems", R"({"TransactItems": [{"Get": {"TableName": "TABLE", "Key": {"id": {"S": "b"}}}}]})", true,
     "GetItem"},
    {"ExecuteStatement", R"({"Statement": "SELECT * FROM \"TABLE\" WHERE id = 'b'"})", false, "PartiQLSelect"},
    {"BatchExecuteStatement", R"({"Statements": [{"Statement": "DELETE FROM \"TABLE\" WHERE id = 'c'"}]})", false,
     "PartiQLDelete"},
    {"ExecuteTransaction", R"({"TransactStatements": [{"Statement": "UPDATE \"TABLE\" SET x = 1 WHERE id = 'b'"}]})",
     false, "PartiQLUpdate"},
    {"DescribeTable", R"({"TableName": "TABLE"})", true},
    {"DescribeTimeToLive", R"({"TableName": "TABLE"})", true},
    {"DescribeContinuousBackups", R"({"TableName": "TABLE"})", true},
    {"DescribeContributorInsights", R"({"TableName": "TABLE"})", true},
    {"ListContributorInsights", R"({"TableName": "TABLE"})"},
    {"UpdateContributorInsights", R"({"TableName": "TABLE", "ContributorInsightsAction": "ENABLE"})"},
    {"UpdateTimeToLive", R"({"TableName": "TABLE",
                             "TimeToLiveSpecification": {"Enabled": true, "AttributeName": "ends"}})"},
    {"UpdateContinuousBackups", R"({"TableName": "TABLE",
                                    "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true}})"},
    {"TagResource", R"({"ResourceArn": "TABLE", "Tags": [{"Key": "k", "Value": "v"}]})"},
    {"ListTagsOfResource", R"({"ResourceArn": "TABLE"})"},
    {"UntagResource", R"({"ResourceArn": "TABLE", "TagKeys": ["k"]})"},
    {"PutResourcePolicy", R"({"ResourceArn": "TABLE", "Policy":
        "{\"Statement\": {\"Effect\": \"Deny\", \"Principal\": {\"AWS\": \"AKNOBODY\"}, \"Action\": \"*\", \"Resource\": \"*\"}}"})"},
    {"GetResourcePolicy", R"({"ResourceArn": "TABLE"})"},
    {"DeleteResourcePolicy", R"({"ResourceArn": "TABLE"})"},
    {"UpdateTable", R"({"TableName": "TABLE", "DeletionProtectionEnabled": false})"},
    {"CreateBackup", R"({"TableName": "TABLE", "BackupName": "second"})"},
    {"ListBackups", R"({"TableName": "TABLE"})"},
    {"DescribeBackup", R"({"BackupArn": "BACKUP"})", true},
    {"RestoreTableFromBackup", R"({"TargetTableName": "TABLE-restored", "BackupArn": "BACKUP"})"},
    {"RestoreTableToPointInTime",
     R"({"TargetTableName": "TABLE-then", "SourceTableName": "TABLE", "UseLatestRestorableTime": true})"},
    {"DeleteBackup", R"({"BackupArn": "BACKUP"})"},
    {"ExportTableToPointInTime", R"({"TableArn": "TABLE", "S3Bucket": "bucket"})"},
    {"DescribeExport", R"({"ExportArn": "EXPORT"})", true},
    {"ListExports", R"({"TableArn": "TABLE"})"},
    {"ImportTable", R"({"S3BucketSource": {"S3Bucket": "bucket"}, "InputFormat": "DYNAMODB_JSON",
        "TableCreationParameters": {"TableName": "TABLE-imported", "BillingMode": "PAY_PER_REQUEST",
                                    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
                                    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]}})"},
    {"DescribeImport", R"({"ImportArn": "IMPORT"})", true},
    {"ListImports", R"({"TableArn": "TABLE"})"},
    {"StartBulkPutItems", R"({"TableName": "TABLE",
        "InputS3Configuration": {"S3Bucket": "bucket", "InputFormat": "DYNAMODB_JSON"},
        "OutputS3Configuration": {"S3Bucket": "bucket", "OutputType": ["ERROR"]}})"},
    {"DescribeBulkOperation", R"({"BulkOperationArn": "BULK"})", true},
    {"CancelBulkOperation", R"({"BulkOperationArn": "BULK"})"},
    {"ListBulkOperations", "{}"},
    {"ListTables", "{}"},
    {"DescribeLimits", "{}"},
    {"DescribeEndpoints", "{}"},
    {"DeleteTable", R"({"TableName": "TABLE"})"},
    {"CreateTable", R"({"TableName": "TABLE", "BillingMode": "PAY_PER_REQUEST",
                        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
                        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]})"},
};

bool IsAboutABackup(const OperationCase& operation) {
  return operation.document.find("BACKUP") != std::string_view::npos;
}

// The kinds of jobs: the placeholder, the member with the ARN, and the part of the ARN.
struct JobKind {
  std::string_view placeholder;
  std::string_view member;
  std::string_view infix;
};
constexpr JobKind kJobKinds[] = {{"EXPORT", "ExportArn", "/export/"},
                                 {"IMPORT", "ImportArn", "/import/"},
                                 {"BULK", "BulkOperationArn", "/bulk-operation/"}};
using Jobs = std::map<std::string, std::string>;  // ARNs by placeholder

bool IsAboutAJob(const OperationCase& operation) {
  return std::any_of(std::begin(kJobKinds), std::end(kJobKinds), [&](const JobKind& kind) {
    return operation.document.find(Cat("\"", kind.placeholder, "\"")) != std::string_view::npos;
  });
}

bool IsAboutATable(const OperationCase& operation) {
  return operation.document.find("TABLE") != std::string_view::npos || IsAboutABackup(operation) ||
         IsAboutAJob(operation);
}

// The ARN of a backup that does not exist.
std::string NoBackupOf(std::string_view table) { return Cat(kArnPrefix, table, "/backup/", kNoId); }

// The document of a case. Jobs that are not in `jobs` do not exist.
std::string DocumentOf(const OperationCase& operation, std::string_view table, std::string_view backup_arn,
                       const Jobs& jobs = {}) {
  std::string document =
      absl::StrReplaceAll(Av(operation.document), {{"TABLE", Av(table)}, {"BACKUP", Av(backup_arn)}});
  for (const JobKind& kind : kJobKinds) {
    const auto found = jobs.find(std::string(kind.placeholder));
    const std::string none = Cat(backup_arn.substr(0, backup_arn.find("/backup/")), kind.infix, kNoId);
    document = absl::StrReplaceAll(
        document, {{Cat("\"", kind.placeholder, "\""), Cat("\"", found == jobs.end() ? none : found->second, "\"")}});
  }
  return document;
}

class AccessCasesTest : public testing::TestWithParam<Protocol> {
 protected:
  void Create(std::string_view table) const {
    auto request = FromJson<api::v1::CreateTableRequest>(
        R"({"TableName": "x", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]})");
    request.set_table_name(std::string(table));
    const auto created = daemon_.client().CreateTable(request);
    ASSERT_TRUE(created.ok()) << created.status();
    WaitForTable(table);
  }
  void WaitForTable(std::string_view table) const {
    const absl::Status waited = client::WaitForTable(daemon_.client(), table, absl::Now() + absl::Seconds(30));
    ASSERT_TRUE(waited.ok()) << waited;
  }

  // Creates a backup, waits until it is available, and returns its ARN.
  std::string BackUp(std::string_view table) const {
    api::v1::CreateBackupRequest request;
    request.set_table_name(std::string(table));
    request.set_backup_name("first");
    const auto made = daemon_.client().CreateBackup(request);
    EXPECT_TRUE(made.ok()) << made.status();
    if (!made.ok()) return NoBackupOf(table);
    WaitForBackups();
    return made->backup_details().backup_arn();
  }

  // Waits until no backup is being created.
  void WaitForBackups() const {
    const auto list = daemon_.client().ListBackups(api::v1::ListBackupsRequest());
    ASSERT_TRUE(list.ok()) << list.status();
    for (const api::v1::BackupSummary& backup : list->backup_summaries()) {
      const absl::Status waited =
          client::WaitForBackup(daemon_.client(), backup.backup_arn(), absl::Now() + absl::Seconds(30));
      EXPECT_TRUE(waited.ok()) << waited;
    }
  }

  Outcome Call(std::string_view key_id, std::string_view operation, std::string_view document) const {
    return operations_.Call(key_id, operation, document);
  }

  // Expects that the key may not run `permission`, on a table or, if `table` is empty, on any resource.
  static void ExpectDenied(const Outcome& outcome, std::string_view key_id, std::string_view permission,
                           std::string_view table) {
    EXPECT_EQ(outcome.code, GetParam() == Protocol::kGrpc ? grpc::PERMISSION_DENIED : 400) << outcome;
    EXPECT_EQ(outcome.exception, "AccessDeniedException");
    EXPECT_EQ(outcome.message, Denial(key_id, permission, table));
  }
  static std::string Denial(std::string_view key_id, std::string_view permission, std::string_view table) {
    return Cat("User: ", key_id, " is not authorized to perform: dynamodb:", permission,
               " on resource: ", table.empty() ? "*" : Cat(kArnPrefix, table));
  }

  std::vector<std::string> Flags() const {
    std::vector<std::string> flags = files_.Flags();
    flags.push_back(Cat("--backup_dir=", backups_.path()));
    std::filesystem::create_directory(files_of_jobs_.path("bucket"));
    std::ofstream(files_of_jobs_.path("bucket/items")) << R"({"Item": {"id": {"S": "imported"}}})";
    flags.push_back(Cat("--export_dir=", files_of_jobs_.path()));
    flags.push_back(Cat("--import_dir=", files_of_jobs_.path()));
    return flags;
  }

  SecurityFiles files_;
  TempDir backups_;
  TempDir files_of_jobs_;
  DaemonProcess daemon_{Flags(), files_.WithKey("AKROOT")};
  OperationClient operations_{GetParam(), daemon_, files_};
};

INSTANTIATE_TEST_SUITE_P(Over, AccessCasesTest, testing::Values(Protocol::kGrpc, Protocol::kHttp),
                         [](const auto& each) { return ToString(each.param); });

// A new operation needs a case here, which proves that its permission is checked.
TEST(AccessCases, AreOfEveryOperation) {
  std::vector<std::string_view> cases;
  for (const OperationCase& operation : kCases) cases.push_back(operation.name);
  std::sort(cases.begin(), cases.end());
  std::vector<std::string_view> served;
  for (const engine::Operation& operation : engine::kOperations) {
    std::string_view known;
    const std::string target = Cat("DynamoDB_20120810.", operation.name);
    if (daemon::JsonApi(nullptr).Knows(target, &known)) served.push_back(operation.name);
  }
  EXPECT_EQ(cases, served);
}

TEST_P(AccessCasesTest, AReaderOfOneTableMayDoNothingElse) {
  Create("orders");
  Create("secrets");
  const std::string backup_of_orders = BackUp("orders");
  for (const OperationCase& operation : kCases) {
    for (const std::string& table : {std::string("orders"), std::string("secrets"), std::string("orders2")}) {
      const std::string backup = table == "orders" ? backup_of_orders : NoBackupOf(table);
      for (const std::string& name : {table, Cat(kArnPrefix, table)}) {
        SCOPED_TRACE(Cat(operation.name, " ", name));
        const Outcome outcome = Call("AKREADER", operation.name, DocumentOf(operation, name, backup));
        if (operation.reader_may && table == "orders") {
          // The jobs do not exist, which only those may know who may describe them.
          EXPECT_NE(outcome.is_ok, IsAboutAJob(operation)) << outcome;
          EXPECT_NE(outcome.exception, "AccessDeniedException");
          continue;
        }
        const std::string_view permission = operation.permission.empty() ? operation.name : operation.permission;
        const std::string_view made = operation.name == "ImportTable" ? "-imported" : "";
        const std::string resource = IsAboutATable(operation) ? Cat(table, made) : "";
        if (operation.name != "BatchExecuteStatement") {
          ExpectDenied(outcome, "AKREADER", permission, resource);
          continue;
        }
        // A batch of statements answers an error for each statement.
        EXPECT_TRUE(outcome.is_ok) << outcome;
        EXPECT_THAT(outcome.body, HasSubstr("\"Code\":\"AccessDenied\""));
        EXPECT_THAT(outcome.body, HasSubstr(Denial("AKREADER", permission, resource)));
      }
      if (!IsAboutATable(operation)) break;
    }
  }
}

// An ARN of a part of a table needs the permission for the table.
TEST_P(AccessCasesTest, PartsOfATableAreTheTables) {
  Create("orders");
  for (const std::string_view part : {"/index/by_day", "/stream/2024", "/backup/01"}) {
    const std::string document = Cat(R"({"ResourceArn": ")", kArnPrefix, "secrets", part, R"("})");
    EXPECT_EQ(Call("AKREADER", "ListTagsOfResource", document).exception, "AccessDeniedException") << part;
  }
}

// All operations succeed here, which shows that the documents are valid and were denied because of the sender.
TEST_P(AccessCasesTest, TheRootKeyMayDoEverything) {
  Create("orders");
  const std::string backup = BackUp("orders");
  Jobs jobs;
  for (const OperationCase& operation : kCases) {
    SCOPED_TRACE(operation.name);
    if (IsAboutABackup(operation)) WaitForBackups();
    if (operation.name == "DeleteBackup") WaitForTable("orders-restored");  // it reads the backup
    if (operation.name == "CreateTable") {
      ASSERT_TRUE(client::WaitForTableGone(daemon_.client(), "orders", absl::Now() + absl::Seconds(30)).ok());
    } else if (IsAboutATable(operation)) {
      WaitForTable("orders");
    }
    const bool needs_arn = operation.document.find("Arn\": \"TABLE\"") != std::string_view::npos;
    const Outcome outcome = Call("AKROOT", operation.name,
                                 DocumentOf(operation, needs_arn ? Cat(kArnPrefix, "orders") : "orders", backup, jobs));
    if (operation.name == "RestoreTableToPointInTime") {
      EXPECT_EQ(outcome.exception, "PointInTimeRecoveryUnavailableException");
      continue;
    }
    EXPECT_TRUE(outcome.is_ok) << outcome;
    for (const JobKind& kind : kJobKinds) {
      const std::string begin = Cat("\"", kind.member, "\":\"");
      const size_t found = outcome.body.find(begin);
      if (found == std::string::npos) continue;
      const size_t arn = found + begin.size();
      jobs[std::string(kind.placeholder)] = outcome.body.substr(arn, outcome.body.find('"', arn) - arn);
    }
  }
}

TEST_P(AccessCasesTest, StrangersGetNothing) {
  Create("orders");
  std::vector<Outcome> outcomes(std::size(kCases));
  {
    // Concurrently, because refusals are delayed after some failures.
    std::vector<std::jthread> callers;
    for (size_t i = 0; i < outcomes.size(); ++i) {
      const std::string document = DocumentOf(kCases[i], "orders", NoBackupOf("orders"));
      callers.emplace_back([this, i, document, &outcomes] { outcomes[i] = Call("", kCases[i].name, document); });
    }
  }
  for (size_t i = 0; i < outcomes.size(); ++i) {
    EXPECT_EQ(outcomes[i].exception, "MissingAuthenticationTokenException") << kCases[i].name << " " << outcomes[i];
    EXPECT_EQ(outcomes[i].code, GetParam() == Protocol::kGrpc ? grpc::UNAUTHENTICATED : 400);
  }
}

// Each member is checked, not only the first.
TEST_P(AccessCasesTest, OneForbiddenMemberFailsTheWhole) {
  Create("orders");
  Create("secrets");
  struct Mixed {
    std::string_view name;
    std::string_view document;
    std::string_view permission;
    std::string_view table;
  };
  constexpr Mixed kMixed[] = {
      {"TransactGetItems", R"({"TransactItems": [{"Get": {"TableName": "orders", "Key": {"id": {"S": "a"}}}},
                                                 {"Get": {"TableName": "secrets", "Key": {"id": {"S": "a"}}}}]})",
       "GetItem", "secrets"},
      {"TransactWriteItems", R"json({"TransactItems": [{"ConditionCheck": {"TableName": "orders",
           "Key": {"id": {"S": "a"}}, "ConditionExpression": "attribute_exists(id)"}}]})json",
       "ConditionCheckItem", "orders"},
      {"TransactWriteItems", R"({"TransactItems": [{"Put": {"TableName": "orders", "Item": {"id": {"S": "a"}}}}]})",
       "PutItem", "orders"},
      {"TransactWriteItems", R"({"TransactItems": [{"Delete": {"TableName": "orders", "Key": {"id": {"S": "a"}}}}]})",
       "DeleteItem", "orders"},
      {"TransactWriteItems", R"({"TransactItems": []})", "TransactWriteItems", ""},
      {"BatchGetItem", R"({"RequestItems": {}})", "BatchGetItem", ""},
  };
  for (const Mixed& mixed : kMixed) {
    SCOPED_TRACE(mixed.document);
    ExpectDenied(Call("AKREADER", mixed.name, mixed.document), "AKREADER", mixed.permission, mixed.table);
  }
}

// The key may run the operation on one table only, and names both. It succeeds with that table alone, which shows that
// the request is valid and was denied for the other table.
TEST_P(AccessCasesTest, TheForbiddenMemberMayComeFirstOrLast) {
  Create("orders");
  Create("secrets");
  struct Grouped {
    std::string_view name;
    std::string_view document;  // FIRST and LAST stand for the tables
    std::string_view allowed;
    std::string_view permission;
  };
  constexpr Grouped kGrouped[] = {
      {"BatchGetItem", R"({"RequestItems": {"FIRST": {"Keys": [{"id": {"S": "a"}}]},
                                            "LAST": {"Keys": [{"id": {"S": "b"}}]}}})",
       R"({"RequestItems": {"orders": {"Keys": [{"id": {"S": "a"}}, {"id": {"S": "b"}}]}}})", "BatchGetItem"},
      {"BatchWriteItem", R"({"RequestItems": {"FIRST": [{"PutRequest": {"Item": {"id": {"S": "a"}}}}],
                                              "LAST": [{"PutRequest": {"Item": {"id": {"S": "b"}}}}]}})",
       R"({"RequestItems": {"orders": [{"PutRequest": {"Item": {"id": {"S": "a"}}}},
                                       {"PutRequest": {"Item": {"id": {"S": "b"}}}}]}})",
       "BatchWriteItem"},
      {"TransactWriteItems", R"({"TransactItems": [{"Put": {"TableName": "FIRST", "Item": {"id": {"S": "a"}}}},
                                                   {"Put": {"TableName": "LAST", "Item": {"id": {"S": "b"}}}}]})",
       R"({"TransactItems": [{"Put": {"TableName": "orders", "Item": {"id": {"S": "a"}}}},
                             {"Put": {"TableName": "orders", "Item": {"id": {"S": "b"}}}}]})",
       "PutItem"},
  };
  for (const Grouped& grouped : kGrouped) {
    SCOPED_TRACE(grouped.name);
    for (const auto& [first, last] :
         {std::pair<std::string_view, std::string_view>{"orders", "secrets"}, {"secrets", "orders"}}) {
      const std::string document =
          absl::StrReplaceAll(Av(grouped.document), {{"FIRST", Av(first)}, {"LAST", Av(last)}});
      ExpectDenied(Call("AKGROUPS", grouped.name, document), "AKGROUPS", grouped.permission, "secrets");
    }
    const Outcome alone = Call("AKGROUPS", grouped.name, grouped.allowed);
    EXPECT_TRUE(alone.is_ok) << alone;
  }
}

// A restore reads the content of its source: a backup, or a table that is named by its name or its ARN.
TEST_P(AccessCasesTest, RestoringIsAskedForOnTheSourceAndOnTheNewTable) {
  struct Restore {
    std::string_view operation;
    std::string source;  // the member up to the name of the table
    std::string more;    // the rest of its value
    std::string_view exception;
  };
  for (const Restore& each :
       {Restore{"RestoreTableFromBackup", Cat(R"("BackupArn": ")", kArnPrefix), Cat("/backup/", kNoId),
                "BackupNotFoundException"},
        Restore{"RestoreTableToPointInTime", R"("SourceTableName": ")", "", "TableNotFoundException"},
        Restore{"RestoreTableToPointInTime", Cat(R"("SourceTableArn": ")", kArnPrefix), "",
                "TableNotFoundException"}}) {
    SCOPED_TRACE(each.source);
    const auto restore = [&](std::string_view table, std::string_view target) {
      const std::string more = each.more.empty() ? R"(, "UseLatestRestorableTime": true)" : "";
      return Call("AKRESTORER", each.operation,
                  Cat("{", each.source, table, each.more, R"(", "TargetTableName": ")", target, "\"", more, "}"));
    };
    ExpectDenied(restore("secrets", "orders2"), "AKRESTORER", each.operation, "secrets");
    ExpectDenied(restore("orders", "secrets2"), "AKRESTORER", each.operation, "secrets2");
    EXPECT_EQ(restore("orders", "orders2").exception, each.exception);
  }
}

}  // namespace armature::test::access_cases_test
