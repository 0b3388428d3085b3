#include "tools/armature/tables/table_shape.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

using Type = api::v1::ScalarAttributeType;
using KeySchema = google::protobuf::RepeatedPtrField<api::v1::KeySchemaElement>;
using Definitions = google::protobuf::RepeatedPtrField<api::v1::AttributeDefinition>;

constexpr char kKeyForm[] = "write the key as 'PARTITION[:TYPE]' or 'PARTITION[:TYPE],SORT[:TYPE]'";
constexpr char kIndexForm[] = "write an index as 'NAME=PARTITION,... | SORT,...'";
constexpr char kLocalForm[] = "write a local index as 'NAME=SORT[:TYPE]'";

absl::Status Fault(std::string_view text, std::string_view why) { return UsageError(Cat("'", text, "': ", why)); }

std::string Trimmed(std::string_view text) { return std::string(absl::StripAsciiWhitespace(Av(text))); }

Type TypeOf(std::string_view letter) {
  if (letter == "S") return api::v1::SCALAR_ATTRIBUTE_TYPE_S;
  if (letter == "N") return api::v1::SCALAR_ATTRIBUTE_TYPE_N;
  return letter == "B" ? api::v1::SCALAR_ATTRIBUTE_TYPE_B : api::v1::SCALAR_ATTRIBUTE_TYPE_UNSPECIFIED;
}

// True for what people write in the place of a type. Attribute names may have colons themselves.
bool LooksLikeType(std::string_view text) {
  if (text.size() == 1) return true;
  for (const std::string_view word : {"string", "str", "number", "num", "int", "binary", "bytes"}) {
    if (absl::EqualsIgnoreCase(Av(text), Av(word))) return true;
  }
  return false;
}

struct Attribute {
  std::string name;
  std::optional<Type> type;
};

absl::StatusOr<Attribute> ParseAttribute(std::string_view text) {
  std::string name = Trimmed(text);
  const size_t colon = name.rfind(':');
  if (colon == std::string::npos || colon == 0) return Attribute{std::move(name), std::nullopt};
  const std::string letter = name.substr(colon + 1);
  const Type type = TypeOf(letter);
  if (type != api::v1::SCALAR_ATTRIBUTE_TYPE_UNSPECIFIED) return Attribute{name.substr(0, colon), type};
  if (letter.empty() || LooksLikeType(letter)) {
    return Fault(name, Cat("no type is called '", letter, "'; the types of key attributes are S, N and B"));
  }
  return Attribute{std::move(name), std::nullopt};
}

// Attributes between commas. Empty for a text of blanks.
absl::StatusOr<std::vector<Attribute>> ParseAttributes(std::string_view text) {
  std::vector<Attribute> attributes;
  if (Trimmed(text).empty()) return attributes;
  for (const absl::string_view piece : absl::StrSplit(Av(text), ',')) {
    ARM_ASSIGN_OR_RETURN(Attribute attribute, ParseAttribute(Sv(piece)));
    if (attribute.name.empty()) return Fault(text, "an attribute between commas has no name");
    attributes.push_back(std::move(attribute));
  }
  return attributes;
}

// Definitions of key attributes, each once, in the order of their first mention.
class Types {
 public:
  explicit Types(Definitions known)
      : definitions_(std::move(known)), is_typed_(static_cast<size_t>(definitions_.size()), true) {}

  absl::Status Note(const Attribute& attribute) {
    auto found = std::find_if(definitions_.begin(), definitions_.end(),
                              [&](const auto& each) { return each.attribute_name() == attribute.name; });
    if (found == definitions_.end()) {
      api::v1::AttributeDefinition& definition = *definitions_.Add();
      definition.set_attribute_name(attribute.name);
      definition.set_attribute_type(attribute.type.value_or(api::v1::SCALAR_ATTRIBUTE_TYPE_S));
      is_typed_.push_back(attribute.type.has_value());
      return absl::OkStatus();
    }
    if (!attribute.type.has_value()) return absl::OkStatus();
    const auto at = static_cast<size_t>(found - definitions_.begin());
    if (is_typed_[at] && found->attribute_type() != *attribute.type) {
      return UsageError(Cat("the attribute ", attribute.name, " has two types"));
    }
    found->set_attribute_type(*attribute.type);
    is_typed_[at] = true;
    return absl::OkStatus();
  }

  const Definitions& definitions() const { return definitions_; }

 private:
  Definitions definitions_;
  std::vector<bool> is_typed_;  // by the user, and not only by default
};

absl::Status AddToKey(const std::vector<Attribute>& attributes, api::v1::KeyType type, KeySchema* key, Types* types) {
  for (const Attribute& attribute : attributes) {
    ARM_RETURN_IF_ERROR(types->Note(attribute));
    api::v1::KeySchemaElement& element = *key->Add();
    element.set_attribute_name(attribute.name);
    element.set_key_type(type);
  }
  return absl::OkStatus();
}

// An index before its key is understood.
struct IndexParts {
  std::string name;
  std::string key;
  api::v1::Projection projection;
};

absl::StatusOr<api::v1::Projection> ParseProjection(std::string_view text, std::string_view whole) {
  api::v1::Projection projection;
  const std::string word = Trimmed(text);
  if (word == "all" || word == "keys") {
    projection.set_projection_type(word == "all" ? api::v1::PROJECTION_TYPE_ALL : api::v1::PROJECTION_TYPE_KEYS_ONLY);
    return projection;
  }
  projection.set_projection_type(api::v1::PROJECTION_TYPE_INCLUDE);
  for (const absl::string_view piece : absl::StrSplit(word, ',')) {
    const std::string name = Trimmed(Sv(piece));
    if (name.empty()) return Fault(whole, "the parentheses hold 'all', 'keys' or names of attributes");
    projection.add_non_key_attributes(name);
  }
  return projection;
}

