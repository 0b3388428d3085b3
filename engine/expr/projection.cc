#include "engine/expr/projection.h"

#include <algorithm>
#include <utility>

#include "storage/base/api_error.h"
#include "storage/base/strings.h"
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

// The projected parts of `value` in wire form; empty if there are none.
std::string ProjectParts(const ProjectionNode& node, const ValueView& value);

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
    } else if (const std::string parts = ProjectParts(*wanted, attribute.value); !parts.empty()) {
      if (const auto view = ValueView::FromWire(parts)) {
        model::AppendAttribute(attribute.name, *view, out);
      }
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
    if (wanted->index == index++) {
      if (wanted->whole) {
        model::AppendBytesField(1, element.wire(), out);
      } else if (const std::string parts = ProjectParts(*wanted, element); !parts.empty()) {
        model::AppendBytesField(1, parts, out);
      }
      ++wanted;
    }
    return true;
  });
}

// Recursion is bounded by the number of path elements.
std::string ProjectParts(const ProjectionNode& node, const ValueView& value) {
  std::string body;
  if (value.type() == ValueType::kMap) AppendMembers(node, value.map(), &body);
  if (value.type() == ValueType::kList) AppendElements(node, value, &body);
  if (body.empty()) return body;
  std::string wire;
  model::AppendBytesField(static_cast<uint32_t>(value.type()), body, &wire);
  return wire;
}

}  // namespace

Projection MakeProjection(std::vector<DocumentPath> paths) {
  Projection projection;
  for (const DocumentPath& path : paths) {
    ProjectionNode* node = &projection.root;
    for (const PathElement& element : path.elements) node = Descend(node, element);
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
    if (path.nested() && keys.Contains(path.attribute())) {
      return ValidationError(
          Cat("Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
              "allowed: ",
              index_keys ? "IndexKey: " : "Key: ", path.attribute()));
    }
  }
  return absl::OkStatus();
}

}  // namespace armature::expr
