#include "storage/model/table_descriptor.h"

namespace armature::model {

std::string_view TableStateName(TableState state) {
  switch (state) {
    case TableState::kCreating:
      return "CREATING";
    case TableState::kActive:
      return "ACTIVE";
    case TableState::kUpdating:
      return "UPDATING";
    case TableState::kDeleting:
      return "DELETING";
  }
  return "UNKNOWN";
}

std::string_view ProjectionTypeName(ProjectionType type) {
  switch (type) {
    case ProjectionType::kAll:
      return "ALL";
    case ProjectionType::kKeysOnly:
      return "KEYS_ONLY";
    case ProjectionType::kInclude:
      return "INCLUDE";
  }
  return "UNKNOWN";
}

const IndexDescriptor* TableDescriptor::FindIndex(std::string_view index_name) const {
  for (const std::vector<IndexDescriptor>* group : {&local_indexes, &global_indexes}) {
    for (const IndexDescriptor& index : *group) {
      if (index.name == index_name) return &index;
    }
  }
  return nullptr;
}

}  // namespace armature::model
