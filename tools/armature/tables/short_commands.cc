// Commands on tables in their short form: ls, describe, create, drop, use.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "armature/client/wait.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/tables/table_screen.h"
#include "tools/armature/tables/table_shape.h"
#include "tools/armature/tables/used_table.h"

namespace armature::cli {
namespace {

absl::StatusOr<std::string> ExpiryAttribute(const client::Client& client, const std::string& table) {
  api::v1::DescribeTimeToLiveRequest request;
  request.set_table_name(table);
  ARM_ASSIGN_OR_RETURN(const auto response, client.DescribeTimeToLive(request));
  return response.time_to_live_description().attribute_name();
}

absl::StatusOr<ShownTable> Look(const client::Client& client, const std::string& name) {
  ShownTable table;
  ARM_ASSIGN_OR_RETURN(table.description, DescribeTable(client, name));
  ARM_ASSIGN_OR_RETURN(table.expiry_attribute, ExpiryAttribute(client, name));
  return table;
}

// Without the expiry attribute, which costs another call.
absl::StatusOr<ShownTable> LookBriefly(const client::Client& client, const std::string& name) {
  ShownTable table;
  ARM_ASSIGN_OR_RETURN(table.description, DescribeTable(client, name));
  return table;
}

Json ToJson(const ShownTable& table) {
  Json json = MessageToJson(table.description);
  if (!table.expiry_attribute.empty()) {
    json["TimeToLiveDescription"] = {{"TimeToLiveStatus", "ENABLED"}, {"AttributeName", table.expiry_attribute}};
  }
  return json;
}

struct NameOption {
  std::string table;
};

absl::Status Describe(const Session& session, const NameOption& options) {
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const ShownTable table, Look(client, options.table));
  session.Print({{"Table", ToJson(table)}}, [&table] { return TableScreen(table); });
  return absl::OkStatus();
}

struct ListOptions {
  bool is_long = false;
};

absl::Status List(const Session& session, const ListOptions& options) {
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListTableNames(client));
  std::vector<ShownTable> tables;
  Json list = Json::array();
  for (const std::string& name : names) {
    absl::StatusOr<ShownTable> table = options.is_long ? Look(client, name) : LookBriefly(client, name);
    if (absl::IsNotFound(table.status())) continue;  // deleted since ListTables
    ARM_RETURN_IF_ERROR(table.status());
    list.push_back(ToJson(*table));
    tables.push_back(*std::move(table));
  }
  session.PrintAsTable({{"Tables", list}}, [&] {
    if (tables.empty()) return std::string("There is no table. To make one: armature create orders --key order_id\n");
    return TableList(tables, options.is_long);
  });
  return absl::OkStatus();
}

struct CreateOptions {
  std::string table;
  TableShape shape;
  std::string stream;
  std::string expiry;
  bool protect = false;
};

absl::Status SetExpiry(const client::Client& client, const std::string& table, const std::string& attribute) {
  api::v1::UpdateTimeToLiveRequest request;
  request.set_table_name(table);
  request.mutable_time_to_live_specification()->set_enabled(true);
  request.mutable_time_to_live_specification()->set_attribute_name(attribute);
  return client.UpdateTimeToLive(request).status();
}

absl::Status Create(const Session& session, const CreateOptions& options) {
  ARM_ASSIGN_OR_RETURN(api::v1::CreateTableRequest request, CreationOfTable(options.table, options.shape));
  if (options.protect) request.set_deletion_protection_enabled(true);
  if (!options.stream.empty()) {
    api::v1::StreamViewType view = api::v1::STREAM_VIEW_TYPE_UNSPECIFIED;
    api::v1::StreamViewType_Parse(Cat("STREAM_VIEW_TYPE_", options.stream), &view);
    request.mutable_stream_specification()->set_stream_enabled(true);
    request.mutable_stream_specification()->set_stream_view_type(view);
  }
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_RETURN_IF_ERROR(client.CreateTable(request).status());
  ARM_RETURN_IF_ERROR(client::WaitForTable(client, options.table, session.Deadline()));
  if (!options.expiry.empty()) {
    const absl::Status status = SetExpiry(client, options.table, options.expiry);
    if (!status.ok()) session.progress() << Cat("The table ", options.table, " was made, but without expiry.\n");
    ARM_RETURN_IF_ERROR(status);
  }
  ARM_ASSIGN_OR_RETURN(const ShownTable table, Look(client, options.table));
  session.Print({{"TableDescription", ToJson(table)}}, [&table] { return TableScreen(table); });
  return absl::OkStatus();
}

absl::Status Drop(const Session& session, const NameOption& options) {
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const api::v1::TableDescription table, DescribeTable(client, options.table));
  const int indexes = table.global_secondary_indexes_size() + table.local_secondary_indexes_size();
  ARM_RETURN_IF_ERROR(session.Confirm(Cat("Table ", table.table_name(), " with ", WithCommas(table.item_count()),
                                          table.item_count() == 1 ? " item" : " items", " (",
                                          ShowBytes(static_cast<uint64_t>(table.table_size_bytes())), ") and ", indexes,
                                          indexes == 1 ? " index" : " indexes", " will be deleted")));
  api::v1::DeleteTableRequest request;
  request.set_table_name(options.table);
  ARM_ASSIGN_OR_RETURN(const auto response, client.DeleteTable(request));
  ARM_RETURN_IF_ERROR(client::WaitForTableGone(client, options.table, session.Deadline()));
  if (UsedTable(session) == options.table) ARM_RETURN_IF_ERROR(SetUsedTable(session, ""));
  session.Print({{"TableDescription", MessageToJson(response.table_description())}},
                [&] { return Cat(table.table_name(), " is deleted\n"); });
  return absl::OkStatus();
}

