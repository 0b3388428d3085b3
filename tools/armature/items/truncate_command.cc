#include <cstdint>
#include <string>

#include "armature/client/batch_writer.h"
#include "armature/client/client.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/condition_text.h"
#include "tools/armature/display.h"
#include "tools/armature/items/short_commands.h"
#include "tools/armature/items/table_keys.h"

namespace armature::cli {
namespace {

struct TruncateOptions {
  std::string table;
};

// A scan of the keys of all items.
api::v1::ScanRequest ScanOfKeys(const std::string& table, const TargetKey& key) {
  ExpressionWriter writer;
  api::v1::ScanRequest request;
  request.set_table_name(table);
  request.set_consistent_read(true);
  std::string paths;
  for (const KeyAttribute& attribute : key.attributes) {
    paths += Cat(paths.empty() ? "" : ", ", writer.Name(attribute.name));
  }
  request.set_projection_expression(paths);
  writer.SetPlaceholders(&request);
  return request;
}

absl::Status Truncate(const Session& session, const TruncateOptions& options) {
  ARM_ASSIGN_OR_RETURN(const ItemTarget target, ParseTarget(options.table));
  if (!target.index.empty()) return UsageError("an index has the items of its table: truncate takes a table");
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const TargetKeys keys, FindKeys(client, target));
  ARM_RETURN_IF_ERROR(session.Confirm(
      Cat("This deletes all items of the table ", keys.table.name, " (", WithCommas(keys.item_count), ")")));
  int64_t count = 0;
  {
    ProgressBar bar(&session.progress(), session.is_progress_live());
    client::BatchWriter writer(client);
    auto pages = client.ScanPages(ScanOfKeys(options.table, keys.table));
    while (true) {
      ARM_ASSIGN_OR_RETURN(const auto page, pages.NextPage());
      if (!page.has_value()) break;
      for (const api::v1::Item& key : page->items()) {
        ARM_RETURN_IF_ERROR(writer.Delete(options.table, key));
        ++count;
        bar.Show({.what = Cat("deleting from ", keys.table.name), .done = count, .total = keys.item_count});
      }
    }
    ARM_RETURN_IF_ERROR(writer.Flush());
  }
  if (session.is_progress_live()) {
    session.progress() << "deleted " << WithCommas(count) << (count == 1 ? " item" : " items") << " from "
                       << keys.table.name << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

void AddTruncateCommand(CLI::App& app, Action* action) {
  CLI::App& truncate = *app.add_subcommand("truncate", "Delete all items of a table, one by one; the table stays");
  auto& options = SetAction(truncate, action, Truncate);
  truncate.add_option("TABLE", options.table, "Name or ARN of the table")->required()->type_name("");
  truncate.footer(
      R"(Items that are written meanwhile may stay. Its deletions reach streams and indexes, and consume capacity.

Examples:
  armature truncate orders
  armature truncate orders --yes
)");
}

}  // namespace armature::cli
