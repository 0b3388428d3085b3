#include "tests/unit/engine/model_writer.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "tests/unit/engine/capacity_model.h"

namespace armature::engine {
namespace {

// An update expression and its effect on a row of the model.
struct ModelUpdate {
  std::map<std::string, std::vector<std::string>> clauses;  // "SET" -> {"#x = :x", ...}
  StringMap<std::string> names;
  ModelItem values;
  ModelItem constants;  // attributes set to constants of the request
  std::set<std::string> targets;
  ModelItem now;

  void Act(const std::string& clause, const std::string& target, const std::string& operand) {
    clauses[clause].push_back("#" + target + operand);
    names["#" + target] = target;
    targets.insert(target);
  }
  void Set(const std::string& target, const Scalar& value) {
    Act("SET", target, " = :" + target);
    values[":" + target] = value;
    constants[target] = value;
    now[target] = value;
  }
  void Remove(const std::string& target) {
    Act("REMOVE", target, "");
    now.erase(target);
  }
  ModelItem Part(const ModelItem& item) const {
    ModelItem part;
    for (const std::string& target : targets) {
      if (item.contains(target)) part[target] = item.at(target);
    }
    return part;
  }
  // The attributes of `row` that the update has set, or all if it created the row.
  std::set<std::string> SetIn(const ModelItem& row, bool made) const {
    std::set<std::string> set;
    for (const auto& [name, value] : row) {
      if (made || targets.contains(name)) set.insert(name);
    }
    return set;
  }
  std::string Expression() const {
    std::string text;
    for (const auto& [clause, actions] : clauses) {
      text += (text.empty() ? "" : " ") + clause;
      for (size_t i = 0; i < actions.size(); ++i) text += (i == 0 ? " " : ", ") + actions[i];
    }
    return text;
  }
  void WriteTo(WriteRequest* request) const {
    if (!targets.empty()) {
      request->expressions.update = Expression();
      request->expressions.names = names;
    }
    if (!values.empty()) request->expressions.values_wire = WireOf(values);
  }
};

// Adds values that depend on the old row, and sums.
void AddComputed(const ModelItem& old, RandomValues* values, ModelUpdate* update) {
  if (values->OneIn(3)) {
    const Scalar otherwise = {'S', "none"};
    update->Act("SET", "copy", " = if_not_exists(x, :otherwise)");
    update->values[":otherwise"] = otherwise;
    update->now["copy"] = old.contains("x") ? old.at("x") : otherwise;
  }
  if (old.contains("x") && !update->targets.contains("r2") && values->OneIn(12)) {
    update->Act("SET", "r2", " = x");
    update->now["r2"] = old.at("x");
  }
  if (values->OneIn(3)) {
    const int step = static_cast<int>(values->Below(9)) - 4;
    update->Act("ADD", "count", " :step");
    update->values[":step"] = {'N', std::to_string(step)};
    const int count = old.contains("count") ? std::stoi(old.at("count").text) : 0;
    update->now["count"] = {'N', std::to_string(count + step)};
  }
}

ModelUpdate RandomUpdate(const ModelItem& old, const ModelItem& fresh, RandomValues* values) {
  ModelUpdate update;
  update.now = old;
  for (const std::string& name : AttributeNames()) {
    if (!values->OneIn(5)) continue;
    if (fresh.contains(name)) {
      update.Set(name, fresh.at(name));
    } else {
      update.Remove(name);
    }
  }
  AddComputed(old, values, &update);
  return update;
}

// The expected attributes for ReturnValues `mode`.
ModelItem Returned(const std::string& mode, const ModelUpdate& update, const std::optional<ModelItem>& old,
                   const std::optional<ModelItem>& now) {
  ModelItem returned;
  if (mode.ends_with("_OLD")) returned = old.value_or(ModelItem());
  if (mode.ends_with("_NEW")) returned = now.value_or(ModelItem());
  return mode.starts_with("UPDATED_") ? update.Part(returned) : returned;
}

}  // namespace

void ModelWriter::WriteOnce(ModelTable* table, bool counts) {
  const size_t kind = values_->Below(6);
  if (kind < 2) return Update(table, counts);
  PutOrDelete(table, /*put=*/kind < 5, counts);
}

void ModelWriter::AskForCapacity(bool counts, WriteRequest* request) {
  static const std::vector<std::string> kModes = {"INDEXES", "INDEXES", "INDEXES", "TOTAL", "NONE"};
  request->return_consumed_capacity = counts ? values_->Pick(kModes) : "NONE";
}

bool ModelWriter::MaybeMakeConditional(WriteRequest* request) {
  if (!values_->OneIn(4)) return false;
  request->expressions.condition = "attribute_not_exists(#key)";
  if (!request->expressions.names.has_value()) request->expressions.names.emplace();
  request->return_values_on_condition_check_failure = "ALL_OLD";
  return true;
}

void ModelWriter::PutOrDelete(ModelTable* table, bool put, bool counts) {
  const ModelItem item = put ? tables_->Item(*table) : tables_->Key(*table);
  WriteRequest request = WriteTo(table->name(), values_->Written(item));
  AskForCapacity(counts, &request);
  Expected expected;
  if (put) expected.refusals = table->RefusalsOfPut(item);
  if (put) expected.now = item;
  if (values_->OneIn(3)) {
    request.return_values = "ALL_OLD";
    expected.returned = table->Row(item).value_or(ModelItem());
  }
  expected.conditional = MaybeMakeConditional(&request);
  if (expected.conditional) (*request.expressions.names)["#key"] = table->KeyNames().front();
  CheckAnswer(put ? engine_->Put(request) : engine_->Delete(request), request, item, expected, table);
}

void ModelWriter::Update(ModelTable* table, bool counts) {
  const ModelItem key = tables_->Key(*table);
  const std::optional<ModelItem> old = table->Row(key);
  const ModelUpdate update = RandomUpdate(old.value_or(ModelItem()), tables_->Item(*table), values_);
  WriteRequest request = WriteTo(table->name(), values_->Written(key));
  update.WriteTo(&request);
  AskForCapacity(counts, &request);
  Expected expected;
  expected.refusals = table->RefusalsOfConstants(update.constants);
  const bool only_removes = update.clauses.size() == 1 && update.clauses.contains("REMOVE");
  if (old.has_value() || !only_removes) {
    expected.now = update.now;
    expected.now->insert(key.begin(), key.end());
    expected.late_refusals = table->RefusalsOfUpdate(update.SetIn(*expected.now, !old.has_value()), *expected.now);
  }
  static const std::vector<std::string> kModes = {"NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"};
  request.return_values = values_->Pick(kModes);
  expected.returned = Returned(request.return_values, update, old, expected.now);
  expected.conditional = MaybeMakeConditional(&request);
  if (expected.conditional) (*request.expressions.names)["#key"] = table->KeyNames().front();
  SCOPED_TRACE(request.return_values + " of " + update.Expression() + " with " + Printed(update.values));
  CheckAnswer(engine_->Update(request), request, key, expected, table);
}

void ModelWriter::CheckRefusal(const absl::Status& status, const std::set<std::string>& texts) {
  ++refused_;
  ASSERT_EQ(ErrorNameOf(status), "ValidationException");
  ASSERT_TRUE(texts.contains(std::string(status.message()))) << status.message() << "\ninstead of " << *texts.begin();
}

void ModelWriter::CheckAnswer(const absl::StatusOr<WriteResult>& result, const WriteRequest& request,
                              const ModelItem& key, const Expected& expected, ModelTable* table) {
  const std::optional<ModelItem> old = table->Row(key);
  SCOPED_TRACE(table->name() + ", from " + (old.has_value() ? Printed(*old) : "nothing") + "to " +
               (expected.now.has_value() ? Printed(*expected.now) : "nothing"));
  if (!expected.refusals.empty()) return CheckRefusal(result.status(), expected.refusals);
  if (expected.conditional && old.has_value()) {
    ASSERT_EQ(ErrorNameOf(result.status()), "ConditionalCheckFailedException");
    ASSERT_EQ(Printed(Decode(GetApiError(result.status())->item)), Printed(*old));
    return;
  }
  if (!expected.late_refusals.empty()) return CheckRefusal(result.status(), expected.late_refusals);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_GE(result->change_sequence, table->last_sequence);
  table->last_sequence = result->change_sequence;
  ASSERT_EQ(result->attributes.has_value(), !expected.returned.empty());
  if (result->attributes.has_value()) {
    ASSERT_EQ(Printed(Decode(result->attributes->view())), Printed(expected.returned));
  }
  const ModelCapacity capacity = CapacityOfWrite(table->keyspaces(), old, expected.now);
  ASSERT_EQ(Told(result->capacity), Told(capacity, request.return_consumed_capacity, table->name()));
  table->SetRow(key, expected.now);
}

}  // namespace armature::engine
