#include "engine/partiql/plan.h"

#include <algorithm>
#include <set>
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

using ValueOf = const std::string* (*)(const Condition& term, const std::string& attribute);

// Takes the terms on all key attributes from `terms` to which `value_of` gives a value, and makes the key. Nullopt if
// one is missing.
std::optional<std::string> TakeKey(const model::KeySchema& schema, ValueOf value_of,
                                   std::vector<const Condition*>* terms) {
  std::string key;
  for (const std::vector<model::KeyAttribute>* part : {&schema.partition, &schema.sort}) {
    for (const model::KeyAttribute& attribute : *part) {
      const auto found = std::find_if(terms->begin(), terms->end(), [&](const Condition* term) {
        return value_of(*term, attribute.name) != nullptr;
      });
      if (found == terms->end()) return std::nullopt;
      AppendToItem(attribute.name, *value_of(**found, attribute.name), &key);
      terms->erase(found);
    }
  }
  return key;
}

// Removes equalities on key attributes that repeat others. Errors: ValidationException for two values of one attribute,
// because a write names one item.
absl::Status RemoveRepeatedKeys(const model::KeySchema& schema, std::vector<const Condition*>* terms) {
  for (const std::vector<model::KeyAttribute>* part : {&schema.partition, &schema.sort}) {
    for (const model::KeyAttribute& attribute : *part) {
      const std::string* first = nullptr;
      bool is_ambiguous = false;
      const auto is_repeated = [&](const Condition* term) {
        const std::string* const value = EqualityOn(*term, attribute.name);
        if (value == nullptr) return false;
        if (first == nullptr) {
          first = value;
          return false;
        }
        is_ambiguous = is_ambiguous || *value != *first;
        return true;
      };
      terms->erase(std::remove_if(terms->begin(), terms->end(), is_repeated), terms->end());
      if (is_ambiguous) {
        return ValidationError(Cat("Multiple conditions on same key ", attribute.name,
                                   ". Only single item Update/Insert/Delete are supported"));
      }
    }
  }
  return absl::OkStatus();
}

// The error of the first key attribute whose value has another type. An INSERT does not name a type that no key has.
absl::Status CheckKeyTypes(const model::KeySchema& schema, const Plan& plan) {
  const absl::StatusOr<codec::CanonicalItem> canonical = codec::CanonicalizeItem(plan.key);
  if (!canonical.ok()) return absl::OkStatus();
  for (const std::vector<model::KeyAttribute>* part : {&schema.partition, &schema.sort}) {
    for (const model::KeyAttribute& attribute : *part) {
      const std::optional<model::ValueView> value = canonical->view().Find(attribute.name);
      if (!value.has_value() || value->type() == model::ToValueType(attribute.type)) continue;
      return plan.kind == PlanKind::kPut ? KeyTypeError(attribute.name) : CheckKeyType(attribute, *value);
    }
  }
  return absl::OkStatus();
}

// Empty for an item without a valid key, which the operation refuses.
std::string RowKeyOf(const store::Table& table, const std::string& item) {
  const absl::StatusOr<codec::CanonicalItem> canonical = codec::CanonicalizeItem(item);
  if (!canonical.ok()) return {};
  return EncodeItemKey(table, canonical->view()).value_or(std::string());
}

// `is_inner`: the text is part of a larger conjunction.
std::string Joined(const std::vector<const Condition*>& terms, ExpressionText* text, bool is_inner = false) {
  std::string joined;
  for (const Condition* const term : terms) {
    joined += Cat(joined.empty() ? "" : " AND ", text->Text(*term, is_inner || terms.size() > 1));
  }
  return joined;
}

// The attributes of the columns, each once. Their values are cut out of the answer.
void SetProjection(const Statement& statement, ExpressionText* text, ExpressionParameters* to) {
  std::vector<std::string> names;
  std::set<std::string_view> known;
  for (const expr::DocumentPath& path : statement.columns) {
    if (known.insert(path.attribute()).second) names.push_back(text->Name(path.attribute()));
  }
  if (!names.empty()) to->projection = absl::StrJoin(names, ", ");
}

