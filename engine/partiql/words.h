#ifndef ARMATURE_ENGINE_PARTIQL_WORDS_H_
#define ARMATURE_ENGINE_PARTIQL_WORDS_H_

// Words of the grammar that end an expression, and texts of errors that several parsers report.

#include <algorithm>
#include <iterator>
#include <string_view>

#include "engine/partiql/lexer.h"
#include "engine/partiql/literals.h"

namespace armature::engine::partiql {

// Words that join operands.
inline constexpr std::string_view kOperatorWords[] = {"AND", "OR", "IS", "IN", "LIKE", "BETWEEN"};
// Words that begin a clause, or are a part of one. None of them is an operand.
inline constexpr std::string_view kClauseWords[] = {
    "SELECT", "FROM",  "WHERE",  "INSERT", "INTO", "VALUE", "VALUES", "UPDATE", "DELETE", "SET",  "REMOVE",   "ORDER",
    "BY",     "GROUP", "HAVING", "LIMIT",  "AS",   "AT",    "ON",     "UNION",  "ASC",    "DESC", "RETURNING"};
// Words inside of CASE.
inline constexpr std::string_view kCaseWords[] = {"WHEN", "THEN", "ELSE", "END"};
inline constexpr std::string_view kComparators[] = {"=", "<>", "!=", "<", "<=", ">", ">="};

inline constexpr char kExistsOutside[] = "EXISTS can only be used in ExecuteTransaction write requests.";
// Details of MalformedError.
inline constexpr char kMissingRightHandSide[] = "Missing right-hand side expression of infix operator";
inline constexpr char kExpectedPath[] = "Expected identifier for simple path";
inline constexpr char kExpectedManipulation[] = "Expected data manipulation";
inline constexpr char kExpectedAnd[] = "Expected AND keyword";
inline constexpr char kExpectedBehindAnd[] = "Expected expression after AND";
inline constexpr char kExpectedType[] = "Expected type name";
inline constexpr char kUnexpectedTerm[] = "Unexpected term";
inline constexpr char kUnexpectedOperator[] = "Unexpected operator";
inline constexpr char kUnexpectedKeyword[] = "Unexpected keyword";
inline constexpr char kUnexpectedToken[] = "Unexpected token after expression";
inline constexpr char kInvalidDotComponent[] = "Invalid path dot component";

// True if one of `words` is next.
template <class Words>
bool IsAnyWord(const TokenReader& tokens, const Words& words) {
  return std::any_of(std::begin(words), std::end(words), [&](std::string_view word) { return tokens.IsWord(word); });
}

// True if a comparator is next.
inline bool IsComparator(const TokenReader& tokens) {
  return std::any_of(std::begin(kComparators), std::end(kComparators),
                     [&](std::string_view comparator) { return tokens.IsSymbol(comparator); });
}

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_WORDS_H_
