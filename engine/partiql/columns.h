#ifndef ARMATURE_ENGINE_PARTIQL_COLUMNS_H_
#define ARMATURE_ENGINE_PARTIQL_COLUMNS_H_

// Items made of the selected columns.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/expr/ast.h"
#include "storage/model/item_view.h"

namespace armature::engine::partiql {

// Thread-safety: immutable.
class Columns {
 public:
  explicit Columns(const std::vector<expr::DocumentPath>& paths);

  // The item with one attribute for each path, called as the last element of the path. Missing values are left out; of
  // two columns with one name, the first that has a value is kept. `item`, and the result, are as answers show them.
  // Cost: linear in the columns and the item.
  std::string Of(std::string_view item) const;

 private:
  // The paths, merged at their common beginnings.
  struct Node {
    std::map<std::string, size_t, std::less<>> names;  // nodes of the entries of a map
    std::map<uint32_t, size_t> positions;              // nodes of the elements of a list
    std::vector<size_t> columns;                       // those whose paths end here
  };
  using Values = std::vector<std::optional<model::ValueView>>;  // of all columns

  void Insert(const expr::DocumentPath& path, size_t column);
  void VisitEntries(const Node& node, const model::ItemView& entries, Values* values) const;
  void Visit(const Node& node, const model::ValueView& value, Values* values) const;

  std::vector<Node> nodes_;  // the first one is of the item
  std::vector<std::string> names_;
  std::vector<size_t> by_name_;  // columns in the order of their names, then as written
};

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_COLUMNS_H_
