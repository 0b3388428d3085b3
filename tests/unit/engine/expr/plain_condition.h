#ifndef ARMATURE_TESTS_UNIT_ENGINE_EXPR_PLAIN_CONDITION_H_
#define ARMATURE_TESTS_UNIT_ENGINE_EXPR_PLAIN_CONDITION_H_

// Random conditions that can print themselves as a text and evaluate themselves on a plain item, as the expected result
// for lexer, parser, binder and evaluator.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/engine/expr/plain_value.h"

namespace armature::expr::testing {

struct PlainStep {
  std::string name;  // empty: use the index
  size_t index = 0;
  friend bool operator==(const PlainStep&, const PlainStep&) = default;
};

struct PlainOperand {
  std::vector<PlainStep> path;  // empty: use the literal
  std::optional<Plain> literal;
  bool size = false;  // size() of path or literal

  bool is_path() const { return !path.empty() && !size; }
};

struct PlainCondition {
  enum class Kind { kCompare, kBetween, kIn, kExists, kNotExists, kType, kBeginsWith, kContains, kNot, kAnd, kOr };
  Kind kind = Kind::kCompare;
  std::string comparator;  // kCompare
  std::string type_name;   // kType
  std::vector<PlainOperand> operands;
  std::vector<PlainCondition> terms;  // kNot, kAnd, kOr
};

// The value of an operand for an item. size() of a value without a size is `senseless`: any comparison with it is
// false.
struct PlainSubject {
  std::optional<Plain> value;
  bool senseless = false;
};

inline PlainSubject Resolve(const PlainOperand& operand, const PlainItem& item) {
  std::optional<Plain> value = operand.literal;
  if (!operand.path.empty()) {
    Plain root;
    root.type = model::ValueType::kMap;
    root.map = item;
    value = root;
    for (const PlainStep& step : operand.path) {
      const Plain parent = *std::exchange(value, std::nullopt);
      if (step.name.empty()) {
        if (step.index < parent.list.size()) value = parent.list[step.index];
      } else if (parent.map.contains(step.name)) {
        value = parent.map.at(step.name);
      }
      if (!value.has_value()) break;
    }
  }
  if (!operand.size) return {value, false};
  if (!value.has_value()) return {std::nullopt, true};
  size_t count = 0;
  switch (value->type) {
    case model::ValueType::kString:
      count = value->utf16_units;
      break;
    case model::ValueType::kBinary:
      count = value->text.size();
      break;
    case model::ValueType::kNumber:
    case model::ValueType::kBool:
    case model::ValueType::kNull:
      return {std::nullopt, true};
    default:
      count = value->strings.size() + value->numbers.size() + value->list.size() + value->map.size();
  }
  Plain number;
  number.type = model::ValueType::kNumber;
  number.thousandths = static_cast<int64_t>(count) * 1000;
  return {number, false};
}

// Negative, 0 or positive; nullopt for values without an order.
inline std::optional<int> Order(const PlainSubject& a, const PlainSubject& b) {
  if (!a.value.has_value() || !b.value.has_value() || a.value->type != b.value->type) return std::nullopt;
  if (a.value->type == model::ValueType::kNumber) {
    return a.value->thousandths < b.value->thousandths ? -1 : a.value->thousandths > b.value->thousandths;
  }
  if (a.value->type != model::ValueType::kString && a.value->type != model::ValueType::kBinary) return std::nullopt;
  const std::vector<unsigned char> x(a.value->text.begin(), a.value->text.end());
  const std::vector<unsigned char> y(b.value->text.begin(), b.value->text.end());
  return x < y ? -1 : x > y;
}

inline bool Same(const PlainSubject& a, const PlainSubject& b) {
  return a.value.has_value() && b.value.has_value() && *a.value == *b.value;
}

inline bool Compares(const std::string& comparator, const PlainSubject& a, const PlainSubject& b) {
  if (a.senseless || b.senseless) return false;
  if (comparator == "=") return Same(a, b);
  if (comparator == "<>") return !Same(a, b);
  const std::optional<int> order = Order(a, b);
  if (!order.has_value()) return false;
  if (comparator == "<") return *order < 0;
  if (comparator == "<=") return *order <= 0;
  return comparator == ">" ? *order > 0 : *order >= 0;
}

inline bool Holds(const PlainSubject& whole, const PlainSubject& part) {
  if (!whole.value.has_value() || !part.value.has_value()) return false;
  const Plain& w = *whole.value;
  const Plain& p = *part.value;
  switch (w.type) {
    case model::ValueType::kString:
    case model::ValueType::kBinary:
      return w.type == p.type && w.text.find(p.text) != std::string::npos;
    case model::ValueType::kStringSet:
      return p.type == model::ValueType::kString && w.strings.contains(p.text);
    case model::ValueType::kBinarySet:
      return p.type == model::ValueType::kBinary && w.strings.contains(p.text);
    case model::ValueType::kNumberSet:
      return p.type == model::ValueType::kNumber && w.numbers.contains(p.thousandths);
    case model::ValueType::kList:
      return std::find(w.list.begin(), w.list.end(), p) != w.list.end();
    default:
      return false;
  }
}

inline bool Begins(const PlainSubject& whole, const PlainSubject& prefix) {
  if (!whole.value.has_value() || !prefix.value.has_value() || whole.value->type != prefix.value->type) return false;
  if (whole.value->type != model::ValueType::kString && whole.value->type != model::ValueType::kBinary) return false;
  return whole.value->text.substr(0, prefix.value->text.size()) == prefix.value->text;
}

inline bool Meets(const PlainItem& item, const PlainCondition& condition) {
  using Kind = PlainCondition::Kind;
  std::vector<PlainSubject> subjects;
  for (const PlainOperand& operand : condition.operands) subjects.push_back(Resolve(operand, item));
  const auto meets = [&item](const PlainCondition& term) { return Meets(item, term); };
  switch (condition.kind) {
    case Kind::kCompare:
      return Compares(condition.comparator, subjects[0], subjects[1]);
    case Kind::kBetween:
      return Compares(">=", subjects[0], subjects[1]) && Compares("<=", subjects[0], subjects[2]);
    case Kind::kIn:
      return std::any_of(subjects.begin() + 1, subjects.end(),
                         [&subjects](const PlainSubject& choice) { return Compares("=", subjects[0], choice); });
    case Kind::kExists:
      return subjects[0].value.has_value();
    case Kind::kNotExists:
      return !subjects[0].value.has_value();
    case Kind::kType:
      return subjects[0].value.has_value() && model::ValueTypeName(subjects[0].value->type) == condition.type_name;
    case Kind::kBeginsWith:
      return Begins(subjects[0], subjects[1]);
    case Kind::kContains:
      return Holds(subjects[0], subjects[1]);
    case Kind::kNot:
      return !Meets(item, condition.terms[0]);
    case Kind::kAnd:
      return std::all_of(condition.terms.begin(), condition.terms.end(), meets);
    case Kind::kOr:
      return std::any_of(condition.terms.begin(), condition.terms.end(), meets);
  }
  return false;
}

// Makes conditions that pass all static checks. Literals are often parts of `item`.
class ConditionMaker {
 public:
  ConditionMaker(const PlainItem& item, Random* random) : random_(random) {
    for (const auto& [name, value] : item) Collect(value);
  }

