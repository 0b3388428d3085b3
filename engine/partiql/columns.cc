#include "engine/partiql/columns.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/items/message_memory.h"
#include "glog/logging.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"
#include "storage/model/wire.h"

namespace armature::engine::partiql {
namespace {

// The last name of the path, with the positions behind it.
std::string ColumnName(const expr::DocumentPath& path) {
  auto begin = path.elements.end();
  while (std::prev(begin)->kind == expr::PathElement::Kind::kIndex) --begin;
  std::string name = std::prev(begin)->name;
  for (auto element = begin; element != path.elements.end(); ++element) name += Cat("[", element->index, "]");
  return name;
}

}  // namespace

Columns::Columns(const std::vector<expr::DocumentPath>& paths) : nodes_(1) {
  names_.reserve(paths.size());
  std::vector<std::pair<std::string, const expr::DocumentPath*>> columns;
  columns.reserve(paths.size());
  for (const expr::DocumentPath& path : paths) columns.emplace_back(ColumnName(path), &path);
  std::stable_sort(columns.begin(), columns.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [name, path] : columns) {
    Insert(*path, names_.size());
    names_.push_back(std::move(name));
  }
}

void Columns::Insert(const expr::DocumentPath& path, size_t column) {
  // No value lies deeper, so the recursion of Visit is bounded.
  if (path.elements.size() > model::kNestingDepthMax + 1) return;
  size_t at = 0;
  for (const expr::PathElement& element : path.elements) {
    const bool is_position = element.kind == expr::PathElement::Kind::kIndex;
    const auto next = nodes_.size();
    const size_t child = is_position ? nodes_[at].positions.try_emplace(element.index, next).first->second
                                     : nodes_[at].names.try_emplace(element.name, next).first->second;
    if (child == next) nodes_.emplace_back();
    at = child;
  }
  nodes_[at].columns.push_back(column);
}

void Columns::VisitEntries(const Node& node, const model::ItemView& entries, Values* values) const {
  model::AttributeFinder finder(entries);
  for (const auto& [name, child] : node.names) {
    const std::optional<model::ValueView> found = finder.Find(name);
    if (found.has_value()) Visit(nodes_[child], *found, values);
  }
}

void Columns::Visit(const Node& node, const model::ValueView& value, Values* values) const {
  for (const size_t column : node.columns) values->emplace_back(column, value);
  if (value.type() == model::ValueType::kMap) VisitEntries(node, value.map(), values);
  if (value.type() != model::ValueType::kList || node.positions.empty()) return;
  auto next = node.positions.begin();
  uint32_t index = 0;
  value.ForEachListElement([&](const model::ValueView& element) {
    if (next->first == index++) Visit(nodes_[(next++)->second], element, values);
    return next != node.positions.end();
  });
}

Columns::Selection Columns::Of(std::string_view item) const {
  Values values;
  VisitEntries(nodes_.front(), model::ItemView(item), &values);
  std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Selection selection;
  const std::string* last = nullptr;
  for (const auto& [column, value] : values) {
    const std::string& name = names_[column];
    if (last != nullptr && *last == name) continue;
    selection.Add(name, value);
    last = &name;
  }
  return selection;
}

void Columns::Selection::Add(std::string_view name, const model::ValueView& value) {
  attributes_.emplace_back(name, value);
  const size_t entry = model::BytesFieldSize(name.size()) + model::BytesFieldSize(value.wire().size());
  bytes_ += model::BytesFieldSize(entry);
}

size_t Columns::Selection::Memory() const {
  size_t memory = BytesMemory(bytes_);
  for (const auto& [name, value] : attributes_) memory += ValueMemory(value);
  return memory;
}

std::string Columns::Selection::Item() const {
  std::string item;
  item.reserve(bytes_);
  for (const auto& [name, value] : attributes_) model::AppendAttribute(name, value, &item);
  DCHECK_EQ(item.size(), bytes_);
  return item;
}

}  // namespace armature::engine::partiql
