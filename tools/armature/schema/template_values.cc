#include "tools/armature/schema/template_values.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/schema/schema_table.h"

namespace armature::cli {
namespace {

// Conditions and tables that name others: beyond, they name themselves.
constexpr int kDepthMax = 30;

// The only member of an object, if its name is that of a function.
const std::string* FunctionName(const Json& value) {
  if (!value.is_object() || value.size() != 1) return nullptr;
  const std::string& name = value.begin().key();
  return name == "Ref" || name.compare(0, 4, "Fn::") == 0 ? &name : nullptr;
}

// Values that CloudFormation knows without a parameter. The daemon has one region and one account.
std::optional<std::string> PseudoParameter(std::string_view name) {
  if (name == "AWS::Region") return "local";
  if (name == "AWS::AccountId") return "000000000000";
  if (name == "AWS::Partition") return "aws";
  if (name == "AWS::URLSuffix") return "amazonaws.com";
  return std::nullopt;
}

const Json& Empty() {
  static const Json kEmpty = Json::object();
  return kEmpty;
}

}  // namespace

std::optional<std::string> ScalarText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean() || value.is_number()) return CompactJson(value);
  return std::nullopt;
}

TemplateValues::TemplateValues(const Json& root, TemplateParameters given) : root_(root), given_(std::move(given)) {}

bool TemplateValues::IsTableType(std::string_view type) {
  return type == "AWS::DynamoDB::Table" || type == "AWS::DynamoDB::GlobalTable" ||
         type == "AWS::Serverless::SimpleTable";
}

const Json& TemplateValues::Section(const char* name) const {
  const auto found = root_.find(name);
  return found != root_.end() && found->is_object() ? *found : Empty();
}

absl::Status TemplateValues::Spend(size_t bytes, const std::string& path) {
  spent_ += bytes;
  if (spent_ > kBytesMax) return SchemaFault(path, "the values of the template are too large");
  return absl::OkStatus();
}

// Recursion: as deep as the JSON, whose depth is limited.
TemplateValues::Value TemplateValues::Resolve(const Json& value, const std::string& path) {
  // Values that name each other are resolved again and again, also those without a text.
  constexpr size_t kStep = 32;
  ARM_RETURN_IF_ERROR(Spend(kStep, path));
  if (const std::string* const name = FunctionName(value)) return Function(*name, value.begin().value(), path);
  if (!value.is_structured()) return TemplateValue{value};
  Json made = value.is_array() ? Json::array() : Json::object();
  size_t index = 0;
  for (const auto& [name, element] : value.items()) {
    const std::string here = value.is_array() ? Cat(path, "[", index++, "]") : Cat(path, ".", name);
    ARM_ASSIGN_OR_RETURN(TemplateValue resolved, Resolve(element, here));
    if (resolved.is_absent) continue;
    if (value.is_array()) {
      made.push_back(std::move(resolved.json));
    } else {
      made[name] = std::move(resolved.json);
    }
  }
  return TemplateValue{std::move(made)};
}

TemplateValues::Value TemplateValues::Function(const std::string& name, const Json& argument, const std::string& path) {
  if (name == "Ref") {
    if (!argument.is_string()) return SchemaFault(path, "Ref needs a name");
    return Ref(argument.get<std::string>(), path);
  }
  if (name == "Fn::Sub") return Sub(argument, path);
  if (name == "Fn::Join") return Join(argument, path);
  if (name == "Fn::Select") return Select(argument, path);
  if (name == "Fn::FindInMap") return FindInMap(argument, path);
  if (name == "Fn::If") return If(argument, path);
  if (name == "Fn::GetAtt") return GetAtt(argument, path);
  return SchemaFault(path, Cat(name, " has no value outside of CloudFormation"));
}

TemplateValues::Value TemplateValues::Ref(const std::string& name, const std::string& path) {
  if (name == "AWS::NoValue") return TemplateValue{nullptr, /*is_absent=*/true};
  const Json& parameters = Section("Parameters");
  if (const auto found = parameters.find(name); found != parameters.end()) return Parameter(name, *found, path);
  if (const auto given = given_.find(name); given != given_.end()) {
    ARM_RETURN_IF_ERROR(Spend(given->second.size(), path));
    return TemplateValue{given->second};
  }
  if (const std::optional<std::string> pseudo = PseudoParameter(name)) return TemplateValue{*pseudo};
  const Json& resources = Section("Resources");
  if (const auto found = resources.find(name); found != resources.end() && found->is_object() &&
                                               IsTableType(ScalarText(found->value("Type", Json(""))).value_or(""))) {
    ARM_ASSIGN_OR_RETURN(const std::string table, TableNameOf(name, path));
    return TemplateValue{table};
  }
  return SchemaFault(path, Cat(name, " has no value; give --parameter ", name, "=VALUE"));
}

