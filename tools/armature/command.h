#ifndef ARMATURE_TOOLS_ARMATURE_COMMAND_H_
#define ARMATURE_TOOLS_ARMATURE_COMMAND_H_

// Connects the subcommands of CLI11 with the functions that run them.

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/client/client.h"
#include "storage/base/status_macros.h"
#include "tools/armature/request_options.h"
#include "tools/armature/session.h"

namespace armature::cli {

// Sets *action to `run` when the command line names `command`.
inline void SetAction(CLI::App& command, Action* action, Action run) {
  command.callback([action, run = std::move(run)] { *action = run; });
}

// The same for a function that takes options. Returns these options, so that the caller can bind flags to them. They
// live as long as `command`.
template <class Options>
Options& SetAction(CLI::App& command, Action* action, absl::Status (*run)(const Session&, const Options&)) {
  const auto options = std::make_shared<Options>();
  SetAction(command, action, [options, run](const Session& session) { return run(session, *options); });
  return *options;
}

// A command whose options are members of one request.
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

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_COMMAND_H_
