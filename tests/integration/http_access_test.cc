// Authorisation over HTTP: the original protocol with signatures, over TLS.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "armature/client/wait.h"
#include "daemon/json/json_api.h"
#include "engine/operations.h"
#include "storage/base/strings.h"
#include "tests/support/daemon_test.h"
#include "tests/support/https_exchange.h"
#include "tests/support/request_signer.h"
#include "tests/support/security_files.h"

namespace armature::test::http_access_test {

using daemon::HttpRequest;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kArnPrefix = "arn:aws:dynamodb:local:000000000000:table/";

constexpr std::string_view kBackupId = "01489602797149-73d8d5bc";

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
std::string NoBackupOf(std::string_view table) { return Cat(kArnPrefix, table, "/backup/", kBackupId); }

// Jobs that are not in `jobs` do not exist.
HttpRequest RequestFor(const OperationCase& operation, std::string_view table, std::string_view backup_arn,
                       const Jobs& jobs = {}) {
  std::string document =
      absl::StrReplaceAll(Av(operation.document), {{"TABLE", Av(table)}, {"BACKUP", Av(backup_arn)}});
  for (const JobKind& kind : kJobKinds) {
    const auto found = jobs.find(std::string(kind.placeholder));
    const std::string none = Cat(backup_arn.substr(0, backup_arn.find("/backup/")), kind.infix, kBackupId);
    document = absl::StrReplaceAll(
        document, {{Cat("\"", kind.placeholder, "\""), Cat("\"", found == jobs.end() ? none : found->second, "\"")}});
  }
  return JsonRequest(std::string(operation.name), document);
}

HttpRequest RequestFor(const OperationCase& operation, std::string_view table) {
  return RequestFor(operation, table, NoBackupOf(table));
}

// Adds a key with a different secret.
struct FilesWithAnotherKey : SecurityFiles {
  FilesWithAnotherKey() {
    WriteCredentials({R"({"id": "AKOTHER", "secret": "the-secret-of-another", "policy": "root"})"});
  }
};

class HttpAccessTest : public testing::Test {
 protected:
  void Create(std::string_view table) const {
    auto request = FromJson<api::v1::CreateTableRequest>(
        R"({"TableName": "x", "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]})");
    request.set_table_name(std::string(table));
    const auto created = daemon_.client().CreateTable(request);
    ASSERT_TRUE(created.ok()) << created.status();
    ASSERT_TRUE(client::WaitForTable(daemon_.client(), table, absl::Now() + absl::Seconds(30)).ok());
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

  static HttpRequest Signed(std::string_view key_id, HttpRequest request, absl::Time time = absl::Now()) {
    const Signer signer{.key_id = std::string(key_id), .secret = SecurityFiles::kRootSecret};
    signer.Sign(time, &request);
    return request;
  }
  HttpsExchange Send(const HttpRequest& request) const {
    return HttpsExchange(daemon_.http_address(), files_.Path("ca.pem"), request);
  }
  RawResponse Answer(const HttpRequest& request) const { return Send(request).Read(); }

  std::vector<std::string> Flags() const {
    std::vector<std::string> flags = files_.Flags();
    flags.push_back(Cat("--backup_dir=", backups_.path()));
    std::filesystem::create_directory(files_of_jobs_.path("bucket"));
    std::ofstream(files_of_jobs_.path("bucket/items")) << R"({"Item": {"id": {"S": "imported"}}})";
    flags.push_back(Cat("--export_dir=", files_of_jobs_.path()));
    flags.push_back(Cat("--import_dir=", files_of_jobs_.path()));
    return flags;
  }

  FilesWithAnotherKey files_;
  TempDir backups_;
  TempDir files_of_jobs_;
  DaemonProcess daemon_{Flags(), files_.WithKey("AKROOT")};
};

// A new operation needs a case here, which proves that its permission is checked.
TEST_F(HttpAccessTest, EveryOperationHasACase) {
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

// Each member is checked, not only the first.
TEST_F(HttpAccessTest, OneForbiddenMemberFailsTheWhole) {
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
    const RawResponse answer =
        Answer(Signed("AKREADER", JsonRequest(std::string(mixed.name), std::string(mixed.document))));
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, HasSubstr(Cat("to perform: dynamodb:", mixed.permission, " on resource: ",
                                           mixed.table.empty() ? "*" : Cat(kArnPrefix, mixed.table), "\"")));
  }
}

