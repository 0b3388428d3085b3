#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "armature/client/client.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/condition_text.h"
#include "tools/armature/items/item_argument.h"
#include "tools/armature/items/item_printer.h"
#include "tools/armature/items/read_options.h"
#include "tools/armature/items/short_commands.h"
#include "tools/armature/items/table_keys.h"

namespace armature::cli {
namespace {

constexpr char kTableHelp[] = "Name or ARN of the table";
constexpr char kKeyHelp[] = "Values of the key attributes in the order of the key, or NAME=VALUE for each";
// No table has so many key attributes.
constexpr int kKeyTextsMax = 100;

struct PutOptions {
  std::string table;
  std::string item;
  std::string condition;
};

struct GetOptions {
  std::string table;
  std::vector<std::string> key;
  std::string select;
  bool consistent = false;
  ShownItems shown;
};

struct DeleteOptions {
  std::string table;
  std::vector<std::string> key;
  std::string condition;
};

struct UpdateOptions {
  std::string table;
  std::vector<std::string> key;
  std::vector<std::string> set;
  std::vector<std::string> remove;
  std::vector<std::string> add;
  std::vector<std::string> erase;
  std::string condition;
  ShownItems shown;
};

// Says on a terminal what a write did.
void Tell(const Session& session, std::string_view what) {
  if (session.is_progress_live()) session.progress() << what << "\n";
}

// The table of a command on single items, which indexes do not have.
absl::StatusOr<ItemTarget> ParseTable(const std::string& text) {
  ARM_ASSIGN_OR_RETURN(ItemTarget target, ParseTarget(text));
  if (target.index.empty()) return target;
  return UsageError(
      Cat("single items are those of a table, not of the index ", target.index, "; query and scan read indexes"));
}

absl::StatusOr<TargetKey> FindTableKey(const client::Client& client, const std::string& table) {
  ARM_ASSIGN_OR_RETURN(const ItemTarget target, ParseTable(table));
  ARM_ASSIGN_OR_RETURN(TargetKeys keys, FindKeys(client, target));
  return std::move(keys.table);
}

template <class Request>
absl::Status SetCondition(const Session& session, const std::string& text, ExpressionWriter* writer, Request* request) {
  if (text.empty()) return absl::OkStatus();
  ARM_ASSIGN_OR_RETURN(const std::string condition, ExplainFault(session, "--if", text, writer->Condition(text)));
  request->set_condition_expression(condition);
  return absl::OkStatus();
}

absl::Status PrintSingle(const Session& session, const ShownItems& shown, const std::vector<std::string>& first,
                         const api::v1::Item& item) {
  ARM_ASSIGN_OR_RETURN(ItemStyle style, StyleOf(session, shown));
  style.is_single = true;
  style.first = first;
  ItemPrinter printer(session, std::move(style));
  ARM_RETURN_IF_ERROR(printer.Add(item));
  ARM_RETURN_IF_ERROR(printer.Finish());
  TellHiddenColumns(session, printer.hidden_columns());
  return absl::OkStatus();
}

std::vector<std::string> NamesOfKey(const TargetKey& key) {
  std::vector<std::string> names;
  for (const KeyAttribute& attribute : key.attributes) names.push_back(attribute.name);
  return names;
}

absl::Status PutOne(const Session& session, const PutOptions& options) {
  ARM_RETURN_IF_ERROR(ParseTable(options.table).status());
  api::v1::PutItemRequest request;
  request.set_table_name(options.table);
  ARM_ASSIGN_OR_RETURN(*request.mutable_item(), ItemFromArgument(options.item, std::cin));
  ExpressionWriter writer;
  ARM_RETURN_IF_ERROR(SetCondition(session, options.condition, &writer, &request));
  writer.SetPlaceholders(&request);
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_RETURN_IF_ERROR(client.PutItem(request).status());
  Tell(session, Cat("put 1 item into ", options.table));
  return absl::OkStatus();
}

absl::Status GetOne(const Session& session, const GetOptions& options) {
  api::v1::GetItemRequest request;
  request.set_table_name(options.table);
  request.set_consistent_read(options.consistent);
  ExpressionWriter writer;
  std::vector<std::string> first;
  if (!options.select.empty()) {
    ARM_ASSIGN_OR_RETURN(const std::string paths,
                         ExplainFault(session, "--select", options.select, writer.Paths(options.select, &first)));
    request.set_projection_expression(paths);
  }
  writer.SetPlaceholders(&request);
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const TargetKey key, FindTableKey(client, options.table));
  ARM_ASSIGN_OR_RETURN(*request.mutable_key(), KeyFromTexts(key, options.key));
  ARM_ASSIGN_OR_RETURN(const api::v1::GetItemResponse response, client.GetItem(request));
  if (!response.has_item()) return MissingItemError(Cat("no item with ", ShowKey(key, request.key())));
  return PrintSingle(session, options.shown, first.empty() ? NamesOfKey(key) : first, response.item());
}

absl::Status DeleteOne(const Session& session, const DeleteOptions& options) {
  api::v1::DeleteItemRequest request;
  request.set_table_name(options.table);
  request.set_return_values(api::v1::RETURN_VALUES_ALL_OLD);
  ExpressionWriter writer;
  ARM_RETURN_IF_ERROR(SetCondition(session, options.condition, &writer, &request));
  writer.SetPlaceholders(&request);
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const TargetKey key, FindTableKey(client, options.table));
  ARM_ASSIGN_OR_RETURN(*request.mutable_key(), KeyFromTexts(key, options.key));
  ARM_ASSIGN_OR_RETURN(const api::v1::DeleteItemResponse response, client.DeleteItem(request));
  if (!response.has_attributes()) return MissingItemError(Cat("no item with ", ShowKey(key, request.key())));
  Tell(session, Cat("deleted 1 item from ", options.table));
  return absl::OkStatus();
}

