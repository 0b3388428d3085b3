#include "engine/items/constraints.h"

#include "storage/base/status_macros.h"
#include "storage/model/table_name.h"

namespace armature::engine {

absl::Status CheckShape(const std::optional<std::string>& table_name, const RequiredMember& member,
                        absl::FunctionRef<void(model::ConstraintList*)> add_others) {
  model::ConstraintList constraints;
  if (table_name.has_value() && member.given) {
    ARM_RETURN_IF_ERROR(model::CheckTableReference(*table_name));
  } else {
    model::CheckTableReferenceShape(table_name, &constraints);
  }
  if (!member.given) constraints.AddNull(member.path);
  add_others(&constraints);
  return constraints.ToStatus();
}

}  // namespace armature::engine
