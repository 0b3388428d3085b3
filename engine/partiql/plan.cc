#include "engine/partiql/plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_join.h"
#include "engine/items/item_key.h"
#include "engine/partiql/expression_text.h"
#include "engine/partiql/key_terms.h"
#include "engine/parts.h"
#include "index/index_entry.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/item_codec.h"
#include "storage/model/constraint_list.h"
#include "storage/model/table_name.h"
#include "storage/model/wire.h"

namespace armature::engine::partiql {
namespace {

constexpr char kMultiAttribute[] =
    "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys.";

void AppendToItem(const std::string& name, const std::string& value, std::string* item) {
  std::string entry;
  model::AppendBytesField(1, name, &entry);
  model::AppendBytesField(2, value, &entry);
  model::AppendBytesField(1, entry, item);
}

// Takes the equalities on all key attributes from `terms` and makes the key. Nullopt if one is missing.
std::optional<std::string> TakeKey(const model::KeySchema& schema, std::vector<const Condition*>* terms) {
  std::string key;
  for (const std::vector<model::KeyAttribute>* part : {&schema.partition, &schema.sort}) {
    for (const model::KeyAttribute& attribute : *part) {
      const auto found = std::find_if(terms->begin(), terms->end(), [&attribute](const Condition* term) {
        return EqualityOn(*term, attribute.name) != nullptr;
      });
      if (found == terms->end()) return std::nullopt;
      AppendToItem(attribute.name, *EqualityOn(**found, attribute.name), &key);
      terms->erase(found);
    }
  }
  return key;
}

// Empty for an item without a valid key, which the operation refuses.
std::string RowKeyOf(const store::Table& table, const std::string& item) {
  const absl::StatusOr<codec::CanonicalItem> canonical = codec::CanonicalizeItem(item);
  if (!canonical.ok()) return {};
  return EncodeItemKey(table, canonical->view()).value_or(std::string());
}

std::string Joined(const std::vector<const Condition*>& terms, ExpressionText* text) {
  std::string joined;
  for (const Condition* const term : terms) {
    joined += Cat(joined.empty() ? "" : " AND ", text->Text(*term, terms.size() > 1));
  }
  return joined;
}

// Plans a SELECT.
class SelectPlanner {
 public:
  SelectPlanner(const Statement& statement, const PlanOptions& options, const store::Table& table)
      : statement_(statement), options_(options), table_(table) {}

  absl::StatusOr<Plan> Run() {
    ARM_RETURN_IF_ERROR(FindIndex());
    ARM_RETURN_IF_ERROR(FindQueries());
    if (queries_.size() > kQueriesMax) {
      return ValidationError(Cat("The statement selects more than ", kQueriesMax, " key values"));
    }
    ARM_RETURN_IF_ERROR(CheckOrder());
    ARM_RETURN_IF_ERROR(CheckProjected());
    const bool nested = std::any_of(statement_.columns.begin(), statement_.columns.end(),
                                    [](const expr::DocumentPath& path) { return path.nested(); });
    if (nested) plan_.columns = statement_.columns;
    FindWholeKey();
    if (queries_.empty()) {
      if (options_.multi_attribute_indexes && schema().partition.size() > 1) return ValidationError(kMultiAttribute);
      plan_.kind = PlanKind::kScan;
      plan_.reads.push_back(MakeScan());
    } else if (!plan_.key.empty() && plan_.is_key_only) {
      plan_.kind = PlanKind::kGet;
      plan_.get = MakeGet();
    } else {
      plan_.kind = PlanKind::kQuery;
      for (const Query& query : queries_) plan_.reads.push_back(MakeQuery(query));
    }
    return std::move(plan_);
  }

 private:
  // A query and its filter: all of `terms.others`, and one of `branches` unless there is none.
  struct Query {
    KeyTerms terms;
    std::vector<const Condition*> branches;
  };

  const model::KeySchema& schema() const { return index_ == nullptr ? table_.descriptor.key : index_->descriptor.key; }

