#include <memory>

#include "tools/armature/commands.h"
#include "tools/armature/request_options.h"
#include "tools/armature/text_table.h"

namespace armature::cli {
namespace {

absl::Status IndexStatus(const Session& session, const RequestOptions& options) {
  ARM_ASSIGN_OR_RETURN(const auto request, options.Build<admin::v1::ListIndexStatusRequest>());
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const auto response, client.ListIndexStatus(request));
  Json result = MessageToJson(response);
  if (!result.contains("Indexes")) result["Indexes"] = Json::array();
  if (session.format() == OutputFormat::kJson) {
    session.Print(result);
  } else {
    session.PrintText(
        RecordsTable(result["Indexes"], {"TableName", "IndexName", "Kind", "State", "AppliedSequence", "LogSequence",
                                         "BacklogRecords", "BacklogAgeMs", "ItemCount", "SizeBytes"}));
  }
  return absl::OkStatus();
}

absl::Status ServerInfo(const Session& session) {
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const auto response, client.GetServerInfo(admin::v1::GetServerInfoRequest()));
  const Json result = MessageToJson(response);
  if (session.format() == OutputFormat::kJson) {
    session.Print(result);
  } else {
    session.PrintText(DetailsTable(result));
  }
  return absl::OkStatus();
}

}  // namespace

void AddStatusCommands(CLI::App& app, Action* action) {
  CLI::App& index = *app.add_subcommand("index", "How far the indexes are");
  index.require_subcommand(1);
  CLI::App& status = *index.add_subcommand("status", "State and backlog of the indexes");
  auto options = std::make_shared<RequestOptions>(
      status, std::vector<OptionSpec>{{"--table-name", OptionKind::kText, "Of this table; else of all tables"}});
  status.footer(
      "Examples:\n  armature --output table index status\n"
      "  armature index status --table-name GameScores\n");
  status.callback(
      [options, action] { *action = [options](const Session& session) { return IndexStatus(session, *options); }; });

  CLI::App& server = *app.add_subcommand("server", "What the daemon is");
  server.require_subcommand(1);
  CLI::App& info = *server.add_subcommand("info", "Version, process and memory of the daemon");
  info.footer("Examples:\n  armature --output table server info\n");
  info.callback([action] { *action = ServerInfo; });
}

}  // namespace armature::cli