  PlainCondition Make(int depth) {
    using Kind = PlainCondition::Kind;
    const int roll = depth > 0 ? random_->Below(6) : 5;
    if (roll > 2) return MakeLeaf();
    PlainCondition condition;
    condition.kind = roll == 0 ? Kind::kNot : roll == 1 ? Kind::kAnd : Kind::kOr;
    const int count = condition.kind == Kind::kNot ? 1 : 2 + random_->Below(2);
    for (int i = 0; i < count; ++i) condition.terms.push_back(Make(depth - 1));
    return condition;
  }

 private:
  using Types = std::vector<model::ValueType>;

  void Collect(const Plain& value) {
    values_.push_back(value);
    for (const Plain& element : value.list) Collect(element);
    for (const auto& [name, member] : value.map) Collect(member);
    for (const std::string& element : value.strings) {
      // The number of UTF-16 units is unknown here, so only binaries are taken.
      if (value.type != model::ValueType::kBinarySet) continue;
      Plain plain;
      plain.type = model::ValueType::kBinary;
      plain.text = element;
      values_.push_back(plain);
    }
  }

  std::vector<PlainStep> MakePath() {
    std::vector<PlainStep> path = {{std::string(random_->Pick(kPlainNames)), 0}};
    while (path.size() < 4 && random_->OneIn(3)) {
      if (random_->OneIn(2)) {
        path.push_back({std::string(random_->Pick(kPlainNames)), 0});
      } else {
        path.push_back({"", static_cast<size_t>(random_->Below(3))});
      }
    }
    return path;
  }

