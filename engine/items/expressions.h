#ifndef ARMATURE_ENGINE_ITEMS_EXPRESSIONS_H_
#define ARMATURE_ENGINE_ITEMS_EXPRESSIONS_H_

// Binds the expression parameters, or the legacy parameters, of a request.
//
// expr/legacy_binder.h defines the meaning of legacy parameters. This module checks their shapes and values.
//
// Errors: ValidationException, in the documented order; SerializationException for malformed values.

#include <deque>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "engine/expr/binder.h"
#include "engine/items/request.h"
#include "engine/items/validation_layer.h"
#include "storage/codec/stored_item.h"
#include "storage/model/constraint_list.h"

namespace armature::engine {

// Bound expressions and the data they point into.
struct RequestExpressions {
  std::string values;  // canonical item bytes
  expr::Placeholders placeholders;
  std::deque<std::string> literals;  // canonical values of legacy parameters, at stable addresses
  expr::BoundExpressions bound;
};

// The wording of errors of expressions in a layer.
constexpr expr::Placeholders::Wording WordingOf(ValidationLayer layer) {
  return {RulesOf(layer).lists_expressions, RulesOf(layer).tells_update_size};
}

// Adds violations of the shapes of legacy parameters: unknown enumeration values, missing operators, the length of
// AttributesToGet. With LayerRules::short_enums, ConditionalOperator is left to CheckParameterStyles.
void CheckLegacyShapes(const LegacyParameters& legacy, const LayerRules& rules, model::ConstraintList* list);
// The part of CheckLegacyShapes about ConditionalOperator, for any layer.
void CheckConditionalOperatorWord(const LegacyParameters& legacy, model::ConstraintList* list);

// Refuses a mix of legacy and expression parameters. KeyConditions with a filter or projection expression is allowed.
// With LayerRules::short_enums, also refuses a ConditionalOperator that joins fewer than two conditions or is unknown.
absl::Status CheckParameterStyles(const ExpressionParameters& parameters, ValidationLayer layer);

// Checks and binds all parameters. Null if the request has none. Requires that shapes and styles have been checked.
// `layer` gives the texts, without envelope. `cache` may be null. Errors: ValidationException, in the documented order:
// legacy parameters first, then expressions.
absl::StatusOr<std::unique_ptr<RequestExpressions>> BindRequestExpressions(
    const ExpressionParameters& parameters, std::span<const expr::ExpressionKind> known_kinds, ValidationLayer layer,
    expr::ParseCache* cache);

// BindRequestExpressions in two steps, for operations with checks in between: BindLegacyParameters binds the legacy
// parameters except KeyConditions, BindExpressionParameters adds KeyConditions and expressions to `expressions`.
absl::StatusOr<std::unique_ptr<RequestExpressions>> BindLegacyParameters(const ExpressionParameters& parameters,
                                                                         ValidationLayer layer);
absl::Status BindExpressionParameters(const ExpressionParameters& parameters,
                                      std::span<const expr::ExpressionKind> known_kinds, ValidationLayer layer,
                                      expr::ParseCache* cache, std::unique_ptr<RequestExpressions>* expressions);

// Refuses paths of the projection, then of the filter, into attributes of `keys`, which are scalars. `expressions` may
// be null. `index_keys`: the keys of an index, which the error says. Errors: ValidationException.
absl::Status CheckKeysAreWhole(const RequestExpressions* expressions, const model::KeySchema& keys, bool index_keys);

// The item, or part of an item, as answers show it, from canonical bytes. Without compact numbers they are not copied.
std::string AnsweredBytes(std::string canonical, bool compact_numbers);

// True if the answer of a row, given as stored, is too much work for the caller's thread.
bool IsLongToAnswer(std::string_view stored);

// The item of an answer: all of `item`, or the projection of `expressions` if there is one. `stored`: the value that
// `item` was parsed from. An item without compact numbers is not copied.
ItemBytes AnsweredItem(const RequestExpressions* expressions, const codec::StoredItemView& item, std::string stored);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_EXPRESSIONS_H_
