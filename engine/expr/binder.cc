#include "engine/expr/binder.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/expr/fault_log.h"
#include "engine/expr/parser.h"
#include "engine/expr/paths.h"
#include "engine/expr/tree_binder.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"

namespace armature::expr {
namespace {

bool Has(const ExpressionTexts& expressions, ExpressionKind kind) {
  // In the order of ExpressionKind.
  const std::optional<std::string>* const texts[] = {&expressions.update, &expressions.condition,
                                                     &expressions.key_condition, &expressions.filter,
                                                     &expressions.projection};
  return texts[static_cast<size_t>(kind)]->has_value();
}

// Placeholders require an expression that can use them. Projections use names only.
absl::Status CheckHasUse(const ExpressionTexts& expressions, const Placeholders& placeholders,
                         std::span<const ExpressionKind> known_kinds) {
  bool any_expression = false;
  bool any_with_values = false;
  size_t count_with_values = 0;
  std::string with_values;
  for (const ExpressionKind kind : known_kinds) {
    const bool present = Has(expressions, kind);
    any_expression = any_expression || present;
    if (kind == ExpressionKind::kProjection) continue;
    any_with_values = any_with_values || present;
    with_values += Cat(count_with_values++ > 0 ? " and " : "", KindName(kind));
  }
  if (placeholders.names.has_value() && !any_expression) {
    return ValidationError("ExpressionAttributeNames can only be specified when using expressions");
  }
  if (placeholders.values.has_value() && !any_with_values && count_with_values > 0) {
    if (!placeholders.wording.lists_expressions) {
      return ValidationError("ExpressionAttributeValues can only be specified when using expressions");
    }
    return ValidationError(Cat("ExpressionAttributeValues can only be specified when using expressions: ", with_values,
                               count_with_values > 1 ? " are null" : " is null"));
  }
  return absl::OkStatus();
}

// A tree of `text` to bind: a copy of the cached tree, or a new one made by `parse`. A text with faults is not cached,
// so that its faults are reported each time.
template <class Tree, class Parse>
absl::StatusOr<Tree> TreeOf(ExpressionKind kind, std::string_view text, ParseCache* cache, FaultLog* faults,
                            Parse parse) {
  // Whoever may not have a text of this size must not find it.
  if (cache == nullptr || text.size() > model::kExpressionMaxBytes) return parse();
  if (const std::shared_ptr<const ParseCache::Tree> known = cache->Find(kind, text)) return std::get<Tree>(*known);
  absl::StatusOr<Tree> tree = parse();
  if (tree.ok() && faults->empty()) cache->Insert(kind, text, *tree);
  return tree;
}

absl::StatusOr<Condition> MakeCondition(ExpressionKind kind, std::string_view text, size_t bytes_max, ParseCache* cache,
                                        PlaceholderTable* table) {
  FaultLog faults;
  ARM_ASSIGN_OR_RETURN(Condition condition, TreeOf<Condition>(kind, text, cache, &faults, [&] {
                         return ParseCondition(kind, text, &faults, bytes_max);
                       }));
  ARM_RETURN_IF_ERROR(BindCondition(kind, table, &faults, &condition));
  return condition;
}

// A text that is too long is refused here if its size is not told, else by the parser.
absl::Status CheckUpdateSize(std::string_view text, size_t bytes_max, const Placeholders::Wording& wording) {
  if (text.size() <= bytes_max || wording.tells_update_size) return absl::OkStatus();
  return InvalidExpressionError(ExpressionKind::kUpdate, "Expression size has exceeded the maximum allowed size;");
}

absl::StatusOr<Update> MakeUpdate(std::string_view text, size_t bytes_max, const Placeholders::Wording& wording,
                                  ParseCache* cache, PlaceholderTable* table) {
  ARM_RETURN_IF_ERROR(CheckUpdateSize(text, bytes_max, wording));
  FaultLog faults;
  ARM_ASSIGN_OR_RETURN(Update update, TreeOf<Update>(ExpressionKind::kUpdate, text, cache, &faults,
                                                     [&] { return ParseUpdate(text, &faults, bytes_max); }));
  ARM_RETURN_IF_ERROR(BindUpdate(table, &faults, &update));
  return update;
}

absl::StatusOr<Projection> MakeBoundProjection(std::string_view text, size_t bytes_max, ParseCache* cache,
                                               PlaceholderTable* table) {
  constexpr Fault kProjectionReportOrder[] = {Fault::kReservedWord, Fault::kPathLimit, Fault::kUndefinedName,
                                              Fault::kOverlap, Fault::kConflict};
  FaultLog faults;
  using Paths = std::vector<DocumentPath>;
  ARM_ASSIGN_OR_RETURN(Paths paths, TreeOf<Paths>(ExpressionKind::kProjection, text, cache, &faults,
                                                  [&] { return ParseProjection(text, &faults, bytes_max); }));
  std::vector<const DocumentPath*> pointers;
  for (DocumentPath& path : paths) {
    BindPath(table, &faults, &faults, &path);
    pointers.push_back(&path);
  }
  CheckOverlaps(pointers, &faults);
  if (const std::string* message = faults.First(kProjectionReportOrder)) {
    return InvalidExpressionError(ExpressionKind::kProjection, *message);
  }
  return MakeProjection(std::move(paths));
}

}  // namespace

absl::Status CheckBeforeValues(const ExpressionTexts& expressions, const Placeholders& names,
                               std::span<const ExpressionKind> known_kinds) {
  Placeholders placeholders = names;
  placeholders.values = model::ItemView();
  ARM_RETURN_IF_ERROR(CheckHasUse(expressions, placeholders, known_kinds));
  return CheckNameKeys(placeholders);
}

absl::Status CheckSyntax(const ExpressionTexts& expressions, const Placeholders::Wording& wording) {
  FaultLog faults;
  const size_t bytes_max = expressions.bytes_max;
  if (expressions.update.has_value()) {
    ARM_RETURN_IF_ERROR(CheckUpdateSize(*expressions.update, bytes_max, wording));
    ARM_RETURN_IF_ERROR(ParseUpdate(*expressions.update, &faults, bytes_max).status());
  }
  const std::pair<ExpressionKind, const std::optional<std::string>*> conditions[] = {
      {ExpressionKind::kCondition, &expressions.condition},
      {ExpressionKind::kKeyCondition, &expressions.key_condition},
      {ExpressionKind::kFilter, &expressions.filter},
  };
  for (const auto& [kind, text] : conditions) {
    if (text->has_value()) ARM_RETURN_IF_ERROR(ParseCondition(kind, **text, &faults, bytes_max).status());
  }
  return expressions.projection.has_value() ? ParseProjection(*expressions.projection, &faults, bytes_max).status()
                                            : absl::OkStatus();
}

absl::StatusOr<BoundExpressions> BindExpressions(const ExpressionTexts& expressions, const Placeholders& placeholders,
                                                 std::span<const ExpressionKind> known_kinds, ParseCache* cache) {
  ARM_RETURN_IF_ERROR(CheckHasUse(expressions, placeholders, known_kinds));
  PlaceholderTable table(placeholders);
  ARM_RETURN_IF_ERROR(table.CheckKeys());
  const size_t bytes_max = expressions.bytes_max;
  BoundExpressions bound;
  std::optional<Condition> key_condition;
  if (expressions.update.has_value()) {
    ARM_ASSIGN_OR_RETURN(bound.update, MakeUpdate(*expressions.update, bytes_max, placeholders.wording, cache, &table));
  }
  if (expressions.condition.has_value()) {
    ARM_ASSIGN_OR_RETURN(bound.condition,
                         MakeCondition(ExpressionKind::kCondition, *expressions.condition, bytes_max, cache, &table));
  }
  if (expressions.key_condition.has_value()) {
    ARM_ASSIGN_OR_RETURN(key_condition, MakeCondition(ExpressionKind::kKeyCondition, *expressions.key_condition,
                                                      bytes_max, cache, &table));
  }
  if (expressions.filter.has_value()) {
    ARM_ASSIGN_OR_RETURN(bound.filter,
                         MakeCondition(ExpressionKind::kFilter, *expressions.filter, bytes_max, cache, &table));
  }
  if (expressions.projection.has_value()) {
    ARM_ASSIGN_OR_RETURN(bound.projection, MakeBoundProjection(*expressions.projection, bytes_max, cache, &table));
  }
  ARM_RETURN_IF_ERROR(table.CheckAllUsed());
  if (key_condition.has_value()) {
    ARM_ASSIGN_OR_RETURN(bound.key_condition, RestrictToKeys(*key_condition));
  }
  bound.replaced_bytes = table.replaced_bytes();
  return bound;
}

}  // namespace armature::expr
