#ifndef ARMATURE_TOOLS_ARMATURE_COMMAND_H_
#define ARMATURE_TOOLS_ARMATURE_COMMAND_H_

// All commands, and the parts that they share: they connect the subcommands of CLI11 with the functions that run them,
// and build requests from their options.

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/client/client.h"
#include "google/protobuf/descriptor.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/json_text.h"
#include "tools/armature/message_json.h"
#include "tools/armature/session.h"

namespace armature::cli {

// Sets *action to `run` when the command line names `command`.
inline void SetAction(CLI::App& command, Action* action, Action run) {
  command.callback([action, run = std::move(run)] { *action = run; });
}

// SetAction for a function that takes options. Returns these options, so that the caller can bind flags to them. They
// live as long as `command`.
template <class Options>
Options& SetAction(CLI::App& command, Action* action, absl::Status (*run)(const Session&, const Options&)) {
  const auto options = std::make_shared<Options>();
  SetAction(command, action, [options, run](const Session& session) { return run(session, *options); });
  return *options;
}

enum class Presence { kOptional, kRequired };

// An option that sets a field of a request: --key-condition-expression sets the field key_condition_expression, and so
// on for all options. The type of the field decides the form of the option:
//   string, enum      text
//   integer           number
//   bool              a flag: --x for true, --no-x for false
//   flat message      Name=value,..., JSON, or @file; "flat" means that all its fields are scalars
//   item, key         plain JSON (plain_json.h) or @file; so are expression attribute values
//   other message     JSON or @file
// The option of a repeated field may be given more than once.
struct OptionSpec {
  const char* name;  // with its dashes
  const char* help;
  Presence presence = Presence::kOptional;
};

inline constexpr OptionSpec kTableNameOption{"--table-name", "Name or ARN of the table", Presence::kRequired};

// Builds a request from the options of a command. --cli-input-json holds a whole request in its documented form; single
// options override its members.
//
// Lifetime: must outlive the parser and the action of the command. Not thread-safe.
class RequestOptions {
 public:
  // Adds the options, and --cli-input-json, to `command`. Precondition: `request` has a field for each option.
  RequestOptions(CLI::App& command, const google::protobuf::Descriptor& request, const std::vector<OptionSpec>& specs);

  RequestOptions(const RequestOptions&) = delete;
  RequestOptions& operator=(const RequestOptions&) = delete;

  // The request of the parsed command line. Request: the type of the constructor's descriptor. Errors: UsageError.
  template <class Request>
  absl::StatusOr<Request> Build() const {
    ARM_ASSIGN_OR_RETURN(const Json json, ToJson());
    Request request;
    const absl::Status status = MessageFromJson(json, "", &request);
    if (!status.ok()) return UsageError(Sv(status.message()));
    return request;
  }

  // The text of an option on the parsed command line. Empty: it is not given.
  std::string TextOf(std::string_view name) const;

 private:
  struct Entry {
    OptionSpec spec;
    const google::protobuf::FieldDescriptor* field = nullptr;
    CLI::Option* option = nullptr;
    std::vector<std::string> texts{};
    int64_t integer = 0;
    bool flag = false;
  };

  static void AddOption(CLI::App& command, Entry* entry);
  static absl::StatusOr<Json> ValueOf(const Entry& entry);
  absl::StatusOr<Json> ToJson() const;

