// ItemView over arbitrary bytes. Input: the bytes of an item.

#include <optional>
#include <string>
#include <string_view>

#include "engine/expr/projection.h"
#include "storage/model/item_view.h"
#include "tests/fuzz/fuzz_util.h"

namespace armature::fuzz {
namespace {

// Deeper than any valid item. The limit protects the stack.
constexpr int kDepthMax = 100;

void Walk(const model::ItemView& item, std::string_view all, int depth);

void Walk(const model::ValueView& value, std::string_view all, int depth) {
  Check(LiesIn(value.wire(), all) && LiesIn(value.scalar(), all), "a value lies in the bytes");
  Check(value == *model::ValueView::FromWire(value.wire()), "a value is what its bytes say");
  if (depth > kDepthMax) return;
  size_t elements = 0;
  switch (value.type()) {
    case model::ValueType::kStringSet:
    case model::ValueType::kNumberSet:
    case model::ValueType::kBinarySet:
      value.ForEachSetElement([&](std::string_view element) {
        Check(LiesIn(element, all), "an element lies in the bytes");
        return ++elements > 0;
      });
      break;
    case model::ValueType::kList:
      value.ForEachListElement([&](const model::ValueView& element) {
        Walk(element, all, depth + 1);
        return ++elements > 0;
      });
      break;
    case model::ValueType::kMap:
      Walk(value.map(), all, depth + 1);
      break;
    default:
      break;
  }
  Check(value.size() >= elements, "no more elements are walked than counted");
}

void Walk(const model::ItemView& item, std::string_view all, int depth) {
  item.ForEach([&](const model::AttributeView& attribute) {
    Check(LiesIn(attribute.name, all) && LiesIn(attribute.entry, all), "an attribute lies in the bytes");
    Walk(attribute.value, all, depth);
    const std::optional<model::ValueView> found = item.Find(attribute.name);
    Check(!found.has_value() || LiesIn(found->wire(), all), "what is found lies in the bytes");
    return true;
  });
}

expr::Projection SomeProjection() {
  const auto path = [](std::string name, uint32_t index) {
    expr::DocumentPath result;
    result.elements = {{expr::PathElement::Kind::kName, std::move(name), 0},
                       {expr::PathElement::Kind::kIndex, {}, index}};
    return result;
  };
  expr::DocumentPath whole;
  whole.elements = {{expr::PathElement::Kind::kName, "b", 0}};
  return expr::MakeProjection({path("a", 0), path("a", 2), whole});
}

}  // namespace
}  // namespace armature::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes = armature::fuzz::Text(data, size);
  const armature::model::ItemView item(bytes);
  armature::fuzz::Walk(item, bytes, 0);
  armature::model::ApiSize(item);
  static_cast<void>(armature::expr::Project(armature::fuzz::SomeProjection(), item));
  return 0;
}