void FillScan(const Statement& statement, ExpressionParameters* to) {
  ExpressionText text;
  SetProjection(statement, &text, to);
  if (statement.where.has_value()) to->filter = text.Text(*statement.where);
  text.FillPlaceholders(to);
}

void FillQuery(const Statement& statement, const model::KeySchema& schema, const KeyedRead& query,
               ExpressionParameters* to) {
  ExpressionText text;
  SetProjection(statement, &text, to);
  std::string key;
  for (size_t i = 0; i < query.key.partition.size(); ++i) {
    const std::string name = text.Name(schema.partition[i].name);
    key += Cat(key.empty() ? "" : " AND ", name, " = ", text.Value(*query.key.partition[i]));
  }
  for (size_t i = 0; i < query.key.sort.size(); ++i) {
    const SortTerm& term = query.key.sort[i];
    if (term.value != nullptr) {
      const std::string name = text.Name(schema.sort[i].name);
      key += Cat(" AND ", name, " = ", text.Value(*term.value));
    } else {
      key += Cat(" AND ", text.Text(AttributeFirst(*term.condition)));
    }
  }
  to->key_condition = std::move(key);
  std::string filter;
  if (query.branches.empty()) filter = Joined(query.others, &text);
  for (const Condition* const branch : query.branches) {
    filter += Cat(filter.empty() ? "" : " OR ", text.Text(*branch, query.branches.size() > 1));
  }
  if (!filter.empty()) to->filter = std::move(filter);
  text.FillPlaceholders(to);
}

// Plans a SELECT.
class SelectPlanner {
 public:
  SelectPlanner(const Statement& statement, const PlanOptions& options, const store::Table& table)
      : statement_(statement), options_(options), table_(table) {}

  absl::StatusOr<Plan> Run() {
    ARM_RETURN_IF_ERROR(FindIndex());
    ARM_RETURN_IF_ERROR(CheckOrderKeys());
    if (statement_.where.has_value()) {
      ReadBudget budget;
      ARM_ASSIGN_OR_RETURN(queries_, DecomposeReads(schema(), *statement_.where, &budget));
    }
    ARM_RETURN_IF_ERROR(SetOrder());
    ARM_RETURN_IF_ERROR(CheckProjected());
    const bool nested = std::any_of(statement_.columns.begin(), statement_.columns.end(),
                                    [](const expr::DocumentPath& path) { return path.nested(); });
    if (nested) plan_.columns = std::make_shared<const Columns>(statement_.columns);
    FindWholeKey();
    if (queries_.empty()) {
      if (options_.multi_attribute_indexes && schema().partition.size() > 1) return ValidationError(kMultiAttribute);
      plan_.kind = PlanKind::kScan;
      plan_.read = MakeRead();
    } else if (!plan_.key.empty() && plan_.is_key_only) {
      plan_.kind = PlanKind::kGet;
      plan_.get = MakeGet();
    } else {
      for (const KeyedRead& query : queries_) ARM_RETURN_IF_ERROR(CheckKeyTerms(schema(), query.key));
      OrderByKey(!statement_.order.empty(), descending_, &queries_);
      plan_.kind = PlanKind::kQuery;
      plan_.read = MakeRead();
      plan_.read_key = schema();
      plan_.queries = std::move(queries_);
    }
    return std::move(plan_);
  }

 private:
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

  // The keys of ORDER BY are names of key attributes.
  absl::Status CheckOrderKeys() const {
    const std::vector<OrderKey>& order = statement_.order;
    if (order.empty()) return absl::OkStatus();
    if (!statement_.where.has_value()) {
      return ValidationError("Must have WHERE clause in the statement when using ORDER BY clause.");
    }
    for (const OrderKey& key : order) {
      if (!key.refused_type.empty()) {
        return ValidationError(Cat("Argument to ORDER BY must be of type VariableReference. Type: ", key.refused_type,
                                   " at ", Printed(key.position)));
      }
      const auto is_key = [&key](const model::KeyAttribute& each) { return each.name == key.attribute; };
      if (std::none_of(schema().partition.begin(), schema().partition.end(), is_key) &&
          std::none_of(schema().sort.begin(), schema().sort.end(), is_key)) {
        return ValidationError(Cat("Attribute ", key.attribute, " in ORDER BY clause must be part of the primary key"));
      }
    }
    return absl::OkStatus();
  }