// The key may run the operation on one table only, and names both.
TEST_F(HttpAccessTest, TheForbiddenMemberMayComeFirstOrLast) {
  Create("orders");
  Create("secrets");
  struct Grouped {
    std::string_view name;
    std::string_view document;  // FIRST and LAST stand for the tables
    std::string_view permission;
  };
  constexpr Grouped kGrouped[] = {
      {"BatchGetItem", R"({"RequestItems": {"FIRST": {"Keys": [{"id": {"S": "a"}}]},
                                            "LAST": {"Keys": [{"id": {"S": "b"}}]}}})",
       "BatchGetItem"},
      {"BatchWriteItem", R"({"RequestItems": {"FIRST": [{"PutRequest": {"Item": {"id": {"S": "a"}}}}],
                                              "LAST": [{"PutRequest": {"Item": {"id": {"S": "b"}}}}]}})",
       "BatchWriteItem"},
      {"TransactWriteItems", R"({"TransactItems": [{"Put": {"TableName": "FIRST", "Item": {"id": {"S": "a"}}}},
                                                   {"Put": {"TableName": "LAST", "Item": {"id": {"S": "b"}}}}]})",
       "PutItem"},
  };
  const auto answer = [this](const Grouped& grouped, std::string_view first, std::string_view last) {
    return Answer(Signed("AKGROUPS", JsonRequest(std::string(grouped.name),
                                                 absl::StrReplaceAll(Av(grouped.document),
                                                                     {{"FIRST", Av(first)}, {"LAST", Av(last)}}))));
  };
  for (const Grouped& grouped : kGrouped) {
    SCOPED_TRACE(grouped.name);
    for (const RawResponse& denied : {answer(grouped, "orders", "secrets"), answer(grouped, "secrets", "orders")}) {
      EXPECT_EQ(denied.status, 400);
      EXPECT_THAT(denied.body, HasSubstr(Cat("to perform: dynamodb:", grouped.permission, " on resource: ", kArnPrefix,
                                             "secrets\"")));
    }
  }
  // If both members name the permitted table, the request succeeds.
  for (const Grouped& grouped : kGrouped) {
    const RawResponse both = answer(grouped, "orders", "orders");
    EXPECT_EQ(both.status, 200) << both.body;
  }
}

TEST_F(HttpAccessTest, AReaderOfOneTableMayDoNothingElse) {
  Create("orders");
  Create("secrets");
  const std::string backup_of_orders = BackUp("orders");
  for (const OperationCase& operation : kCases) {
    for (const std::string& table : {std::string("orders"), std::string("secrets"), std::string("orders2")}) {
      const std::string backup = table == "orders" ? backup_of_orders : NoBackupOf(table);
      for (const std::string& name : {table, Cat(kArnPrefix, table)}) {
        SCOPED_TRACE(Cat(operation.name, " ", name));
        const RawResponse answer = Answer(Signed("AKREADER", RequestFor(operation, name, backup)));
        if (operation.reader_may && table == "orders") {
          // The jobs do not exist, which only those may know who may describe them.
          EXPECT_EQ(answer.status, IsAboutAJob(operation) ? 400 : 200) << answer.body;
          EXPECT_THAT(answer.body, Not(HasSubstr("AccessDenied")));
          continue;
        }
        // A batch of statements answers an error for each statement.
        const bool is_inside = operation.name == "BatchExecuteStatement";
        EXPECT_EQ(answer.status, is_inside ? 200 : 400);
        EXPECT_THAT(answer.body, HasSubstr(is_inside ? "\"Code\":\"AccessDenied\"" : "#AccessDeniedException"));
        const std::string_view permission = operation.permission.empty() ? operation.name : operation.permission;
        const std::string_view made = operation.name == "ImportTable" ? "-imported" : "";
        EXPECT_THAT(
            answer.body,
            HasSubstr(Cat("User: AKREADER is not authorized to perform: dynamodb:", permission,
                          " on resource: ", IsAboutATable(operation) ? Cat(kArnPrefix, table, made) : "*", "\"")));
      }
      if (!IsAboutATable(operation)) break;
    }
  }
}

// An ARN of a part of a table needs the permission for the table.
TEST_F(HttpAccessTest, PartsOfATableAreTheTables) {
  Create("orders");
  const OperationCase tags{"ListTagsOfResource", R"({"ResourceArn": "TABLE"})"};
  for (const std::string_view part : {"/index/by_day", "/stream/2024", "/backup/01"}) {
    const RawResponse answer = Answer(Signed("AKREADER", RequestFor(tags, Cat(kArnPrefix, "secrets", part))));
    EXPECT_THAT(answer.body, HasSubstr("#AccessDeniedException")) << part;
  }
}

