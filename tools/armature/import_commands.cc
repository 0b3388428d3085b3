#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "armature/client/errors.h"
#include "armature/client/wait.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/commands.h"
#include "tools/armature/export/manifest.h"
#include "tools/armature/load/file_load.h"
#include "tools/armature/load/load_state.h"
#include "tools/armature/progress_bar.h"
#include "tools/armature/table_calls.h"

namespace armature::cli {
namespace {

struct ImportOptions {
  std::string directory;
  std::string table_name;       // empty: the name in the manifest
  std::string state_directory;  // empty: the directory of the export
  bool resume = false;
};

// Name, kind and type of each key attribute.
using Key = std::vector<std::tuple<std::string, int, int>>;

template <class Table>
Key KeyOf(const Table& table) {
  Key key;
  for (const api::v1::KeySchemaElement& element : table.key_schema()) {
    int type = 0;
    for (const api::v1::AttributeDefinition& definition : table.attribute_definitions()) {
      if (definition.attribute_name() == element.attribute_name()) type = definition.attribute_type();
    }
    key.emplace_back(element.attribute_name(), element.key_type(), type);
  }
  return key;
}

absl::Status CheckFiles(const Session& session, const std::string& directory, const Manifest& manifest) {
  ProgressBar bar(&session.progress(), session.is_progress_live());
  const int64_t all = manifest.bytes();
  int64_t before = 0;
  for (const ExportedFile& file : manifest.files) {
    ARM_RETURN_IF_ERROR(CheckFile(directory, file, [&bar, all, before](int64_t bytes) {
      bar.Show({.what = "check bytes", .done = before + bytes, .total = all});
    }));
    before += file.bytes;
  }
  return absl::OkStatus();
}

// The table with this definition. Creates it if it is missing and `may_create` is true.
absl::StatusOr<api::v1::TableDescription> FindTable(const Session& session, const client::Client& client,
                                                    const api::v1::CreateTableRequest& definition, bool may_create) {
  const absl::StatusOr<api::v1::TableDescription> described = DescribeTable(client, definition.table_name());
  if (may_create && client::ErrorName(described.status()) == "ResourceNotFoundException") {
    ARM_RETURN_IF_ERROR(client.CreateTable(definition).status());
  } else if (!described.ok()) {
    return described.status();
  } else if (KeyOf(*described) != KeyOf(definition)) {
    return InputError(Cat("the table ", definition.table_name(), " has another key than the exported one"));
  } else if (described->table_status() != api::v1::TABLE_STATUS_CREATING) {
    return described;
  }
  ARM_RETURN_IF_ERROR(client::WaitForTable(client, definition.table_name(), session.Deadline()));
  return DescribeTable(client, definition.table_name());
}

absl::Status LoadFiles(const Session& session, const client::Client& client, const ImportOptions& options,
                       const Manifest& manifest, const api::v1::TableDescription& table) {
  const absl::Time start = absl::Now();
  CsvTypes types;
  for (const ExportedColumn& column : manifest.columns) types[column.name] = column.type;
  AddKeyTypes(table, &types);
  const std::string& state_directory = options.state_directory.empty() ? options.directory : options.state_directory;
  LoadCounts counts;
  std::vector<std::string> states;
  {
    ProgressBar bar(&session.progress(), session.is_progress_live());
    LoadProgress progress{.bar = &bar, .what = table.table_name(), .bytes_before = 0, .bytes_all = manifest.bytes()};
    for (const ExportedFile& file : manifest.files) {
      const FileToLoad to_load{.table_name = table.table_name(),
                               .path = PathIn(options.directory, file.name),
                               .format = manifest.format,
                               .types = types,
                               .state_path = StatePathOf(PathIn(state_directory, file.name)),
                               .resume = options.resume};
      ARM_RETURN_IF_ERROR(FileLoad(session, client, to_load, progress, &counts).Run());
      states.push_back(to_load.state_path);
      progress.bytes_before += file.bytes;
    }
  }
  // Until all files are loaded, --resume must not load the finished ones again.
  for (const std::string& state : states) RemoveLoadState(state);
  PrintCounts(session, counts, absl::Now() - start);
  return absl::OkStatus();
}

absl::Status Import(const Session& session, const ImportOptions& options) {
  ARM_ASSIGN_OR_RETURN(Manifest manifest, ReadManifest(options.directory));
  ARM_RETURN_IF_ERROR(CheckFiles(session, options.directory, manifest));
  if (!options.table_name.empty()) manifest.table.set_table_name(options.table_name);
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  // --resume needs the table of the interrupted import: a new table would not have the items loaded before.
  ARM_ASSIGN_OR_RETURN(const api::v1::TableDescription table,
                       FindTable(session, client, manifest.table, /*may_create=*/!options.resume));
  return LoadFiles(session, client, options, manifest, table);
}

constexpr char kImportFooter[] =
    R"(All files are checked against the manifest before anything is written. A missing table is created with its indexes.
An existing table must have the same key; it keeps its other items, and items with the same key are replaced.

The position in each file is kept next to it, or in --state, until all files are loaded. --resume continues there,
after a kill too.

Exit code 5: the directory is not an export, a file has changed, or the table has another key. Exit code 1: the
daemon refused.

Examples:
  armature import thread-2026-01-31
  armature import thread-2026-01-31 --table-name ThreadCopy
  armature import thread-2026-01-31 --table-name ThreadCopy --resume
)";

}  // namespace

void AddImportCommand(CLI::App& app, Action* action) {
  CLI::App& command = *app.add_subcommand("import", "Put an export into a table");
  ImportOptions& options = SetAction(command, action, Import);
  command.add_option("directory", options.directory, "Directory that armature export wrote")
      ->required()
      ->type_name("DIR");
  command
      .add_option("--table-name", options.table_name, "Import into this table; default: the name of the exported table")
      ->type_name("NAME");
  command.add_flag("--resume", options.resume, "Continue an interrupted import");
  command.add_option("--state", options.state_directory, "Directory for the positions in the files")
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
  command.footer(kImportFooter);
}

}  // namespace armature::cli