  absl::Status FindIndex() {
    if (!statement_.index.has_value()) return absl::OkStatus();
    index_ = table_.FindIndex(*statement_.index);
    if (index_ == nullptr) return ValidationError("The table does not have the specified index");
    const bool is_multi = schema().partition.size() > 1 || schema().sort.size() > 1;
    if (is_multi && !options_.multi_attribute_indexes) return ValidationError(kMultiAttribute);
    if (index_->descriptor.kind == model::IndexKind::kGlobal && options_.consistent_read) {
      return ValidationError("Strongly consistent read is not supported on Global Secondary Indexes");
    }
    return absl::OkStatus();
  }

  absl::Status FindQueries() {
    if (!statement_.where.has_value()) return absl::OkStatus();
    const std::vector<const Condition*> branches = Disjuncts(*statement_.where);
    if (branches.size() == 1) {
      for (KeyTerms& terms : FindKeyTerms(schema(), Conjuncts(*branches[0])))
        queries_.push_back({std::move(terms), {}});
      return absl::OkStatus();
    }
    std::map<std::vector<std::string>, std::vector<Query>> by_partition;
    std::vector<std::vector<std::string>> order;
    for (const Condition* const branch : branches) {
      std::vector<KeyTerms> found = FindKeyTerms(schema(), Conjuncts(*branch));
      if (found.empty()) return absl::OkStatus();  // a scan
      for (KeyTerms& terms : found) {
        std::vector<Query>& queries = by_partition[terms.partition];
        if (queries.empty()) order.push_back(terms.partition);
        queries.push_back({std::move(terms), {branch}});
      }
    }
    for (const std::vector<std::string>& partition : order) ARM_RETURN_IF_ERROR(AddUnion(by_partition[partition]));
    return absl::OkStatus();
  }

  // Adds the queries of one partition, whose items are each wanted once.
  absl::Status AddUnion(const std::vector<Query>& queries) {
    std::vector<std::optional<SortRange>> ranges;
    ranges.reserve(queries.size());
    for (const Query& query : queries) ranges.push_back(RangeOf(schema(), query.terms));
    for (size_t i = 0; i < ranges.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (ranges[i].has_value() && ranges[j].has_value() && ranges[i]->Overlaps(*ranges[j])) {
          return ValidationError("Overlapping conditions with range keys are not supported in where clause");
        }
      }
    }
    const bool are_apart =
        std::all_of(ranges.begin(), ranges.end(), [](const auto& range) { return range.has_value(); });
    if (are_apart && statement_.order.empty()) {
      for (const Query& query : queries) queries_.push_back({query.terms, {}});
      return absl::OkStatus();
    }
    Query all;
    all.terms.partition = queries.front().terms.partition;
    for (const Query& query : queries) all.branches.push_back(query.branches.front());
    queries_.push_back(std::move(all));
    return absl::OkStatus();
  }

  absl::Status CheckOrder() {
    const std::vector<OrderKey>& order = statement_.order;
    if (order.empty()) return absl::OkStatus();
    if (!statement_.where.has_value()) {
      return ValidationError("Must have WHERE clause in the statement when using ORDER BY clause.");
    }
    if (queries_.empty()) {
      return ValidationError(
          "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.");
    }
    size_t next = 0;
    if (order[0].attribute == schema().partition[0].name && schema().partition.size() == 1) {
      next = 1;
      const model::KeyAttribute& attribute = schema().partition[0];
      std::stable_sort(queries_.begin(), queries_.end(), [&](const Query& a, const Query& b) {
        return KeyText(attribute, a.terms.partition[0]) < KeyText(attribute, b.terms.partition[0]);
      });
      if (order[0].descending) std::reverse(queries_.begin(), queries_.end());
    }
    for (size_t i = 0; next + i < order.size(); ++i) {
      const OrderKey& key = order[next + i];
      if (i >= schema().sort.size() || schema().sort[i].name != key.attribute) {
        return ValidationError(
            Cat("Variable reference ", key.attribute, " in ORDER BY clause must be part of the primary key"));
      }
      if (i > 0 && key.descending != descending_) {
        return ValidationError("All sort key attributes in ORDER BY clause must have the same direction");
      }
      descending_ = key.descending;
    }
    if (next == 0 && queries_.size() > 1) {
      return ValidationError("ORDER BY clause of several partitions must begin with the partition key");
    }
    return absl::OkStatus();
  }