  // Partitions follow each other in the order of the partition key, if ORDER BY names it. Without a sort key in ORDER
  // BY each of them is read backwards, whatever direction the partition key has.
  absl::Status SetOrder() {
    const std::vector<OrderKey>& order = statement_.order;
    if (order.empty()) return absl::OkStatus();
    if (queries_.empty()) {
      return ValidationError(
          "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.");
    }
    const std::vector<model::KeyAttribute>& partition = schema().partition;
    const auto by_partition = std::find_if(order.begin(), order.end(), [&partition](const OrderKey& key) {
      return key.attribute == partition.front().name;
    });
    const bool is_one = std::all_of(queries_.begin(), queries_.end(),
                                    [this](const KeyedRead& each) { return IsSamePartition(each, queries_.front()); });
    if (by_partition == order.end() && !is_one) {
      return ValidationError(
          "Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause.");
    }
    if (by_partition != order.end() && partition.size() == 1) {
      const bool descending = by_partition->descending;
      std::stable_sort(queries_.begin(), queries_.end(), [&](const KeyedRead& a, const KeyedRead& b) {
        const KeyedRead& first = descending ? b : a;
        const KeyedRead& second = descending ? a : b;
        return KeyText(partition[0], *first.key.partition[0]) < KeyText(partition[0], *second.key.partition[0]);
      });
    }
    return SetDirection();
  }

  // Several sort attributes are ordered from the first one on, in one direction.
  absl::Status SetDirection() {
    descending_ = true;
    size_t next = 0;
    for (const OrderKey& key : statement_.order) {
      const auto found = std::find_if(schema().sort.begin(), schema().sort.end(),
                                      [&key](const model::KeyAttribute& each) { return each.name == key.attribute; });
      if (found == schema().sort.end()) continue;
      const auto place = static_cast<size_t>(found - schema().sort.begin());
      if (place > next) {
        return ValidationError("ORDER BY clause must name the sort key attributes in their order");
      }
      if (next > 0 && key.descending != descending_) {
        return ValidationError("All sort key attributes in ORDER BY clause must have the same direction");
      }
      descending_ = key.descending;
      next = std::max(next, place + 1);
    }
    return absl::OkStatus();
  }

  // The attributes that the index does not project, each once.
  class Missing {
   public:
    explicit Missing(const store::Index& index) : index_(index) {}

    void Add(const expr::DocumentPath& path) {
      const std::string& name = path.attribute();
      if (index::ProjectsAttribute(index_, name) || !known_.insert(name).second) return;
      names_.push_back(name);
    }
    const std::vector<std::string>& names() const { return names_; }

   private:
    const store::Index& index_;
    std::set<std::string_view> known_;
    std::vector<std::string> names_;
  };

  // Columns that a local index does not project are read from the table.
  absl::Status CheckProjected() const {
    if (index_ == nullptr) return absl::OkStatus();
    Missing missing(*index_);
    if (index_->descriptor.kind == model::IndexKind::kGlobal) {
      for (const expr::DocumentPath& path : statement_.columns) missing.Add(path);
      if (!missing.names().empty()) {
        return InvalidParameterError(Cat("Global secondary index ", *statement_.index, " does not project ",
                                         model::PrintedList(missing.names())));
      }
    }
    // A scan of a local index reads what is not projected from the table, one of a global index takes it for missing. A
    // query refuses it.
    if (!queries_.empty()) {
      ForEachPath(*statement_.where, [&missing](const expr::DocumentPath& path) { missing.Add(path); });
    }
    if (missing.names().empty()) return absl::OkStatus();
    return InvalidParameterError(
        Cat("Secondary index ", *statement_.index,
            " does not project one or more filter attributes: ", model::PrintedList(missing.names())));
  }

