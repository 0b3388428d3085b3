#ifndef ARMATURE_ENGINE_EXPR_LEGACY_PATHS_H_
#define ARMATURE_ENGINE_EXPR_LEGACY_PATHS_H_

// Attribute names of the legacy parameters. Inside this layer only.

#include <cstddef>
#include <string>
#include <utility>

#include "engine/expr/ast.h"

namespace armature::expr {

// Path to a top-level attribute. `position` orders paths, like the position in an expression.
inline DocumentPath LegacyPath(std::string attribute, size_t position) {
  DocumentPath path;
  path.elements.push_back(PathElement{PathElement::Kind::kName, std::move(attribute), 0});
  path.position = position;
  return path;
}

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_LEGACY_PATHS_H_