  Plain MakeLiteral(const Types& types) {
    for (int tries = random_->Below(8); tries > 0 && !values_.empty(); --tries) {
      const Plain& value = random_->Pick(values_);
      if (std::find(types.begin(), types.end(), value.type) != types.end()) return value;
    }
    return RandomOf(random_->Pick(types), 1, random_);
  }

  // An operand whose literals are of `types`. size() makes it a number.
  PlainOperand MakeOperand(const Types& types, bool may_be_size) {
    PlainOperand operand;
    if (may_be_size && random_->OneIn(6)) {
      operand.size = true;
      if (random_->OneIn(4)) {
        operand.literal = MakeLiteral({model::ValueType::kString, model::ValueType::kBinary, model::ValueType::kList,
                                       model::ValueType::kMap, model::ValueType::kNumberSet});
      } else {
        operand.path = MakePath();
      }
    } else if (random_->OneIn(2)) {
      operand.literal = MakeLiteral(types);
    } else {
      operand.path = MakePath();
    }
    return operand;
  }

  // An operand that is not the same path as `first`.
  PlainOperand MakeOther(const PlainOperand& first, const Types& types, bool may_be_size) {
    while (true) {
      PlainOperand operand = MakeOperand(types, may_be_size);
      if (!operand.is_path() || !first.is_path() || operand.path != first.path) return operand;
    }
  }

  PlainCondition MakeLeaf() {
    using Kind = PlainCondition::Kind;
    const Types all(std::begin(kAllTypes), std::end(kAllTypes));
    const Types ordered(std::begin(kOrderedTypes), std::end(kOrderedTypes));
    const Types texts = {model::ValueType::kString, model::ValueType::kBinary};
    PlainCondition leaf;
    leaf.kind = static_cast<Kind>(random_->Below(8));
    std::vector<PlainOperand>& operands = leaf.operands;
    switch (leaf.kind) {
      case Kind::kBetween:
        operands.push_back(MakeOperand(ordered, true));
        operands.push_back(MakeOther(operands[0], ordered, true));
        operands.push_back(MakeOther(operands[0], ordered, true));
        PutInOrder(&operands[1], &operands[2]);
        break;
      case Kind::kIn:
        operands.push_back(MakeOperand(all, true));
        for (int count = 1 + random_->Below(4); count > 0; --count) {
          operands.push_back(MakeOther(operands[0], all, true));
        }
        break;
      case Kind::kExists:
      case Kind::kNotExists:
        operands.push_back({MakePath(), std::nullopt, false});
        break;
      case Kind::kType:
        operands.push_back(MakeOperand(all, false));
        leaf.type_name = std::string(model::ValueTypeName(random_->Pick(kAllTypes)));
        break;
      case Kind::kBeginsWith:
        operands.push_back(MakeOperand(texts, false));
        operands.push_back(MakeOther(operands[0], texts, false));
        break;
      case Kind::kContains:
        operands.push_back(MakeOperand(all, true));
        operands.push_back(MakeOther(operands[0], all, true));
        break;
      default: {
        constexpr std::string_view kComparators[] = {"=", "<>", "<", "<=", ">", ">="};
        leaf.comparator = std::string(random_->Pick(kComparators));
        const Types& types = leaf.comparator == "=" || leaf.comparator == "<>" ? all : ordered;
        operands.push_back(MakeOperand(types, true));
        operands.push_back(MakeOther(operands[0], types, true));
      }
    }
    return leaf;
  }

  // Literal bounds must have one type and be in order, or they are refused.
  static void PutInOrder(PlainOperand* lower, PlainOperand* upper) {
    if (lower->size || upper->size || lower->is_path() || upper->is_path()) return;
    const std::optional<int> order = Order({lower->literal, false}, {upper->literal, false});
    if (!order.has_value()) upper->literal = lower->literal;
    if (order.value_or(0) > 0) std::swap(lower->literal, upper->literal);
  }

  std::vector<Plain> values_;
  Random* const random_;
};

// Writes a condition as a text and defines its placeholders.
class ConditionWriter {
 public:
  explicit ConditionWriter(Random* random) : random_(random) {}

