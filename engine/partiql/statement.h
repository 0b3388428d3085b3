#ifndef ARMATURE_ENGINE_PARTIQL_STATEMENT_H_
#define ARMATURE_ENGINE_PARTIQL_STATEMENT_H_

// A parsed PartiQL statement. Its parameters are already replaced by their values.
//
// Thread-safety: thread-compatible values.
// Limits: a condition is at most kDepthMax levels deep, so recursion over it is safe.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/expr/ast.h"
#include "engine/partiql/lexer.h"

namespace armature::engine::partiql {

// Limit on nested parentheses and NOTs, and on nested literals.
inline constexpr int kDepthMax = 64;

struct Operand {
  enum class Kind : uint8_t { kPath, kValue, kCall };
  Kind kind = Kind::kPath;
  expr::DocumentPath path;         // kPath
  std::string value;               // kValue: wire form of an AttributeValue
  std::string function;            // kCall: in lower case
  std::vector<Operand> arguments;  // kCall
  Position position;

  friend bool operator==(const Operand& a, const Operand& b) {
    return a.kind == b.kind && a.path.elements == b.path.elements && a.value == b.value && a.function == b.function &&
           a.arguments == b.arguments;
  }
};

struct Condition {
  enum class Kind : uint8_t { kComparison, kBetween, kIn, kCall, kNot, kAnd, kOr };
  Kind kind = Kind::kComparison;
  std::string comparator;           // kComparison: = <> < <= > >=
  std::vector<Operand> operands;    // kComparison: 2; kBetween: 3; kIn: the tested one, then the choices; kCall: 1
  std::vector<Condition> children;  // kNot: 1; kAnd, kOr: 2 or more
};

// Calls `fn` with each path in `condition`.
template <class Fn>
void ForEachPath(const std::vector<Operand>& operands, const Fn& fn) {
  for (const Operand& operand : operands) {
    if (operand.kind == Operand::Kind::kPath) fn(operand.path);
    ForEachPath(operand.arguments, fn);
  }
}
template <class Fn>
void ForEachPath(const Condition& condition, const Fn& fn) {
  ForEachPath(condition.operands, fn);
  for (const Condition& child : condition.children) ForEachPath(child, fn);
}

// SET target = left, or left + right, or left - right.
struct Assignment {
  expr::DocumentPath target;
  Operand left;
  char sign = ' ';
  std::optional<Operand> right;
};

struct OrderKey {
  std::string attribute;
  bool descending = false;
  Position position;
  std::string refused_type;  // of a key that is no name of an attribute
};

struct Statement {
  enum class Kind : uint8_t { kSelect, kInsert, kUpdate, kDelete, kExists };
  Kind kind = Kind::kSelect;
  std::string table;
  std::optional<std::string> index;
  std::vector<expr::DocumentPath> columns;  // of SELECT; empty: *
  std::optional<Condition> where;
  std::vector<OrderKey> order;  // of SELECT
  std::string item;             // of INSERT: wire form of an Item
  std::vector<Assignment> sets;
  std::vector<expr::DocumentPath> removes;
  std::string returning;  // "ALL NEW"; empty without RETURNING

  bool is_read() const { return kind == Kind::kSelect; }
};

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_STATEMENT_H_
