#include <memory>
#include <string>
#include <utility>

#include "tools/armature/commands.h"
#include "tools/armature/request_options.h"
#include "tools/armature/text_table.h"

namespace armature::cli {
namespace {

absl::Status Tag(const Session& session, const RequestOptions& options) {
  ARM_ASSIGN_OR_RETURN(const auto request, options.Build<api::v1::TagResourceRequest>());
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_RETURN_IF_ERROR(client.TagResource(request).status());
  session.Print(Json::object());
  return absl::OkStatus();
}

absl::Status Untag(const Session& session, const RequestOptions& options) {
  ARM_ASSIGN_OR_RETURN(const auto request, options.Build<api::v1::UntagResourceRequest>());
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_RETURN_IF_ERROR(client.UntagResource(request).status());
  session.Print(Json::object());
  return absl::OkStatus();
}

// All pages.
absl::Status Tags(const Session& session, const RequestOptions& options) {
  ARM_ASSIGN_OR_RETURN(auto request, options.Build<api::v1::ListTagsOfResourceRequest>());
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  Json tags = Json::array();
  while (true) {
    ARM_ASSIGN_OR_RETURN(const auto page, client.ListTagsOfResource(request));
    for (const api::v1::Tag& tag : page.tags()) tags.push_back({{"Key", tag.key()}, {"Value", tag.value()}});
    if (!page.has_next_token()) break;
    request.set_next_token(page.next_token());
  }
  if (session.format() == OutputFormat::kJson) {
    session.Print({{"Tags", std::move(tags)}});
    return absl::OkStatus();
  }
  TextTable table({"Key", "Value"});
  for (const Json& tag : tags) table.AddRow({tag["Key"].get<std::string>(), tag["Value"].get<std::string>()});
  session.PrintText(table.ToString());
  return absl::OkStatus();
}

// Sets it if there is a specification, and shows it otherwise.
absl::Status TimeToLive(const Session& session, const RequestOptions& options) {
  ARM_ASSIGN_OR_RETURN(const auto request, options.Build<api::v1::UpdateTimeToLiveRequest>());
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  if (request.has_time_to_live_specification()) {
    ARM_ASSIGN_OR_RETURN(const auto response, client.UpdateTimeToLive(request));
    session.Print(MessageToJson(response));
    return absl::OkStatus();
  }
  api::v1::DescribeTimeToLiveRequest describe;
  describe.set_table_name(request.table_name());
  ARM_ASSIGN_OR_RETURN(const auto response, client.DescribeTimeToLive(describe));
  session.Print(MessageToJson(response));
  return absl::OkStatus();
}

using SettingRun = absl::Status (*)(const Session&, const RequestOptions&);

void AddCommand(CLI::App& command, std::vector<OptionSpec> specs, const char* examples, SettingRun run,
                Action* action) {
  auto options = std::make_shared<RequestOptions>(command, std::move(specs));
  command.footer(examples);
  command.callback(
      [options, run, action] { *action = [options, run](const Session& session) { return run(session, *options); }; });
}

}  // namespace

void AddTableSettingCommands(CLI::App& group, Action* action) {
  const OptionSpec arn{"--resource-arn", OptionKind::kText, "ARN of the table, as table describe shows it",
                       Presence::kRequired};
  AddCommand(*group.add_subcommand("tag", "Add tags to a table, or replace them"),
             {arn, {"--tags", OptionKind::kShorthandList, "Key=...,Value=...", Presence::kRequired}},
             R"(Examples:
  armature table tag --resource-arn arn:aws:dynamodb:local:000000000000:table/Thread \
      --tags Key=team,Value=blue Key=stage,Value=test
)",
             Tag, action);
  AddCommand(*group.add_subcommand("untag", "Remove tags from a table"),
             {arn, {"--tag-keys", OptionKind::kTextList, "Keys of the tags", Presence::kRequired}},
             R"(Examples:
  armature table untag --resource-arn arn:aws:dynamodb:local:000000000000:table/Thread --tag-keys team stage
)",
             Untag, action);
  AddCommand(*group.add_subcommand("tags", "List the tags of a table"), {arn},
             R"(Examples:
  armature table tags --resource-arn arn:aws:dynamodb:local:000000000000:table/Thread
)",
             Tags, action);
  AddCommand(*group.add_subcommand("ttl", "Show or set the attribute that says when items expire"),
             {{"--table-name", OptionKind::kText, "The table", Presence::kRequired},
              {"--time-to-live-specification", OptionKind::kShorthand, "Enabled=true,AttributeName=..."}},
             R"(Examples:
  armature table ttl --table-name Thread
  armature table ttl --table-name Thread --time-to-live-specification Enabled=true,AttributeName=ExpiresAt
)",
             TimeToLive, action);
}

}  // namespace armature::cli
