#ifndef ARMATURE_ENGINE_PARTIQL_COLUMNS_H_
#define ARMATURE_ENGINE_PARTIQL_COLUMNS_H_

// Items made of the selected columns.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/expr/ast.h"
#include "storage/model/item_view.h"

namespace armature::engine::partiql {

// Thread-safety: immutable.
class Columns {
 public:
  // An item with one attribute for each path, called as the last element of the path, before it is made. A value that
  // lies in the values of other columns, too, is in it several times. Points into the columns and the source.
  class Selection {
   public:
    bool empty() const { return attributes_.empty(); }
    // Size of the item.
    size_t bytes() const { return bytes_; }
    // MessageMemory of the item. Cost: linear in the number of its values.
    size_t Memory() const;
    // As answers show it.
    std::string Item() const;

   private:
    friend class Columns;
    void Add(std::string_view name, const model::ValueView& value);

    std::vector<std::pair<std::string_view, model::ValueView>> attributes_;
    size_t bytes_ = 0;
  };

  explicit Columns(const std::vector<expr::DocumentPath>& paths);

  // Missing values are left out; of two columns with one name, the first that has a value is kept. `item` is as answers
  // show it. Cost: linear in the item, and in the entries of paths into maps that it has.
  Selection Of(std::string_view item) const;

 private:
  // The paths, merged at their common beginnings.
  struct Node {
    std::map<std::string, size_t, std::less<>> names;  // nodes of the entries of a map
    std::map<uint32_t, size_t> positions;              // nodes of the elements of a list
    std::vector<size_t> columns;                       // those whose paths end here
  };
  using Values = std::vector<std::pair<size_t, model::ValueView>>;  // of the columns that have one

  void Insert(const expr::DocumentPath& path, size_t column);
  void VisitEntries(const Node& node, const model::ItemView& entries, Values* values) const;
  void Visit(const Node& node, const model::ValueView& value, Values* values) const;

  std::vector<Node> nodes_;         // the first one is of the item
  std::vector<std::string> names_;  // of the columns, which are in this order, then as written
};

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_COLUMNS_H_
