#include "tools/armature/schema/schema_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/plain_json.h"
#include "tools/armature/schema/cloudformation.h"
#include "tools/armature/schema/table_definitions.h"
#include "tools/armature/schema/workbench_model.h"
#include "tools/armature/schema/yaml_text.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kItemsEnding = ".items.jsonl";

bool IsSchemaFile(std::string_view name) {
  if (name.starts_with('.')) return false;
  for (const std::string_view ending : {".json", ".yaml", ".yml", ".template", ".sql"}) {
    if (name.ends_with(ending)) return true;
  }
  return name.ends_with(kItemsEnding);
}

absl::StatusOr<std::vector<std::string>> FilesOf(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (fs::directory_iterator entry(path, error); !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (IsSchemaFile(name) && !entry->is_directory(error)) files.push_back(entry->path().string());
  }
  if (error) return InputError(Cat(path, ": ", error.message()));
  if (files.empty()) return InputError(Cat(path, ": the directory has no schema files"));
  std::sort(files.begin(), files.end());
  return files;
}

absl::StatusOr<std::string> ReadText(const std::string& path) {
  std::error_code error;
  std::ifstream file(path, std::ios::binary);
  if (!file || fs::is_directory(path, error)) return InputError(Cat("cannot read ", path));
  std::string text(kSchemaFileBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (file.bad()) return InputError(Cat("cannot read ", path));
  if (text.size() > kSchemaFileBytesMax) {
    return InputError(Cat(path, ": a schema file has at most ", kSchemaFileBytesMax >> 20, " MiB"));
  }
  return text;
}

// Refuses JSON that would take the parser much memory or time, which grows with the square of the members of an object.
// Other faults are left to the parser. Cost: linear.
absl::Status CheckShape(std::string_view json) {
  std::vector<size_t> members;  // of each open object or list
  bool is_text = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') is_text = !is_text;
    if (is_text) {
      if (c == '\\') ++i;
    } else if (c == '{' || c == '[') {
      if (members.size() == kJsonDepthMax) return absl::InvalidArgumentError("nested too deeply");
      members.push_back(0);
    } else if ((c == '}' || c == ']') && !members.empty()) {
      members.pop_back();
    } else if (c == ':' && !members.empty() && ++members.back() > kYamlMembersMax) {
      return absl::InvalidArgumentError(Cat("an object has more than ", kYamlMembersMax, " members"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Schema> ItemsOfLines(const std::string& path, std::string_view text) {
  std::string name = fs::path(path).filename().string();
  name.resize(name.size() - kItemsEnding.size());
  Schema schema;
  auto& items = schema.items.emplace_back(name, std::vector<api::v1::Item>()).second;
  int64_t line_number = 0;
  for (const absl::string_view line : absl::StrSplit(Av(text), '\n')) {
    ++line_number;
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    absl::StatusOr<api::v1::Item> item = ItemFromPlain(Sv(line));
    if (!item.ok()) return absl::InvalidArgumentError(Cat("line ", line_number, ": ", Sv(item.status().message())));
    items.push_back(*std::move(item));
  }
  return schema;
}

absl::StatusOr<Schema> SchemaOfJson(const Json& json, const TemplateParameters& parameters) {
  if (IsTemplate(json)) return TablesOfTemplate(json, parameters);
  if (IsModel(json)) return TablesOfModel(json);
  if (IsDefinition(json)) return TablesOfDefinitions(json);
  if (IsBatch(json)) return ItemsOfBatch(json);
  return absl::InvalidArgumentError(
      "neither a template of CloudFormation, nor a model of NoSQL Workbench, nor a definition of a table, nor a batch "
      "of items");
}

absl::StatusOr<Schema> SchemaOfFile(const std::string& path, const TemplateParameters& parameters) {
  ARM_ASSIGN_OR_RETURN(const std::string text, ReadText(path));
  absl::StatusOr<Schema> schema = SchemaOfText(path, text, parameters);
  if (!schema.ok()) return InputError(Cat(path, ": ", Sv(schema.status().message())));
  for (SchemaTable& table : schema->tables) table.source = path;
  return schema;
}

// Moves the items to their tables. Errors: InputError.
absl::Status JoinItems(Schema* schema) {
  std::map<std::string, SchemaTable*> by_name;
  for (SchemaTable& table : schema->tables) {
    const std::string& name = table.definition.table_name();
    if (const auto [known, is_new] = by_name.emplace(name, &table); !is_new) {
      return InputError(Cat(table.source, ": the table ", name, " is also defined in ", known->second->source));
    }
  }
  for (auto& [name, items] : schema->items) {
    const auto found = by_name.find(name);
    if (found == by_name.end())
      return InputError(Cat("there are items for ", name, ", but no definition of this table"));
    std::vector<api::v1::Item>& all = found->second->items;
    all.insert(all.end(), std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
  }
  schema->items.clear();
  return absl::OkStatus();
}

template <class T>
void Append(std::vector<T>* to, std::vector<T>* from) {
  to->insert(to->end(), std::make_move_iterator(from->begin()), std::make_move_iterator(from->end()));
}

}  // namespace

absl::StatusOr<Schema> SchemaOfText(const std::string& path, const std::string& text,
                                    const TemplateParameters& parameters) {
  if (path.ends_with(kItemsEnding)) return ItemsOfLines(path, text);
  if (path.ends_with(".sql")) return TablesOfScript(text);
  const absl::string_view content = absl::StripLeadingAsciiWhitespace(text);
  const bool is_json = path.ends_with(".json") || (path.ends_with(".template") && absl::StartsWith(content, "{"));
  if (is_json) ARM_RETURN_IF_ERROR(CheckShape(text));
  ARM_ASSIGN_OR_RETURN(const Json json, is_json ? ParseJson(text) : ParseYaml(text));
  return SchemaOfJson(json, parameters);
}

absl::StatusOr<Schema> ReadSchema(const std::vector<std::string>& paths, const TemplateParameters& parameters) {
  Schema all;
  for (const std::string& path : paths) {
    ARM_ASSIGN_OR_RETURN(const std::vector<std::string> files, FilesOf(path));
    for (const std::string& file : files) {
      ARM_ASSIGN_OR_RETURN(Schema schema, SchemaOfFile(file, parameters));
      Append(&all.tables, &schema.tables);
      Append(&all.items, &schema.items);
      Append(&all.notes, &schema.notes);
    }
  }
  ARM_RETURN_IF_ERROR(JoinItems(&all));
  if (all.tables.empty()) return InputError("the files define no table");
  return all;
}

}  // namespace armature::cli
