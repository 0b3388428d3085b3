#include "engine/items/access_facts.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/escaping.h"
#include "engine/expr/key_condition.h"
#include "engine/items/expressions.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/codec/item_codec.h"
#include "storage/model/limits.h"
#include "storage/model/number.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

using access::ConditionKey;
using access::Facts;

// Collects the top-level attributes that expressions name.
class NameCollector {
 public:
  explicit NameCollector(std::vector<std::string>* names) : names_(names) {}

  void Add(const expr::BoundExpressions& bound) {
    if (bound.update.has_value()) Add(*bound.update);
    if (bound.condition.has_value()) Add(bound.condition->root);
    if (bound.filter.has_value()) Add(bound.filter->root);
    if (bound.key_condition.has_value()) {
      for (const expr::KeyConditionTerm& term : bound.key_condition->terms) names_->push_back(term.attribute);
    }
    if (bound.projection.has_value()) {
      for (const expr::DocumentPath& path : bound.projection->paths) Add(path);
    }
  }

 private:
  void Add(const expr::DocumentPath& path) { names_->push_back(path.attribute()); }

  void Add(const expr::FunctionCall& call) {
    for (const expr::Operand& argument : call.arguments) Add(argument);
  }

  void Add(const expr::Operand& operand) {
    if (operand.path() != nullptr) Add(*operand.path());
    if (operand.call() != nullptr) Add(*operand.call());
  }

  void Add(const expr::Comparison& comparison) {
    Add(comparison.left);
    Add(comparison.right);
  }
  void Add(const expr::Between& between) {
    Add(between.tested);
    Add(between.lower);
    Add(between.upper);
  }
  void Add(const expr::Membership& membership) {
    Add(membership.tested);
    for (const expr::Operand& choice : membership.choices) Add(choice);
  }
  void Add(const expr::Negation& negation) { Add(*negation.inner); }
  void Add(const expr::Junction& junction) {
    for (const expr::ConditionNode& term : junction.terms) Add(term);
  }
  void Add(const expr::ConditionNode& node) {
    std::visit([this](const auto& each) { Add(each); }, node.node);
  }

  void Add(const expr::Update& update) {
    for (const expr::SetAction& action : update.sets) {
      Add(action.target);
      Add(action.value.left);
      if (action.value.right.has_value()) Add(*action.value.right);
    }
    for (const expr::DocumentPath& path : update.removes) Add(path);
    for (const expr::OperandAction& action : update.adds) Add(action.target);
    for (const expr::OperandAction& action : update.deletes) Add(action.target);
  }

  std::vector<std::string>* const names_;
};

void SortUnique(std::vector<std::string>* values) {
  std::sort(values->begin(), values->end());
  values->erase(std::unique(values->begin(), values->end()), values->end());
}

absl::StatusOr<std::shared_ptr<const store::Table>> HeldTable(const store::Database& database,
                                                              const std::optional<std::string>& name) {
  if (!name.has_value()) return ValidationError("The request names no table");
  std::shared_ptr<const store::Table> table = database.catalog()->Hold(model::LocalTableName(*name));
  if (table == nullptr) return ResourceNotFoundError("Requested resource not found");
  return table;
}

absl::StatusOr<std::string> LeadingKeyOf(const model::KeySchema& schema, const model::ItemView& item) {
  const model::KeyAttribute& first = schema.partition.front();
  const std::optional<model::ValueView> value = item.Find(first.name);
  if (!value.has_value() || value->type() != model::ToValueType(first.type)) {
    return ValidationError("The request has no valid partition key");
  }
  return LeadingKeyText(*value);
}

absl::StatusOr<std::unique_ptr<RequestExpressions>> Bind(const ExpressionParameters& parameters,
                                                         std::span<const expr::ExpressionKind> kinds) {
  // Legacy parameters and expressions would set the same members.
  ARM_RETURN_IF_ERROR(CheckParameterStyles(parameters, ValidationLayer::kCurrent));
  return BindRequestExpressions(parameters, kinds, ValidationLayer::kCurrent, nullptr);
}