  // Adds parentheses where precedence requires them, and sometimes redundant ones.
  std::string Write(const PlainCondition& condition) {
    const bool needless = random_->OneIn(8);
    return needless ? "(" + WriteBare(condition) + ")" : WriteBare(condition);
  }

  const std::map<std::string, std::string>& names() const { return names_; }
  const std::map<std::string, Wire>& values() const { return values_; }

 private:
  static int Strength(const PlainCondition& condition) {
    using Kind = PlainCondition::Kind;
    return condition.kind == Kind::kOr ? 0 : condition.kind == Kind::kAnd ? 1 : condition.kind == Kind::kNot ? 2 : 3;
  }

  std::string Term(const PlainCondition& term, int strength) {
    return Strength(term) < strength ? "(" + WriteBare(term) + ")" : Write(term);
  }

  std::string Keyword(std::string word) {
    if (random_->OneIn(3)) {
      for (char& c : word) c = static_cast<char>(c - 'A' + 'a');
    }
    return word;
  }

  std::string WriteBare(const PlainCondition& condition) {
    using Kind = PlainCondition::Kind;
    const std::vector<PlainOperand>& operands = condition.operands;
    switch (condition.kind) {
      case Kind::kCompare:
        return Operand(operands[0]) + Gap() + condition.comparator + Gap() + Operand(operands[1]);
      case Kind::kBetween:
        return Operand(operands[0]) + " " + Keyword("BETWEEN") + " " + Operand(operands[1]) + " " + Keyword("AND") +
               " " + Operand(operands[2]);
      case Kind::kIn: {
        std::string choices;
        for (size_t i = 1; i < operands.size(); ++i) choices += (i > 1 ? "," : "") + Gap() + Operand(operands[i]);
        return Operand(operands[0]) + " " + Keyword("IN") + Gap() + "(" + choices + ")";
      }
      case Kind::kExists:
        return "attribute_exists(" + Operand(operands[0]) + ")";
      case Kind::kNotExists:
        return "attribute_not_exists(" + Operand(operands[0]) + ")";
      case Kind::kType: {
        Plain name;
        name.type = model::ValueType::kString;
        name.text = condition.type_name;
        return "attribute_type(" + Operand(operands[0]) + ", " + Literal(name) + ")";
      }
      case Kind::kBeginsWith:
        return "begins_with (" + Operand(operands[0]) + "," + Operand(operands[1]) + ")";
      case Kind::kContains:
        return "contains(" + Operand(operands[0]) + ", " + Operand(operands[1]) + ")";
      case Kind::kNot:
        return Keyword("NOT") + " " + Term(condition.terms[0], 2);
      case Kind::kAnd:
      case Kind::kOr:
        break;
    }
    std::string text;
    const bool is_and = condition.kind == Kind::kAnd;
    for (const PlainCondition& term : condition.terms) {
      if (!text.empty()) text += " " + Keyword(is_and ? "AND" : "OR") + " ";
      text += Term(term, is_and ? 1 : 0);
    }
    return text;
  }

  std::string Gap() { return random_->OneIn(2) ? " " : random_->OneIn(2) ? "\t\n" : ""; }

  std::string Operand(const PlainOperand& operand) {
    const std::string inner = operand.path.empty() ? Literal(*operand.literal) : Path(operand.path);
    const std::string text = operand.size ? "size(" + inner + ")" : inner;
    return random_->OneIn(12) ? "(" + text + ")" : text;
  }

  std::string Path(const std::vector<PlainStep>& path) {
    std::string text;
    for (const PlainStep& step : path) {
      if (step.name.empty()) {
        text += "[" + std::to_string(step.index) + "]";
        continue;
      }
      if (!text.empty()) text += ".";
      if (random_->OneIn(3)) {
        names_["#n" + step.name] = step.name;
        text += "#n";
      }
      text += step.name;
    }
    return text;
  }

  std::string Literal(const Plain& value) {
    const std::string placeholder = ":v" + std::to_string(values_.size());
    values_[placeholder] = ToWire(value);
    return placeholder;
  }

  std::map<std::string, std::string> names_;
  std::map<std::string, Wire> values_;
  Random* const random_;
};

}  // namespace armature::expr::testing

#endif  // ARMATURE_TESTS_UNIT_ENGINE_EXPR_PLAIN_CONDITION_H_
