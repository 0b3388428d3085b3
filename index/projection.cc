#include "index/projection.h"

#include <algorithm>

namespace armature::index {

std::string ProjectEntry(const store::Index& index, const model::ItemView& item) {
  const model::Projection& projection = index.descriptor.projection;
  switch (projection.type) {
    case model::ProjectionType::kAll:
      return std::string(item.bytes());
    case model::ProjectionType::kKeysOnly:
      return model::PickAttributes(item, index.key_names);
    case model::ProjectionType::kInclude:
      break;
  }
  std::vector<std::string> names = index.key_names;
  names.insert(names.end(), projection.non_key_attributes.begin(), projection.non_key_attributes.end());
  std::sort(names.begin(), names.end());
  return model::PickAttributes(item, names);
}

bool ProjectsAttribute(const store::Index& index, std::string_view name) {
  const model::Projection& projection = index.descriptor.projection;
  if (projection.type == model::ProjectionType::kAll) return true;
  const auto& keys = index.key_names;
  const auto& included = projection.non_key_attributes;
  return std::find(keys.begin(), keys.end(), name) != keys.end() ||
         std::find(included.begin(), included.end(), name) != included.end();
}

}  // namespace armature::index
