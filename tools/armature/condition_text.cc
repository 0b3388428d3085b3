#include "tools/armature/condition_text.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "storage/base/did_you_mean.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/canonical_text.h"
#include "storage/model/number.h"
#include "tools/armature/plain_json.h"

namespace armature::cli {
namespace {

using api::v1::AttributeValue;

// Payload of errors: the offset of the fault, as text.
constexpr std::string_view kPlaceUrl = "armature/cli/place";

// Deepest nesting of parentheses, functions and `not`.
constexpr int kConditionDepthMax = 100;

bool IsWordStart(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return absl::ascii_isalpha(byte) || c == '_' || byte >= 0x80;
}
bool IsWordPart(char c) { return IsWordStart(c) || absl::ascii_isdigit(static_cast<unsigned char>(c)); }

// A function of conditions and how many arguments it has, all of which are operands. The first is a path.
struct ConditionFunction {
  const char* name;
  int arguments;
};
constexpr ConditionFunction kConditionFunctions[] = {
    {"contains", 2}, {"begins_with", 2}, {"attribute_exists", 1}, {"attribute_not_exists", 1}, {"attribute_type", 2},
};

constexpr std::string_view kKeywords[] = {"and", "or", "not", "between", "in"};

AttributeValue TextValue(std::string text) {
  AttributeValue value;
  value.set_s(std::move(text));
  return value;
}

// A recursive descent over one text. Each function skips blanks, reads its part, and returns the expression for it.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, ExpressionWriter* writer) : text_(text), writer_(*writer) {}

  using Expression = absl::StatusOr<std::string>;

  // Elements with commas between them up to the end of the text.
  Expression ListToEnd(Expression (ExpressionParser::*element)()) {
    ARM_RETURN_IF_ERROR(CheckText());
    std::string list;
    do {
      ARM_ASSIGN_OR_RETURN(const std::string next, (this->*element)());
      list += Cat(list.empty() ? "" : ", ", next);
    } while (Take(","));
    ARM_RETURN_IF_ERROR(ExpectEnd());
    return list;
  }

  Expression ConditionToEnd() {
    ARM_RETURN_IF_ERROR(CheckText());
    ARM_ASSIGN_OR_RETURN(std::string condition, Or());
    ARM_RETURN_IF_ERROR(ExpectEnd());
    return condition;
  }

  Expression Path() {
    ARM_ASSIGN_OR_RETURN(const std::string first, PathName());
    if (std::find(attributes_.begin(), attributes_.end(), first) == attributes_.end()) attributes_.push_back(first);
    std::string path = writer_.Name(first);
    while (true) {
      // Without blanks between, so that a list may follow a path.
      const char next = place_ < text_.size() ? text_[place_] : '\0';
      if (next == '.') {
        ++place_;
        ARM_ASSIGN_OR_RETURN(const std::string name, PathName());
        path += Cat(".", writer_.Name(name));
      } else if (next == '[') {
        ++place_;
        const std::string_view index = Digits();
        if (index.empty()) return Wrong("expected the number of an element");
        path += Cat("[", index, "]");
        if (!Take("]")) return Wrong("expected ]");
      } else {
        return path;
      }
    }
  }

  Expression Assignment() {
    ARM_ASSIGN_OR_RETURN(const std::string path, Path());
    for (const char* sign : {"+", "-"}) {
      if (!Take(Cat(sign, "="))) continue;
      ARM_ASSIGN_OR_RETURN(const std::string more, AssignedOperand());
      return Cat(path, " = ", path, " ", sign, " ", more);
    }
    if (!Take("=")) return Wrong("expected =, += or -=");
    ARM_ASSIGN_OR_RETURN(const std::string first, AssignedOperand());
    std::string assignment = Cat(path, " = ", first);
    for (const char* sign : {"+", "-"}) {
      if (!Take(sign)) continue;
      ARM_ASSIGN_OR_RETURN(const std::string second, AssignedOperand());
      return Cat(assignment, " ", sign, " ", second);
    }
    return assignment;
  }

