#include "tools/armature/items/key_terms.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/canonical_text.h"
#include "storage/model/number.h"
#include "tools/armature/plain_json.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

using api::v1::AttributeValue;

constexpr std::string_view kBetween = "between";
constexpr std::string_view kAnd = "and";
constexpr std::string_view kPrefix = "^=";
constexpr std::string_view kUnequal = "<>";

// An operator as it is written, and in expressions.
struct TermOperator {
  std::string_view written;
  std::string_view operation;
};
// Longer operators come first.
constexpr std::array<TermOperator, 9> kTermOperators{{{"==", "="},
                                                      {"!=", kUnequal},
                                                      {"<>", kUnequal},
                                                      {"<=", "<="},
                                                      {">=", ">="},
                                                      {kPrefix, kPrefix},
                                                      {"=", "="},
                                                      {"<", "<"},
                                                      {">", ">"}}};

struct Term {
  std::string attribute;                 // empty: the next key attribute
  std::string_view operation;            // of expressions, kPrefix or kBetween
  std::vector<std::string_view> values;  // as written; two for kBetween
};

std::string_view Stripped(std::string_view text) { return Sv(absl::StripAsciiWhitespace(Av(text))); }

bool IsBlankAt(std::string_view text, size_t i) {
  return i < text.size() && absl::ascii_isspace(static_cast<unsigned char>(text[i]));
}

// Place of a word that has blanks on both sides, from `from` on.
size_t FindWord(std::string_view text, std::string_view word, size_t from) {
  for (size_t i = std::max<size_t>(from, 1); i + word.size() < text.size(); ++i) {
    if (IsBlankAt(text, i - 1) && IsBlankAt(text, i + word.size()) &&
        absl::EqualsIgnoreCase(Av(text.substr(i, word.size())), Av(word))) {
      return i;
    }
  }
  return std::string_view::npos;
}

