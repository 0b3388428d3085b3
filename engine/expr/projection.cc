#include "engine/expr/projection.h"

#include <algorithm>
#include <utility>

#include "engine/expr/paths.h"
#include "storage/model/wire.h"

namespace armature::expr {
namespace {

using model::AttributeView;
using model::ItemView;
using model::ValueType;
using model::ValueView;

// The child of `parent` for `element`, inserted if missing. Children stay sorted.
ProjectionNode* Descend(ProjectionNode* parent, const PathElement& element) {
  const bool by_index = element.kind == PathElement::Kind::kIndex;
  std::vector<ProjectionNode>& children = by_index ? parent->elements : parent->members;
  const auto before = [by_index](const ProjectionNode& node, const PathElement& wanted) {
    return by_index ? node.index < wanted.index : node.name < wanted.name;
  };
  auto it = std::lower_bound(children.begin(), children.end(), element, before);
  if (it == children.end() || it->index != element.index || it->name != element.name) {
    ProjectionNode child;
    child.name = element.name;
    child.index = element.index;
    it = children.insert(it, std::move(child));
  }
  return &*it;
}

// Appends the projected parts of `value` in wire form. Returns false, with `out` unchanged, if there are none.
bool AppendParts(const ProjectionNode& node, const ValueView& value, std::string* out);

// Appends the projected entries of a map or item. Both lists are sorted by name.
void AppendMembers(const ProjectionNode& node, const ItemView& item, std::string* out) {
  auto wanted = node.members.begin();
  const auto end = node.members.end();
  item.ForEach([&](const AttributeView& attribute) {
    while (wanted != end && wanted->name < attribute.name) ++wanted;
    if (wanted == end) return false;
    if (wanted->name != attribute.name) return true;
    if (wanted->whole) {
      out->append(attribute.entry);
      return true;
    }
    const size_t begin = out->size();
    const model::OpenEntry entry = model::BeginEntry(attribute.name, attribute.value.wire().size(), out);
    if (AppendParts(*wanted, attribute.value, out)) {
      model::EndEntry(entry, out);
    } else {
      out->resize(begin);
    }
    return true;
  });
}

void AppendElements(const ProjectionNode& node, const ValueView& list, std::string* out) {
  auto wanted = node.elements.begin();
  const auto end = node.elements.end();
  uint32_t index = 0;
  list.ForEachListElement([&](const ValueView& element) {
    if (wanted == end) return false;
    if (wanted->index != index++) return true;
    const ProjectionNode& part = *wanted++;
    if (part.whole) {
      model::AppendBytesField(model::kElementsField, element.wire(), out);
      return true;
    }
    const size_t begin = out->size();
    const model::OpenLength length = model::BeginElement(element.wire().size(), out);
    if (AppendParts(part, element, out)) {
      model::EndLength(length, out);
    } else {
      out->resize(begin);
    }
    return true;
  });
}

// Recursion is bounded by the number of path elements.
bool AppendParts(const ProjectionNode& node, const ValueView& value, std::string* out) {
  if (value.type() != ValueType::kMap && value.type() != ValueType::kList) return false;
  const size_t begin = out->size();
  out->push_back(static_cast<char>(model::WireTag(static_cast<uint32_t>(value.type()), model::WireType::kBytes)));
  const model::OpenLength length = model::BeginLength(value.body().size(), out);
  const size_t empty = out->size();
  if (value.type() == ValueType::kMap) {
    AppendMembers(node, value.map(), out);
  } else {
    AppendElements(node, value, out);
  }
  if (out->size() == empty) {
    out->resize(begin);
    return false;
  }
  model::EndLength(length, out);
  return true;
}

}  // namespace

Projection MakeProjection(std::vector<DocumentPath> paths) {
  Projection projection;
  // In this order, children are only appended.
  std::vector<const DocumentPath*> sorted;
  sorted.reserve(paths.size());
  for (const DocumentPath& path : paths) sorted.push_back(&path);
  std::sort(sorted.begin(), sorted.end(), PathOrder());
  for (const DocumentPath* const path : sorted) {
    ProjectionNode* node = &projection.root;
    for (const PathElement& element : path->elements) node = Descend(node, element);
    node->whole = true;
  }
  projection.paths = std::move(paths);
  return projection;
}

std::string Project(const Projection& projection, const ItemView& item) {
  std::string out;
  AppendMembers(projection.root, item, &out);
  return out;
}

std::vector<std::string> TopLevelNames(const Projection& projection) {
  std::vector<std::string> names;
  names.reserve(projection.root.members.size());
  // The root's members are sorted, so `listed` has one mark per member for the names already listed.
  const std::vector<ProjectionNode>& members = projection.root.members;
  std::vector<bool> listed(members.size());
  for (const DocumentPath& path : projection.paths) {
    const auto it =
        std::lower_bound(members.begin(), members.end(), path.attribute(),
                         [](const ProjectionNode& node, const std::string& name) { return node.name < name; });
    const auto position = static_cast<size_t>(it - members.begin());
    if (listed[position]) continue;
    listed[position] = true;
    names.push_back(path.attribute());
  }
  return names;
}

absl::Status CheckKeysAreWhole(const Projection& projection, const model::KeySchema& keys, bool index_keys) {
  for (const DocumentPath& path : projection.paths) {
    if (path.nested() && keys.Contains(path.attribute())) return NestedKeyError(path.attribute(), index_keys);
  }
  return absl::OkStatus();
}

}  // namespace armature::expr
