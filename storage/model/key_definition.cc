#include "storage/model/key_definition.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/limits.h"

namespace armature::model {
namespace {

constexpr std::string_view kHash = "HASH";
constexpr std::string_view kFirstIsNotHash = "Invalid KeySchema: The first KeySchemaElement is not a HASH key type";
constexpr std::string_view kSameName =
    "Both the Hash Key and the Range Key element in the KeySchema have the same name";

using NameSet = std::set<std::string_view>;  // sorted, as messages list them

NameSet NamesOf(const std::vector<KeyElementDefinition>& elements) {
  NameSet names;
  for (const KeyElementDefinition& element : elements) names.insert(element.attribute_name);
  return names;
}

NameSet NamesOf(const std::vector<KeyAttribute>& attributes) {
  NameSet names;
  for (const KeyAttribute& attribute : attributes) names.insert(attribute.name);
  return names;
}

bool IsHash(const KeyElementDefinition& element) { return element.key_type == kHash; }

ScalarType TypeFromName(std::string_view name) {
  if (name == ScalarTypeName(ScalarType::kNumber)) return ScalarType::kNumber;
  if (name == ScalarTypeName(ScalarType::kBinary)) return ScalarType::kBinary;
  return ScalarType::kString;
}

absl::Status CheckKeyIsDefined(const std::vector<KeyElementDefinition>& elements, const NameSet& defined) {
  const NameSet keys = NamesOf(elements);
  if (std::includes(defined.begin(), defined.end(), keys.begin(), keys.end())) {
    return absl::OkStatus();
  }
  return InvalidParameterError(Cat("Some index key attributes are not defined in AttributeDefinitions. Keys: ",
                                   PrintedList(keys), ", AttributeDefinitions: ", PrintedList(defined)));
}

}  // namespace

absl::StatusOr<std::vector<KeyAttribute>> BuildKeyAttributes(const std::vector<AttributeDefinition>& definitions) {
  std::vector<KeyAttribute> attributes;
  NameSet seen;
  for (const AttributeDefinition& definition : definitions) {
    if (!seen.insert(definition.attribute_name).second) {
      return ValidationError(Cat("Attribute Name is duplicated: ", definition.attribute_name));
    }
    attributes.push_back({definition.attribute_name, TypeFromName(definition.attribute_type)});
  }
  std::sort(attributes.begin(), attributes.end(),
            [](const KeyAttribute& a, const KeyAttribute& b) { return a.name < b.name; });
  return attributes;
}

absl::Status CheckTableKey(const std::vector<KeyElementDefinition>& elements,
                           const std::vector<KeyAttribute>& defined) {
  // A name that occurs twice in the key is reported as a duplicate, not as a missing definition.
  if (NamesOf(elements).size() > defined.size()) {
    return ValidationError("Invalid KeySchema: Some index key attribute have no definition");
  }
  ARM_RETURN_IF_ERROR(CheckKeyIsDefined(elements, NamesOf(defined)));
  return CheckPairKey(elements);
}

absl::Status CheckUseOfAttributes(const TableDefinition& definition, const std::vector<KeyAttribute>& defined) {
  const NameSet defined_names = NamesOf(defined);
  NameSet used = NamesOf(definition.key_schema);
  bool has_indexes = false;
  for (const auto* indexes : {&definition.local_indexes, &definition.global_indexes}) {
    if (!indexes->has_value()) continue;
    for (const IndexDefinition& index : **indexes) {
      ARM_RETURN_IF_ERROR(CheckKeyIsDefined(index.key_schema, defined_names));
      used.merge(NamesOf(index.key_schema));
      has_indexes = true;
    }
  }
  if (used.size() == defined_names.size()) return absl::OkStatus();
  if (!has_indexes) {
    return InvalidParameterError(
        "Number of attributes in KeySchema does not exactly match number of attributes defined in "
        "AttributeDefinitions");
  }
  return InvalidParameterError(Cat("Some AttributeDefinitions are not used. AttributeDefinitions: ",
                                   PrintedList(defined_names), ", keys used: ", PrintedList(used)));
}

absl::Status CheckPairKey(const std::vector<KeyElementDefinition>& elements) {
  if (NamesOf(elements).size() < elements.size()) return ValidationError(kSameName);
  if (!IsHash(elements[0])) return ValidationError(kFirstIsNotHash);
  if (elements.size() == 2 && IsHash(elements[1])) {
    return ValidationError("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
  }
  return absl::OkStatus();
}

absl::Status CheckGlobalIndexKey(const std::vector<KeyElementDefinition>& elements) {
  if (NamesOf(elements).size() < elements.size()) {
    const bool is_pair = elements.size() == 2 && IsHash(elements[0]) && !IsHash(elements[1]);
    return ValidationError(is_pair ? kSameName : "The KeySchema contains multiple key attributes with the same name");
  }
  if (!IsHash(elements[0])) return ValidationError(kFirstIsNotHash);
  const auto hash_count = static_cast<size_t>(std::count_if(elements.begin(), elements.end(), IsHash));
  if (hash_count > kGlobalKeyAttributesMax) {
    return InvalidParameterError("The KeySchema exceeds the maximum allowed number of HASH key attributes");
  }
  if (elements.size() - hash_count > kGlobalKeyAttributesMax) {
    return InvalidParameterError("The KeySchema exceeds the maximum allowed number of RANGE key attributes");
  }
  if (!std::is_partitioned(elements.begin(), elements.end(), IsHash)) {
    return InvalidParameterError("All HASH key attributes must precede RANGE key attributes in the KeySchema");
  }
  return absl::OkStatus();
}

KeySchema BuildKeySchema(const std::vector<KeyElementDefinition>& elements, const std::vector<KeyAttribute>& defined) {
  KeySchema key;
  for (const KeyElementDefinition& element : elements) {
    const auto attribute =
        std::lower_bound(defined.begin(), defined.end(), element.attribute_name,
                         [](const KeyAttribute& a, const std::string& name) { return a.name < name; });
    (IsHash(element) ? key.partition : key.sort).push_back(*attribute);
  }
  return key;
}

}  // namespace armature::model
