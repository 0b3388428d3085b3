#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/api/v1/tables.pb.h"
#include "armature/client/errors.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/advise/advice.h"
#include "tools/advise/workload.h"
#include "tools/armature/advise_text.h"
#include "tools/armature/commands.h"
#include "tools/armature/json_text.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

constexpr char kExamples[] = R"(Examples:
  armature advise docs/examples/advise/orders.json
  armature advise workload.json --output json
  armature advise workload.json --table Orders
The file's format and the rules are in docs/ADVISE.md. Only --table talks to a daemon.
)";

struct AdviseOptions {
  std::string file;
  std::string table;
};

absl::StatusOr<advise::Workload> ReadWorkload(const Session& session, const AdviseOptions& options,
                                              std::vector<std::string>* notes) {
  ARM_ASSIGN_OR_RETURN(const Json json, ParseJsonArgument(Cat("@", options.file)));
  absl::StatusOr<advise::Workload> workload = advise::WorkloadFromJson(json);
  if (!workload.ok()) return WithContext(workload.status(), options.file);
  if (options.table.empty()) return workload;
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  api::v1::DescribeTableRequest request;
  request.set_table_name(options.table);
  ARM_ASSIGN_OR_RETURN(const auto live, client.DescribeTable(request));
  ARM_RETURN_IF_ERROR(WithContext(advise::AddLiveTable(live.table(), &*workload, notes), options.file));
  return workload;
}

// Turns errors of the file or of the command line into usage errors. Errors of the daemon stay as they are.
absl::Status AsUsageError(const absl::Status& status) {
  const bool local = absl::IsInvalidArgument(status) || absl::IsNotFound(status);
  return local && ExitCodeOf(status) == ExitCode::kApiError && client::ErrorName(status).empty()
             ? UsageError(Sv(status.message()))
             : status;
}

absl::Status Advise(const Session& session, const AdviseOptions& options, bool as_json) {
  std::vector<std::string> notes;
  absl::StatusOr<advise::Workload> workload = ReadWorkload(session, options, &notes);
  if (!workload.ok()) return AsUsageError(workload.status());
  absl::StatusOr<advise::Advice> advice = advise::Advise(*std::move(workload));
  if (!advice.ok()) return AsUsageError(WithContext(advice.status(), options.file));
  advice->warnings.insert(advice->warnings.begin(), notes.begin(), notes.end());
  if (as_json) {
    session.Print(advise::AdviceToJson(*advice));
  } else {
    session.PrintText(AdviceText(*advice));
  }
  return absl::OkStatus();
}

}  // namespace

void AddAdviseCommand(CLI::App& app, Action* action) {
  CLI::App& command = *app.add_subcommand("advise", "Propose keys and indexes for the questions in a file");
  auto options = std::make_shared<AdviseOptions>();
  command.add_option("file", options->file, "The table and its access patterns, as JSON")
      ->required()
      ->type_name("FILE");
  command.add_option("--table", options->table, "Take key, indexes, number and size of items from this live table")
      ->type_name("NAME");
  command.footer(kExamples);
  command.callback([options, &app, action] {
    // The default is text, also where other commands print JSON.
    const bool as_json = app.get_option("--output")->count() > 0;
    *action = [options, as_json](const Session& session) {
      return Advise(session, *options, as_json && session.format() == OutputFormat::kJson);
    };
  });
}

}  // namespace armature::cli