TemplateValues::Value TemplateValues::Parameter(const std::string& name, const Json& parameter,
                                                const std::string& path) {
  const Json type_member = parameter.is_object() ? parameter.value("Type", Json("String")) : Json("String");
  const std::string type = type_member.is_string() ? type_member.get<std::string>() : "";
  std::optional<std::string> text;
  if (const auto given = given_.find(name); given != given_.end()) {
    text = given->second;
  } else if (parameter.is_object() && parameter.contains("Default") && type.compare(0, 10, "AWS::SSM::") != 0) {
    text = ScalarText(parameter["Default"]);
  }
  if (!text)
    return SchemaFault(path, Cat("the parameter ", name, " has no default; give --parameter ", name, "=VALUE"));
  ARM_RETURN_IF_ERROR(Spend(text->size(), path));
  if (type != "CommaDelimitedList" && type.compare(0, 5, "List<") != 0) return TemplateValue{*text};
  Json list = Json::array();
  for (const absl::string_view part : absl::StrSplit(*text, ',')) list.push_back(std::string(part));
  return TemplateValue{std::move(list)};
}

absl::StatusOr<std::string> TemplateValues::TableNameOf(const std::string& resource, const std::string& path) {
  if (depth_ >= kDepthMax) return SchemaFault(path, "tables name each other in a circle");
  const Json& found = Section("Resources").at(resource);
  const auto properties = found.find("Properties");
  if (properties == found.end() || !properties->is_object() || !properties->contains("TableName")) return resource;
  ++depth_;
  Value name = Resolve((*properties)["TableName"], Cat("Resources.", resource, ".Properties.TableName"));
  --depth_;
  ARM_RETURN_IF_ERROR(name.status());
  if (name->is_absent) return resource;
  const std::optional<std::string> text = ScalarText(name->json);
  if (!text) return SchemaFault(Cat("Resources.", resource, ".Properties.TableName"), "not a text");
  return *text;
}

// Either a text with ${NAME}, or a list of such a text and an object with values of its own.
TemplateValues::Value TemplateValues::Sub(const Json& argument, const std::string& path) {
  const bool has_own = argument.is_array() && argument.size() == 2 && argument[1].is_object();
  const Json& pattern = has_own ? argument[0] : argument;
  if (!pattern.is_string()) return SchemaFault(path, "Fn::Sub needs a text, or a text and an object");
  std::string made;
  std::string_view rest = pattern.get_ref<const std::string&>();
  while (true) {
    const size_t begin = rest.find("${");
    const size_t end = begin == std::string_view::npos ? begin : rest.find('}', begin);
    made += rest.substr(0, end == std::string_view::npos ? rest.size() : begin);
    if (end == std::string_view::npos) break;
    const std::string name(absl::StripAsciiWhitespace(Av(rest.substr(begin + 2, end - begin - 2))));
    rest.remove_prefix(end + 1);
    if (!name.empty() && name[0] == '!') {  // ${!NAME} is the text ${NAME}
      made += Cat("${", std::string_view(name).substr(1), "}");
      continue;
    }
    ARM_ASSIGN_OR_RETURN(const TemplateValue value, SubName(name, has_own ? argument[1] : Empty(), path));
    const std::optional<std::string> text = ScalarText(value.json);
    if (!text) return SchemaFault(path, Cat("${", name, "} is not a text"));
    ARM_RETURN_IF_ERROR(Spend(text->size(), path));
    made += *text;
  }
  ARM_RETURN_IF_ERROR(Spend(made.size(), path));
  return TemplateValue{std::move(made)};
}

TemplateValues::Value TemplateValues::SubName(const std::string& name, const Json& own, const std::string& path) {
  if (const auto found = own.find(name); found != own.end()) return Resolve(*found, path);
  if (name.find('.') != std::string::npos) return GetAtt(name, path);
  return Ref(name, path);
}

absl::StatusOr<Json> TemplateValues::List(const Json& argument, size_t count, const std::string& path) {
  ARM_ASSIGN_OR_RETURN(TemplateValue list, Resolve(argument, path));
  if (!list.json.is_array()) return SchemaFault(path, "the function needs a list");
  if (list.json.size() != count) return SchemaFault(path, Cat("the function needs ", count, " arguments"));
  return std::move(list.json);
}

TemplateValues::Value TemplateValues::Join(const Json& argument, const std::string& path) {
  ARM_ASSIGN_OR_RETURN(const Json list, List(argument, 2, path));
  if (!list[0].is_string() || !list[1].is_array()) return SchemaFault(path, "Fn::Join needs a text and a list");
  std::string made;
  for (const Json& element : list[1]) {
    const std::optional<std::string> text = ScalarText(element);
    if (!text) return SchemaFault(path, "Fn::Join of a value that is not a text");
    const std::string between = &element == &list[1].front() ? "" : list[0].get<std::string>();
    ARM_RETURN_IF_ERROR(Spend(between.size() + text->size(), path));
    made += between + *text;
  }
  return TemplateValue{std::move(made)};
}

