#include "engine/expr/tree_binder.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/unit/engine/expr/expr_test_util.h"

namespace armature::expr::update_binder_test {

using testing::BindError;
using testing::Request;

struct ErrorCase {
  std::string_view text;
  std::string_view error;  // after "Invalid UpdateExpression: "
};

constexpr ErrorCase kStaticErrors[] = {
    {"SET status = :s", "Attribute name is a reserved keyword; reserved keyword: status"},
    {"SET a = b.zone", "Attribute name is a reserved keyword; reserved keyword: zone"},
    {"REMOVE a.zone", "Attribute name is a reserved keyword; reserved keyword: zone"},
    {"SET a = f(b)", "Invalid function name; function: f"},
    {"SET a = List_Append(b, :l)", "Invalid function name; function: List_Append"},
    {"SET a = size(b)", "The function is not allowed to be used this way in an expression; function: size"},
    {"SET a = list_append(list_append(a, :l), :l)",
     "The function is not allowed to be used this way in an expression; function: list_append"},
    {"SET a = :s SET b = :s", "The \"SET\" section can only be used once in an update expression;"},
    {"REMOVE a SET b = :s REMOVE c", "The \"REMOVE\" section can only be used once in an update expression;"},
    {"ADD a :n ADD b :n", "The \"ADD\" section can only be used once in an update expression;"},
    {"delete a :ss DELETE b :ss", "The \"DELETE\" section can only be used once in an update expression;"},
    {"SET #missing = :s",
     "An expression attribute name used in the document path is not defined; attribute name: "
     "#missing"},
    {"SET a = #missing",
     "An expression attribute name used in the document path is not defined; attribute name: "
     "#missing"},
    {"ADD a :missing", "An expression attribute value used in expression is not defined; attribute value: :missing"},
    {"SET a = :s, a = :s",
     "Two document paths overlap with each other; must remove or rewrite one of these paths; path "
     "one: [a], path two: [a]"},
    {"SET a = :s REMOVE a",
     "Two document paths overlap with each other; must remove or rewrite one of these paths; path "
     "one: [a], path two: [a]"},
    {"REMOVE a.b[0] SET #a.b = :s",
     "Two document paths overlap with each other; must remove or rewrite one of these paths; path "
     "one: [a, b, [0]], path two: [a, b]"},
    {"DELETE a :ss ADD a.b :n",
     "Two document paths overlap with each other; must remove or rewrite one of these paths; path "
     "one: [a], path two: [a, b]"},
    {"SET a.b = :s, a[1] = :s",
     "Two document paths conflict with each other; must remove or rewrite one of these paths; path "
     "one: [a, b], path two: [a, [1]]"},
    {"ADD a :s",
     "Incorrect operand type for operator or function; operator: ADD, operand type: STRING, typeSet: "
     "ALLOWED_FOR_ADD_OPERAND"},
    {"ADD a :b",
     "Incorrect operand type for operator or function; operator: ADD, operand type: BINARY, typeSet: "
     "ALLOWED_FOR_ADD_OPERAND"},
    {"ADD a :null",
     "Incorrect operand type for operator or function; operator: ADD, operand type: NULL, typeSet: "
     "ALLOWED_FOR_ADD_OPERAND"},
    {"ADD a :true",
     "Incorrect operand type for operator or function; operator: ADD, operand type: BOOL, typeSet: "
     "ALLOWED_FOR_ADD_OPERAND"},
    {"ADD a :l",
     "Incorrect operand type for operator or function; operator: ADD, operand type: LIST, typeSet: "
     "ALLOWED_FOR_ADD_OPERAND"},
    {"ADD a :m",
     "Incorrect operand type for operator or function; operator: ADD, operand type: MAP, typeSet: "
     "ALLOWED_FOR_ADD_OPERAND"},
    {"DELETE a :n",
     "Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, typeSet: "
     "ALLOWED_FOR_ADD_OPERAND"},
    {"SET a = if_not_exists(:s, :s)",
     "Operator or function requires a document path; operator or function: if_not_exists"},
    {"SET a = if_not_exists(b)",
     "Incorrect number of operands for operator or function; operator or function: if_not_exists, "
     "number of operands: 1"},
    {"SET a = list_append(b, :l, :l)",
     "Incorrect number of operands for operator or function; operator or function: list_append, "
     "number of operands: 3"},
    {"SET a = list_append(b, :s)",
     "Incorrect operand type for operator or function; operator or function: list_append, operand "
     "type: S"},
    {"SET a = b + :s", "Incorrect operand type for operator or function; operator or function: +, operand type: S"},
    {"SET a = :l - b", "Incorrect operand type for operator or function; operator or function: -, operand type: L"},
    {"SET a = b + list_append(c, :l)",
     "Incorrect operand type for operator or function; operator or function: +, operand type: L"},
};

TEST(UpdateBinder, ReportsStaticErrors) {
  for (const ErrorCase& c : kStaticErrors) {
    EXPECT_EQ(BindError(ExpressionKind::kUpdate, c.text), Cat("Invalid UpdateExpression: ", c.error)) << c.text;
  }
}

constexpr std::string_view kLegal[] = {
    "SET b = a REMOVE a",  // operands of SET do not conflict
    "SET a.b = :s, a.c = :s, #dotted = :s",
    "SET a[0] = :s, a[1] = :s REMOVE a[2].b",
    "SET a = a + a, b = list_append(b, b)",
    "SET a = if_not_exists(a, list_append(b, :l))",
    "ADD a :n, b :ns, c.d :bs, e[0] :ss",
    "DELETE a :ss, b :ns, c :bs",
    "SET a = :null, b = :true, c = :m, d = :empty",
};

TEST(UpdateBinder, AcceptsLegalUpdates) {
  for (const std::string_view text : kLegal) {
    EXPECT_EQ(BindError(ExpressionKind::kUpdate, text), "OK") << text;
  }
}

// Each text has the fault of its row and of all rows below it.
constexpr ErrorCase kReportOrder[] = {
    {"ADD b :s, a.b :n, a[1] :n, a.b :n, a :missing, #missing :n SET c = f(d) SET zone = :n",
     "Attribute name is a reserved keyword; reserved keyword: zone"},
    {"ADD b :s, a.b :n, a[1] :n, a.b :n, a :missing, #missing :n SET c = f(d) SET e = :n",
     "Invalid function name; function: f"},
    {"ADD b :s, a.b :n, a[1] :n, a.b :n, a :missing, #missing :n SET c = d SET e = :n",
     "The \"SET\" section can only be used once in an update expression;"},
    {"ADD b :s, a.b :n, a[1] :n, a.b :n, a :missing, #missing :n",
     "An expression attribute name used in the document path is not defined; attribute name: "
     "#missing"},
    {"ADD b :s, a.b :n, a[1] :n, a.b :n, a :missing",
     "An expression attribute value used in expression is not defined; attribute value: :missing"},
    {"ADD b :s, a.b :n, a[1] :n, a.b :n",
     "Two document paths overlap with each other; must remove or rewrite one of these paths; path "
     "one: [a, b], path two: [a, b]"},
    {"ADD b :s, a.b :n, a[1] :n SET c = d + :l",
     "Two document paths conflict with each other; must remove or rewrite one of these paths; path "
     "one: [a, b], path two: [a, [1]]"},
    {"SET c = d + :l ADD b :s",
     "Incorrect operand type for operator or function; operator: ADD, operand type: STRING, typeSet: "
     "ALLOWED_FOR_ADD_OPERAND"},
};

TEST(UpdateBinder, ReportsInTheDocumentedOrder) {
  for (const ErrorCase& c : kReportOrder) {
    EXPECT_EQ(BindError(ExpressionKind::kUpdate, c.text), Cat("Invalid UpdateExpression: ", c.error)) << c.text;
  }
}

TEST(UpdateBinder, KeepsSectionsApart) {
  Request request;
  const auto bound =
      request.With(ExpressionKind::kUpdate, "REMOVE #dotted SET a.b[2] = c - :n DELETE d :ss ADD e :n, f :n").Bind();
  ASSERT_TRUE(bound.ok()) << bound.status();
  const Update& update = *bound->update;
  ASSERT_EQ(update.removes.size(), 1u);
  EXPECT_EQ(update.removes[0].attribute(), "a.b");
  EXPECT_FALSE(update.removes[0].nested());
  ASSERT_EQ(update.sets.size(), 1u);
  ASSERT_EQ(update.sets[0].target.elements.size(), 3u);
  EXPECT_EQ(update.sets[0].target.elements[2].index, 2u);
  EXPECT_EQ(update.sets[0].value.operation, UpdateValue::Operation::kMinus);
  EXPECT_EQ(update.sets[0].value.left.path()->attribute(), "c");
  EXPECT_EQ(update.sets[0].value.right->value()->value->scalar(), "5");
  ASSERT_EQ(update.deletes.size(), 1u);
  EXPECT_EQ(update.deletes[0].operand.value->type(), model::ValueType::kStringSet);
  EXPECT_EQ(update.adds.size(), 2u);
}

}  // namespace armature::expr::update_binder_test
