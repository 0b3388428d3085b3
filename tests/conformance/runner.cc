#include "tests/conformance/runner.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "storage/base/strings.h"
#include "tests/conformance/json_match.h"

namespace armature::conformance {
namespace {

constexpr absl::Duration kIndexPatience = absl::Seconds(120);
constexpr absl::Duration kPause = absl::Milliseconds(1);
constexpr int kPagesMax = 10'000;

bool IsRead(std::string_view operation) {
  return operation == "GetItem" || operation == "Query" || operation == "Scan" || operation == "QueryAll" ||
         operation == "ScanAll" || operation == "GetShardIterator" || operation == "GetRecords" ||
         operation.starts_with("Describe") || operation.starts_with("List");
}

// Settings that a table keeps until it is deleted.
bool IsSettingsChange(std::string_view operation) {
  return operation == "UpdateTable" || operation == "TagResource" || operation == "UntagResource" ||
         operation == "UpdateTimeToLive" || operation == "UpdateContinuousBackups" ||
         operation == "UpdateContributorInsights" || operation == "PutResourcePolicy" ||
         operation == "DeleteResourcePolicy";
}

bool IsTableChange(std::string_view operation) {
  return operation == "CreateTable" || operation == "DeleteTable" || operation == "RestoreTableFromBackup" ||
         IsSettingsChange(operation);
}

bool IsBackupChange(std::string_view operation) { return operation == "CreateBackup" || operation == "DeleteBackup"; }

// The operation that describes the job which `operation` starts; null for other operations.
const char* DescriberOf(std::string_view operation) {
  if (operation == "ExportTableToPointInTime") return "DescribeExport";
  if (operation == "ImportTable") return "DescribeImport";
  return operation == "StartBulkPutItems" ? "DescribeBulkOperation" : nullptr;
}

// Replaces `placeholder` by `value` in the request. True if it occurs.
bool Insert(std::string_view placeholder, const Json& value, Json* request) {
  if (request->is_string() && *request == placeholder) {
    *request = value;
    return true;
  }
  bool found = false;
  if (request->is_structured()) {
    for (Json& inner : *request) found = Insert(placeholder, value, &inner) || found;
  }
  return found;
}

std::string Shown(const Answer& answer) {
  if (!answer.inexpressible.empty()) return Cat("this backend cannot say it: ", answer.inexpressible);
  if (answer.error_type.empty()) return Brief(answer.body);
  const std::string members = answer.body.empty() ? "" : Cat(" with ", Brief(answer.body));
  return Cat(answer.error_type, ": ", answer.error_text, members);
}

std::string Shown(const Expectation& expectation) {
  switch (expectation.kind) {
    case Expectation::Kind::kSuccess:
      return "success";
    case Expectation::Kind::kExact:
      return Brief(expectation.answer);
    case Expectation::Kind::kPartial:
      return Cat("at least ", Brief(expectation.answer));
    case Expectation::Kind::kError:
      break;
  }
  std::string text = expectation.error_type;
  if (expectation.text.has_value()) text += Cat(expectation.text_is_part ? " ~ " : ": ", *expectation.text);
  if (!expectation.error_members.empty()) text += Cat(" with ", Brief(expectation.error_members));
  return text;
}

// The mismatch between answer and expectation; empty if they match.
std::string Judge(std::string_view operation, const Expectation& expected, const Answer& answer) {
  if (!answer.inexpressible.empty()) return Shown(answer);
  if (expected.kind != Expectation::Kind::kError) {
    if (!answer.error_type.empty()) return "an error";
    if (expected.kind == Expectation::Kind::kSuccess) return "";
    MatchOptions options;
    options.partial = expected.kind == Expectation::Kind::kPartial;
    options.unordered_items = operation.starts_with("Scan");
    return FindDifference(expected.answer, answer.body, options).value_or("");
  }
  if (answer.error_type.empty()) return "no error";
  if (answer.error_type != expected.error_type) return "another error";
  if (expected.text.has_value()) {
    const bool same = expected.text_is_part ? answer.error_text.find(*expected.text) != std::string::npos
                                            : answer.error_text == *expected.text;
    if (!same) return "another text";
  }
  return FindDifference(expected.error_members, answer.body, {}).value_or("");
}

// Polls `is_there` until it is true. Throws with `complaint` after a timeout.
void WaitFor(std::string_view complaint, const std::function<bool()>& is_there) {
  const absl::Time give_up = absl::Now() + kIndexPatience;
  absl::Mutex mutex;
  const bool never = false;
  while (absl::Now() < give_up) {
    if (is_there()) return;
    // Polled, because clients cannot be notified of these states.
    const absl::MutexLock lock(&mutex);
    mutex.AwaitWithTimeout(absl::Condition(&never), kPause);
  }
  throw std::runtime_error(std::string(complaint));
}

}  // namespace

std::vector<Report> Runner::RunFile(const CaseFile& file, std::string_view name_part) {
  std::vector<Report> reports;
  bool is_set_up = false;
  for (const Case& one : file.cases) {
    if (one.name.find(name_part) == std::string::npos) continue;
    if (!one.only.empty() && std::find(one.only.begin(), one.only.end(), backend_.name()) == one.only.end()) {
      reports.push_back({Outcome::kNotForBackend, file.path, one.line, one.name, ""});
      continue;
    }
    if (!is_set_up) SetUp(file);
    is_set_up = true;
    reports.push_back(RunCase(file, one));
    RestoreSetup(file);
  }
  DeleteTables({});
  return reports;
}

Report Runner::RunCase(const CaseFile& file, const Case& one) {
  Report report{Outcome::kPassed, file.path, one.line, one.name, ""};
  kept_.clear();
  const int64_t now_s = absl::ToUnixSeconds(absl::Now());
  constexpr int64_t kYear = int64_t{365} * 24 * 3600;
  for (const auto& [placeholder, time_s] : {std::pair<const char*, int64_t>{"<Past>", now_s - 60},
                                            {"<Future>", now_s + 3600},
                                            {"<FourYearsAgo>", now_s - 4 * kYear},
                                            {"<SixYearsAgo>", now_s - 6 * kYear}}) {
    kept_[placeholder] = std::to_string(time_s);
    // The time as a number of JSON: "<Past:number>".
    kept_[Cat(std::string_view(placeholder).substr(0, std::strlen(placeholder) - 1), ":number>")] = time_s;
  }
  for (const Step& step : one.steps) {
    report.details = RunStep(step);
    if (report.details.empty()) continue;
    report.line = step.line;
    report.outcome = one.pending.empty() ? Outcome::kFailed : Outcome::kPending;
    return report;
  }
  if (!one.pending.empty()) report.outcome = Outcome::kPassedThoughPending;
  return report;
}

std::string Runner::RunStep(const Step& step) {
  Json request = step.request;
  // Only a changed request has to be printed again.
  bool has_placeholder = false;
  for (const auto& [placeholder, value] : kept_) {
    has_placeholder = Insert(placeholder, value, &request) || has_placeholder;
  }
  const std::string changed = has_placeholder ? cli::CompactJson(request) : "";
  const bool all_pages = step.operation == "QueryAll" || step.operation == "ScanAll";
  const Answer answer = step.operation == "ReadStream"  ? ReadStream(request)
                        : step.operation == "AwaitGone" ? AwaitGone(request)
                        : all_pages ? SendForAllPages(step.operation.substr(0, step.operation.size() - 3), request)
                                    : Send(step.operation, request, changed.empty() ? step.request_text : changed);
  // The values of earlier answers, not of this one.
  Expectation expectation = step.expectation;
  for (const auto& [placeholder, value] : kept_) Insert(placeholder, value, &expectation.answer);
  Keep(answer);
  const std::string difference = Judge(step.operation, expectation, answer);
  if (difference.empty()) return "";
  return Cat("  request:  ", step.operation, " ", Brief(request), "\n  expected: ", Shown(step.expectation),
             "\n  got:      ", Shown(answer), "\n  that is:  ", difference, "\n");
}

void Runner::Keep(const Answer& answer) {
  if (!answer.error_type.empty()) return;
  for (const char* const member : {"LastEvaluatedKey", "LastEvaluatedBackupArn", "NextToken", "RevisionId"}) {
    const auto found = answer.body.find(member);
    if (found != answer.body.end()) kept_[Cat("<", member, ">")] = *found;
  }
  for (const char* const member : {"ShardIterator", "NextShardIterator"}) {
    const auto found = answer.body.find(member);
    if (found != answer.body.end()) kept_["<ShardIterator>"] = *found;
  }
  for (const char* const member : {"Table", "TableDescription"}) {
    const auto found = answer.body.find(member);
    if (found != answer.body.end() && found->contains("LatestStreamArn")) {
      kept_["<StreamArn>"] = (*found)["LatestStreamArn"];
    }
  }
  if (const auto stream = answer.body.find("StreamDescription"); stream != answer.body.end()) {
    if (const Json shards = stream->value("Shards", Json::array()); !shards.empty()) {
      kept_["<ShardId>"] = shards.front()["ShardId"];
      kept_["<LastShardId>"] = shards.back()["ShardId"];
      kept_["<StartingSequenceNumber>"] = shards.front()["SequenceNumberRange"]["StartingSequenceNumber"];
    }
  }
  const auto backup = answer.body.find("BackupDetails");
  if (backup != answer.body.end()) kept_["<BackupArn>"] = backup->value("BackupArn", "");
}

Answer Runner::Send(const std::string& operation, const Json& request, std::string_view request_text) {
  const bool reads_index = operation == "ExecuteStatement" ||
                           ((operation == "Query" || operation == "Scan") && request.contains("IndexName"));
  // The runner's own requests have no text.
  const std::string text = request_text.empty() ? cli::CompactJson(request) : std::string(request_text);
  Answer answer = backend_.Run({operation, request, text, reads_index ? change_sequence_ : 0});
  change_sequence_ = std::max(change_sequence_, answer.change_sequence);
  if (!answer.inexpressible.empty() || IsRead(operation)) return answer;
  if (IsBackupChange(operation)) {
    backups_changed_ = true;
    if (operation == "CreateBackup" && answer.error_type.empty()) WaitForBackup(answer.body);
    return answer;
  }
  if (DescriberOf(operation) != nullptr && answer.error_type.empty()) AwaitTransfer(operation, answer.body);
  // A refused call should have changed nothing, but the cases test this, so the runner does not rely on it.
  (IsTableChange(operation) || operation == "ImportTable" ? tables_changed_ : items_changed_) = true;
  if (!answer.error_type.empty() || !IsTableChange(operation)) return answer;
  settings_changed_ = settings_changed_ || IsSettingsChange(operation);
  // Background work on a table must not affect the next request.
  const auto name = request.find(operation == "RestoreTableFromBackup" ? "TargetTableName" : "TableName");
  if (name != request.end()) WaitForTable(name->get<std::string>(), operation == "DeleteTable");
  return answer;
}

void Runner::AwaitTransfer(const std::string& operation, const Json& answer) {
  const Json& started = answer.front();
  const char* const member = started.contains("ExportArn")   ? "ExportArn"
                             : started.contains("ImportArn") ? "ImportArn"
                                                             : "BulkOperationArn";
  const Json arn = started.value(member, Json());
  kept_[Cat("<", member, ">")] = arn;
  Json last;
  WaitFor("a job does not end", [&] {
    last = Must(DescriberOf(operation), {{member, arn}}).front();
    return last.contains("EndTime");
  });
  // The table of an import with bad records stays.
  if (last.value("ImportStatus", "") == "FAILED" && last.value("FailureCode", "") != "ItemValidationError") {
    WaitForTable(last["TableCreationParameters"]["TableName"].get<std::string>(), /*gone=*/true);
  }
}

Answer Runner::SendForAllPages(const std::string& operation, Json request) {
  Answer all;
  all.body = {{"Items", Json::array()}, {"Count", 0}, {"ScannedCount", 0}, {"Pages", 0}};
  for (int pages = 1; pages <= kPagesMax; ++pages) {
    Answer page = Send(operation, request, cli::CompactJson(request));
    if (!page.error_type.empty() || !page.inexpressible.empty()) return page;
    for (const Json& item : page.body.value("Items", Json::array())) all.body["Items"].push_back(item);
    for (const char* const count : {"Count", "ScannedCount"}) {
      all.body[count] = all.body[count].get<int>() + page.body.value(count, 0);
    }
    all.body["Pages"] = pages;
    const auto last_key = page.body.find("LastEvaluatedKey");
    if (last_key == page.body.end()) return all;
    request["ExclusiveStartKey"] = *last_key;
  }
  all.inexpressible = "the pages do not end";
  return all;
}

Answer Runner::AwaitGone(const Json& request) {
  const std::string text = cli::CompactJson(request);
  items_changed_ = true;
  Answer answer;
  WaitFor("an item does not expire", [&] {
    answer = Send("GetItem", request, text);
    return answer.body.empty() || !answer.error_type.empty();
  });
  return answer;
}

Answer Runner::ReadStream(const Json& request) {
  const Json table = Must("DescribeTable", {{"TableName", request["TableName"]}})["Table"];
  const Json arn = table.value("LatestStreamArn", Json());
  const Json stream = Must("DescribeStream", {{"StreamArn", arn}})["StreamDescription"];
  std::vector<Json> records;
  for (const Json& shard : stream["Shards"]) {
    Json page = Must("GetShardIterator",
                     {{"StreamArn", arn}, {"ShardId", shard["ShardId"]}, {"ShardIteratorType", "TRIM_HORIZON"}});
    Json iterator = page["ShardIterator"];
    do {
      page = Must("GetRecords", {{"ShardIterator", iterator}});
      for (const Json& record : page["Records"]) records.push_back(record);
      iterator = page.value("NextShardIterator", Json());
    } while (!page["Records"].empty() && !iterator.is_null());
  }
  std::sort(records.begin(), records.end(), [](const Json& a, const Json& b) {
    return a["dynamodb"]["SequenceNumber"] < b["dynamodb"]["SequenceNumber"];
  });
  Answer answer;
  answer.body = {{"Records", records}};
  return answer;
}

void Runner::SetUp(const CaseFile& file) {
  setup_tables_.clear();
  for (const Step& step : file.setup) {
    const std::string failure = RunStep(step);
    if (!failure.empty()) throw std::runtime_error(Cat(file.path, ":", step.line, ": the setup fails\n", failure));
    if (step.operation == "CreateTable") setup_tables_.insert(step.request["TableName"].get<std::string>());
  }
  items_changed_ = false;
  tables_changed_ = false;
  settings_changed_ = false;
}

void Runner::PutSetupItems(const CaseFile& file) {
  for (const Step& step : file.setup) {
    if (!IsTableChange(step.operation)) Must(step.operation, step.request);
  }
}

void Runner::RestoreSetup(const CaseFile& file) {
  if (backups_changed_) DeleteBackups();
  backups_changed_ = false;
  if (settings_changed_) {
    DeleteTables({});
    SetUp(file);
  } else if (tables_changed_) {
    DeleteTables(setup_tables_);
    if (ListTables() != setup_tables_) {
      DeleteTables({});
      SetUp(file);
    }
  }
  if (items_changed_) {
    for (const std::string& table : setup_tables_) EmptyTable(table);
    PutSetupItems(file);
  }
  items_changed_ = false;
  tables_changed_ = false;
  settings_changed_ = false;
}

void Runner::EmptyTable(const std::string& table) {
  const Json key_schema = Must("DescribeTable", {{"TableName", table}})["Table"]["KeySchema"];
  Json request = {{"TableName", table}, {"ConsistentRead", true}};
  Answer all = SendForAllPages("Scan", request);
  for (const Json& item : all.body["Items"]) {
    Json key = Json::object();
    for (const Json& element : key_schema) {
      const auto name = element["AttributeName"].get<std::string>();
      key[name] = item[name];
    }
    Must("DeleteItem", {{"TableName", table}, {"Key", key}});
  }
}

void Runner::DeleteTables(const std::set<std::string>& keep) {
  for (const std::string& table : ListTables()) {
    if (keep.contains(table)) continue;
    const Json description = Must("DescribeTable", {{"TableName", table}})["Table"];
    if (description.value("DeletionProtectionEnabled", false)) {
      Must("UpdateTable", {{"TableName", table}, {"DeletionProtectionEnabled", false}});
    }
    Must("DeleteTable", {{"TableName", table}});
  }
}

void Runner::DeleteBackups() {
  const Json listed = Must("ListBackups", Json::object());
  for (const Json& backup : listed.value("BackupSummaries", Json::array())) {
    Must("DeleteBackup", {{"BackupArn", backup["BackupArn"]}});
  }
}

std::set<std::string> Runner::ListTables() {
  std::set<std::string> names;
  for (const Json& name : Must("ListTables", Json::object()).value("TableNames", Json::array())) {
    names.insert(name.get<std::string>());
  }
  return names;
}

void Runner::WaitForTable(const std::string& table, bool gone) {
  WaitFor(Cat("table ", table, " does not become ", gone ? "absent" : "ACTIVE"), [&] {
    const Answer answer = Send("DescribeTable", {{"TableName", table}}, "");
    if (gone) return answer.error_type == "ResourceNotFoundException";
    if (!answer.error_type.empty()) return false;
    const Json& description = answer.body["Table"];
    bool active = description["TableStatus"] == "ACTIVE";
    for (const Json& index : description.value("GlobalSecondaryIndexes", Json::array())) {
      active = active && index["IndexStatus"] == "ACTIVE";
    }
    return active;
  });
}

void Runner::WaitForBackup(const Json& created) {
  const Json arn = created["BackupDetails"]["BackupArn"];
  WaitFor(Cat("backup ", arn.get<std::string>(), " does not become AVAILABLE"), [&] {
    const Json described = Must("DescribeBackup", {{"BackupArn", arn}});
    return described["BackupDescription"]["BackupDetails"]["BackupStatus"] == "AVAILABLE";
  });
}

Json Runner::Must(const std::string& operation, const Json& request) {
  Answer answer = Send(operation, request, cli::CompactJson(request));
  if (answer.error_type.empty() && answer.inexpressible.empty()) return std::move(answer.body);
  throw std::runtime_error(Cat(operation, " ", Brief(request), " fails: ", Shown(answer)));
}

}  // namespace armature::conformance
