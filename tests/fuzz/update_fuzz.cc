// Updates, from text to item. Input: up to four parts separated by "
// --
// ":
//   an update expression;
//   names, each a line "#n=name";
//   values, as the wire form of an item whose attributes are named like the placeholders, ":v";
//   the old item in wire form; empty: no item.
// Only placeholders that the text mentions are defined; those of expr_test_util.h are available, too. Without a valid
// fourth part, the update is applied to the document below.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/expr/paths.h"
#include "engine/expr/projection.h"
#include "engine/expr/update_eval.h"
#include "storage/base/api_error.h"
#include "storage/codec/canonical_text.h"
#include "storage/codec/item_codec.h"
#include "tests/fuzz/fuzz_util.h"
#include "tests/unit/engine/expr/expr_test_util.h"

namespace armature::fuzz {
namespace {

using expr::DocumentPath;
using expr::Follow;
using expr::PathElement;
using expr::Update;
using expr::testing::BS;
using expr::testing::Item;
using expr::testing::L;
using expr::testing::M;
using expr::testing::N;
using expr::testing::NS;
using expr::testing::S;
using expr::testing::SS;
using model::AttributeView;
using model::ItemView;
using model::ValueView;

constexpr std::string_view kSeparator = "\n--\n";

const std::string& Document() {
  static const auto* const kDocument =
      new std::string(Item({{"a", M({{"b", L({N("1"), S("abc"), M({{"c", S("x")}}), L({N("7")})})}, {"n", N("0.5")}})},
                            {"b", SS({"x", "z"})},
                            {"bs", BS({"p"})},
                            {"h", S("abc")},
                            {"l", L({N("1"), S("a"), M({}), N("-3")})},
                            {"ns", NS({"2", "9"})},
                            {"r", N("99999999999999999999999999999999999999")}}));
  return *kDocument;
}

// Removes the part before `separator` from the front of `rest`; nullopt if `rest` is used up.
std::optional<std::string_view> TakePart(std::string_view separator, std::optional<std::string_view>* rest) {
  if (!rest->has_value()) return std::nullopt;
  const std::string_view all = **rest;
  const size_t end = all.find(separator);
  *rest = end == std::string_view::npos ? std::nullopt : std::optional(all.substr(end + separator.size()));
  return all.substr(0, end);
}

void AddPlaceholders(std::string_view text, std::string_view names, const ItemView& values,
                     expr::testing::Request* request) {
  const std::vector<expr::Token> tokens = expr::Tokenize(expr::ExpressionKind::kUpdate, text);
  const auto mentioned = [&tokens](std::string_view word) {
    return std::any_of(tokens.begin(), tokens.end(), [word](const expr::Token& token) { return token.text == word; });
  };
  std::optional<std::string_view> lines = names;
  while (const std::optional<std::string_view> line = TakePart("\n", &lines)) {
    const size_t equals = line->find('=');
    if (equals == std::string_view::npos || !mentioned(line->substr(0, equals))) continue;
    const std::string_view name = line->substr(equals + 1);
    // Requests contain valid UTF-8 only.
    if (codec::IsValidUtf8(name)) request->WithName(std::string(line->substr(0, equals)), std::string(name));
  }
  values.ForEach([&](const AttributeView& value) {
    if (mentioned(value.name)) request->WithValue(std::string(value.name), std::string(value.value.wire()));
    return true;
  });
}

void CheckCanonical(std::string_view bytes, const char* what) {
  const absl::StatusOr<codec::CanonicalItem> again = codec::CanonicalizeItem(bytes);
  Check(again.ok() && again->bytes == bytes && again->api_size == model::ApiSize(ItemView(bytes)), what);
}

void CheckRefusal(const absl::Status& status) {
  const auto error = GetApiError(status);
  Check(error.has_value() && error->type == ApiErrorType::kValidation, "what is refused is a ValidationException");
}

bool HasIndex(const DocumentPath& path) {
  return std::any_of(path.elements.begin(), path.elements.end(),
                     [](const PathElement& element) { return element.kind == PathElement::Kind::kIndex; });
}

// True if each list element of the path exists, so that the update does not move it.
bool NoElementIsNew(const DocumentPath& path, const ItemView& before) {
  for (size_t size = 1; size <= path.elements.size(); ++size) {
    if (path.elements[size - 1].kind != PathElement::Kind::kIndex) continue;
    DocumentPath way;
    way.elements.assign(path.elements.begin(), path.elements.begin() + static_cast<std::ptrdiff_t>(size));
    if (!Follow(way, before).has_value()) return false;
  }
  return true;
}

// The value that a SET of a constant or of a path writes; nullopt for other actions.
std::optional<ValueView> Written(const expr::UpdateValue& value, const ItemView& before) {
  if (value.right.has_value()) return std::nullopt;
  if (const expr::ValueOperand* const constant = value.left.value()) return constant->value;
  if (const DocumentPath* const path = value.left.path()) return Follow(*path, before);
  return std::nullopt;
}

void CheckUntouched(const Update& update, const ItemView& before, const ItemView& after) {
  const std::vector<const DocumentPath*> targets = expr::TargetsOf(update);
  const auto untouched = [&targets](const ItemView& item) {
    std::string bytes;
    item.ForEach([&](const AttributeView& attribute) {
      const bool named = std::any_of(targets.begin(), targets.end(), [&attribute](const DocumentPath* target) {
        return target->attribute() == attribute.name;
      });
      if (!named) bytes.append(attribute.entry);
      return true;
    });
    return bytes;
  };
  Check(untouched(before) == untouched(after), "what the update does not name is as it was");
}

void CheckTargets(const Update& update, const ItemView& before, const ItemView& after) {
  // Removed list elements move the ones after them.
  const bool moves = std::any_of(update.removes.begin(), update.removes.end(), HasIndex);
  for (const expr::SetAction& action : update.sets) {
    if (HasIndex(action.target) && (moves || !NoElementIsNew(action.target, before))) continue;
    const std::optional<ValueView> now = Follow(action.target, after);
    Check(now.has_value(), "what is set is there");
    const std::optional<ValueView> wanted = Written(action.value, before);
    Check(!wanted.has_value() || *now == *wanted, "what is set has its value");
  }
  for (const DocumentPath& path : update.removes) {
    Check(HasIndex(path) || !Follow(path, after).has_value(), "what is removed is not there");
  }
}

void CheckParts(const Update& update, const ItemView& item) {
  const expr::Projection parts = expr::UpdatedParts(update);
  const std::string part = expr::Project(parts, item);
  CheckCanonical(part, "updated parts are canonical");
  Check(part.size() <= item.bytes().size(), "updated parts are not more than the whole");
  const std::vector<std::string> names = expr::TopLevelNames(parts);
  ItemView(part).ForEach([&](const AttributeView& attribute) {
    Check(std::find(names.begin(), names.end(), attribute.name) != names.end(),
          "updated parts are named by the update");
    return true;
  });
  for (const DocumentPath* const target : expr::TargetsOf(update)) {
    if (!HasIndex(*target))
      Check(Follow(*target, ItemView(part)) == Follow(*target, item), "a part is as in the whole");
  }
}

// Repeating an update of constants must change nothing.
void CheckRepetition(const Update& update, const ItemView& before, const ItemView& key, const std::string& after) {
  if (!update.removes.empty() || !update.adds.empty() || !update.deletes.empty()) return;
  for (const expr::SetAction& action : update.sets) {
    if (action.value.right.has_value() || action.value.left.value() == nullptr) return;
    if (!NoElementIsNew(action.target, before)) return;
  }
  const absl::StatusOr<std::optional<std::string>> again = expr::ApplyUpdate(update, ItemView(after), key);
  Check(again.ok() && *again == after, "constants set twice are set once");
}

void Apply(const Update& update, const std::optional<ItemView>& before) {
  const std::string key = Item({{"h", S("k")}});
  const absl::StatusOr<std::optional<std::string>> after = expr::ApplyUpdate(update, before, ItemView(key));
  if (!after.ok()) return CheckRefusal(after.status());
  if (!after->has_value()) {
    return Check(!before.has_value() && update.sets.empty() && update.adds.empty(), "an item stays, and SET makes one");
  }
  CheckCanonical(**after, "the item after is canonical");
  const ItemView old = before.value_or(ItemView(key));
  CheckUntouched(update, old, ItemView(**after));
  if (before.has_value()) CheckTargets(update, *before, ItemView(**after));
  CheckParts(update, old);
  CheckParts(update, ItemView(**after));
  CheckRepetition(update, old, ItemView(key), **after);
}

}  // namespace
}  // namespace armature::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using armature::fuzz::kSeparator;
  std::optional<std::string_view> rest = armature::fuzz::Text(data, size);
  const std::string_view text = *armature::fuzz::TakePart(kSeparator, &rest);
  const std::string_view names = armature::fuzz::TakePart(kSeparator, &rest).value_or("");
  const auto values =
      armature::codec::CanonicalizeExpressionValues(armature::fuzz::TakePart(kSeparator, &rest).value_or(""));
  armature::expr::testing::Request request;
  request.With(armature::expr::ExpressionKind::kUpdate, text);
  armature::fuzz::AddPlaceholders(text, names, armature::model::ItemView(values.ok() ? values->bytes : ""), &request);
  const auto bound = request.Bind(armature::expr::kUpdateKinds);
  if (!bound.ok()) {
    armature::fuzz::CheckRefusal(bound.status());
    return 0;
  }
  if (rest.has_value() && rest->empty()) {
    armature::fuzz::Apply(*bound->update, std::nullopt);
    return 0;
  }
  const auto given = armature::codec::CanonicalizeItem(rest.value_or(""));
  const bool usable = rest.has_value() && given.ok();
  const std::string& item = usable ? given->bytes : armature::fuzz::Document();
  armature::fuzz::Apply(*bound->update, armature::model::ItemView(item));
  return 0;
}
