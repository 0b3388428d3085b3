#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/api/v1/tables.pb.h"
#include "armature/api/v1/types.pb.h"
#include "armature/client/errors.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/advise/advice.h"
#include "tools/advise/workload.h"
#include "tools/advise/workload_json.h"
#include "tools/armature/advise_text.h"
#include "tools/armature/commands.h"
#include "tools/armature/json_text.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

using advise::LiveTable;

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

advise::AttributeType TypeOf(const api::v1::TableDescription& table, const std::string& name) {
  for (const api::v1::AttributeDefinition& definition : table.attribute_definitions()) {
    if (definition.attribute_name() != name) continue;
    if (definition.attribute_type() == api::v1::SCALAR_ATTRIBUTE_TYPE_N) return advise::AttributeType::kNumber;
    if (definition.attribute_type() == api::v1::SCALAR_ATTRIBUTE_TYPE_B) return advise::AttributeType::kBinary;
  }
  return advise::AttributeType::kString;
}

// `holder` is what has key_schema(): a table or an index.
template <class Description, class Live>
void CopyKey(const api::v1::TableDescription& table, const Description& holder, Live* live) {
  for (const api::v1::KeySchemaElement& element : holder.key_schema()) {
    const bool partition = element.key_type() == api::v1::KEY_TYPE_HASH;
    (partition ? live->partition : live->sort)
        .push_back({element.attribute_name(), TypeOf(table, element.attribute_name())});
  }
}

template <class Index>
LiveTable::Index LiveIndexOf(const api::v1::TableDescription& table, const Index& index, bool local) {
  LiveTable::Index live;
  live.name = index.index_name();
  live.local = local;
  CopyKey(table, index, &live);
  live.non_key.assign(index.projection().non_key_attributes().begin(), index.projection().non_key_attributes().end());
  switch (index.projection().projection_type()) {
    case api::v1::PROJECTION_TYPE_ALL:
      live.projection = advise::ProjectionKind::kAll;
      break;
    case api::v1::PROJECTION_TYPE_INCLUDE:
      live.projection = advise::ProjectionKind::kInclude;
      break;
    default:
      live.projection = advise::ProjectionKind::kKeysOnly;
      break;
  }
  return live;
}

absl::StatusOr<LiveTable> ReadLiveTable(const Session& session, const std::string& name) {
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  api::v1::DescribeTableRequest request;
  request.set_table_name(name);
  ARM_ASSIGN_OR_RETURN(const auto response, client.DescribeTable(request));
  const api::v1::TableDescription& table = response.table();
  LiveTable live;
  live.name = table.table_name();
  CopyKey(table, table, &live);
  live.items = static_cast<double>(table.item_count());
  live.bytes = static_cast<double>(table.table_size_bytes());
  for (const auto& index : table.local_secondary_indexes()) live.indexes.push_back(LiveIndexOf(table, index, true));
  for (const auto& index : table.global_secondary_indexes()) {
    if (index.index_status() == api::v1::INDEX_STATUS_DELETING) continue;
    live.indexes.push_back(LiveIndexOf(table, index, false));
  }
  return live;
}

absl::StatusOr<advise::Workload> ReadWorkload(const Session& session, const AdviseOptions& options,
                                              std::vector<std::string>* notes) {
  ARM_ASSIGN_OR_RETURN(const Json json, ParseJsonArgument(Cat("@", options.file)));
  absl::StatusOr<advise::Workload> workload = advise::WorkloadFromJson(json);
  if (!workload.ok()) return WithContext(workload.status(), options.file);
  if (options.table.empty()) return workload;
  ARM_ASSIGN_OR_RETURN(const LiveTable live, ReadLiveTable(session, options.table));
  ARM_RETURN_IF_ERROR(WithContext(advise::AddLiveTable(live, &*workload, notes), options.file));
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