  // Collects the attributes of `operands` that the index does not project.
  void AddMissing(const std::vector<Operand>& operands, std::vector<std::string>* missing) const {
    for (const Operand& operand : operands) {
      if (operand.kind == Operand::Kind::kPath) AddMissing(operand.path, missing);
      AddMissing(operand.arguments, missing);
    }
  }
  void AddMissing(const Condition& condition, std::vector<std::string>* missing) const {
    AddMissing(condition.operands, missing);
    for (const Condition& child : condition.children) AddMissing(child, missing);
  }
  void AddMissing(const expr::DocumentPath& path, std::vector<std::string>* missing) const {
    const std::string& name = path.attribute();
    const bool is_known = std::find(missing->begin(), missing->end(), name) != missing->end();
    if (!is_known && !index::ProjectsAttribute(*index_, name)) missing->push_back(name);
  }

  absl::Status CheckProjected() const {
    if (index_ == nullptr || index_->descriptor.kind != model::IndexKind::kGlobal) return absl::OkStatus();
    std::vector<std::string> missing;
    for (const expr::DocumentPath& path : statement_.columns) AddMissing(path, &missing);
    if (!missing.empty()) {
      return InvalidParameterError(
          Cat("Global secondary index ", *statement_.index, " does not project ", model::PrintedList(missing)));
    }
    if (statement_.where.has_value()) AddMissing(*statement_.where, &missing);
    if (missing.empty()) return absl::OkStatus();
    return InvalidParameterError(Cat("Secondary index ", *statement_.index,
                                     " does not project one or more filter attributes: ", model::PrintedList(missing)));
  }

  void FindWholeKey() {
    if (index_ != nullptr || !statement_.where.has_value()) return;
    std::vector<const Condition*> terms = Conjuncts(*statement_.where);
    std::optional<std::string> key = TakeKey(schema(), &terms);
    if (!key.has_value()) return;
    plan_.key = *std::move(key);
    plan_.is_key_only = terms.empty();
  }