void SetSelect(std::string_view given, bool has_projection, bool is_index, Facts* facts) {
  std::string_view select = given;
  if (select.empty() && has_projection) select = "SPECIFIC_ATTRIBUTES";
  if (select.empty()) select = is_index ? "ALL_PROJECTED_ATTRIBUTES" : "ALL_ATTRIBUTES";
  (*facts)[ConditionKey::kSelect] = {std::string(select)};
}

// Facts that depend on expressions only. `bound` may be null.
Facts FactsOfRead(const RequestExpressions* bound, std::string_view select, bool is_index) {
  Facts facts;
  if (bound != nullptr) NameCollector(&facts[ConditionKey::kAttributes]).Add(bound->bound);
  SetSelect(select, bound != nullptr && bound->bound.projection.has_value(), is_index, &facts);
  return facts;
}

// Adds the facts of a key or an item.
absl::Status AddItem(const model::KeySchema& schema, const std::optional<std::string>& wire, Facts* facts) {
  if (!wire.has_value()) return ValidationError("The request has no key");
  ARM_ASSIGN_OR_RETURN(const codec::CanonicalItem item, codec::CanonicalizeItem(*wire));
  ARM_ASSIGN_OR_RETURN(std::string leading, LeadingKeyOf(schema, item.view()));
  (*facts)[ConditionKey::kLeadingKeys] = {std::move(leading)};
  std::vector<std::string>& names = (*facts)[ConditionKey::kAttributes];
  item.view().ForEach([&names](const model::AttributeView& attribute) {
    names.emplace_back(attribute.name);
    return true;
  });
  SortUnique(&names);
  return absl::OkStatus();
}

std::span<const expr::ExpressionKind> KindsOf(WriteKind kind) {
  if (kind == WriteKind::kUpdate) return expr::kUpdateKinds;
  return kind == WriteKind::kPut ? expr::kPutKinds : expr::kDeleteKinds;
}

std::string_view Given(const std::optional<std::string>& text) {
  return text.has_value() ? std::string_view(*text) : std::string_view();
}

constexpr char kAllOld[] = "ALL_OLD";

// Facts of an element of BatchWriteItem.
absl::StatusOr<Facts> FactsOf(const store::Database& database, const std::string& table_name, const BatchWrite& write) {
  ARM_ASSIGN_OR_RETURN(const auto table, HeldTable(database, table_name));
  Facts facts;
  // Elements that are both, or none, are refused later.
  if (write.is_put == write.is_delete) return ValidationError("The element is not one write");
  ARM_RETURN_IF_ERROR(AddItem(table->descriptor.key, write.is_put ? write.put_wire : write.delete_wire, &facts));
  return facts;
}

// The elements of one table of BatchGetItem share their projection.
class BatchGetFacts {
 public:
  explicit BatchGetFacts(const TableKeys* keys) : keys_(*keys) {}

  absl::StatusOr<Facts> Of(const store::Database& database, const std::string& key) {
    if (!shared_.has_value()) shared_ = Shared();
    ARM_RETURN_IF_ERROR(shared_->status());
    ARM_ASSIGN_OR_RETURN(const auto table, HeldTable(database, keys_.table_name));
    Facts facts = **shared_;
    ARM_RETURN_IF_ERROR(AddItem(table->descriptor.key, key, &facts));
    return facts;
  }

 private:
  absl::StatusOr<Facts> Shared() const {
    ARM_ASSIGN_OR_RETURN(const auto bound, Bind(keys_.expressions, expr::kGetKinds));
    return FactsOfRead(bound.get(), {}, false);
  }

  const TableKeys& keys_;
  std::optional<absl::StatusOr<Facts>> shared_;
};

// Counts the elements of a request whose rights are checked. The engine refuses a request with more than `max`, so that
// the rights to the others do not matter: they would only cost time.
class Elements {
 public:
  explicit Elements(size_t max) : left_(max + 1) {}
  // True if the next element need not be checked.
  bool IsEnough() { return left_ == 0 || --left_ == 0; }