  Expression PathWithValue() {
    ARM_ASSIGN_OR_RETURN(const std::string path, Path());
    ARM_ASSIGN_OR_RETURN(const std::string value, ValueOnly());
    return Cat(path, " ", value);
  }

  // Names at the beginning of all paths that were read, each once.
  const std::vector<std::string>& attributes() const { return attributes_; }

 private:
  absl::Status Wrong(std::string_view fault) {
    SkipBlanks();
    return WrongAt(place_, Cat(fault, ", not ", Here()));
  }
  static absl::Status WrongAt(size_t place, std::string_view fault) {
    absl::Status status = absl::InvalidArgumentError(Av(fault));
    status.SetPayload(Av(kPlaceUrl), absl::Cord(Cat(place)));
    return status;
  }
  // The next word or character, for errors.
  std::string Here() const {
    if (place_ >= text_.size()) return "the end";
    size_t end = place_;
    while (end < text_.size() && IsWordPart(text_[end])) ++end;
    return Cat("\"", text_.substr(place_, std::max<size_t>(end - place_, 1)), "\"");
  }

  absl::Status CheckText() const {
    return codec::IsValidUtf8(text_) ? absl::OkStatus() : absl::InvalidArgumentError("the text is not UTF-8");
  }

  absl::Status ExpectEnd() {
    SkipBlanks();
    return place_ == text_.size() ? absl::OkStatus() : Wrong("expected the end");
  }

