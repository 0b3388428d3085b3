#ifndef ARMATURE_ENGINE_EXPR_PROJECTION_H_
#define ARMATURE_ENGINE_EXPR_PROJECTION_H_

// Projections: the parts of an item that a read returns.
//
// Source: the DynamoDB developer guide, "Projection expressions".

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "engine/expr/ast.h"
#include "storage/model/item_view.h"
#include "storage/model/key_schema.h"

namespace armature::expr {

// What is wanted of one attribute, map member or list element: all of it, or parts by name, or
// parts by index. Never names and indexes together: such paths conflict.
struct ProjectionNode {
  std::string name;    // of this node in its parent; unused for list elements and the root
  uint32_t index = 0;  // of this node in its parent list
  bool whole = false;
  std::vector<ProjectionNode> members;   // sorted by name
  std::vector<ProjectionNode> elements;  // sorted by index
};

// Thread-safety: thread-compatible value; use from many threads is safe once made.
struct Projection {
  ProjectionNode root;
  std::vector<DocumentPath> paths;  // in the order of the text
};

// `paths` are bound, not empty, and neither overlap nor conflict.
Projection MakeProjection(std::vector<DocumentPath> paths);

// The projected parts of `item` in canonical item bytes. The hierarchy is kept; elements of a list
// move together in the order of their indexes; absent paths are left out, and with them maps and
// lists of which nothing is left. Keys come only if they are named.
std::string Project(const Projection& projection, const model::ItemView& item);

// The top-level attributes that the projection reads, each once, in the order of the text.
std::vector<std::string> TopLevelNames(const Projection& projection);

// Refuses paths into key attributes, which are scalars. `index_keys`: `keys` are those of an index,
// and errors say so.
//
// Errors: ValidationException that names the first such attribute in the order of the text.
absl::Status CheckKeysAreWhole(const Projection& projection, const model::KeySchema& keys, bool index_keys);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_PROJECTION_H_
