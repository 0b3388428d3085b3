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

// The projected part of one attribute, map member or list element: the whole value, members by name, or elements by
// index. Never both members and elements: such paths conflict.
struct ProjectionNode {
  std::string name;    // name in its parent; unused for list elements and the root
  uint32_t index = 0;  // index in its parent list
  bool whole = false;
  std::vector<ProjectionNode> members;   // sorted by name
  std::vector<ProjectionNode> elements;  // sorted by index
};

// Thread-safety: thread-compatible; immutable after construction.
struct Projection {
  ProjectionNode root;
  std::vector<DocumentPath> paths;  // in text order
};

// `paths` are bound, not empty, and do not overlap or conflict.
Projection MakeProjection(std::vector<DocumentPath> paths);

// The projected parts of `item` in canonical item bytes. The nesting is kept. List elements are packed in index order.
// Absent paths, and maps and lists that become empty, are left out. Key attributes are included only if named.
std::string Project(const Projection& projection, const model::ItemView& item);

// The top-level attributes used in the projection, without duplicates, in text order.
std::vector<std::string> TopLevelNames(const Projection& projection);

// Refuses paths into key attributes, which are scalars. `index_keys`: `keys` belong to an index; the error says so.
//
// Errors: ValidationException for the first such attribute in text order.
absl::Status CheckKeysAreWhole(const Projection& projection, const model::KeySchema& keys, bool index_keys);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_PROJECTION_H_
