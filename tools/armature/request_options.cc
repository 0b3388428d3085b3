#include "tools/armature/request_options.h"

#include <algorithm>
#include <utility>

#include "tools/armature/shorthand.h"

namespace armature::cli {
namespace {

// Arguments of one list option; more key parts than any table has.
constexpr int kListArgumentsMax = 200;

// "--table-name" -> "TableName".
std::string MemberName(std::string name) {
  name.erase(0, 2);
  std::replace(name.begin(), name.end(), '-', '_');
  return JsonName(name);
}

}  // namespace

RequestOptions::RequestOptions(CLI::App& command, std::vector<OptionSpec> specs) {
  entries_.reserve(specs.size());
  for (OptionSpec& spec : specs) {
    Entry& entry = entries_.emplace_back();
    entry.spec = std::move(spec);
    const std::string& name = entry.spec.name;
    switch (entry.spec.kind) {
      case OptionKind::kInteger:
        entry.option = command.add_option(name, entry.integer, entry.spec.help)->type_name("NUMBER");
        break;
      case OptionKind::kFlag:
        entry.option =
            command.add_flag(Cat(name, ",!--no-", std::string_view(name).substr(2)), entry.flag, entry.spec.help);
        break;
      case OptionKind::kShorthandList:
        // Without extra arguments, because CLI11 would take JSON arrays apart as lists of its own.
        entry.option = command.add_option(name, entry.texts, entry.spec.help)
                           ->allow_extra_args(false)
                           ->expected(1, kListArgumentsMax)
                           ->type_name("NAME=VALUE,...");
        break;
      case OptionKind::kTextList:
        entry.option = command.add_option(name, entry.texts, entry.spec.help)
                           ->expected(1, kListArgumentsMax)
                           ->type_name("TEXT...");
        break;
      default:
        entry.option = command.add_option(name, entry.texts, entry.spec.help)
                           ->allow_extra_args(false)
                           ->expected(1)
                           ->type_name(entry.spec.kind == OptionKind::kText   ? "TEXT"
                                       : entry.spec.kind == OptionKind::kJson ? "JSON|@FILE"
                                                                              : "NAME=VALUE,...");
        break;
    }
  }
  command
      .add_option("--cli-input-json", input_json_,
                  "The whole request in its documented form; other options prevail over it")
      ->type_name("JSON|@FILE");
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
    const std::string member = MemberName(entry.spec.name);
    if (entry.option->count() == 0) {
      if (entry.spec.presence == Presence::kRequired && !request.contains(member)) {
        return UsageError(Cat(entry.spec.name, " is required"));
      }
      continue;
    }
    absl::StatusOr<Json> value = Json();
    switch (entry.spec.kind) {
      case OptionKind::kText:
        value = Json(entry.texts.back());
        break;
      case OptionKind::kInteger:
        value = Json(entry.integer);
        break;
      case OptionKind::kFlag:
        value = Json(entry.flag);
        break;
      case OptionKind::kJson:
        value = ParseJsonArgument(entry.texts.back());
        break;
      case OptionKind::kShorthand:
        value = ParseShorthand(entry.texts.back(), Scalars::kTyped);
        break;
      case OptionKind::kShorthandList:
        value = ParseShorthandList(entry.texts);
        break;
      case OptionKind::kTextList:
        value = Json(entry.texts);
        break;
    }
    if (!value.ok()) return UsageError(Cat(entry.spec.name, ": ", Sv(value.status().message())));
    request[member] = *std::move(value);
  }
  return request;
}

}  // namespace armature::cli