TemplateValues::Value TemplateValues::Select(const Json& argument, const std::string& path) {
  ARM_ASSIGN_OR_RETURN(const Json list, List(argument, 2, path));
  size_t index = 0;
  const std::string text = ScalarText(list[0]).value_or("");
  if (!absl::SimpleAtoi(text, &index) || !list[1].is_array() || index >= list[1].size()) {
    return SchemaFault(path, "Fn::Select needs an index and a list that has it");
  }
  return TemplateValue{list[1][index]};
}

TemplateValues::Value TemplateValues::FindInMap(const Json& argument, const std::string& path) {
  ARM_ASSIGN_OR_RETURN(const Json keys, List(argument, 3, path));
  const Json* at = &Section("Mappings");
  for (const Json& key : keys) {
    const std::string name = ScalarText(key).value_or("");
    const auto found = at->is_object() ? at->find(name) : at->end();
    if (!at->is_object() || found == at->end()) return SchemaFault(path, Cat("Mappings have no ", CompactJson(keys)));
    at = &*found;
  }
  const size_t bytes = at->is_string() ? at->get_ref<const std::string&>().size() : CompactJson(*at).size();
  ARM_RETURN_IF_ERROR(Spend(bytes, path));
  return TemplateValue{*at};
}

TemplateValues::Value TemplateValues::If(const Json& argument, const std::string& path) {
  if (!argument.is_array() || argument.size() != 3 || !argument[0].is_string()) {
    return SchemaFault(path, "Fn::If needs a condition and two values");
  }
  ARM_ASSIGN_OR_RETURN(const bool is_true, IsTrue(argument[0].get<std::string>(), path));
  return Resolve(argument[is_true ? 1 : 2], path);  // the other value may have no meaning
}

TemplateValues::Value TemplateValues::GetAtt(const Json& argument, const std::string& path) {
  std::string name;
  if (argument.is_string()) {
    name = argument.get<std::string>();
  } else if (argument.is_array() && argument.size() == 2 && argument[0].is_string() && argument[1].is_string()) {
    name = Cat(argument[0].get<std::string>(), ".", argument[1].get<std::string>());
  }
  const std::pair<std::string, std::string> parts = absl::StrSplit(name, absl::MaxSplits('.', 1));
  const Json& resources = Section("Resources");
  const auto found = resources.find(parts.first);
  if (parts.second != "Arn" || found == resources.end() || !found->is_object() ||
      !IsTableType(ScalarText(found->value("Type", Json(""))).value_or(""))) {
    return SchemaFault(path, Cat("Fn::GetAtt of ", name, " has no value outside of CloudFormation"));
  }
  ARM_ASSIGN_OR_RETURN(const std::string table, TableNameOf(parts.first, path));
  return TemplateValue{Cat("arn:aws:dynamodb:local:000000000000:table/", table)};
}

absl::StatusOr<bool> TemplateValues::IsTrue(const std::string& condition, const std::string& path) {
  const Json& conditions = Section("Conditions");
  const auto found = conditions.find(condition);
  if (found == conditions.end()) return SchemaFault(path, Cat("there is no condition ", condition));
  if (depth_ >= kDepthMax) return SchemaFault(path, "conditions name each other in a circle");
  ++depth_;
  absl::StatusOr<bool> value = Evaluate(*found, Cat("Conditions.", condition));
  --depth_;
  return value;
}

absl::StatusOr<bool> TemplateValues::Evaluate(const Json& condition, const std::string& path) {
  if (!condition.is_object() || condition.size() != 1) return SchemaFault(path, "not a condition");
  const std::string& function = condition.begin().key();
  const Json& argument = condition.begin().value();
  // Each name costs, because conditions that name others twice would take exponential time.
  ARM_RETURN_IF_ERROR(Spend(1024, path));
  if (function == "Condition" && argument.is_string()) return IsTrue(argument.get<std::string>(), path);
  if (function == "Fn::Equals") {
    ARM_ASSIGN_OR_RETURN(const Json sides, List(argument, 2, path));
    const std::optional<std::string> left = ScalarText(sides[0]);
    const std::optional<std::string> right = ScalarText(sides[1]);
    return left && right ? *left == *right : sides[0] == sides[1];
  }
  return EvaluateAll(function, argument, path);
}

// Fn::Not, Fn::And and Fn::Or.
absl::StatusOr<bool> TemplateValues::EvaluateAll(const std::string& function, const Json& argument,
                                                 const std::string& path) {
  const bool is_not = function == "Fn::Not";
  if (!is_not && function != "Fn::And" && function != "Fn::Or") {
    return SchemaFault(path, Cat(function, " is no function of conditions"));
  }
  if (!argument.is_array() || argument.empty() || (is_not && argument.size() != 1)) {
    return SchemaFault(path, Cat(function, " needs a list of conditions"));
  }
  bool all = true;
  bool any = false;
  for (const Json& part : argument) {
    ARM_ASSIGN_OR_RETURN(const bool is_true, Evaluate(part, path));
    all = all && is_true;
    any = any || is_true;
  }
  if (is_not) return !all;
  return function == "Fn::And" ? all : any;
}

}  // namespace armature::cli