 private:
  size_t left_;
};

// The facts of an element of a transaction.
absl::StatusOr<Facts> Enclosed(absl::StatusOr<Facts> facts, std::string_view operation) {
  if (facts.ok()) (*facts)[ConditionKey::kEnclosingOperation] = {std::string(operation)};
  return facts;
}

}  // namespace

absl::StatusOr<access::Facts> NoFactsOf(const store::Database&) { return Facts(); }

std::string LeadingKeyText(const model::ValueView& value) {
  std::string text;
  if (value.type() == model::ValueType::kNumber) {
    model::AppendPlainNumber(value.scalar(), &text);
  } else if (value.type() == model::ValueType::kBinary) {
    text = absl::Base64Escape(Av(value.scalar()));
  } else {
    text = std::string(value.scalar());
  }
  return text;
}

void MergeFacts(const Facts& from, Facts* to) {
  for (size_t i = 0; i < access::kConditionKeyCount; ++i) {
    std::vector<std::string>& values = to->values[i];
    values.insert(values.end(), from.values[i].begin(), from.values[i].end());
    SortUnique(&values);
  }
}

absl::StatusOr<Facts> FactsOf(const store::Database& database, const GetItemRequest& request) {
  ARM_ASSIGN_OR_RETURN(const auto table, HeldTable(database, request.table_name));
  ARM_ASSIGN_OR_RETURN(const auto bound, Bind(request.expressions, expr::kGetKinds));
  Facts facts = FactsOfRead(bound.get(), {}, false);
  ARM_RETURN_IF_ERROR(AddItem(table->descriptor.key, request.key_wire, &facts));
  return facts;
}

absl::StatusOr<Facts> FactsOf(const store::Database& database, WriteKind kind, const WriteRequest& request) {
  ARM_ASSIGN_OR_RETURN(const auto table, HeldTable(database, request.table_name));
  ARM_ASSIGN_OR_RETURN(const auto bound, Bind(request.expressions, KindsOf(kind)));
  Facts facts;
  if (bound != nullptr) NameCollector(&facts[ConditionKey::kAttributes]).Add(bound->bound);
  ARM_RETURN_IF_ERROR(AddItem(table->descriptor.key, request.item_wire, &facts));
  std::vector<std::string>& returned = facts[ConditionKey::kReturnValues];
  returned.emplace_back(request.return_values.empty() ? "NONE" : request.return_values);
  // The item in the error of a failed condition is a returned value, too.
  if (request.return_values_on_condition_check_failure == kAllOld) returned.emplace_back(kAllOld);
  SortUnique(&returned);
  return facts;
}

absl::StatusOr<Facts> FactsOf(const store::Database& database, bool is_scan, const ReadRequest& request) {
  ARM_ASSIGN_OR_RETURN(const auto table, HeldTable(database, request.table_name));
  const model::KeySchema* schema = &table->descriptor.key;
  if (request.index_name.has_value()) {
    const store::Index* const index = table->FindIndex(*request.index_name);
    if (index == nullptr) return ValidationError("The table has no such index");
    schema = &index->descriptor.key;
  }
  const std::span<const expr::ExpressionKind> kinds = is_scan
                                                          ? std::span<const expr::ExpressionKind>(expr::kScanKinds)
                                                          : std::span<const expr::ExpressionKind>(expr::kQueryKinds);
  ARM_ASSIGN_OR_RETURN(const auto bound, Bind(request.expressions, kinds));
  Facts facts = FactsOfRead(bound.get(), request.select, request.index_name.has_value());
  facts[ConditionKey::kFullTableScan] = {is_scan ? "true" : "false"};
  SortUnique(&facts[ConditionKey::kAttributes]);
  if (is_scan) return facts;
  if (bound == nullptr || !bound->bound.key_condition.has_value()) {
    return ValidationError("The request has no key condition");
  }
  ARM_ASSIGN_OR_RETURN(const expr::MatchedKeyCondition matched,
                       expr::MatchKeyCondition(*bound->bound.key_condition, *schema));
  facts[ConditionKey::kLeadingKeys] = {LeadingKeyText(matched.partition.front())};
  return facts;
}

