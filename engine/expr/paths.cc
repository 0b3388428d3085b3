#include "engine/expr/paths.h"

#include <algorithm>
#include <string_view>

#include "engine/expr/reserved_words.h"
#include "storage/base/strings.h"

namespace armature::expr {
namespace {

using model::ItemView;
using model::ValueType;
using model::ValueView;

enum class Relation { kApart, kOverlap, kConflict };

Relation Relate(const DocumentPath& a, const DocumentPath& b) {
  const size_t common = std::min(a.elements.size(), b.elements.size());
  for (size_t i = 0; i < common; ++i) {
    if (a.elements[i].kind != b.elements[i].kind) return Relation::kConflict;
    if (a.elements[i] != b.elements[i]) return Relation::kApart;
  }
  return Relation::kOverlap;
}

std::string PairText(std::string_view verb, const DocumentPath& one, const DocumentPath& two) {
  return Cat("Two document paths ", verb,
             " with each other; must remove or rewrite one of these paths; path one: ", PathText(one),
             ", path two: ", PathText(two));
}

std::optional<ValueView> ListElement(const ValueView& list, uint32_t index) {
  std::optional<ValueView> found;
  uint32_t position = 0;
  list.ForEachListElement([&](const ValueView& element) {
    if (position++ < index) return true;
    found = element;
    return false;
  });
  return found;
}

}  // namespace

std::string PathText(const DocumentPath& path) {
  std::string text = "[";
  for (const PathElement& element : path.elements) {
    if (text.size() > 1) text += ", ";
    text += element.kind == PathElement::Kind::kIndex ? Cat("[", element.index, "]") : element.name;
  }
  return text += "]";
}

std::optional<ValueView> Follow(const DocumentPath& path, const ItemView& item) {
  std::optional<ValueView> value = item.Find(path.attribute());
  for (size_t i = 1; i < path.elements.size() && value.has_value(); ++i) {
    const PathElement& element = path.elements[i];
    if (element.kind == PathElement::Kind::kIndex) {
      value = value->type() == ValueType::kList ? ListElement(*value, element.index) : std::nullopt;
    } else {
      value = value->type() == ValueType::kMap ? value->map().Find(element.name) : std::nullopt;
    }
  }
  return value;
}

void BindPath(PlaceholderTable* table, FaultLog* reserved, FaultLog* undefined, DocumentPath* path) {
  for (PathElement& element : path->elements) {
    if (element.kind == PathElement::Kind::kName) {
      if (IsReservedWord(element.name)) {
        reserved->Add(Fault::kReservedWord,
                      Cat("Attribute name is a reserved keyword; reserved keyword: ", element.name));
      }
    } else if (element.kind == PathElement::Kind::kPlaceholder) {
      if (const std::string* name = table->Name(element.name)) {
        element = {PathElement::Kind::kName, *name};
      } else {
        undefined->Add(Fault::kUndefinedName,
                       Cat("An expression attribute name used in the document path is not defined; "
                           "attribute name: ",
                           element.name));
      }
    }
  }
}

void BindValue(PlaceholderTable* table, Fault category, FaultLog* undefined, ValueOperand* operand) {
  operand->value = table->Value(operand->placeholder);
  if (operand->value.has_value()) return;
  undefined->Add(category, Cat("An expression attribute value used in expression is not defined; attribute value: ",
                               operand->placeholder));
}

// Compares all pairs: a text of kExpressionMaxBytes has at most about two thousand paths, and most pairs differ in the
// first element.
void CheckOverlaps(const std::vector<const DocumentPath*>& paths, FaultLog* faults) {
  for (size_t two = 1; two < paths.size(); ++two) {
    for (size_t one = 0; one < two; ++one) {
      const Relation relation = Relate(*paths[one], *paths[two]);
      if (relation == Relation::kApart) continue;
      if (relation == Relation::kOverlap) {
        faults->Add(Fault::kOverlap, PairText("overlap", *paths[one], *paths[two]));
        return;  // overlap precedes all other faults
      }
      faults->Add(Fault::kConflict, PairText("conflict", *paths[one], *paths[two]));
    }
  }
}

std::optional<model::ValueType> StaticType(const Operand& operand) {
  if (const ValueOperand* value = operand.value()) {
    if (!value->value.has_value()) return std::nullopt;
    return value->value->type();
  }
  const FunctionCall* call = operand.call();
  if (call == nullptr) return std::nullopt;
  switch (call->function) {
    case Function::kSize:
      return model::ValueType::kNumber;
    case Function::kListAppend:
      return model::ValueType::kList;
    case Function::kUnknown:
    case Function::kIfNotExists:
      return std::nullopt;
    default:
      return model::ValueType::kBool;
  }
}

std::string OperandCountText(std::string_view function, size_t count) {
  return Cat("Incorrect number of operands for operator or function; operator or function: ", function,
             ", number of operands: ", count);
}

std::string OperandTypeText(std::string_view function, std::string_view type) {
  return Cat("Incorrect operand type for operator or function; operator or function: ", function,
             ", operand type: ", type);
}

std::string PathRequiredText(std::string_view function) {
  return Cat("Operator or function requires a document path; operator or function: ", function);
}

std::string MisusedFunctionText(std::string_view function) {
  return Cat("The function is not allowed to be used this way in an expression; function: ", function);
}

std::string UnknownFunctionText(std::string_view function) {
  return Cat("Invalid function name; function: ", function);
}

}  // namespace armature::expr
