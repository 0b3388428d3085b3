// Commands for the policies of tables and streams.

#include <string>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/json_text.h"

namespace armature::cli {
namespace {

constexpr OptionSpec kPolicyArn{"--resource-arn", "ARN of the table or the stream", Presence::kRequired};
constexpr OptionSpec kExpectedRevision{"--expected-revision-id", "Only if this is the revision of the policy"};

// A file is sent as JSON without blanks, a text as it is.
absl::Status PutPolicy(const Session& session, const client::Client& client,
                       api::v1::PutResourcePolicyRequest request) {
  if (request.policy().starts_with('@')) {
    const absl::StatusOr<Json> document = ParseJsonArgument(request.policy());
    if (!document.ok()) return UsageError(Cat("--policy: ", Sv(document.status().message())));
    request.set_policy(CompactJson(*document));
  }
  ARM_ASSIGN_OR_RETURN(const auto response, client.PutResourcePolicy(request));
  session.Print(MessageToJson(response));
  return absl::OkStatus();
}

// On a terminal the document itself, readable; otherwise the answer of the daemon, with the document as a text.
void PrintPolicy(const Session& session, const api::v1::GetResourcePolicyResponse& response) {
  session.Print(MessageToJson(response), [&response] {
    const Json document = Json::parse(response.policy(), nullptr, /*allow_exceptions=*/false);
    return Cat("Revision: ", response.revision_id(), "\n\n",
               document.is_discarded() ? response.policy() + "\n" : PrettyJson(document));
  });
}

}  // namespace

void AddPolicyCommands(CLI::App& app, Action* action) {
  CLI::App& group = *app.add_subcommand("policy", "Show, set and remove the policies of tables and streams");
  group.require_subcommand(1);
  AddRequestCommand(group, action,
                    {"get",
                     "Show the policy of a table or a stream",
                     {kPolicyArn},
                     R"(Examples:
  armature policy get --resource-arn arn:aws:dynamodb:local:000000000000:table/Thread
)"},
                    &client::Client::GetResourcePolicy, PrintPolicy);
  AddRequestCommand<api::v1::PutResourcePolicyRequest>(
      group, action,
      {"put",
       "Set the policy of a table or a stream",
       {kPolicyArn,
        {"--policy", "The document as JSON, or @file", Presence::kRequired},
        kExpectedRevision,
        {"--confirm-remove-self-resource-access", "Also if you may not change the policy afterwards"}},
       R"(The revision NO_POLICY expects that there is none yet.

Examples:
  armature policy put --resource-arn arn:aws:dynamodb:local:000000000000:table/Thread --policy @policy.json
  armature policy put --resource-arn arn:aws:dynamodb:local:000000000000:table/Thread --policy @policy.json \
      --expected-revision-id NO_POLICY
)"},
      PutPolicy);
  AddRequestCommand(group, action,
                    {"delete",
                     "Remove the policy of a table or a stream",
                     {kPolicyArn, kExpectedRevision},
                     R"(Examples:
  armature policy delete --resource-arn arn:aws:dynamodb:local:000000000000:table/Thread
)"},
                    &client::Client::DeleteResourcePolicy,
                    [](const Session& session, const api::v1::DeleteResourcePolicyResponse& response) {
                      session.Print(MessageToJson(response));
                    });
}

}  // namespace armature::cli