absl::Status CheckRights(std::string_view operation, const GetItemRequest& request, RightCheck check) {
  const auto facts = [&](const store::Database& database) { return FactsOf(database, request); };
  return check({operation, Given(request.table_name), {}, facts});
}

absl::Status CheckRights(std::string_view operation, const WriteRequest& request, RightCheck check) {
  const WriteKind kind = operation == SingleOperation(WriteKind::kPut)      ? WriteKind::kPut
                         : operation == SingleOperation(WriteKind::kUpdate) ? WriteKind::kUpdate
                                                                            : WriteKind::kDelete;
  const auto facts = [&](const store::Database& database) { return FactsOf(database, kind, request); };
  return check({operation, Given(request.table_name), {}, facts});
}

absl::Status CheckRights(std::string_view operation, const ReadRequest& request, RightCheck check) {
  const auto facts = [&](const store::Database& database) { return FactsOf(database, operation == "Scan", request); };
  return check({operation, Given(request.table_name), Given(request.index_name), facts});
}

absl::Status CheckRights(std::string_view operation, const BatchGetRequest& request, RightCheck check) {
  if (request.tables.empty()) return check({operation, {}});
  Elements elements(model::kBatchGetKeysMax);
  for (const TableKeys& table : request.tables) {
    if (!table.key_wires.has_value() || table.key_wires->empty()) {
      if (elements.IsEnough()) return absl::OkStatus();
      ARM_RETURN_IF_ERROR(check({operation, table.table_name}));
      continue;
    }
    BatchGetFacts batch(&table);
    for (const std::string& key : *table.key_wires) {
      if (elements.IsEnough()) return absl::OkStatus();
      const auto facts = [&](const store::Database& database) { return batch.Of(database, key); };
      ARM_RETURN_IF_ERROR(check({operation, table.table_name, {}, facts}));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRights(std::string_view operation, const BatchWriteRequest& request, RightCheck check) {
  if (request.tables.empty()) return check({operation, {}});
  Elements elements(model::kBatchWritesMax);
  for (const TableWrites& table : request.tables) {
    if (table.writes.empty()) {
      if (elements.IsEnough()) return absl::OkStatus();
      ARM_RETURN_IF_ERROR(check({operation, table.table_name}));
    }
    for (const BatchWrite& write : table.writes) {
      if (elements.IsEnough()) return absl::OkStatus();
      const auto facts = [&](const store::Database& database) { return FactsOf(database, table.table_name, write); };
      ARM_RETURN_IF_ERROR(check({operation, table.table_name, {}, facts}));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRights(std::string_view operation, const TransactGetRequest& request, RightCheck check) {
  if (request.gets.empty()) return check({operation, {}});
  Elements elements(model::kTransactActionsMax);
  for (const TransactGet& each : request.gets) {
    if (elements.IsEnough()) return absl::OkStatus();
    const auto facts = [&](const store::Database& database) {
      return Enclosed(FactsOf(database, each.get), "TransactGetItems");
    };
    ARM_RETURN_IF_ERROR(check({kTransactGetOperation, Given(each.get.table_name), {}, facts}));
  }
  return absl::OkStatus();
}

absl::Status CheckRights(std::string_view operation, const TransactWriteRequest& request, RightCheck check) {
  if (request.actions.empty()) return check({operation, {}});
  Elements elements(model::kTransactActionsMax);
  for (const TransactAction& each : request.actions) {
    if (elements.IsEnough()) return absl::OkStatus();
    const auto facts = [&](const store::Database& database) {
      return Enclosed(FactsOf(database, each.kind, each.write), "TransactWriteItems");
    };
    ARM_RETURN_IF_ERROR(check({SingleOperation(each.kind), Given(each.write.table_name), {}, facts}));
  }
  return absl::OkStatus();
}

}  // namespace armature::engine