// Adds a clause with all texts of an option to an update expression.
absl::Status AddClause(const Session& session, std::string_view option, std::string_view word,
                       const std::vector<std::string>& texts,
                       const std::function<absl::StatusOr<std::string>(std::string_view)>& write,
                       std::string* expression) {
  std::string clause;
  for (const std::string& text : texts) {
    ARM_ASSIGN_OR_RETURN(const std::string part, ExplainFault(session, option, text, write(text)));
    clause += Cat(clause.empty() ? "" : ", ", part);
  }
  if (!clause.empty()) expression->append(Cat(expression->empty() ? "" : " ", word, " ", clause));
  return absl::OkStatus();
}

absl::StatusOr<std::string> UpdateExpression(const Session& session, const UpdateOptions& options,
                                             ExpressionWriter* writer) {
  std::string expression;
  ARM_RETURN_IF_ERROR(AddClause(
      session, "--set", "SET", options.set, [writer](std::string_view text) { return writer->Assignments(text); },
      &expression));
  ARM_RETURN_IF_ERROR(AddClause(
      session, "--remove", "REMOVE", options.remove, [writer](std::string_view text) { return writer->Paths(text); },
      &expression));
  ARM_RETURN_IF_ERROR(AddClause(
      session, "--add", "ADD", options.add, [writer](std::string_view text) { return writer->PathsWithValues(text); },
      &expression));
  ARM_RETURN_IF_ERROR(AddClause(
      session, "--delete", "DELETE", options.erase,
      [writer](std::string_view text) { return writer->PathsWithValues(text); }, &expression));
  if (expression.empty()) return UsageError("nothing to change: --set, --remove, --add or --delete says what");
  return expression;
}

absl::Status UpdateOne(const Session& session, const UpdateOptions& options) {
  api::v1::UpdateItemRequest request;
  request.set_table_name(options.table);
  request.set_return_values(api::v1::RETURN_VALUES_ALL_NEW);
  ExpressionWriter writer;
  ARM_ASSIGN_OR_RETURN(const std::string expression, UpdateExpression(session, options, &writer));
  request.set_update_expression(expression);
  ARM_RETURN_IF_ERROR(SetCondition(session, options.condition, &writer, &request));
  writer.SetPlaceholders(&request);
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const TargetKey key, FindTableKey(client, options.table));
  ARM_ASSIGN_OR_RETURN(*request.mutable_key(), KeyFromTexts(key, options.key));
  ARM_ASSIGN_OR_RETURN(const api::v1::UpdateItemResponse response, client.UpdateItem(request));
  ARM_RETURN_IF_ERROR(PrintSingle(session, options.shown, NamesOfKey(key), response.attributes()));
  Tell(session, Cat("updated 1 item in ", options.table));
  return absl::OkStatus();
}