// All operations succeed here, which shows that the documents are valid and were denied because of the sender.
TEST_F(HttpAccessTest, TheRootKeyMayDoEverything) {
  Create("orders");
  const std::string backup = BackUp("orders");
  Jobs jobs;
  for (const OperationCase& operation : kCases) {
    SCOPED_TRACE(operation.name);
    if (IsAboutABackup(operation)) WaitForBackups();
    if (operation.name == "DeleteBackup") {
      const absl::Time deadline = absl::Now() + absl::Seconds(30);
      ASSERT_TRUE(client::WaitForTable(daemon_.client(), "orders-restored", deadline).ok()) << "it reads the backup";
    }
    if (operation.name == "CreateTable") {
      ASSERT_TRUE(client::WaitForTableGone(daemon_.client(), "orders", absl::Now() + absl::Seconds(30)).ok());
    } else {
      ASSERT_TRUE(client::WaitForTable(daemon_.client(), "orders", absl::Now() + absl::Seconds(30)).ok() ||
                  !IsAboutATable(operation));
    }
    const bool needs_arn = operation.document.find("Arn\": \"TABLE\"") != std::string_view::npos;
    const RawResponse answer =
        Answer(Signed("AKROOT", RequestFor(operation, needs_arn ? Cat(kArnPrefix, "orders") : "orders", backup, jobs)));
    if (operation.name == "RestoreTableToPointInTime") {
      EXPECT_THAT(answer.body, HasSubstr("#PointInTimeRecoveryUnavailableException"));
      continue;
    }
    EXPECT_EQ(answer.status, 200) << answer.body;
    for (const JobKind& kind : kJobKinds) {
      const std::string begin = Cat("\"", kind.member, "\":\"");
      const size_t found = answer.body.find(begin);
      if (found == std::string::npos) continue;
      const size_t arn = found + begin.size();
      jobs[std::string(kind.placeholder)] = answer.body.substr(arn, answer.body.find('"', arn) - arn);
    }
  }
}

// A restore reads the content of its source: a backup, or a table that is named by its name or its ARN.
TEST_F(HttpAccessTest, RestoringIsAskedForOnTheSourceAndOnTheNewTable) {
  struct Restore {
    std::string_view operation;
    std::string source;  // the member up to the name of the table
    std::string more;    // the rest of its value
    std::string_view error;
  };
  for (const Restore& each :
       {Restore{"RestoreTableFromBackup", Cat(R"("BackupArn": ")", kArnPrefix), Cat("/backup/", kBackupId),
                "#BackupNot"},
        Restore{"RestoreTableToPointInTime", R"("SourceTableName": ")", "", "#TableNotFound"},
        Restore{"RestoreTableToPointInTime", Cat(R"("SourceTableArn": ")", kArnPrefix), "", "#TableNotFound"}}) {
    const auto restore = [&](std::string_view table, std::string_view target) {
      const std::string document = Cat("{", each.source, table, each.more, R"(", "TargetTableName": ")", target,
                                       R"(", "UseLatestRestorableTime": true})");
      return Answer(Signed("AKRESTORER", JsonRequest(std::string(each.operation), document))).body;
    };
    const std::string denied = Cat("to perform: dynamodb:", each.operation, " on resource: ", kArnPrefix);
    EXPECT_THAT(restore("secrets", "orders2"), HasSubstr(Cat(denied, "secrets\"")));
    EXPECT_THAT(restore("orders", "secrets2"), HasSubstr(Cat(denied, "secrets2\"")));
    EXPECT_THAT(restore("orders", "orders2"), HasSubstr(each.error));
  }
}

TEST_F(HttpAccessTest, StrangersGetNothing) {
  Create("orders");
  std::vector<HttpsExchange> exchanges;
  // Sent concurrently, because refusals are delayed after some failures.
  for (const OperationCase& operation : kCases) exchanges.push_back(Send(RequestFor(operation, "orders")));
  for (size_t i = 0; i < exchanges.size(); ++i) {
    const RawResponse answer = exchanges[i].Read();
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, HasSubstr("#MissingAuthenticationTokenException")) << kCases[i].name;
  }
}