absl::StatusOr<IndexParts> SplitIndex(std::string_view text, std::string_view form) {
  IndexParts parts;
  std::string rest = Trimmed(text);
  const size_t equals = rest.find('=');
  if (equals == std::string::npos) return Fault(text, Cat("the index has no name; ", form));
  parts.name = Trimmed(rest.substr(0, equals));
  if (parts.name.empty()) return Fault(text, Cat("the index has no name; ", form));
  rest = Trimmed(rest.substr(equals + 1));
  parts.projection.set_projection_type(api::v1::PROJECTION_TYPE_ALL);
  const size_t open = rest.find('(');
  if (open != std::string::npos) {
    if (!rest.ends_with(')')) return Fault(text, "the projection in parentheses must be the end of an index");
    ARM_ASSIGN_OR_RETURN(parts.projection, ParseProjection(rest.substr(open + 1, rest.size() - open - 2), text));
    rest.resize(open);
  }
  parts.key = Trimmed(rest);
  if (parts.key.empty()) return Fault(text, Cat("the index has no key; ", form));
  return parts;
}

// Fills a global index of a creation of a table or of an index.
template <class Index>
absl::Status FillIndex(std::string_view text, Index* index, Types* types) {
  ARM_ASSIGN_OR_RETURN(const IndexParts parts, SplitIndex(text, kIndexForm));
  const size_t bar = parts.key.find('|');
  ARM_ASSIGN_OR_RETURN(const auto partition, ParseAttributes(std::string_view(parts.key).substr(0, bar)));
  std::vector<Attribute> sort;
  if (bar != std::string::npos) {
    ARM_ASSIGN_OR_RETURN(sort, ParseAttributes(std::string_view(parts.key).substr(bar + 1)));
  } else if (partition.size() > 1) {
    return Fault(text, Cat("is ", partition[1].name, " a sort attribute? Then write '", partition[0].name, " | ",
                           partition[1].name, "'; if the partition has both, end with a bar: '", parts.key, " |'"));
  }
  if (partition.empty()) return Fault(text, Cat("the index has no partition attribute; ", kIndexForm));
  index->set_index_name(parts.name);
  ARM_RETURN_IF_ERROR(AddToKey(partition, api::v1::KEY_TYPE_HASH, index->mutable_key_schema(), types));
  ARM_RETURN_IF_ERROR(AddToKey(sort, api::v1::KEY_TYPE_RANGE, index->mutable_key_schema(), types));
  *index->mutable_projection() = parts.projection;
  return absl::OkStatus();
}

absl::Status FillLocal(std::string_view text, const Attribute& partition, api::v1::LocalSecondaryIndex* index,
                       Types* types) {
  ARM_ASSIGN_OR_RETURN(const IndexParts parts, SplitIndex(text, kLocalForm));
  ARM_ASSIGN_OR_RETURN(const auto sort, ParseAttributes(parts.key));
  if (sort.size() != 1) return Fault(text, Cat("a local index has one sort attribute; ", kLocalForm));
  index->set_index_name(parts.name);
  ARM_RETURN_IF_ERROR(AddToKey({partition}, api::v1::KEY_TYPE_HASH, index->mutable_key_schema(), types));
  ARM_RETURN_IF_ERROR(AddToKey(sort, api::v1::KEY_TYPE_RANGE, index->mutable_key_schema(), types));
  *index->mutable_projection() = parts.projection;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<api::v1::CreateTableRequest> CreationOfTable(std::string_view name, const TableShape& shape) {
  api::v1::CreateTableRequest request;
  request.set_table_name(std::string(name));
  request.set_billing_mode(api::v1::BILLING_MODE_PAY_PER_REQUEST);
  ARM_ASSIGN_OR_RETURN(const auto key, ParseAttributes(shape.key));
  if (key.empty() || key.size() > 2) return Fault(shape.key, kKeyForm);
  Types types({});
  ARM_RETURN_IF_ERROR(AddToKey({key[0]}, api::v1::KEY_TYPE_HASH, request.mutable_key_schema(), &types));
  if (key.size() > 1) {
    ARM_RETURN_IF_ERROR(AddToKey({key[1]}, api::v1::KEY_TYPE_RANGE, request.mutable_key_schema(), &types));
  }
  for (const std::string& text : shape.locals) {
    ARM_RETURN_IF_ERROR(FillLocal(text, key[0], request.add_local_secondary_indexes(), &types));
  }
  for (const std::string& text : shape.indexes) {
    ARM_RETURN_IF_ERROR(FillIndex(text, request.add_global_secondary_indexes(), &types));
  }
  *request.mutable_attribute_definitions() = types.definitions();
  return request;
}

absl::StatusOr<api::v1::UpdateTableRequest> AdditionOfIndex(const api::v1::TableDescription& table,
                                                            std::string_view index) {
  api::v1::UpdateTableRequest request;
  request.set_table_name(table.table_name());
  Types types(table.attribute_definitions());
  ARM_RETURN_IF_ERROR(FillIndex(index, request.add_global_secondary_index_updates()->mutable_create(), &types));
  *request.mutable_attribute_definitions() = types.definitions();
  return request;
}

}  // namespace armature::cli
