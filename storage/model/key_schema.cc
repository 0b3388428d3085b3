#include "storage/model/key_schema.h"

#include <algorithm>

namespace armature::model {

const KeyAttribute* KeySchema::Find(std::string_view name) const {
  for (const std::vector<KeyAttribute>* group : {&partition, &sort}) {
    for (const KeyAttribute& attribute : *group) {
      if (attribute.name == name) return &attribute;
    }
  }
  return nullptr;
}

std::vector<std::string> UnionOfKeyNames(const KeySchema& a, const KeySchema& b) {
  std::vector<std::string> names;
  for (const KeySchema* schema : {&a, &b}) {
    for (const KeyAttribute& attribute : schema->partition) names.push_back(attribute.name);
    for (const KeyAttribute& attribute : schema->sort) names.push_back(attribute.name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string PickAttributes(const ItemView& item, const std::vector<std::string>& sorted_names) {
  std::string picked;
  auto wanted = sorted_names.begin();
  item.ForEach([&](const AttributeView& attribute) {
    while (wanted != sorted_names.end() && *wanted < attribute.name) ++wanted;
    if (wanted == sorted_names.end()) return false;
    if (*wanted == attribute.name) picked.append(attribute.entry);
    return true;
  });
  return picked;
}

}  // namespace armature::model
