#include "tools/armature/command.h"

#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "glog/logging.h"
#include "tools/armature/plain_json.h"

namespace armature::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Maximum number of arguments of one list option. No table has so many key attributes.
constexpr int kListArgumentsMax = 200;

bool IsMessage(const FieldDescriptor& field) { return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE; }

bool IsFlat(const Descriptor& message) {
  for (int i = 0; i < message.field_count(); ++i) {
    if (IsMessage(*message.field(i)) || message.field(i)->is_repeated()) return false;
  }
  return true;
}

// True if the option takes Name=value,... beside JSON.
bool TakesShorthand(const FieldDescriptor& field) {
  return IsMessage(field) && !field.is_map() && IsFlat(*field.message_type());
}

// True if the option takes an item, or values by name: in plain JSON, too.
bool TakesItem(const FieldDescriptor& field) {
  if (!IsMessage(field)) return false;
  if (field.is_map()) return field.message_type()->map_value()->message_type() == api::v1::AttributeValue::descriptor();
  return !field.is_repeated() && field.message_type() == api::v1::Item::descriptor();
}

// The typed JSON of an argument in plain JSON.
absl::StatusOr<Json> ParseItemArgument(const std::string& argument) {
  ARM_ASSIGN_OR_RETURN(const std::string text, TextOfArgument(argument));
  const absl::StatusOr<api::v1::Item> item = ItemFromPlain(text);
  if (item.ok()) return MessageToJson(*item);
  // Its error shows the place of a fault in the grammar, and the remedy for the name of a file.
  const absl::StatusOr<Json> json = ParseJsonArgument(argument);
  return json.ok() ? item.status() : json.status();
}

bool IsText(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_STRING || field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM;
}

Json ScalarFromText(const std::string& text, Scalars scalars) {
  if (scalars == Scalars::kTyped) {
    if (text == "true" || text == "false") return text == "true";
    int64_t number = 0;
    if (absl::SimpleAtoi(text, &number)) return number;
  }
  return text;
}

}  // namespace

RequestOptions::RequestOptions(CLI::App& command, const Descriptor& request, const std::vector<OptionSpec>& specs) {
  entries_.reserve(specs.size());
  for (const OptionSpec& spec : specs) {
    Entry& entry = entries_.emplace_back(Entry{.spec = spec});
    entry.field = request.FindFieldByName(absl::StrReplaceAll(spec.name, {{"--", ""}, {"-", "_"}}));
    CHECK(entry.field != nullptr) << request.name() << " has no field for " << spec.name;
    AddOption(command, &entry);
  }
  command
      .add_option("--cli-input-json", input_json_,
                  "The whole request in its documented form; other options override its members")
      ->type_name("JSON|@FILE");
}

std::string RequestOptions::TextOf(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.spec.name == name && !entry.texts.empty()) return entry.texts.back();
  }
  return "";
}

void RequestOptions::AddOption(CLI::App& command, Entry* entry) {
  const std::string name = entry->spec.name;
  const std::string help = entry->spec.help;
  const FieldDescriptor& field = *entry->field;
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
    entry->option = command.add_flag(Cat(name, ",!--no-", name.substr(2)), entry->flag, help);
  } else if (!IsText(field) && !IsMessage(field)) {
    entry->option = command.add_option(name, entry->integer, help)->type_name("NUMBER");
  } else if (IsText(field) && field.is_repeated()) {
    entry->option = command.add_option(name, entry->texts, help)->expected(1, kListArgumentsMax)->type_name("TEXT...");
  } else {
    // CLI11 would split a JSON array into several arguments if extra arguments were allowed.
    entry->option = command.add_option(name, entry->texts, help)->allow_extra_args(false);
    const bool is_list = field.is_repeated() && TakesShorthand(field);
    is_list ? entry->option->expected(1, kListArgumentsMax) : entry->option->expected(1);
    entry->option->type_name(IsText(field) ? "TEXT" : TakesShorthand(field) ? "NAME=VALUE,..." : "JSON|@FILE");
  }
}

absl::StatusOr<Json> RequestOptions::ValueOf(const Entry& entry) {
  const FieldDescriptor& field = *entry.field;
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_BOOL) return Json(entry.flag);
  if (IsText(field)) return field.is_repeated() ? Json(entry.texts) : Json(entry.texts.back());
  if (!IsMessage(field)) return Json(entry.integer);
  if (TakesItem(field)) return ParseItemArgument(entry.texts.back());
  if (!TakesShorthand(field)) return ParseJsonArgument(entry.texts.back());
  return field.is_repeated() ? ParseShorthandList(entry.texts) : ParseShorthand(entry.texts.back(), Scalars::kTyped);
}

absl::StatusOr<Json> RequestOptions::ToJson() const {
  Json request = Json::object();
  if (!input_json_.empty()) {
    auto input = ParseJsonArgument(input_json_);
    if (!input.ok()) return UsageError(Cat("--cli-input-json: ", Sv(input.status().message())));
    if (!input->is_object()) return UsageError("--cli-input-json: must be an object");
    request = *std::move(input);
  }
  for (const Entry& entry : entries_) {
    const std::string member = JsonName(entry.field->name());
    if (entry.option->count() > 0) {
      absl::StatusOr<Json> value = ValueOf(entry);
      if (!value.ok()) return UsageError(Cat(entry.spec.name, ": ", Sv(value.status().message())));
      request[member] = *std::move(value);
    } else if (entry.spec.presence == Presence::kRequired && !request.contains(member)) {
      return UsageError(Cat(entry.spec.name, " is required"));
    }
  }
  return request;
}

absl::StatusOr<Json> ParseShorthand(const std::string& text, Scalars scalars) {
  if (!text.empty() && std::string_view("{[@").find(text.front()) != std::string_view::npos) {
    return ParseJsonArgument(text);
  }
  Json object = Json::object();
  for (const absl::string_view piece : absl::StrSplit(text, ',')) {
    const std::string_view member = Sv(piece);
    const size_t equals = member.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return absl::InvalidArgumentError(Cat("\"", member, "\" is neither JSON nor of the form Name=value"));
    }
    const std::string name(member.substr(0, equals));
    if (object.contains(name)) {
      return absl::InvalidArgumentError(Cat("member \"", name, "\" occurs twice"));
    }
    object[name] = ScalarFromText(std::string(member.substr(equals + 1)), scalars);
  }
  return object;
}

absl::StatusOr<Json> ParseShorthandList(const std::vector<std::string>& arguments) {
  Json list = Json::array();
  for (const std::string& argument : arguments) {
    ARM_ASSIGN_OR_RETURN(Json json, ParseShorthand(argument, Scalars::kTexts));
    if (json.is_array()) {
      for (Json& element : json) list.push_back(std::move(element));
    } else {
      list.push_back(std::move(json));
    }
  }
  return list;
}

absl::StatusOr<std::vector<std::string>> ListTableNames(const client::Client& client) {
  std::vector<std::string> names;
  api::v1::ListTablesRequest request;
  while (true) {
    ARM_ASSIGN_OR_RETURN(const auto page, client.ListTables(request));
    names.insert(names.end(), page.table_names().begin(), page.table_names().end());
    if (!page.has_last_evaluated_table_name()) return names;
    request.set_exclusive_start_table_name(page.last_evaluated_table_name());
  }
}

absl::StatusOr<api::v1::TableDescription> DescribeTable(const client::Client& client, const std::string& name) {
  api::v1::DescribeTableRequest request;
  request.set_table_name(name);
  ARM_ASSIGN_OR_RETURN(auto response, client.DescribeTable(request));
  return std::move(*response.mutable_table());
}

}  // namespace armature::cli