  void FindWholeKey() {
    if (index_ != nullptr || !statement_.where.has_value()) return;
    std::vector<const Condition*> terms = Conjuncts(*statement_.where);
    std::optional<std::string> key = TakeKey(schema(), OnlyValueOn, &terms);
    if (!key.has_value()) return;
    plan_.key = *std::move(key);
    plan_.is_key_only = terms.empty();
  }

  GetItemRequest MakeGet() const {
    GetItemRequest get;
    get.table_name = statement_.table;
    get.key_wire = plan_.key;
    get.consistent_read = options_.consistent_read;
    ExpressionText text;
    SetProjection(statement_, &text, &get.expressions);
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

  const Statement& statement_;
  const PlanOptions& options_;
  const store::Table& table_;
  const store::Index* index_ = nullptr;
  std::vector<KeyedRead> queries_;
  bool descending_ = false;
  Plan plan_;
};

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

std::string UpdateText(const Statement& statement, ExpressionText* text) {
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
      const std::string value = text->Value(assignment.left.arguments[1].value);
      const bool is_add = function == "set_add";
      append(is_add ? " ADD " : " DELETE ", Cat(target, " ", value), is_add ? &adds : &deletes);
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
  std::vector<const Condition*> terms;
  if (statement.where.has_value()) terms = Conjuncts(*statement.where);
  ARM_RETURN_IF_ERROR(RemoveRepeatedKeys(schema, &terms));
  std::optional<std::string> key = TakeKey(schema, EqualityOn, &terms);
  if (!key.has_value() && !is_check) {
    return ValidationError(kNoKeyInWrite);
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
  std::string condition = Joined(terms, &text, statement.kind == Statement::Kind::kUpdate);
  plan.kind = is_check ? PlanKind::kCheck : PlanKind::kDelete;
  if (statement.kind == Statement::Kind::kUpdate) {
    plan.kind = PlanKind::kUpdate;
    // An update creates no item.
    const std::string exists = Cat("attribute_exists(", text.Name(schema.partition[0].name), ")");
    condition = condition.empty() ? exists : Cat(exists, " AND ", condition);
    write.expressions.update = UpdateText(statement, &text);
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

ReadRequest Plan::RequestOf(size_t i) const {
  ReadRequest request = read;
  if (kind == PlanKind::kScan) {
    FillScan(*statement, &request.expressions);
  } else {
    FillQuery(*statement, read_key, queries[i], &request.expressions);
  }
  return request;
}

absl::StatusOr<Plan> MakePlan(const store::Database& database, std::shared_ptr<const Statement> statement,
                              const PlanOptions& options) {
  // A statement names its table in its text, where no length is demanded: a short name is not found.
  if (!model::IsName(statement->table, 1)) ARM_RETURN_IF_ERROR(model::CheckTableReference(statement->table));
  ARM_ASSIGN_OR_RETURN(const PinnedTable pinned, FindTable(database, statement->table));
  absl::StatusOr<Plan> plan;
  switch (statement->kind) {
    case Statement::Kind::kSelect:
      plan = SelectPlanner(*statement, options, *pinned.table).Run();
      break;
    case Statement::Kind::kInsert:
      plan = PlanInsert(*statement, *pinned.table);
      break;
    default:
      plan = PlanOneItem(*statement, *pinned.table);
  }
  if (!plan.ok()) return plan;
  if (!plan->key.empty()) {
    plan->row_key = RowKeyOf(*pinned.table, plan->key);
    if (plan->row_key.empty() && !options.in_transaction) {
      ARM_RETURN_IF_ERROR(CheckKeyTypes(pinned.table->descriptor.key, *plan));
    }
  }
  plan->statement = std::move(statement);
  return plan;
}

std::string Explained(const Plan& plan) {
  const Statement& statement = *plan.statement;
  std::string text;
  if (plan.get.has_value()) text = Step("GetItem", statement, plan.get->expressions);
  const bool is_query = plan.kind == PlanKind::kQuery;
  const size_t reads = is_query || plan.kind == PlanKind::kScan ? plan.read_count() : 0;
  for (size_t i = 0; i < reads; ++i) {
    const ReadRequest read = plan.RequestOf(i);
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