  void SkipBlanks() {
    while (place_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[place_]))) ++place_;
  }
  bool At(char c) {
    SkipBlanks();
    return place_ < text_.size() && text_[place_] == c;
  }
  // Skips `symbol` if it is next.
  bool Take(std::string_view symbol) {
    SkipBlanks();
    if (text_.substr(place_, symbol.size()) != symbol) return false;
    place_ += symbol.size();
    return true;
  }

  std::string_view Digits() {
    SkipBlanks();
    const size_t begin = place_;
    while (place_ < text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[place_]))) ++place_;
    return text_.substr(begin, place_ - begin);
  }

  // The next word, which stays unread. Empty if there is none.
  std::string_view Word() {
    SkipBlanks();
    size_t end = place_;
    if (end < text_.size() && IsWordStart(text_[end])) {
      while (end < text_.size() && IsWordPart(text_[end])) ++end;
    }
    return text_.substr(place_, end - place_);
  }
  bool IsWord(std::string_view word) { return absl::EqualsIgnoreCase(Av(Word()), Av(word)); }
  bool TakeWord(std::string_view word) {
    if (!IsWord(word)) return false;
    place_ += word.size();
    return true;
  }
  // The next word in lower case if a parenthesis follows it; empty otherwise. It stays unread.
  std::string FunctionName() {
    const std::string_view word = Word();
    size_t after = place_ + word.size();
    while (after < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[after]))) ++after;
    const bool is_keyword = std::any_of(std::begin(kKeywords), std::end(kKeywords), [&](std::string_view keyword) {
      return absl::EqualsIgnoreCase(Av(word), Av(keyword));
    });
    if (word.empty() || is_keyword || after >= text_.size() || text_[after] != '(') return "";
    return absl::AsciiStrToLower(Av(word));
  }

  // Content of a text in `quote`, in which the doubled quote stands for itself.
  Expression Doubled(char quote) {
    const size_t begin = place_++;
    std::string content;
    while (place_ < text_.size()) {
      const char c = text_[place_++];
      if (c == quote) {
        if (place_ >= text_.size() || text_[place_] != quote) return content;
        ++place_;
      }
      content.push_back(c);
    }
    return WrongAt(begin, Cat("the ", std::string(1, quote), " is not closed"));
  }

  Expression PathName() {
    if (At('`')) return Doubled('`');
    const std::string word(Word());
    for (const std::string_view keyword : kKeywords) {
      if (!IsWord(keyword)) continue;
      return WrongAt(place_,
                     Cat("expected an attribute, not \"", word, "\"; an attribute of this name stands in backticks"));
    }
    if (word.empty()) return Wrong("expected an attribute");
    place_ += word.size();
    return word;
  }

  // Skips a JSON document that begins with { or [. Returns its end.
  absl::StatusOr<std::string_view> JsonDocument() {
    const size_t begin = place_;
    int open = 0;
    bool in_string = false;
    for (; place_ < text_.size(); ++place_) {
      const char c = text_[place_];
      if (in_string) {
        if (c == '\\') ++place_;
        in_string = c != '"';
      } else if (c == '"') {
        in_string = true;
      } else if (c == '{' || c == '[') {
        ++open;
      } else if ((c == '}' || c == ']') && --open == 0) {
        return text_.substr(begin, ++place_ - begin);
      }
    }
    return WrongAt(begin, Cat("the ", text_.substr(begin, 1), " is not closed"));
  }

  absl::StatusOr<std::string_view> JsonString() {
    const size_t begin = place_++;
    for (; place_ < text_.size(); ++place_) {
      if (text_[place_] == '\\') {
        ++place_;
      } else if (text_[place_] == '"') {
        return text_.substr(begin, ++place_ - begin);
      }
    }
    return WrongAt(begin, "the \" is not closed");
  }

  Expression FromJson(size_t begin, std::string_view json) {
    absl::StatusOr<AttributeValue> value = ValueFromPlain(json);
    if (!value.ok()) return WrongAt(begin, Sv(value.status().message()));
    return writer_.Value(*std::move(value));
  }

  // Skips the characters of `these`.
  void SkipAny(std::string_view these) { place_ = std::min(text_.find_first_not_of(these, place_), text_.size()); }

  Expression Number() {
    const size_t begin = place_;
    if (At('-') || At('+')) ++place_;
    SkipAny("0123456789.");
    const size_t mantissa = place_;
    if (mantissa < text_.size() && absl::ascii_tolower(static_cast<unsigned char>(text_[mantissa])) == 'e') {
      ++place_;
      if (At('-') || At('+')) ++place_;
      SkipAny("0123456789");
    }
    if (place_ < text_.size() && IsWordPart(text_[place_])) {
      return WrongAt(begin, "not a number; texts stand in quotes, and names that begin with a digit in backticks");
    }
    const std::string_view text = text_.substr(begin, place_ - begin);
    if (const auto number = model::Number::Parse(text); !number.ok()) {
      return WrongAt(begin, Cat("\"", text, "\" is no number: ", Sv(number.status().message())));
    }
    AttributeValue value;
    value.set_n(std::string(text));
    return writer_.Value(std::move(value));
  }

  // A value; nullopt if something else is next.
  absl::StatusOr<std::optional<std::string>> MaybeValue() {
    SkipBlanks();
    const size_t begin = place_;
    const char next = begin < text_.size() ? text_[begin] : '\0';
    if (next == '\'') {
      ARM_ASSIGN_OR_RETURN(std::string content, Doubled('\''));
      return writer_.Value(TextValue(std::move(content)));
    }
    if (next == '"') {
      ARM_ASSIGN_OR_RETURN(const std::string_view json, JsonString());
      return FromJson(begin, json);
    }
    if (next == '{' || next == '[') {
      ARM_ASSIGN_OR_RETURN(const std::string_view json, JsonDocument());
      return FromJson(begin, json);
    }
    if (absl::ascii_isdigit(static_cast<unsigned char>(next)) || next == '-' || next == '+' || next == '.') {
      return Number();
    }
    for (const char* word : {"true", "false", "null"}) {
      if (TakeWord(word)) return FromJson(begin, word);
    }
    return std::nullopt;
  }

  Expression ValueOnly() {
    ARM_ASSIGN_OR_RETURN(std::optional<std::string> value, MaybeValue());
    if (!value.has_value()) return Wrong("expected a value (texts stand in quotes)");
    return *std::move(value);
  }

  // Arguments of a function, each read by its reader, with the parentheses.
  Expression Arguments(const std::vector<Expression (ExpressionParser::*)()>& readers) {
    if (!Take("(")) return Wrong("expected (");
    std::string arguments;
    for (const auto reader : readers) {
      if (!arguments.empty() && !Take(",")) return Wrong("expected a comma");
      ARM_ASSIGN_OR_RETURN(const std::string argument, (this->*reader)());
      arguments += Cat(arguments.empty() ? "" : ", ", argument);
    }
    if (!Take(")")) return Wrong("expected )");
    return Cat("(", arguments, ")");
  }

  // A value, a path, or the size of a path.
  Expression Operand() {
    ARM_ASSIGN_OR_RETURN(std::optional<std::string> value, MaybeValue());
    if (value.has_value()) return *std::move(value);
    const std::string function = FunctionName();
    if (function.empty()) return Path();
    if (function != "size") return UnknownFunction(function);
    TakeWord(function);
    ARM_ASSIGN_OR_RETURN(const std::string arguments, Arguments({&ExpressionParser::Path}));
    return Cat(function, arguments);
  }

  absl::Status UnknownFunction(const std::string& function) {
    std::vector<std::string> known{"size"};
    for (const ConditionFunction& each : kConditionFunctions) {
      if (function == each.name) return WrongAt(place_, Cat(function, " is a condition by itself, not a value"));
      known.emplace_back(each.name);
    }
    return WrongAt(place_, Cat("there is no function ", function, " in conditions", DidYouMean(function, known)));
  }

  // The second argument of attribute_type: the name of a type, with or without quotes.
  Expression TypeName() {
    const std::string word(Word());
    if (word.empty()) return ValueOnly();
    place_ += word.size();
    return writer_.Value(TextValue(word));
  }

  // A value, a path, or a function of assignments.
  Expression AssignedOperand() {
    if (++depth_ > kConditionDepthMax) return WrongAt(place_, "nested too deeply");
    Expression operand = AnyAssignedOperand();
    --depth_;
    return operand;
  }
  Expression AnyAssignedOperand() {
    ARM_ASSIGN_OR_RETURN(std::optional<std::string> value, MaybeValue());
    if (value.has_value()) return *std::move(value);
    const std::string function = FunctionName();
    if (function.empty()) return Path();
    const bool is_default = function == "if_not_exists";
    if (!is_default && function != "list_append") {
      return WrongAt(place_, Cat("there is no function ", function, " in assignments",
                                 DidYouMean(function, {"if_not_exists", "list_append"})));
    }
    TakeWord(function);
    ARM_ASSIGN_OR_RETURN(const std::string arguments,
                         Arguments({is_default ? &ExpressionParser::Path : &ExpressionParser::AssignedOperand,
                                    &ExpressionParser::AssignedOperand}));
    return Cat(function, arguments);
  }

  Expression Or() { return Chain("or", " OR ", &ExpressionParser::And); }
  Expression And() { return Chain("and", " AND ", &ExpressionParser::Not); }
  Expression Chain(std::string_view word, std::string_view operation, Expression (ExpressionParser::*part)()) {
    ARM_ASSIGN_OR_RETURN(std::string chain, (this->*part)());
    while (TakeWord(word)) {
      ARM_ASSIGN_OR_RETURN(const std::string next, (this->*part)());
      chain += Cat(operation, next);
    }
    return chain;
  }

  Expression Not() {
    if (++depth_ > kConditionDepthMax) return WrongAt(place_, "nested too deeply");
    Expression condition = TakeWord("not") ? Negated(Not()) : Simple();
    --depth_;
    return condition;
  }
  static Expression Negated(const Expression& condition) {
    ARM_RETURN_IF_ERROR(condition.status());
    return Cat("NOT ", *condition);
  }

  // A condition in parentheses, a function, or a comparison.
  Expression Simple() {
    if (Take("(")) {
      ARM_ASSIGN_OR_RETURN(const std::string inner, Or());
      if (!Take(")")) return Wrong("expected ), and, or or");
      return Cat("(", inner, ")");
    }
    const std::string function = FunctionName();
    for (const ConditionFunction& known : kConditionFunctions) {
      if (function != known.name) continue;
      TakeWord(function);
      std::vector<Expression (ExpressionParser::*)()> readers{&ExpressionParser::Path};
      if (known.arguments == 2) {
        readers.push_back(function == "attribute_type" ? &ExpressionParser::TypeName : &ExpressionParser::Operand);
      }
      ARM_ASSIGN_OR_RETURN(const std::string arguments, Arguments(readers));
      return Cat(function, arguments);
    }
    ARM_ASSIGN_OR_RETURN(const std::string left, Operand());
    return Comparison(left);
  }

  // The part of a comparison after its left operand.
  Expression Comparison(const std::string& left) {
    if (Take("^=")) {
      ARM_ASSIGN_OR_RETURN(const std::string prefix, Operand());
      return Cat("begins_with(", left, ", ", prefix, ")");
    }
    // Longer operators come first.
    constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kOperators{
        {{"==", "="}, {"!=", "<>"}, {"<>", "<>"}, {"<=", "<="}, {">=", ">="}, {"=", "="}, {"<", "<"}, {">", ">"}}};
    for (const auto& [written, operation] : kOperators) {
      if (!Take(written)) continue;
      ARM_ASSIGN_OR_RETURN(const std::string right, Operand());
      return Cat(left, " ", operation, " ", right);
    }
    const bool is_negated = TakeWord("not");
    Expression range = TakeWord("between") ? Between(left)
                       : TakeWord("in")    ? In(left)
                       : is_negated        ? Wrong("expected between or in")
                                           : Wrong("expected a comparison (= != < <= > >= ^= between in)");
    ARM_RETURN_IF_ERROR(range.status());
    return is_negated ? Cat("NOT (", *range, ")") : *std::move(range);
  }

  Expression Between(const std::string& left) {
    ARM_ASSIGN_OR_RETURN(const std::string low, Operand());
    if (!TakeWord("and")) return Wrong("expected and");
    ARM_ASSIGN_OR_RETURN(const std::string high, Operand());
    return Cat(left, " BETWEEN ", low, " AND ", high);
  }

  Expression In(const std::string& left) {
    if (!Take("(")) return Wrong("expected (");
    std::string list;
    do {
      ARM_ASSIGN_OR_RETURN(const std::string value, Operand());
      list += Cat(list.empty() ? "" : ", ", value);
    } while (Take(","));
    if (!Take(")")) return Wrong("expected , or )");
    return Cat(left, " IN (", list, ")");
  }

  const std::string_view text_;
  ExpressionWriter& writer_;
  std::vector<std::string> attributes_;
  size_t place_ = 0;
  int depth_ = 0;
};

}  // namespace