absl::Status Use(const Session& session, const NameOption& options) {
  if (options.table == "-") {
    ARM_RETURN_IF_ERROR(SetUsedTable(session, ""));
  } else if (!options.table.empty()) {
    ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
    ARM_RETURN_IF_ERROR(DescribeTable(client, options.table).status());
    ARM_RETURN_IF_ERROR(SetUsedTable(session, options.table));
  }
  const std::optional<std::string> used = UsedTable(session);
  session.Print({{"TableName", used.has_value() ? Json(*used) : Json(nullptr)}}, [&] {
    return used.has_value() ? Cat(*used, "\n") : Cat("No table is in use at ", session.endpoint(), "\n");
  });
  return absl::OkStatus();
}

constexpr char kCreateFooter[] =
    R"(KEY is PARTITION or PARTITION,SORT. A global index is NAME=PARTITION,... | SORT,... with up to four attributes on each
side of the bar; a local index is NAME=SORT. An attribute is a string; NAME:N is a number, NAME:B binary. An index has
all attributes of the items; with (keys) at its end only keys, with (a, b) also these. The table is billed on demand.
The command waits until the table can be used, and shows it. For everything else see armature table create.

Examples:
  armature create orders --key order_id
  armature create orders --key order_id --index 'ByCustomer=customer_id,status | order_date,amount:N'
  armature create orders --key customer,at:N --local 'ByTotal=total:N (keys)' --index 'ByState=state (total, note)'
  armature create sessions --key id --ttl expires_at --stream
)";

void AddShortCreate(CLI::App& app, Action* action) {
  CLI::App& create = *app.add_subcommand("create", "Create a table, in the short form");
  CreateOptions& options = SetAction(create, action, Create);
  create.add_option("TABLE", options.table, "3 to 255 characters of [a-zA-Z0-9_.-]")->required()->type_name("");
  create.add_option("--key", options.shape.key, "Partition attribute, and sort attribute")
      ->required()
      ->type_name("PK[:TYPE][,SK[:TYPE]]");
  // CLI11 would take further words as further indexes.
  create.add_option("--index", options.shape.indexes, "A global index; may be given again")
      ->allow_extra_args(false)
      ->type_name("'NAME=PK,...|SK,...'");
  create.add_option("--local", options.shape.locals, "A local index; may be given again")
      ->allow_extra_args(false)
      ->type_name("'NAME=SK'");
  create
      .add_flag("--stream{NEW_AND_OLD_IMAGES}", options.stream,
                "Keep the changes in a stream; --stream=VIEW for less than NEW_AND_OLD_IMAGES")
      ->check(CLI::IsMember({"KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"}));
  create.add_option("--ttl", options.expiry, "Delete items at the time in this attribute, in seconds since 1970")
      ->type_name("ATTRIBUTE");
  create.add_flag("--protect", options.protect, "Refuse to delete the table");
  create.footer(kCreateFooter);
}

}  // namespace

void AddShortTableCommands(CLI::App& app, Action* action) {
  CLI::App& ls = *app.add_subcommand("ls", "List the tables with keys, sizes and indexes");
  ListOptions& list = SetAction(ls, action, List);
  ls.add_flag("-l,--long", list.is_long, "Also names of indexes, billing, stream, expiry and age");
  ls.footer("Examples:\n  armature ls\n  armature ls -l\n  armature ls | jq -r '.Tables[].TableName'\n");

  CLI::App& describe = *app.add_subcommand("describe", "Show a table on one screen");
  describe.alias("desc");
  describe.add_option("--table-name", SetAction(describe, action, Describe).table, "Name or ARN of the table")
      ->required()
      ->type_name("TEXT");
  describe.footer("Examples:\n  armature describe orders\n  armature describe orders --output json\n");

  AddShortCreate(app, action);

  CLI::App& drop = *app.add_subcommand("drop", "Delete a table with all its items and indexes");
  drop.add_option("TABLE", SetAction(drop, action, Drop).table, "Name or ARN of the table")->required()->type_name("");
  drop.footer(
      "The command waits until the table is gone.\n\n"
      "Examples:\n  armature drop orders\n  armature drop orders --yes\n");

  CLI::App& use = *app.add_subcommand("use", "Remember a table for commands that name none");
  use.add_option("TABLE", SetAction(use, action, Use).table, "The table; - forgets it")->type_name("");
  use.footer(
      "The table is remembered for this endpoint, in ~/.local/state/armature. Without a table the command shows\n"
      "the one in use. Commands that delete tables or make them never take the table in use.\n\n"
      "Examples:\n  armature use orders\n  armature use\n  armature use -\n");
}

}  // namespace armature::cli