// The end of a value in quotes at the beginning of `text`; 0 if there is none.
size_t EndOfQuotes(std::string_view text) {
  if (text.empty() || (text.front() != '\'' && text.front() != '"')) return 0;
  const char quote = text.front();
  for (size_t i = 1; i < text.size(); ++i) {
    const bool is_escape = quote == '"' && text[i] == '\\';
    const bool is_doubled = quote == '\'' && text.substr(i, 2) == "''";
    if (is_escape || is_doubled) {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return 0;
}

// Reads what follows the attribute: an operator and its values. Absent if there is no operator.
absl::StatusOr<std::optional<Term>> ReadOperator(std::string_view rest) {
  Term term;
  const std::string_view stripped = Stripped(rest);
  if (IsBlankAt(rest, 0) &&
      FindWord(rest, kBetween, 1) == rest.size() - Sv(absl::StripLeadingAsciiWhitespace(Av(rest))).size()) {
    term.operation = kBetween;
    const std::string_view range = Stripped(stripped.substr(kBetween.size()));
    const size_t middle = FindWord(range, kAnd, EndOfQuotes(range));
    if (middle == std::string_view::npos)
      return UsageError(Cat("\"", stripped, "\": between needs two values: between A and B"));
    term.values = {Stripped(range.substr(0, middle)), Stripped(range.substr(middle + kAnd.size()))};
    return term;
  }
  for (const TermOperator& each : kTermOperators) {
    if (!stripped.starts_with(each.written)) continue;
    term.operation = each.operation;
    term.values = {Stripped(stripped.substr(each.written.size()))};
    return term;
  }
  return std::nullopt;
}

// The end of the attribute in a term with other attributes than those of keys.
size_t EndOfAttribute(std::string_view text) {
  size_t from = 0;
  if (text.starts_with('`')) from = std::min(text.find('`', 1), text.size());
  const size_t symbol = text.find_first_of("=!<>^", from);
  const size_t between = FindWord(text, kBetween, from);
  // Before the blank in front of the word.
  return std::min(symbol, between == std::string_view::npos ? between : between - 1);
}

absl::StatusOr<Term> ParseTerm(const TargetKeys& keys, std::string_view text) {
  for (const std::string& name : keys.Names()) {
    if (!text.starts_with(name)) continue;
    ARM_ASSIGN_OR_RETURN(std::optional<Term> term, ReadOperator(text.substr(name.size())));
    if (!term.has_value()) continue;
    term->attribute = name;
    return *std::move(term);
  }
  const size_t end = EndOfAttribute(text);
  if (end != std::string_view::npos && end > 0) {
    ARM_ASSIGN_OR_RETURN(std::optional<Term> term, ReadOperator(text.substr(end)));
    if (term.has_value()) {
      term->attribute = std::string(Stripped(text.substr(0, end)));
      return *std::move(term);
    }
  }
  return Term{.attribute = "", .operation = "=", .values = {text}};
}

// The text in quotes; absent if `text` is not in quotes as a whole. Errors: INVALID_ARGUMENT.
absl::StatusOr<std::optional<std::string>> Unquoted(std::string_view text) {
  if (EndOfQuotes(text) != text.size() || text.empty()) return std::nullopt;
  if (text.front() == '\'') return absl::StrReplaceAll(Av(text.substr(1, text.size() - 2)), {{"''", "'"}});
  ARM_ASSIGN_OR_RETURN(const AttributeValue value, ValueFromPlain(text));
  return value.s();
}

// A value with the type of its form.
absl::StatusOr<AttributeValue> ValueByForm(std::string_view text) {
  AttributeValue value;
  ARM_ASSIGN_OR_RETURN(std::optional<std::string> unquoted, Unquoted(text));
  if (unquoted.has_value()) {
    value.set_s(*std::move(unquoted));
  } else if (text == "true" || text == "false" || text == "null" || text.starts_with('{') || text.starts_with('[')) {
    return ValueFromPlain(text);
  } else if (model::Number::Parse(text).ok()) {
    value.set_n(std::string(text));
  } else {
    value.set_s(std::string(text));
  }
  return value;
}

// Writes terms of one read.
class TermWriter {
 public:
  TermWriter(const TargetKeys& keys, ExpressionWriter* writer) : keys_(keys), writer_(*writer) {}

  // Adds the term to the key condition if `is_query` and its attribute is part of the key, else to the filter.
  absl::Status Add(std::string_view text, bool is_query) {
    if (!codec::IsValidUtf8(text)) return UsageError("a term is not UTF-8");
    ARM_ASSIGN_OR_RETURN(Term term, ParseTerm(keys_, text));
    if (term.attribute.empty()) {
      if (next_key_ == keys_.target.attributes.size()) {
        return UsageError(
            Cat("\"", text, "\" has no operator, and all key attributes have values; ", keys_.target.Describe()));
      }
      term.attribute = keys_.target.attributes[next_key_++].name;
    }
    const KeyAttribute* const part = keys_.target.Find(term.attribute);
    if (is_query && part != nullptr && term.operation == kUnequal) {
      return UsageError(Cat("\"", text, "\": != is not for the key of a query; scan --where takes it"));
    }
    ARM_ASSIGN_OR_RETURN(const std::string expression, Expression(term, text));
    std::string* const all = is_query && part != nullptr ? &expressions_.key : &expressions_.filter;
    all->append(Cat(all->empty() ? "" : " AND ", expression));
    return absl::OkStatus();
  }

  ReadExpressions Take() { return std::move(expressions_); }

 private:
  absl::StatusOr<std::string> Expression(const Term& term, std::string_view text) {
    std::string name;
    const KeyAttribute* key_attribute = keys_.target.Find(term.attribute);
    const TargetKey& key = key_attribute != nullptr ? keys_.target : keys_.table;
    key_attribute = key.Find(term.attribute);
    if (key_attribute != nullptr) {
      name = writer_.Name(term.attribute);
    } else {
      absl::StatusOr<std::string> path = writer_.Paths(term.attribute);
      if (!path.ok()) return UsageError(Cat("\"", text, "\": ", Sv(path.status().message())));
      name = *std::move(path);
    }
    std::vector<std::string> values;
    for (const std::string_view written : term.values) {
      absl::StatusOr<AttributeValue> value =
          key_attribute != nullptr ? KeyValue(key, *key_attribute, written) : ValueByForm(written);
      if (!value.ok()) return UsageError(Cat("\"", text, "\": ", Sv(value.status().message())));
      values.push_back(writer_.Value(*std::move(value)));
    }
    if (term.operation == kBetween) return Cat(name, " BETWEEN ", values[0], " AND ", values[1]);
    if (term.operation == kPrefix) return Cat("begins_with(", name, ", ", values[0], ")");
    return Cat(name, " ", term.operation, " ", values[0]);
  }

  static absl::StatusOr<AttributeValue> KeyValue(const TargetKey& key, const KeyAttribute& attribute,
                                                 std::string_view written) {
    ARM_ASSIGN_OR_RETURN(const std::optional<std::string> unquoted, Unquoted(written));
    return KeyValueFromText(key, attribute, unquoted.has_value() ? std::string_view(*unquoted) : written);
  }

  const TargetKeys& keys_;
  ExpressionWriter& writer_;
  ReadExpressions expressions_;
  size_t next_key_ = 0;  // key attribute of the next term without an operator
};

absl::StatusOr<ReadExpressions> WriteTerms(const TargetKeys& keys, const std::vector<std::string>& terms, bool is_query,
                                           ExpressionWriter* writer) {
  TermWriter all(keys, writer);
  for (const std::string& term : terms) ARM_RETURN_IF_ERROR(all.Add(term, is_query));
  return all.Take();
}

}  // namespace

bool FixPartition(const TargetKeys& keys, const std::vector<std::string>& terms) {
  std::vector<std::string> equal;
  size_t next_key = 0;
  for (const std::string& text : terms) {
    const absl::StatusOr<Term> term = ParseTerm(keys, text);
    if (!term.ok() || term->operation != "=") continue;
    if (!term->attribute.empty()) {
      equal.push_back(term->attribute);
    } else if (next_key < keys.target.attributes.size()) {
      equal.push_back(keys.target.attributes[next_key++].name);
    }
  }
  return std::all_of(keys.target.attributes.begin(), keys.target.attributes.end(), [&](const KeyAttribute& each) {
    return !each.is_partition || std::find(equal.begin(), equal.end(), each.name) != equal.end();
  });
}

absl::StatusOr<ReadExpressions> QueryTerms(const TargetKeys& keys, const std::vector<std::string>& terms,
                                           ExpressionWriter* writer) {
  ARM_ASSIGN_OR_RETURN(ReadExpressions expressions, WriteTerms(keys, terms, true, writer));
  if (!FixPartition(keys, terms)) {
    return UsageError(
        Cat("a query needs NAME=VALUE for the partition key; ", keys.target.Describe(), "; scan reads without one"));
  }
  return expressions;
}

absl::StatusOr<ReadExpressions> ScanTerms(const TargetKeys& keys, const std::vector<std::string>& terms,
                                          ExpressionWriter* writer) {
  return WriteTerms(keys, terms, false, writer);
}

}  // namespace armature::cli