TEST_F(HttpAccessTest, ASignatureHoldsForItsTimeOnly) {
  Create("orders");
  const HttpRequest request = RequestFor(kCases[0], "orders");
  const absl::Time now = absl::Now();
  const HttpRequest fresh = Signed("AKROOT", request, now);
  EXPECT_EQ(Answer(fresh).status, 200);
  EXPECT_EQ(Answer(fresh).status, 200) << "a client that repeats is no attacker";
  EXPECT_EQ(Answer(Signed("AKROOT", request, now - absl::Minutes(13))).status, 200);
  EXPECT_EQ(Answer(Signed("AKROOT", request, now + absl::Minutes(13))).status, 200);

  const RawResponse old = Answer(Signed("AKROOT", request, now - absl::Minutes(15) - absl::Seconds(1)));
  EXPECT_EQ(old.status, 400);
  EXPECT_THAT(old.body, HasSubstr("#InvalidSignatureException"));
  EXPECT_THAT(old.body, HasSubstr("Signature expired: "));
  const RawResponse early = Answer(Signed("AKROOT", request, now + absl::Minutes(17)));
  EXPECT_EQ(early.status, 400);
  EXPECT_THAT(early.body, HasSubstr("#InvalidSignatureException"));
  EXPECT_THAT(early.body, HasSubstr("Signature not yet current: "));
}

std::string& Header(HttpRequest& request, std::string_view name) {
  for (auto& header : request.headers) {
    if (header.name == name) return header.value;
  }
  throw std::runtime_error(Cat("no header ", name));
}

void Remove(HttpRequest& request, std::string_view name) {
  auto& headers = request.headers;
  headers.erase(std::remove_if(headers.begin(), headers.end(), [&](const auto& header) { return header.name == name; }),
                headers.end());
}

// Changes the Authorization header.
void Replace(HttpRequest& request, std::string_view from, std::string_view to) {
  std::string& value = Header(request, "authorization");
  const size_t at = value.find(from);
  if (at == std::string::npos) throw std::runtime_error(Cat("no ", from, " in ", value));
  value.replace(at, from.size(), to);
}

struct Tampering {
  std::string what;
  std::function<void(HttpRequest&)> change;
  std::string_view exception = "InvalidSignatureException";
};

// Changes of everything that is signed, and of the signature's parts.
std::vector<Tampering> Tamperings(const HttpRequest& good) {
  std::vector<Tampering> all = {
      {"path", [](HttpRequest& r) { r.target = "/orders"; }},
      {"query", [](HttpRequest& r) { r.target = "/?a=b"; }},
      {"empty parameter", [](HttpRequest& r) { r.target = "/?a"; }},
      {"body", [](HttpRequest& r) { r.body[r.body.size() - 5] ^= 1; }},
      {"longer body", [](HttpRequest& r) { r.body += " "; }},
      {"shorter body", [](HttpRequest& r) { r.body.pop_back(); }},
      {"no body", [](HttpRequest& r) { r.body.clear(); }},
      {"key", [](HttpRequest& r) { Replace(r, "Credential=AKROOT/", "Credential=AKOTHER/"); }},
      {"unknown key", [](HttpRequest& r) { Replace(r, "Credential=AKROOT/", "Credential=AKNOBODY/"); },
       "UnrecognizedClientException"},
      {"day", [](HttpRequest& r) { Replace(r, Cat("/", Header(r, "x-amz-date").substr(0, 8)), "/20010101"); }},
      {"region", [](HttpRequest& r) { Replace(r, "/eu-central-1/", "/us-east-1/"); }},
      {"service", [](HttpRequest& r) { Replace(r, "/dynamodb/", "/s3/"); }},
      {"terminator", [](HttpRequest& r) { Replace(r, "/aws4_request", "/aws5_request"); }},
      {"longer scope", [](HttpRequest& r) { Replace(r, "/aws4_request", "/x/aws4_request"); },
       "IncompleteSignatureException"},
      {"algorithm", [](HttpRequest& r) { Replace(r, "AWS4-HMAC-SHA256 ", "AWS4-HMAC-SHA512 "); },
       "IncompleteSignatureException"},
      {"other scheme", [](HttpRequest& r) { Replace(r, "AWS4-HMAC-SHA256 ", "Basic "); },
       "MissingAuthenticationTokenException"},
      {"no authorization", [](HttpRequest& r) { Remove(r, "authorization"); }, "MissingAuthenticationTokenException"},
      {"empty signature",
       [](HttpRequest& r) {
         std::string& value = Header(r, "authorization");
         value.resize(value.find("Signature=") + 10);
       },
       "IncompleteSignatureException"},
      {"short signature", [](HttpRequest& r) { Header(r, "authorization").pop_back(); }},
      {"long signature", [](HttpRequest& r) { Header(r, "authorization") += "0"; }},
      {"order of the signed headers", [](HttpRequest& r) { Replace(r, "content-type;host;", "host;content-type;"); }},
      {"one signed header more", [](HttpRequest& r) { Replace(r, ", Signature", ";x-new, Signature"); }},
  };
  for (const auto& header : good.headers) {
    const std::string name = header.name;
    if (name == "authorization") continue;
    all.push_back({Cat("signature without ", name), [name](HttpRequest& r) {
                     std::string& value = Header(r, "authorization");
                     value = absl::StrReplaceAll(value, {{name + ";", ""}, {";" + name + ",", ","}});
                   }});
  }
  for (const size_t digit : {1, 32, 64}) {
    all.push_back({Cat("digit ", digit, " of the signature"), [digit](HttpRequest& r) {
                     std::string& value = Header(r, "authorization");
                     char& c = value[value.size() - digit];
                     c = c == '0' ? '1' : '0';
                   }});
  }
  all.push_back({"host", [](HttpRequest& r) { Header(r, "host") = "other.example.org"; }});
  all.push_back({"host twice", [](HttpRequest& r) { r.headers.push_back({"host", "db.example.org"}); }, ""});
  all.push_back({"content-type", [](HttpRequest& r) { Header(r, "content-type") = "application/json"; }});
  all.push_back({"content-type twice", [](HttpRequest& r) { r.headers.push_back({"content-type", "text/plain"}); }});
  all.push_back({"operation", [](HttpRequest& r) { Header(r, "x-amz-target") = "DynamoDB_20120810.DeleteItem"; }});
  all.push_back({"operation twice", [](HttpRequest& r) {
                   r.headers.push_back({"x-amz-target", "DynamoDB_20120810.DeleteItem"});
                 }});
  all.push_back({"date twice", [](HttpRequest& r) { r.headers.push_back({"x-amz-date", Header(r, "x-amz-date")}); }});
  all.push_back({"date", [](HttpRequest& r) {
                   char& second = Header(r, "x-amz-date")[14];
                   second = second == '0' ? '1' : '0';
                 }});
  all.push_back({"no date", [](HttpRequest& r) { Remove(r, "x-amz-date"); }, "IncompleteSignatureException"});
  return all;
}

