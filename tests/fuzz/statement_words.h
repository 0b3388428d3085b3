#ifndef ARMATURE_TESTS_FUZZ_STATEMENT_WORDS_H_
#define ARMATURE_TESTS_FUZZ_STATEMENT_WORDS_H_

// Changes statements by their words, so that a fuzzer makes more statements of the grammar than texts of noise.

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace armature::fuzz {

class StatementWords {
 public:
  explicit StatementWords(unsigned seed) : random_(seed) {}

  // `text` with a few of its words replaced, removed, repeated or added; or a new statement.
  std::string Change(std::string_view text) {
    std::vector<std::string> words = Split(text);
    if (words.empty() || Below(16) == 0) return Statement();
    for (size_t i = 1 + Below(3); i > 0 && !words.empty(); --i) ChangeOne(&words);
    std::string changed;
    for (const std::string& word : words) changed += word + " ";
    return changed;
  }

 private:
  using Words = std::vector<std::string>;

  size_t Below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }
  template <size_t kCount>
  std::string OneOf(const char* const (&all)[kCount]) {
    return all[Below(kCount)];
  }

  std::string Attribute() {
    static constexpr const char* kNames[] = {"pk", "sk", "pk", "sk", "n", "a",   "b",    "c",
                                             "d",  "e",  "f",  "g",  "h", "m.x", "l[0]", "\"x y\""};
    return OneOf(kNames);
  }
  std::string Value() {
    static constexpr const char* kValues[] = {
        "1",        "0",        "1.0",   "1e0", "2",       "'0'",   "'1'",
        "''",       "'a'",      "?",     "?",   "?",       "TRUE",  "NULL",
        "[1, 'a']", "{'k': 1}", "<<1>>", "-1",  "<<'a'>>", "1e125", "'\xc3\xbf\xc3\xbf'",
        "0.10"};
    return OneOf(kValues);
  }
  std::string Term() {
    static constexpr const char* kComparators[] = {"=", "=", "=", "<", "<=", ">", ">=", "<>"};
    const std::string attribute = Attribute();
    switch (Below(10)) {
      case 0:
        return "begins_with(" + attribute + ", " + Value() + ")";
      case 1:
        return attribute + " BETWEEN " + Value() + " AND " + Value();
      case 2: {
        std::string list = Value();
        for (size_t i = Below(6); i > 0; --i) list += ", " + Value();
        return attribute + " IN [" + list + "]";
      }
      case 3:
        return Value() + " " + OneOf(kComparators) + " " + attribute;
      case 4: {
        static constexpr const char* kOthers[] = {
            "attribute_exists(%)", "% IS MISSING", "attribute_type(%, 'N')",     "contains(%, 1)", "size(%) > 0",
            "% IS NOT NULL",       "% = pk",       "attribute_exists(%) = FALSE"};
        std::string text = OneOf(kOthers);
        return text.replace(text.find('%'), 1, attribute);
      }
      case 5:
        return "NOT (" + attribute + " " + OneOf(kComparators) + " " + Value() + ")";
      default:
        return attribute + " " + OneOf(kComparators) + " " + Value();
    }
  }
  // Conditions on the leading attributes of a key, most of them.
  std::string Branch() {
    std::string text;
    if (Below(2) == 0) {
      static constexpr const char* kKey[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
      for (size_t i = 0; i < 2 + Below(7); ++i) {
        text += (text.empty() ? "" : " AND ") + std::string(kKey[i]) +
                (Below(6) == 0 ? " IN [" + Value() + ", " + Value() + "]" : " = " + Value());
        if (i == 7) break;
      }
    } else {
      text = "pk = " + Value();
    }
    for (size_t i = Below(3); i > 0; --i) text += " AND " + Term();
    return text;
  }
  std::string Where() {
    std::string text = Branch();
    for (size_t i = Below(3); i > 0; --i) text += " OR " + Branch();
    return text;
  }
  std::string Statement() {
    static constexpr const char* kSources[] = {
        "Str",     "Num",     "Bin",     "Num.Eight", "Bin.Eight",       "Str.Eight",
        "Num.Two", "Str.Loc", "Num.Loc", "Bin.Loc",   "\"Bin\".\"Two\"", "None"};
    static constexpr const char* kTables[] = {"Str", "Num", "Bin"};
    switch (Below(8)) {
      case 0:
        return "INSERT INTO " + OneOf(kTables) + " VALUE {'pk': " + Value() + ", 'sk': " + Value() +
               ", 'v': " + Value() + "}";
      case 1:
        return "UPDATE " + OneOf(kTables) + " SET v = " + Value() + " WHERE pk = " + Value() + " AND sk = " + Value() +
               (Below(2) == 0 ? " AND " + Term() : "");
      case 2:
        return "DELETE FROM " + OneOf(kTables) + " WHERE pk = " + Value() + " AND sk = " + Value() +
               (Below(2) == 0 ? " AND " + Term() : "");
      case 3:
        return "EXISTS(SELECT * FROM " + OneOf(kTables) + " WHERE pk = " + Value() + " AND sk = " + Value() + " AND " +
               Term() + ")";
      default: {
        static constexpr const char* kColumns[] = {"*", "v", "pk, sk", "m.x, l[0], a", "a.b.c, n"};
        static constexpr const char* kOrders[] = {
            "", "", "", " ORDER BY pk", " ORDER BY sk DESC", " ORDER BY pk DESC, sk", " ORDER BY e, f"};
        return "SELECT " + OneOf(kColumns) + " FROM " + OneOf(kSources) + " WHERE " + Where() + OneOf(kOrders);
      }
    }
  }

  static Words Split(std::string_view text) {
    Words words;
    for (size_t i = 0; i < text.size();) {
      const size_t begin = i;
      const auto is_word = [&](size_t at) {
        const auto c = static_cast<unsigned char>(text[at]);
        return std::isalnum(c) != 0 || c == '_' || c >= 0x80;
      };
      if (text[i] == '\'' || text[i] == '"') {
        const size_t end = text.find(text[i], i + 1);
        i = end == std::string_view::npos ? text.size() : end + 1;
      } else if (is_word(i)) {
        while (i < text.size() && is_word(i)) ++i;
      } else {
        i += text.substr(i, 2) == "<<" || text.substr(i, 2) == ">>" ? 2 : 1;
      }
      if (text[begin] != ' ') words.emplace_back(text.substr(begin, i - begin));
    }
    return words;
  }

  void ChangeOne(Words* words) {
    static constexpr const char* kWords[] = {
        "SELECT", "FROM",      "WHERE", "AND",   "OR",          "NOT",   "IN",       "BETWEEN",
        "IS",     "MISSING",   "NULL",  "(",     ")",           "[",     "]",        "{",
        "}",      "<<",        ">>",    ",",     ".",           "?",     "=",        "<>",
        "<",      "<=",        ">",     ">=",    "*",           "ORDER", "BY",       "DESC",
        "SET",    "REMOVE",    "+",     "-",     "begins_with", "size",  "EXISTS",   "VALUE",
        "INSERT", "RETURNING", "ALL",   "OLD",   "NEW",         ";",     "contains", "attribute_type",
        "Str",    "Num",       "Bin",   "Eight", "Two",         "Loc",   "pk",       "sk"};
    const size_t at = Below(words->size());
    const auto place = words->begin() + static_cast<std::ptrdiff_t>(at);
    switch (Below(9)) {
      case 0:
        words->erase(place);
        break;
      case 1:
        words->insert(place, OneOf(kWords));
        break;
      case 2:
        *place = OneOf(kWords);
        break;
      case 3:
        *place = Value();
        break;
      case 4:
        *place = Attribute();
        break;
      case 5:
        words->insert(words->end(), {Below(3) == 0 ? "OR" : "AND", Term()});
        break;
      case 6:
        words->insert(words->end(), {"OR", Branch()});
        break;
      case 7: {  // repeats a part
        const Words part(place,
                         words->begin() + static_cast<std::ptrdiff_t>(std::min(words->size(), at + 1 + Below(8))));
        words->insert(words->end(), part.begin(), part.end());
        break;
      }
      default:
        std::swap((*words)[at], (*words)[Below(words->size())]);
    }
  }

  std::mt19937 random_;
};

}  // namespace armature::fuzz

#endif  // ARMATURE_TESTS_FUZZ_STATEMENT_WORDS_H_