  std::vector<Entry> entries_;  // CLI11 holds pointers into it: not resized after the constructor
  std::string input_json_;
};

// A command whose options are fields of one request.
struct RequestCommand {
  const char* name;
  const char* description;
  std::vector<OptionSpec> options;
  const char* footer;
};

// Adds a command that builds a Request from its options, connects, and then calls `run`.
template <class Request>
CLI::App& AddRequestCommand(CLI::App& group, Action* action, const RequestCommand& command,
                            std::function<absl::Status(const Session&, const client::Client&, const Request&)> run) {
  CLI::App& app = *group.add_subcommand(command.name, command.description);
  const auto options = std::make_shared<RequestOptions>(app, *Request::descriptor(), command.options);
  app.footer(command.footer);
  SetAction(app, action, [options, run = std::move(run)](const Session& session) -> absl::Status {
    ARM_ASSIGN_OR_RETURN(const Request request, options->template Build<Request>());
    ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
    return run(session, client, request);
  });
  return app;
}

// An operation of the client, such as &client::Client::GetItem.
template <class Request, class Response>
using ClientCall = absl::StatusOr<Response> (client::Client::*)(const Request&, const client::CallOptions&) const;

// Adds a command that sends one request and prints the response.
template <class Request, class Response>
CLI::App& AddRequestCommand(CLI::App& group, Action* action, const RequestCommand& command,
                            ClientCall<Request, Response> call,
                            std::type_identity_t<std::function<void(const Session&, const Response&)>> print) {
  return AddRequestCommand<Request>(
      group, action, command,
      [call, print = std::move(print)](const Session& session, const client::Client& client,
                                       const Request& request) -> absl::Status {
        ARM_ASSIGN_OR_RETURN(const Response response, (client.*call)(request, {}));
        print(session, response);
        return absl::OkStatus();
      });
}

enum class Scalars {
  kTexts,  // "AttributeName=1" means the text "1".
  kTyped,  // "ReadCapacityUnits=1" means the number 1, "StreamEnabled=true" the boolean.
};

// Parses the shorthand of the AWS command line for one flat object: "AttributeName=a,AttributeType=S". Or JSON, if the
// text begins with '{', '[' or '@'.
absl::StatusOr<Json> ParseShorthand(const std::string& text, Scalars scalars);

// Parses the arguments of one option into one array. An argument that is an array adds its elements.
absl::StatusOr<Json> ParseShorthandList(const std::vector<std::string>& arguments);

// Calls about tables that several commands make. The names are those of all tables, from all pages of ListTables.
absl::StatusOr<std::vector<std::string>> ListTableNames(const client::Client& client);
absl::StatusOr<api::v1::TableDescription> DescribeTable(const client::Client& client, const std::string& name);

// Each function adds its commands to `app`. A command on the command line sets *action. Lifetime: `action` must outlive
// `app`.
void AddTableCommands(CLI::App& app, Action* action);
void AddItemCommands(CLI::App& app, Action* action);   // also query and scan
void AddGroupCommands(CLI::App& app, Action* action);  // batch-get, batch-write, transact
void AddStreamCommands(CLI::App& app, Action* action);
void AddWatchCommand(CLI::App& app, Action* action);
void AddPolicyCommands(CLI::App& app, Action* action);
void AddHotKeysCommand(CLI::App& app, Action* action);
void AddSqlCommand(CLI::App& app, Action* action);
void AddIndexCommands(CLI::App& app, Action* action);
void AddStatusCommands(CLI::App& app, Action* action);  // server
void AddCredentialsCommands(CLI::App& app, Action* action);
void AddAdviseCommand(CLI::App& app, Action* action);
void AddVerifyCommand(CLI::App& app, Action* action);
void AddLoadCommand(CLI::App& app, Action* action);
void AddOverviewCommand(CLI::App& app, Action* action);  // status
void AddManualCommands(CLI::App& app, Action* action);   // completion and man, of all commands of `app`
void AddExportCommand(CLI::App& app, Action* action);
void AddImportCommand(CLI::App& app, Action* action);
void AddBackupCommands(CLI::App& app, Action* action);
void AddInspectCommands(CLI::App& app, Action* action);
void AddRecoverCommand(CLI::App& app, Action* action);
void AddStoreCommands(CLI::App& app, Action* action);
void AddShortTableCommands(CLI::App& app, Action* action);  // ls, describe, create, drop, use
void AddDemoCommand(CLI::App& app, Action* action);
void AddTopCommand(CLI::App& app, Action* action);
void AddRequestCommands(CLI::App& app, Action* action);  // running, slow

// Runs the whole tool. `arguments`: those after the program name. Returns the exit code, see ExitCode.
int RunCli(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_COMMAND_H_