TEST_F(HttpAccessTest, EachPartOfASignedRequestIsProtected) {
  Create("orders");
  const HttpRequest good = Signed("AKROOT", RequestFor(kCases[0], "orders"));
  const std::vector<Tampering> tamperings = Tamperings(good);
  std::vector<HttpsExchange> exchanges;
  // Sent concurrently, because refusals are delayed after some failures.
  for (const Tampering& tampering : tamperings) {
    HttpRequest bad = good;
    tampering.change(bad);
    exchanges.push_back(Send(bad));
  }
  for (size_t i = 0; i < exchanges.size(); ++i) {
    SCOPED_TRACE(tamperings[i].what);
    const RawResponse answer = exchanges[i].Read();
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, HasSubstr(tamperings[i].exception.empty() ? "" : Cat("#", tamperings[i].exception)));
  }
  const auto nothing = FromJson<api::v1::ScanRequest>(R"({"TableName": "orders"})");
  EXPECT_EQ(daemon_.client().Scan(nothing)->count(), 0) << "none of them has put the item";
  EXPECT_EQ(Answer(good).status, 200);
  EXPECT_EQ(daemon_.client().Scan(nothing)->count(), 1);
}

// The protocol knows POST only. A signature for another method does not verify.
TEST_F(HttpAccessTest, TheMethodIsSignedToo) {
  Create("orders");
  HttpRequest request = RequestFor(kCases[0], "orders");
  request.method = "PUT";
  HttpRequest tampered = Signed("AKROOT", request);
  EXPECT_EQ(Answer(tampered).status, 404);
  tampered.method = "POST";
  const RawResponse answer = Answer(tampered);
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, HasSubstr("#InvalidSignatureException"));
}

TEST_F(HttpAccessTest, RefusalsSayNothingThatHelps) {
  const RawResponse answer = Answer([&] {
    HttpRequest bad = Signed("AKROOT", RequestFor(kCases[0], "orders"));
    Header(bad, "authorization").back() ^= 1;
    return bad;
  }());
  EXPECT_THAT(answer.body, HasSubstr("does not match the signature you provided"));
  EXPECT_THAT(answer.body, Not(HasSubstr(SecurityFiles::kRootSecret)));
  EXPECT_THAT(daemon_.ReadStderr(), Not(HasSubstr(SecurityFiles::kRootSecret)));
}

}  // namespace armature::test::http_access_test
