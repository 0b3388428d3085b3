#include "tests/unit/engine/random_condition.h"

#include <string>
#include <utility>

namespace armature::engine {
namespace {

// Builds a key condition expression term by term.
class Expression {
 public:
  void Compare(const std::string& attribute, const std::string& op, const std::string& placeholder,
               const Scalar& value) {
    Add(NameOf(attribute) + " " + op + " " + ValueOf(placeholder, value));
  }
  void Begins(const std::string& attribute, const Scalar& value) {
    Add("begins_with(" + NameOf(attribute) + ", " + ValueOf("first", value) + ")");
  }
  void Between(const std::string& attribute, const Scalar& first, const Scalar& second) {
    Add(NameOf(attribute) + " BETWEEN " + ValueOf("first", first) + " AND " + ValueOf("second", second));
  }
  void WriteTo(ExpressionParameters* parameters) {
    parameters->key_condition = text_;
    parameters->names = std::move(names_);
    parameters->values_wire = WireOf(values_);
  }

 private:
  void Add(const std::string& term) { text_ += (text_.empty() ? "" : " AND ") + term; }
  std::string NameOf(const std::string& attribute) {
    names_["#" + attribute] = attribute;
    return "#" + attribute;
  }
  std::string ValueOf(const std::string& placeholder, const Scalar& value) {
    values_[":" + placeholder] = value;
    return ":" + placeholder;
  }

  std::string text_;
  ModelItem values_;
  StringMap<std::string> names_;
};

}  // namespace

ModelCondition RandomCondition(const ModelKeyspace& keyspace, const std::vector<ModelItem>& entries,
                               RandomValues* values) {
  // Takes values from entries, so that queries find rows; from two entries, so that sort values differ.
  const ModelItem& one = values->Pick(entries);
  const ModelItem& other = values->Pick(entries);
  ModelCondition condition;
  condition.partition = Pick(one, keyspace.partition);
  const size_t equal = values->Below(keyspace.sort.size() + 1);
  for (size_t i = 0; i < equal; ++i) condition.sort_equal.push_back(one.at(keyspace.sort[i]));
  if (equal == keyspace.sort.size()) return condition;
  const std::string& name = keyspace.sort[equal];
  static const std::vector<std::string> kOperators = {"", "<", "<=", ">", ">=", "=", "BETWEEN", "begins_with"};
  condition.op = values->Pick(kOperators);
  condition.first = other.at(name);
  condition.second = one.at(name);
  if (condition.op == "begins_with") {
    if (condition.first.type == 'N') condition.op = ">=";
    if (condition.first.type == 'B') condition.first.text.resize(1);
    if (condition.first.type == 'S' && condition.first.text.starts_with('a')) condition.first.text.resize(1);
  }
  if (condition.second < condition.first) std::swap(condition.first, condition.second);
  return condition;
}

void Express(const ModelKeyspace& keyspace, const ModelCondition& condition, ReadRequest* request) {
  Expression expression;
  for (size_t i = 0; i < keyspace.partition.size(); ++i) {
    expression.Compare(keyspace.partition[i], "=", keyspace.partition[i], condition.partition[i]);
  }
  const size_t equal = condition.sort_equal.size();
  for (size_t i = 0; i < equal; ++i) {
    expression.Compare(keyspace.sort[i], "=", keyspace.sort[i], condition.sort_equal[i]);
  }
  if (condition.op == "BETWEEN") {
    expression.Between(keyspace.sort[equal], condition.first, condition.second);
  } else if (condition.op == "begins_with") {
    expression.Begins(keyspace.sort[equal], condition.first);
  } else if (!condition.op.empty()) {
    expression.Compare(keyspace.sort[equal], condition.op, "first", condition.first);
  }
  expression.WriteTo(&request->expressions);
}

}  // namespace armature::engine