void AddKeyArguments(CLI::App& command, std::string* table, std::vector<std::string>* key) {
  command.add_option("TABLE", *table, kTableHelp)->required()->type_name("");
  // Without a key the error shows the key of the table.
  command.add_option("KEY", *key, kKeyHelp)->expected(1, kKeyTextsMax)->type_name("");
}

void AddCondition(CLI::App& command, std::string* condition) {
  command.add_option("--if", *condition, "Write only if the stored item meets this condition")->type_name("CONDITION");
}

// An option that may be given several times, with one text each.
void AddTexts(CLI::App& command, const char* name, std::vector<std::string>* texts, const char* type,
              const char* help) {
  // CLI11 would split a text in brackets into several arguments if extra arguments were allowed.
  command.add_option(name, *texts, help)->allow_extra_args(false)->expected(1, kKeyTextsMax)->type_name(type);
}

void AddUpdate(CLI::App& app, Action* action) {
  CLI::App& update = *app.add_subcommand("update", "Change attributes of an item, and print it; or create it");
  update.alias("u");
  auto& options = SetAction(update, action, UpdateOne);
  AddKeyArguments(update, &options.table, &options.key);
  AddTexts(update, "--set", &options.set, "PATH=VALUE,...",
           "Assign values: 'a = a + 1, b = \"x\", c += 1, l = list_append(l, [1]), d = if_not_exists(d, 0)'");
  AddTexts(update, "--remove", &options.remove, "PATH,...", "Remove attributes or elements");
  AddTexts(update, "--add", &options.add, "PATH VALUE,...", "Add to a number, 0 if absent, or to a set");
  AddTexts(update, "--delete", &options.erase, "PATH SET,...", "Delete elements of a set");
  AddCondition(update, &options.condition);
  AddShownItems(update, &options.shown);
  update.footer(R"(Examples:
  armature update orders KSUID9 --set 'amount = amount + 5, note = "x"' --if 'status = "open"'
  armature update orders KSUID9 --remove note --add 'visits 1' --delete 'tags {"SS": ["new"]}'
)");
}

}  // namespace

void AddShortWriteCommands(CLI::App& app, Action* action) {
  CLI::App& put = *app.add_subcommand("put", "Put an item: create it, or replace it as a whole");
  put.alias("p");
  auto& put_options = SetAction(put, action, PutOne);
  put.add_option("TABLE", put_options.table, kTableHelp)->required()->type_name("");
  put.add_option("ITEM", put_options.item, "The item in plain or typed JSON, @FILE, or - for standard input")
      ->required()
      ->allow_extra_args(false)
      ->type_name("");
  AddCondition(put, &put_options.condition);
  put.footer(R"(Examples:
  armature put orders '{"order_id": "KSUID9", "amount": 12.5, "tags": {"SS": ["new"]}}'
  armature put orders @order.json --if 'attribute_not_exists(order_id)'
)");

  CLI::App& get = *app.add_subcommand("get", "Print an item; exit code 4 if it does not exist");
  get.alias("g");
  auto& get_options = SetAction(get, action, GetOne);
  AddKeyArguments(get, &get_options.table, &get_options.key);
  get.add_option("--select", get_options.select, "Print only these attributes")->type_name("PATH,...");
  get.add_flag("--consistent", get_options.consistent, "See all acknowledged writes");
  AddShownItems(get, &get_options.shown);
  get.footer(R"(Examples:
  armature get orders KSUID9
  armature get thread-posts Amazon 2026-01-31T12:00:00Z --select Message,Votes
  armature get measures time=-5 sensor=A1
)");

  CLI::App& del = *app.add_subcommand("del", "Delete an item; exit code 4 if it does not exist");
  auto& delete_options = SetAction(del, action, DeleteOne);
  AddKeyArguments(del, &delete_options.table, &delete_options.key);
  AddCondition(del, &delete_options.condition);
  del.footer(R"(Examples:
  armature del orders KSUID9
  armature del orders KSUID9 --if 'status = "cancelled"'
)");
  AddUpdate(app, action);
}

}  // namespace armature::cli