absl::StatusOr<std::string> ExpressionWriter::Condition(std::string_view text) {
  return ExpressionParser(text, this).ConditionToEnd();
}

absl::StatusOr<std::string> ExpressionWriter::Paths(std::string_view text, std::vector<std::string>* attributes) {
  ExpressionParser parser(text, this);
  absl::StatusOr<std::string> paths = parser.ListToEnd(&ExpressionParser::Path);
  if (attributes != nullptr) *attributes = parser.attributes();
  return paths;
}

absl::StatusOr<std::string> ExpressionWriter::Assignments(std::string_view text) {
  return ExpressionParser(text, this).ListToEnd(&ExpressionParser::Assignment);
}

absl::StatusOr<std::string> ExpressionWriter::PathsWithValues(std::string_view text) {
  return ExpressionParser(text, this).ListToEnd(&ExpressionParser::PathWithValue);
}

std::string ExpressionWriter::Name(std::string_view name) {
  const auto found = names_.find(name);
  if (found != names_.end()) return found->second;
  return names_.emplace(name, Cat("#n", names_.size())).first->second;
}

std::string ExpressionWriter::Value(AttributeValue value) {
  std::string placeholder = Cat(":v", values_.size());
  values_.emplace(placeholder, std::move(value));
  return placeholder;
}

std::optional<size_t> PlaceOf(const absl::Status& status) {
  size_t place = 0;
  const auto payload = status.GetPayload(Av(kPlaceUrl));
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &place)) return std::nullopt;
  return place;
}

std::string CaretLines(std::string_view text, size_t place) {
  const bool has_controls =
      std::any_of(text.begin(), text.end(), [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)); });
  if (has_controls || place > text.size()) return "";
  const auto characters = std::count_if(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place),
                                        [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  return Cat("  ", text, "\n  ", std::string(static_cast<size_t>(characters), ' '), "^\n");
}

}  // namespace armature::cli
