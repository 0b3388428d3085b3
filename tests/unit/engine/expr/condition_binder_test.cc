#include "engine/expr/tree_binder.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/unit/engine/expr/expr_test_util.h"

namespace armature::expr::condition_binder_test {

using testing::BindError;

struct ErrorCase {
  std::string_view text;
  std::string_view error;
};

void ExpectErrors(ExpressionKind kind, std::span<const ErrorCase> cases) {
  for (const ErrorCase& c : cases) {
    EXPECT_EQ(BindError(kind, c.text), Cat("Invalid ", KindName(kind), ": ", c.error)) << c.text;
  }
}

constexpr ErrorCase kStaticErrors[] = {
    // Reserved words, at any depth of a path, but not as functions or placeholders.
    {"status = :s", "Attribute name is a reserved keyword; reserved keyword: status"},
    {"Status = :s", "Attribute name is a reserved keyword; reserved keyword: Status"},
    {"a.zone = :s", "Attribute name is a reserved keyword; reserved keyword: zone"},
    {"a = :s OR size = :s", "Attribute name is a reserved keyword; reserved keyword: size"},
    {"attribute_exists(add)", "Attribute name is a reserved keyword; reserved keyword: add"},
    // Undefined placeholders.
    {"#missing = :s",
     "An expression attribute name used in the document path is not defined; attribute name: "
     "#missing"},
    {"a.#missing = :s",
     "An expression attribute name used in the document path is not defined; attribute name: "
     "#missing"},
    {"a = :missing", "An expression attribute value used in expression is not defined; attribute value: :missing"},
    {":missing = #missing",
     "An expression attribute value used in expression is not defined; attribute value: :missing"},
    {"#missing = :missing",
     "An expression attribute name used in the document path is not defined; attribute name: "
     "#missing"},
    // Functions: unknown, misplaced, wrong number of operands, operands that must be paths.
    {"f(a)", "Invalid function name; function: f"},
    {"SIZE(a) > :n", "Invalid function name; function: SIZE"},
    {"Begins_With(a, :s)", "Invalid function name; function: Begins_With"},
    {"attribute_exists(f(a))", "Invalid function name; function: f"},
    {"size(a)", "The function is not allowed to be used this way in an expression; function: size"},
    {"NOT size(a)", "The function is not allowed to be used this way in an expression; function: size"},
    {"attribute_exists(a) = :s",
     "The function is not allowed to be used this way in an expression; function: "
     "attribute_exists"},
    {"(attribute_exists(a)) = :s",
     "The function is not allowed to be used this way in an expression; function: "
     "attribute_exists"},
    {"a IN (:s, contains(b, :s))",
     "The function is not allowed to be used this way in an expression; function: contains"},
    {"a BETWEEN begins_with(b, :s) AND :n",
     "The function is not allowed to be used this way in an expression; function: begins_with"},
    {"contains(contains(a, :s), :s)",
     "The function is not allowed to be used this way in an expression; function: contains"},
    {"if_not_exists(a, :s)",
     "The function is not allowed to be used this way in an expression; function: if_not_exists"},
    {"list_append(a, :l) = :l",
     "The function is not allowed to be used this way in an expression; function: list_append"},
    {"attribute_exists(a, b)",
     "Incorrect number of operands for operator or function; operator or function: "
     "attribute_exists, number of operands: 2"},
    {"attribute_type(a)",
     "Incorrect number of operands for operator or function; operator or function: "
     "attribute_type, number of operands: 1"},
    {"begins_with(a, :s, :s)",
     "Incorrect number of operands for operator or function; operator or function: begins_with, "
     "number of operands: 3"},
    {"contains(a)",
     "Incorrect number of operands for operator or function; operator or function: contains, "
     "number of operands: 1"},
    {"size(a, b) = :n",
     "Incorrect number of operands for operator or function; operator or function: size, number "
     "of operands: 2"},
    {"attribute_exists(:s)", "Operator or function requires a document path; operator or function: attribute_exists"},
    {"attribute_not_exists(size(a))",
     "Operator or function requires a document path; operator or function: attribute_not_exists"},
    // Types of constants.
    {"begins_with(a, :n)",
     "Incorrect operand type for operator or function; operator or function: begins_with, operand "
     "type: N"},
    {"begins_with(:ss, a)",
     "Incorrect operand type for operator or function; operator or function: begins_with, operand "
     "type: SS"},
    {"begins_with(a, size(b))",
     "Incorrect operand type for operator or function; operator or function: begins_with, operand "
     "type: N"},
    {"size(:n) = :n",
     "Incorrect operand type for operator or function; operator or function: size, operand type: "
     "N"},
    {"size(:true) = :n",
     "Incorrect operand type for operator or function; operator or function: size, operand type: "
     "BOOL"},
    {"size(:null) = :n",
     "Incorrect operand type for operator or function; operator or function: size, operand type: "
     "NULL"},
    {"size(size(a)) = :n",
     "Incorrect operand type for operator or function; operator or function: size, operand type: "
     "N"},
    {"a < :true",
     "Incorrect operand type for operator or function; operator or function: <, operand type: "
     "BOOL"},
    {":null <= a",
     "Incorrect operand type for operator or function; operator or function: <=, operand type: "
     "NULL"},
    {"a > :l", "Incorrect operand type for operator or function; operator or function: >, operand type: L"},
    {"a >= :m", "Incorrect operand type for operator or function; operator or function: >=, operand type: M"},
    {"a BETWEEN :ns AND :ns",
     "Incorrect operand type for operator or function; operator or function: BETWEEN, operand "
     "type: NS"},
    {":bs BETWEEN a AND b",
     "Incorrect operand type for operator or function; operator or function: BETWEEN, operand "
     "type: BS"},
    {"attribute_type(a, :n)",
     "Incorrect operand type for operator or function; operator or function: attribute_type, "
     "operand type: N"},
    {"attribute_type(a, b)",
     "Incorrect operand type for operator or function; operator or function: attribute_type, "
     "operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}"},
    {"attribute_type(a, :type_bad)",
     "Invalid attribute type name found; type: String, valid types: "
     "{B,NULL,SS,BOOL,L,BS,N,NS,S,M}"},
    // Bounds of BETWEEN.
    {"a BETWEEN :n AND :s",
     "The BETWEEN operator requires same data type for lower and upper bounds; lower bound "
     "operand: AttributeValue: {N:5}, upper bound operand: AttributeValue: {S:abc}"},
    {"a BETWEEN :n2 AND :n",
     "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower "
     "bound operand: AttributeValue: {N:10}, upper bound operand: AttributeValue: {N:5}"},
    {"a BETWEEN :s2 AND :s",
     "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower "
     "bound operand: AttributeValue: {S:abd}, upper bound operand: AttributeValue: {S:abc}"},
    {"a BETWEEN :b2 AND :b",
     "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower "
     "bound operand: AttributeValue: {B:AQM=}, upper bound operand: AttributeValue: {B:AQI=}"},
    // One path twice.
    {"a = a",
     "The first operand must be distinct from the remaining operands for this operator or "
     "function; operator: =, first operand: [a]"},
    {"a.b[2] <> #a.#b[2]",
     "The first operand must be distinct from the remaining operands for this operator or "
     "function; operator: <>, first operand: [a, b, [2]]"},
    {"contains(a, a)",
     "The first operand must be distinct from the remaining operands for this operator or "
     "function; operator: contains, first operand: [a]"},
    {"a BETWEEN b AND a",
     "The first operand must be distinct from the remaining operands for this operator or "
     "function; operator: BETWEEN, first operand: [a]"},
    {"a IN (:s, a)",
     "The first operand must be distinct from the remaining operands for this operator or "
     "function; operator: IN, first operand: [a]"},
};

TEST(ConditionBinder, ReportsStaticErrors) {
  ExpectErrors(ExpressionKind::kCondition, kStaticErrors);
  ExpectErrors(ExpressionKind::kFilter, kStaticErrors);
  ExpectErrors(ExpressionKind::kKeyCondition, kStaticErrors);
}

constexpr std::string_view kLegal[] = {
    "a = :true AND b <> :l AND c IN (:s, :n, :null)",
    "size(a) BETWEEN :n AND :n2 AND size(:l) < size(a)",
    "size(a) IN (:n, size(b)) OR :n = :n",
    "contains(:l, a) AND contains(a, :n) AND contains(a, size(b))",
    "begins_with(:s, a) OR begins_with(a, b) OR begins_with(a, :b)",
    "attribute_type(:s, :type_s) AND attribute_type(a, :type_null)",
    "attribute_type(a.b[1], :type_m)",
    "a.b = a.c AND a = a.b AND a[0] = a[1]",
    "a BETWEEN :n AND :n AND a BETWEEN :b AND :b2",
    "a BETWEEN :n AND b AND a BETWEEN b AND c AND :s BETWEEN a AND b",
    "size(a) BETWEEN :n AND size(a)",
    "#hash = :s AND #dotted = :s AND #size = :s",
};

TEST(ConditionBinder, AcceptsLegalConditions) {
  for (const std::string_view text : kLegal) {
    EXPECT_EQ(BindError(ExpressionKind::kFilter, text), "OK") << text;
  }
}

// Each text has the fault of its row and of all rows below it. Later faults come first in the text.
constexpr ErrorCase kReportOrder[] = {
    {"a = :missing AND b = b AND zone = :s AND size(a) AND f(a) AND ((a = :s))",
     "The expression has redundant parentheses;"},
    {"a = :missing AND b = b AND zone = :s AND size(a) AND f(a)", "Invalid function name; function: f"},
    {"a = :missing AND b = b AND zone = :s AND size(a)",
     "The function is not allowed to be used this way in an expression; function: size"},
    {"a = :missing AND b = b AND zone = :s", "Attribute name is a reserved keyword; reserved keyword: zone"},
    // Comparisons are checked one by one, in the order of the text.
    {"b = b AND a = :missing",
     "The first operand must be distinct from the remaining operands for this operator or "
     "function; operator: =, first operand: [b]"},
    {"begins_with(a, :n) AND a = :missing",
     "Incorrect operand type for operator or function; operator or function: begins_with, operand "
     "type: N"},
    // Checks within one comparison: undefined, number of operands, equal operands, types.
    {"begins_with(a, :n) = size(:missing, a)",
     "The function is not allowed to be used this way in an expression; function: begins_with"},
    {"size(a, b) = :missing",
     "An expression attribute value used in expression is not defined; attribute value: :missing"},
    {"size(a, b) > :true",
     "Incorrect number of operands for operator or function; operator or function: size, number of "
     "operands: 2"},
    {"a BETWEEN a AND :true",
     "The first operand must be distinct from the remaining operands for this operator or "
     "function; operator: BETWEEN, first operand: [a]"},
    {"a BETWEEN :true AND :n",
     "Incorrect operand type for operator or function; operator or function: BETWEEN, operand "
     "type: BOOL"},
};

TEST(ConditionBinder, ReportsInTheDocumentedOrder) { ExpectErrors(ExpressionKind::kCondition, kReportOrder); }

}  // namespace armature::expr::condition_binder_test
