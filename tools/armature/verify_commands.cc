#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "armature/client/errors.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/message_json.h"
#include "tools/armature/offline_engine.h"

namespace armature::cli {
namespace {

struct VerifyOptions {
  std::string table_name;  // empty: all tables
  std::string data_dir;    // empty: ask the daemon
  bool repair = false;
};

// Checks one page, in the daemon or in this process.
using CheckPage = std::function<absl::StatusOr<engine::VerifyTableResult>(const engine::VerifyTableRequest&)>;

struct Differences {
  Json differences = Json::array();
  int64_t rows_checked = 0;
  int64_t tables = 0;
  int64_t repaired = 0;
};

Json ToJson(const std::string& table, const engine::IndexDifference& difference) {
  constexpr const char* kKinds[] = {"", "MISSING", "WRONG", "ORPHAN", "DAMAGED"};
  Json json = {{"TableName", table}};
  if (!difference.index_name.empty()) json["IndexName"] = difference.index_name;
  json["Kind"] = kKinds[static_cast<size_t>(difference.kind)];
  api::v1::Item key;
  if (!difference.key_bytes.empty() && key.ParseFromString(difference.key_bytes)) json["Key"] = MessageToJson(key);
  json["EntryKeyHex"] = std::string(absl::BytesToHexString(Av(difference.entry_key)));
  json["Repaired"] = difference.repaired;
  return json;
}

absl::StatusOr<engine::VerifyTableResult> AskDaemon(const client::Client& client,
                                                    const engine::VerifyTableRequest& request) {
  admin::v1::VerifyTableRequest message;
  message.set_table_name(request.table_name);
  message.set_start_position(request.start_position);
  message.set_repair(request.repair);
  ARM_ASSIGN_OR_RETURN(admin::v1::VerifyTableResponse answer, client.VerifyTable(message));
  engine::VerifyTableResult result;
  for (const admin::v1::IndexDifference& difference : answer.differences()) {
    const int kind = std::clamp(static_cast<int>(difference.kind()), 1, 4);
    result.differences.push_back({difference.index_name(), static_cast<engine::IndexDifference::Kind>(kind),
                                  difference.has_key() ? difference.key().SerializeAsString() : std::string(),
                                  difference.entry_key(), difference.repaired()});
  }
  result.rows_checked = answer.rows_checked();
  result.keyspace = answer.keyspace();
  result.keyspace_rows = answer.keyspace_rows();
  result.next_position = answer.next_position();
  return result;
}

std::string DifferencesText(const Differences& findings) {
  const std::string summary = Cat(WithCommas(findings.rows_checked), " rows of ", findings.tables, " tables checked, ",
                                  findings.differences.size(), " differences\n");
  if (findings.differences.empty()) return summary;
  Json records = findings.differences;
  for (Json& record : records) record["Repaired"] = record["Repaired"].get<bool>() ? "yes" : "no";
  return RecordsTable(records, {"TableName", "IndexName", "Kind", "Key", "EntryKeyHex", "Repaired"}) + summary;
}

absl::Status VerifyOne(const Session& session, const std::string& table, bool repair, const CheckPage& check,
                       Differences* findings) {
  engine::VerifyTableRequest request{table, "", repair};
  std::string keyspace;
  auto bar = std::make_unique<ProgressBar>(&session.progress(), session.is_progress_live());
  int64_t done = 0;
  do {
    ARM_ASSIGN_OR_RETURN(const engine::VerifyTableResult page, check(request));
    for (const engine::IndexDifference& difference : page.differences) {
      findings->differences.push_back(ToJson(table, difference));
      if (difference.repaired) ++findings->repaired;
    }
    if (page.keyspace != keyspace) {
      keyspace = page.keyspace;
      done = 0;
      bar = std::make_unique<ProgressBar>(&session.progress(), session.is_progress_live());
    }
    done += page.rows_checked;
    findings->rows_checked += page.rows_checked;
    bar->Show({.what = keyspace.empty() ? table : Cat(table, "/", keyspace),
               .done = done,
               .total = std::max(page.keyspace_rows, done),
               .note = findings->differences.empty() ? "" : Cat(findings->differences.size(), " differences")});
    request.start_position = page.next_position;
  } while (!request.start_position.empty());
  ++findings->tables;
  return absl::OkStatus();
}

absl::Status VerifyTables(const Session& session, const std::vector<std::string>& tables, const VerifyOptions& options,
                          const CheckPage& check) {
  Differences findings;
  absl::Status failed;
  for (const std::string& table : tables) {
    failed = VerifyOne(session, table, options.repair, check, &findings);
    // Without --table-name, tables that are deleted meanwhile are left out.
    const bool is_gone = client::ErrorName(failed) == "ResourceNotFoundException";
    if (options.table_name.empty() && is_gone) failed = absl::OkStatus();
    if (!failed.ok()) break;
  }
  // The differences found before an error are printed too.
  if (failed.ok() || !findings.differences.empty()) {
    session.Print(
        {{"Differences", findings.differences}, {"RowsChecked", findings.rows_checked}, {"Tables", findings.tables}},
        [&findings] { return DifferencesText(findings); });
  }
  ARM_RETURN_IF_ERROR(failed);
  if (findings.differences.empty()) return absl::OkStatus();
  const int64_t left = static_cast<int64_t>(findings.differences.size()) - findings.repaired;
  return DifferencesError(left == 0 ? "the differences were repaired: verify again to see that nothing differs"
                                    : Cat(left,
                                          " differences; --repair repairs those of indexes, and armature index "
                                          "rebuild builds a damaged global index again"));
}

absl::Status Verify(const Session& session, const VerifyOptions& options) {
  std::vector<std::string> tables;
  if (!options.table_name.empty()) tables.push_back(options.table_name);
  if (!options.data_dir.empty()) {
    ARM_ASSIGN_OR_RETURN(const std::unique_ptr<OfflineEngine> engine, OfflineEngine::Open(options.data_dir));
    const std::shared_ptr<const store::CatalogSnapshot> catalog = engine->database()->catalog();
    if (tables.empty()) {
      for (const auto& [name, table] : catalog->tables()) tables.push_back(name);
    }
    return VerifyTables(session, tables, options,
                        [&engine](const engine::VerifyTableRequest& request) { return engine->Verify(request); });
  }
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  if (tables.empty()) {
    ARM_ASSIGN_OR_RETURN(tables, ListTableNames(client));
  }
  return VerifyTables(session, tables, options,
                      [&client](const engine::VerifyTableRequest& request) { return AskDaemon(client, request); });
}

}  // namespace

void AddVerifyCommand(CLI::App& app, Action* action) {
  CLI::App& verify = *app.add_subcommand("verify", "Compare tables with their indexes");
  VerifyOptions& options = SetAction(verify, action, Verify);
  verify.add_option("--table-name", options.table_name, "Only this table")->type_name("NAME");
  verify.add_flag("--repair", options.repair, "Repair the indexes that differ");
  verify.add_option("--data-dir", options.data_dir, "Check this data directory of a stopped daemon")->type_name("DIR");
  verify.footer(
      "Clients can use the tables meanwhile. A difference is reported only if it persists with the row locked and\n"
      "the index up to date. Exit code 4: there are differences, or there were before the repair.\n\n"
      "Examples:\n  armature --output table verify\n"
      "  armature verify --table-name Orders --repair\n"
      "  armature verify --data-dir /var/lib/armature\n");
}

}  // namespace armature::cli