  // The attributes of the columns, each once. Their values are cut out of the answer.
  void SetProjection(ExpressionText* text, ExpressionParameters* to) const {
    std::vector<std::string> names;
    names.reserve(statement_.columns.size());
    for (const expr::DocumentPath& path : statement_.columns) {
      const std::string name = text->Name(path.attribute());
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    if (!names.empty()) to->projection = absl::StrJoin(names, ", ");
  }

  GetItemRequest MakeGet() const {
    GetItemRequest get;
    get.table_name = statement_.table;
    get.key_wire = plan_.key;
    get.consistent_read = options_.consistent_read;
    ExpressionText text;
    SetProjection(&text, &get.expressions);
    text.FillPlaceholders(&get.expressions);
    return get;
  }

  ReadRequest MakeRead() const {
    ReadRequest read;
    read.table_name = statement_.table;
    read.index_name = statement_.index;
    read.consistent_read = options_.consistent_read;
    read.scan_index_forward = !descending_;
    read.filter_may_use_keys = true;
    return read;
  }

  ReadRequest MakeScan() const {
    ReadRequest read = MakeRead();
    ExpressionText text;
    SetProjection(&text, &read.expressions);
    if (statement_.where.has_value()) read.expressions.filter = text.Text(*statement_.where);
    text.FillPlaceholders(&read.expressions);
    return read;
  }

  ReadRequest MakeQuery(const Query& query) const {
    ReadRequest read = MakeRead();
    ExpressionText text;
    SetProjection(&text, &read.expressions);
    std::string key;
    for (size_t i = 0; i < query.terms.partition.size(); ++i) {
      const std::string name = text.Name(schema().partition[i].name);
      key += Cat(key.empty() ? "" : " AND ", name, " = ", text.Value(query.terms.partition[i]));
    }
    for (const Condition* const term : query.terms.sort) key += Cat(" AND ", text.Text(AttributeFirst(*term)));
    read.expressions.key_condition = std::move(key);
    std::string filter = Joined(query.terms.others, &text);
    for (const Condition* const branch : query.branches) {
      filter += Cat(filter.empty() ? "" : " OR ", text.Text(*branch, query.branches.size() > 1));
    }
    if (!filter.empty()) read.expressions.filter = std::move(filter);
    text.FillPlaceholders(&read.expressions);
    return read;
  }

  const Statement& statement_;
  const PlanOptions& options_;
  const store::Table& table_;
  const store::Index* index_ = nullptr;
  std::vector<Query> queries_;
  bool descending_ = false;
  Plan plan_;
};

std::string_view VerbOf(Statement::Kind kind) { return kind == Statement::Kind::kUpdate ? "UPDATE" : "DELETE"; }

Plan PlanInsert(const Statement& statement, const store::Table& table) {
  Plan plan;
  plan.kind = PlanKind::kPut;
  plan.key = statement.item;
  WriteRequest& write = plan.write.emplace();
  write.table_name = statement.table;
  write.item_wire = statement.item;
  ExpressionText text;
  write.expressions.condition = Cat("attribute_not_exists(", text.Name(table.descriptor.key.partition[0].name), ")");
  text.FillPlaceholders(&write.expressions);
  return plan;
}

// The value of SET_ADD or SET_DELETE. Errors: ValidationException for other arguments than the target and a set.
absl::StatusOr<std::string> SetArgument(const Assignment& assignment) {
  const Operand& call = assignment.left;
  const std::string function = call.function == "set_add" ? "SET_ADD" : "SET_DELETE";
  const auto error = [&](std::string_view before, std::string_view after, const Position& position) {
    return ValidationError(Cat(before, function, after, " at ", Printed(position)));
  };
  if (call.arguments.size() != 2) return error("", " must have exactly two arguments", call.position);
  const Operand& first = call.arguments[0];
  if (first.kind != Operand::Kind::kPath || first.path.elements != assignment.target.elements) {
    return error("The first argument to ", " must equal the assignment value", first.position);
  }
  const Operand& second = call.arguments[1];
  std::string_view rest = second.value;
  model::WireField field;
  const bool is_set = second.kind == Operand::Kind::kValue && model::TakeField(&rest, &field) &&
                      field.number >= static_cast<uint32_t>(model::ValueType::kStringSet) &&
                      field.number <= static_cast<uint32_t>(model::ValueType::kBinarySet);
  if (!is_set) return error("The second argument to ", " must be a value with type SET", second.position);
  return second.value;
}

absl::StatusOr<std::string> UpdateText(const Statement& statement, ExpressionText* text) {
  std::string sets;
  std::string removes;
  std::string adds;
  std::string deletes;
  const auto append = [](std::string_view section, std::string_view action, std::string* to) {
    *to += Cat(to->empty() ? section : ", ", action);
  };
  for (const Assignment& assignment : statement.sets) {
    const std::string target = text->Path(assignment.target);
    const std::string& function = assignment.left.function;
    if (function == "set_add" || function == "set_delete") {
      ARM_ASSIGN_OR_RETURN(const std::string value, SetArgument(assignment));
      const bool is_add = function == "set_add";
      append(is_add ? " ADD " : " DELETE ", Cat(target, " ", text->Value(value)), is_add ? &adds : &deletes);
      continue;
    }
    std::string value = text->Text(assignment.left);
    if (assignment.right.has_value()) {
      const std::string sign(1, assignment.sign);
      value += Cat(" ", sign, " ", text->Text(*assignment.right));
    }
    append(" SET ", Cat(target, " = ", value), &sets);
  }
  for (const expr::DocumentPath& path : statement.removes) append(" REMOVE ", text->Path(path), &removes);
  return Cat(sets, removes, adds, deletes).substr(1);
}

std::string ReturnValuesOf(const std::string& returning) {
  if (returning.empty()) return {};
  return Cat(returning.starts_with("ALL") ? "ALL" : "UPDATED", "_", returning.substr(returning.find(' ') + 1));
}

// UPDATE, DELETE and EXISTS.
absl::StatusOr<Plan> PlanOneItem(const Statement& statement, const store::Table& table) {
  const model::KeySchema& schema = table.descriptor.key;
  Plan plan;
  const bool is_check = statement.kind == Statement::Kind::kExists;
  if (!is_check && ContainsOr(*statement.where)) {
    return ValidationError(Cat(VerbOf(statement.kind), " does not support OR conditions in WHERE clause"));
  }
  std::vector<const Condition*> terms;
  if (statement.where.has_value()) terms = Conjuncts(*statement.where);
  std::optional<std::string> key = TakeKey(schema, &terms);
  if (!key.has_value() && !is_check) {
    return ValidationError("Where clause does not contain a mandatory equality on all key attributes");
  }
  if (is_check && (!key.has_value() || terms.empty() || statement.index.has_value())) {
    return ValidationError("EXISTS() must contain a single item read with additional condition");
  }
  plan.key = *std::move(key);
  WriteRequest& write = plan.write.emplace();
  write.table_name = statement.table;
  write.item_wire = plan.key;
  write.return_values = ReturnValuesOf(statement.returning);
  ExpressionText text;
  std::string condition = Joined(terms, &text);
  plan.kind = is_check ? PlanKind::kCheck : PlanKind::kDelete;
  if (statement.kind == Statement::Kind::kUpdate) {
    plan.kind = PlanKind::kUpdate;
    // An update creates no item.
    const std::string exists = Cat("attribute_exists(", text.Name(schema.partition[0].name), ")");
    condition = condition.empty() ? exists : Cat(exists, " AND ", condition);
    ARM_ASSIGN_OR_RETURN(write.expressions.update, UpdateText(statement, &text));
  }
  if (plan.kind == PlanKind::kDelete && !condition.empty()) {
    // A delete of a missing item succeeds. Conjunctions bind stronger than OR.
    condition = Cat("attribute_not_exists(", text.Name(schema.partition[0].name), ") OR ", condition);
  }
  if (!condition.empty()) write.expressions.condition = std::move(condition);
  text.FillPlaceholders(&write.expressions);
  return plan;
}

std::string Step(std::string_view operation, const Statement& statement, const ExpressionParameters& expressions) {
  std::string line = Cat(operation, " ", statement.table);
  if (statement.index.has_value()) line += Cat(".", *statement.index);
  const auto add = [&line](std::string_view label, const std::optional<std::string>& text) {
    if (text.has_value()) line += Cat(", ", label, ": ", *text);
  };
  add("key", expressions.key_condition);
  add("filter", expressions.filter);
  add("condition", expressions.condition);
  add("update", expressions.update);
  add("projection", expressions.projection);
  return line;
}

}  // namespace

absl::StatusOr<Plan> MakePlan(const store::Database& database, const Statement& statement, const PlanOptions& options) {
  ARM_RETURN_IF_ERROR(model::CheckTableReference(statement.table));
  ARM_ASSIGN_OR_RETURN(const PinnedTable pinned, FindTable(database, statement.table));
  absl::StatusOr<Plan> plan;
  switch (statement.kind) {
    case Statement::Kind::kSelect:
      plan = SelectPlanner(statement, options, *pinned.table).Run();
      break;
    case Statement::Kind::kInsert:
      plan = PlanInsert(statement, *pinned.table);
      break;
    default:
      plan = PlanOneItem(statement, *pinned.table);
  }
  if (plan.ok() && !plan->key.empty()) plan->row_key = RowKeyOf(*pinned.table, plan->key);
  return plan;
}

std::string Explained(const Statement& statement, const Plan& plan) {
  std::string text;
  if (plan.get.has_value()) text = Step("GetItem", statement, plan.get->expressions);
  for (const ReadRequest& read : plan.reads) {
    const bool is_query = plan.kind == PlanKind::kQuery;
    text += Cat(text.empty() ? "" : "\n", Step(is_query ? "Query" : "Scan", statement, read.expressions));
    if (is_query && !read.scan_index_forward) text += ", backwards";
  }
  if (plan.write.has_value()) {
    const std::string_view operation = plan.kind == PlanKind::kPut      ? "PutItem"
                                       : plan.kind == PlanKind::kUpdate ? "UpdateItem"
                                       : plan.kind == PlanKind::kDelete ? "DeleteItem"
                                                                        : "ConditionCheck";
    text = Step(operation, statement, plan.write->expressions);
  }
  return text;
}

}  // namespace armature::engine::partiql
