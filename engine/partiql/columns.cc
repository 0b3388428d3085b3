#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/partiql/plan.h"
#include "storage/base/strings.h"
#include "storage/model/item_view.h"

namespace armature::engine::partiql {
namespace {

std::optional<model::ValueView> Resolve(const expr::DocumentPath& path, std::string_view item) {
  std::optional<model::ValueView> value = model::ItemView(item).Find(path.attribute());
  for (size_t i = 1; i < path.elements.size() && value.has_value(); ++i) {
    const expr::PathElement& element = path.elements[i];
    if (element.kind != expr::PathElement::Kind::kIndex) {
      value = value->type() == model::ValueType::kMap ? value->map().Find(element.name) : std::nullopt;
      continue;
    }
    std::optional<model::ValueView> found;
    uint32_t index = 0;
    if (value->type() == model::ValueType::kList) {
      value->ForEachListElement([&](const model::ValueView& each) {
        if (index++ == element.index) found = each;
        return !found.has_value();
      });
    }
    value = found;
  }
  return value;
}

// The last name of the path, with the positions behind it.
std::string ColumnName(const expr::DocumentPath& path) {
  std::string name;
  for (const expr::PathElement& element : path.elements) {
    if (element.kind == expr::PathElement::Kind::kIndex) {
      name += Cat("[", element.index, "]");
    } else {
      name = element.name;
    }
  }
  return name;
}

}  // namespace

std::string ColumnsOf(const std::vector<expr::DocumentPath>& columns, std::string_view item) {
  std::map<std::string, model::ValueView> values;
  for (const expr::DocumentPath& path : columns) {
    const std::optional<model::ValueView> value = Resolve(path, item);
    if (value.has_value()) values.try_emplace(ColumnName(path), *value);
  }
  std::string bytes;
  for (const auto& [name, value] : values) model::AppendAttribute(name, value, &bytes);
  return bytes;
}

}  // namespace armature::engine::partiql
