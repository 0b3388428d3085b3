#include "engine/expr/legacy_binder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/expr/condition_eval.h"
#include "tests/unit/engine/expr/expr_test_util.h"

namespace armature::expr::legacy_binder_test {

using testing::B;
using testing::Bool;
using testing::BS;
using testing::ErrorText;
using testing::Item;
using testing::L;
using testing::M;
using testing::N;
using testing::NS;
using testing::Null;
using testing::S;
using testing::SS;
using testing::Wire;

constexpr Junction::Kind kAnd = Junction::Kind::kAnd;
constexpr Junction::Kind kOr = Junction::Kind::kOr;
constexpr char kInvalid[] = "One or more parameter values were invalid: ";

std::string Invalid(std::string_view detail) { return Cat(kInvalid, detail); }

// Operators with one argument.
constexpr std::string_view kWithOneArgument[] = {"EQ", "NE",       "LE",           "LT",         "GE",
                                                 "GT", "CONTAINS", "NOT_CONTAINS", "BEGINS_WITH"};

class LegacyTest : public ::testing::Test {
 protected:
  model::ValueView Value(const Wire& wire) {
    wires_.push_back(wire);
    return *model::ValueView::FromWire(wires_.back());
  }
  std::vector<model::ValueView> Values(const std::vector<Wire>& wires) {
    std::vector<model::ValueView> values;
    for (const Wire& wire : wires) values.push_back(Value(wire));
    return values;
  }
  LegacyCondition On(std::string attribute, std::string_view op, const std::vector<Wire>& arguments) {
    return {std::move(attribute), *LegacyOperatorByName(op), Values(arguments)};
  }
  std::string FilterError(std::string_view op, const std::vector<Wire>& arguments) {
    const LegacyCondition condition = On("a", op, arguments);
    return ErrorText(BindLegacyFilter(std::vector{condition}, kAnd).status());
  }
  // True if an item whose "a" is `stored` meets the condition. If `stored` is empty, the item has no "a".
  bool Meets(const Wire& stored, std::string_view op, const std::vector<Wire>& arguments) {
    const auto condition = BindLegacyFilter(std::vector{On("a", op, arguments)}, kAnd);
    EXPECT_TRUE(condition.ok()) << condition.status();
    const std::string item = stored.empty() ? Item({{"z", N("1")}}) : Item({{"a", stored}, {"z", N("1")}});
    return Evaluate(*condition, model::ItemView(item));
  }
  std::string ExpectedError(const LegacyExpectation& expectation) {
    return ErrorText(BindExpected(std::vector{expectation}, kAnd).status());
  }

  std::deque<Wire> wires_;
};

TEST_F(LegacyTest, OperatorsHaveTheirNames) {
  for (const std::string_view name : kLegacyOperatorNames) {
    ASSERT_TRUE(LegacyOperatorByName(name).has_value()) << name;
    EXPECT_EQ(LegacyOperatorName(*LegacyOperatorByName(name)), name);
  }
  EXPECT_EQ(LegacyOperatorByName("NOT_CONTAINS"), LegacyOperator::kNotContains);
  EXPECT_EQ(LegacyOperatorByName("CONTAINS"), LegacyOperator::kContains);
  EXPECT_EQ(LegacyOperatorByName("IN"), LegacyOperator::kIn);
  EXPECT_EQ(LegacyOperatorByName("eq"), std::nullopt);
  EXPECT_EQ(LegacyActionByName("DELETE"), LegacyAction::kDelete);
  EXPECT_EQ(LegacyActionByName("REMOVE"), std::nullopt);
}

TEST_F(LegacyTest, NumberOfArgumentsIsTheOperators) {
  const auto wrong = [](std::string_view op) {
    return Invalid(Cat("Invalid number of argument(s) for the ", op, " ComparisonOperator"));
  };
  for (const std::string_view op : kWithOneArgument) {
    EXPECT_EQ(FilterError(op, {}), wrong(op));
    EXPECT_EQ(FilterError(op, {S("x")}), "OK") << op;
    EXPECT_EQ(FilterError(op, {S("x"), S("y")}), wrong(op));
  }
  for (const std::string_view op : {"NULL", "NOT_NULL"}) {
    EXPECT_EQ(FilterError(op, {}), "OK");
    EXPECT_EQ(FilterError(op, {S("x")}), wrong(op));
  }
  EXPECT_EQ(FilterError("BETWEEN", {S("x")}), wrong("BETWEEN"));
  EXPECT_EQ(FilterError("BETWEEN", {S("x"), S("y")}), "OK");
  EXPECT_EQ(FilterError("BETWEEN", {S("x"), S("y"), S("z")}), wrong("BETWEEN"));
  EXPECT_EQ(FilterError("IN", {}), wrong("IN"));
  EXPECT_EQ(FilterError("IN", {S("x")}), "OK");
  EXPECT_EQ(FilterError("IN", std::vector<Wire>(200, N("1"))), "OK");
}

TEST_F(LegacyTest, ArgumentsAreOfOneType) {
  const std::string mixed = Invalid("AttributeValues inside AttributeValueList must be of same type");
  EXPECT_EQ(FilterError("IN", {S("x"), N("1")}), mixed);
  EXPECT_EQ(FilterError("BETWEEN", {N("1"), S("x")}), mixed);
  // The number of arguments is checked before the types, and the operator's own rules after them.
  EXPECT_EQ(FilterError("EQ", {S("x"), N("1")}),
            Invalid("Invalid number of argument(s) for the EQ ComparisonOperator"));
  EXPECT_EQ(FilterError("IN", {Bool(true), N("1")}), mixed);
}

TEST_F(LegacyTest, ArgumentsAreOfATypeThatTheOperatorTakes) {
  const std::vector<std::pair<std::string_view, Wire>> all = {
      {"S", S("x")},     {"N", N("1")},     {"B", B("x")},     {"BOOL", Bool(true)}, {"NULL", Null()},
      {"SS", SS({"x"})}, {"NS", NS({"1"})}, {"BS", BS({"x"})}, {"L", L({})},         {"M", M({})}};
  struct Case {
    std::vector<std::string_view> operators;
    std::vector<std::string_view> types;
  };
  const Case cases[] = {
      {{"EQ", "NE"}, {"S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"}},
      {{"LE", "LT", "GE", "GT", "IN", "CONTAINS", "NOT_CONTAINS", "BETWEEN"}, {"S", "N", "B"}},
      {{"BEGINS_WITH"}, {"S", "B"}},
  };
  for (const Case& group : cases) {
    for (const std::string_view op : group.operators) {
      for (const auto& [type, wire] : all) {
        const bool takes = std::find(group.types.begin(), group.types.end(), type) != group.types.end();
        const std::vector<Wire> arguments(op == "BETWEEN" ? 2 : 1, wire);
        EXPECT_EQ(
            FilterError(op, arguments),
            takes ? "OK" : Invalid(Cat("ComparisonOperator ", op, " is not valid for ", type, " AttributeValue type")));
      }
    }
  }
}

TEST_F(LegacyTest, BetweenWantsItsBoundsInOrder) {
  const std::string reversed =
      "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound";
  EXPECT_EQ(FilterError("BETWEEN", {N("10"), N("9")}), reversed);
  EXPECT_EQ(FilterError("BETWEEN", {N("9"), N("10")}), "OK");
  EXPECT_EQ(FilterError("BETWEEN", {S("10"), S("9")}), "OK");
  EXPECT_EQ(FilterError("BETWEEN", {B("\x80"), B("\x7f")}), reversed);
  EXPECT_EQ(FilterError("BETWEEN", {N("9"), N("9")}), "OK");
}

TEST_F(LegacyTest, ComparesLikeExpressions) {
  EXPECT_TRUE(Meets(N("5"), "EQ", {N("5")}));
  EXPECT_FALSE(Meets(N("5"), "EQ", {S("5")}));
  EXPECT_TRUE(Meets(M({{"k", N("1")}}), "EQ", {M({{"k", N("1")}})}));
  EXPECT_TRUE(Meets(Null(), "EQ", {Null()}));
  EXPECT_TRUE(Meets(SS({"a", "b"}), "EQ", {SS({"b", "a"})}));
  EXPECT_TRUE(Meets(N("5"), "NE", {S("5")}));
  EXPECT_FALSE(Meets(N("5"), "NE", {N("5")}));
  EXPECT_TRUE(Meets(N("5"), "LT", {N("10")}));
  EXPECT_FALSE(Meets(S("5"), "LT", {S("10")}));
  EXPECT_FALSE(Meets(S("5"), "LT", {N("10")}));
  EXPECT_TRUE(Meets(N("5"), "LE", {N("5")}));
  EXPECT_FALSE(Meets(N("5"), "GT", {N("5")}));
  EXPECT_TRUE(Meets(N("5"), "GE", {N("5")}));
  EXPECT_TRUE(Meets(N("5"), "BETWEEN", {N("5"), N("6")}));
  EXPECT_FALSE(Meets(N("4.9"), "BETWEEN", {N("5"), N("6")}));
  EXPECT_TRUE(Meets(S("b"), "IN", {S("a"), S("b")}));
  EXPECT_FALSE(Meets(S("c"), "IN", {S("a"), S("b")}));
  EXPECT_FALSE(Meets(SS({"a"}), "IN", {S("a")}));
  EXPECT_TRUE(Meets(S("abc"), "BEGINS_WITH", {S("ab")}));
  EXPECT_FALSE(Meets(B("abc"), "BEGINS_WITH", {S("ab")}));
}

TEST_F(LegacyTest, NullIsAboutAbsenceAndNotAboutTheType) {
  EXPECT_TRUE(Meets("", "NULL", {}));
  EXPECT_FALSE(Meets(Null(), "NULL", {}));
  EXPECT_FALSE(Meets("", "NOT_NULL", {}));
  EXPECT_TRUE(Meets(Null(), "NOT_NULL", {}));
}

TEST_F(LegacyTest, OfAnAbsentAttributeOnlyNullAndNotEqualAreTrue) {
  for (const std::string_view op : kWithOneArgument) EXPECT_EQ(Meets("", op, {S("x")}), op == "NE") << op;
  EXPECT_FALSE(Meets("", "IN", {S("x")}));
  EXPECT_FALSE(Meets("", "BETWEEN", {S("x"), S("y")}));
}

TEST_F(LegacyTest, ContainsAndNotContains) {
  enum Answer : uint8_t { kHas, kLacks, kNeither };
  const std::tuple<Wire, Wire, Answer> cases[] = {
      {S("abc"), S("bc"), kHas},
      {S("abc"), S("x"), kLacks},
      {S("123"), N("2"), kNeither},
      {B("abc"), B("b"), kHas},
      {B("abc"), S("b"), kNeither},
      {SS({"a", "b"}), S("a"), kHas},
      {SS({"ab"}), S("a"), kLacks},
      {SS({"1"}), N("1"), kNeither},
      {NS({"1", "2"}), N("2"), kHas},
      {NS({"1"}), N("3"), kLacks},
      {BS({"x"}), B("x"), kHas},
      {L({N("1"), S("a")}), S("a"), kHas},
      {L({N("1"), S("a")}), N("1"), kHas},
      {L({N("1")}), S("a"), kLacks},
      {L({}), S("a"), kLacks},
      {M({{"a", N("1")}}), S("a"), kNeither},
      {N("12"), N("1"), kNeither},
      {Bool(true), S("a"), kNeither},
      {Null(), S("a"), kNeither},
      {"", S("a"), kNeither},
  };
  for (const auto& [stored, argument, answer] : cases) {
    EXPECT_EQ(Meets(stored, "CONTAINS", {argument}), answer == kHas);
    // True of a value that cannot contain the argument, but not of an absent one.
    EXPECT_EQ(Meets(stored, "NOT_CONTAINS", {argument}), !stored.empty() && answer != kHas);
  }
}

TEST_F(LegacyTest, ConditionsAreJoinedByTheConditionalOperator) {
  const std::vector<LegacyCondition> conditions = {On("a", "EQ", {N("1")}), On("b", "EQ", {N("2")})};
  const std::string one = Item({{"a", N("1")}, {"b", N("9")}});
  const std::string both = Item({{"a", N("1")}, {"b", N("2")}});
  const std::string none = Item({{"a", N("9")}, {"b", N("9")}});
  const auto all = BindLegacyFilter(conditions, kAnd);
  const auto any = BindLegacyFilter(conditions, kOr);
  ASSERT_TRUE(all.ok() && any.ok());
  EXPECT_FALSE(Evaluate(*all, model::ItemView(one)));
  EXPECT_TRUE(Evaluate(*any, model::ItemView(one)));
  EXPECT_TRUE(Evaluate(*all, model::ItemView(both)));
  EXPECT_FALSE(Evaluate(*any, model::ItemView(none)));
}

TEST_F(LegacyTest, NamesAreTopLevelAndLiteral) {
  const auto condition = BindLegacyFilter(std::vector{On("m.k", "EQ", {N("1")})}, kAnd);
  ASSERT_TRUE(condition.ok());
  EXPECT_TRUE(Evaluate(*condition, model::ItemView(Item({{"m.k", N("1")}}))));
  EXPECT_FALSE(Evaluate(*condition, model::ItemView(Item({{"m", M({{"k", N("1")}})}}))));
  EXPECT_EQ(FirstAttributeAmong(*condition, {"m", "m.k"}), "m.k");
}

TEST_F(LegacyTest, ExpectedByValueAndExists) {
  const std::string with = Item({{"a", N("1")}});
  const std::string other = Item({{"a", N("2")}});
  for (const std::optional<bool> exists : {std::optional<bool>(), std::optional<bool>(true)}) {
    const auto equal = BindExpected(std::vector{LegacyExpectation{"a", {}, Value(N("1")), exists, {}}}, kAnd);
    ASSERT_TRUE(equal.ok());
    EXPECT_TRUE(Evaluate(*equal, model::ItemView(with)));
    EXPECT_FALSE(Evaluate(*equal, model::ItemView(other)));
    EXPECT_FALSE(Evaluate(*equal, model::ItemView()));
  }
  const auto absent = BindExpected(std::vector{LegacyExpectation{"a", {}, {}, false, {}}}, kAnd);
  ASSERT_TRUE(absent.ok());
  EXPECT_FALSE(Evaluate(*absent, model::ItemView(with)));
  EXPECT_TRUE(Evaluate(*absent, model::ItemView()));
}

TEST_F(LegacyTest, ExpectedByOperatorTakesAValueOrAList) {
  for (const bool as_value : {true, false}) {
    LegacyExpectation expectation{"a", LegacyOperator::kGreater, {}, {}, {}};
    if (as_value) {
      expectation.value = Value(N("1"));
    } else {
      expectation.arguments = Values({N("1")});
    }
    const auto greater = BindExpected(std::vector{expectation}, kAnd);
    ASSERT_TRUE(greater.ok());
    EXPECT_TRUE(Evaluate(*greater, model::ItemView(Item({{"a", N("2")}}))));
    EXPECT_FALSE(Evaluate(*greater, model::ItemView(Item({{"a", N("1")}}))));
  }
}

TEST_F(LegacyTest, ExpectedRefusesWhatDoesNotGoTogether) {
  const auto value = Value(S("v"));
  const auto list = Values({S("v")});
  EXPECT_EQ(ExpectedError({"a", {}, value, {}, list}),
            Invalid("Value and AttributeValueList cannot be used together for Attribute: a"));
  EXPECT_EQ(ExpectedError({"a", LegacyOperator::kEqual, value, {}, list}),
            Invalid("Value and AttributeValueList cannot be used together for Attribute: a"));
  EXPECT_EQ(ExpectedError({"a", LegacyOperator::kEqual, value, true, {}}),
            Invalid("Exists and ComparisonOperator cannot be used together for Attribute: a"));
  EXPECT_EQ(ExpectedError({"a", LegacyOperator::kNull, {}, false, {}}),
            Invalid("Exists and ComparisonOperator cannot be used together for Attribute: a"));
  EXPECT_EQ(ExpectedError({"a", LegacyOperator::kIn, {}, {}, {}}),
            Invalid("Value or AttributeValueList must be used with ComparisonOperator: IN for Attribute: a"));
  EXPECT_EQ(ExpectedError({"a", LegacyOperator::kNull, {}, {}, {}}), "OK");
  EXPECT_EQ(ExpectedError({"a", LegacyOperator::kNotNull, value, {}, {}}),
            Invalid("Invalid number of argument(s) for the NOT_NULL ComparisonOperator"));
  EXPECT_EQ(ExpectedError({"a", LegacyOperator::kBetween, value, {}, {}}),
            Invalid("Invalid number of argument(s) for the BETWEEN ComparisonOperator"));
  EXPECT_EQ(ExpectedError({"a", {}, {}, {}, list}),
            Invalid("AttributeValueList can only be used with a ComparisonOperator for Attribute: a"));
  EXPECT_EQ(ExpectedError({"a", {}, {}, {}, {}}),
            Invalid("Value must be provided when Exists is null for Attribute: a"));
  EXPECT_EQ(ExpectedError({"a", {}, {}, true, {}}),
            Invalid("Value must be provided when Exists is true for Attribute: a"));
  EXPECT_EQ(ExpectedError({"a", {}, value, false, {}}),
            Invalid("Value cannot be used when Exists is false for Attribute: a"));
}

TEST_F(LegacyTest, LongNamesAreCutInErrors) {
  const std::string name = std::string(254, 'n') + "\xc3\xa9tail";
  EXPECT_EQ(ExpectedError({name, {}, {}, {}, {}}),
            Invalid(Cat("Value must be provided when Exists is null for Attribute: ", std::string(254, 'n'), "...")));
}

TEST_F(LegacyTest, KeyConditionsBecomeTerms) {
  const std::vector<LegacyCondition> conditions = {On("h", "EQ", {S("x")}), On("r", "BETWEEN", {N("1"), N("2")})};
  ASSERT_EQ(ErrorText(CheckLegacyConditions(conditions)), "OK");
  const auto bound = BindKeyConditions(conditions);
  ASSERT_TRUE(bound.ok()) << bound.status();
  ASSERT_EQ(bound->terms.size(), 2U);
  EXPECT_EQ(bound->terms[0].attribute, "h");
  EXPECT_EQ(bound->terms[0].op, KeyOperator::kEqual);
  EXPECT_EQ(bound->terms[0].first.scalar(), "x");
  EXPECT_FALSE(bound->terms[0].second.has_value());
  EXPECT_EQ(bound->terms[1].op, KeyOperator::kBetween);
  EXPECT_EQ(bound->terms[1].second->scalar(), "2");
  const std::pair<std::string_view, KeyOperator> operators[] = {{"LT", KeyOperator::kLess},
                                                                {"LE", KeyOperator::kLessOrEqual},
                                                                {"GT", KeyOperator::kGreater},
                                                                {"GE", KeyOperator::kGreaterOrEqual},
                                                                {"BEGINS_WITH", KeyOperator::kBeginsWith}};
  for (const auto& [name, op] : operators) {
    const auto one = BindKeyConditions(std::vector{On("r", name, {S("x")})});
    ASSERT_TRUE(one.ok());
    EXPECT_EQ(one->terms[0].op, op) << name;
  }
}

TEST_F(LegacyTest, KeyConditionsTakeOnlyWhatKeysAreOrderedBy) {
  const std::pair<std::string_view, std::vector<Wire>> cases[] = {
      {"NULL", {}},           {"NOT_NULL", {}},           {"IN", {S("x")}},
      {"CONTAINS", {S("x")}}, {"NOT_CONTAINS", {S("x")}}, {"NE", {S("x")}}};
  for (const auto& [op, arguments] : cases) {
    const std::vector<LegacyCondition> conditions = {On("r", op, arguments)};
    EXPECT_EQ(ErrorText(CheckLegacyConditions(conditions)), "OK");
    EXPECT_EQ(ErrorText(BindKeyConditions(conditions).status()),
              "Attempted conditional constraint is not an indexable operation");
  }
}

TEST_F(LegacyTest, ConditionsHaveTheLimitOfExpressions) {
  LegacyExpectation absent;
  absent.attribute = "a";
  absent.exists = false;
  EXPECT_EQ(ErrorText(BindExpected(std::vector(300, absent), kAnd).status()), "OK");
  const std::string error = Invalid("Too many conditions: 301. Maximum number of conditions: 300");
  EXPECT_EQ(ErrorText(BindExpected(std::vector(301, absent), kAnd).status()), error);
  const LegacyCondition null = On("a", "NULL", {});
  EXPECT_EQ(ErrorText(BindLegacyFilter(std::vector(301, null), kOr).status()), error);
}

TEST_F(LegacyTest, AttributesToGetAreAProjectionOfWholeAttributes) {
  const std::vector<std::string> names = {"m.k", "b", "absent"};
  const auto projection = BindAttributesToGet(names);
  ASSERT_TRUE(projection.ok());
  const std::string item = Item({{"a", N("1")}, {"b", L({N("1")})}, {"m", M({{"k", N("1")}})}, {"m.k", S("x")}});
  EXPECT_EQ(Project(*projection, model::ItemView(item)), Item({{"b", L({N("1")})}, {"m.k", S("x")}}));
  EXPECT_EQ(Project(*projection, model::ItemView(Item({{"a", N("1")}}))), "");
  EXPECT_EQ(TopLevelNames(*projection), names);
}

TEST_F(LegacyTest, AttributesToGetRefuseDuplicates) {
  EXPECT_EQ(ErrorText(BindAttributesToGet(std::vector<std::string>{"a", "b", "c", "b", "a"}).status()),
            Invalid("Duplicate value in attribute name: b"));
}

TEST_F(LegacyTest, AttributeUpdatesBecomeActions) {
  const auto update = BindAttributeUpdates(std::vector<LegacyUpdate>{
      {"a.b", LegacyAction::kPut, Value(S("x"))},
      {"c", LegacyAction::kDelete, {}},
      {"d", LegacyAction::kDelete, Value(SS({"x"}))},
      {"e", LegacyAction::kAdd, Value(N("1"))},
      {"f", LegacyAction::kAdd, Value(L({N("1")}))},
  });
  ASSERT_TRUE(update.ok()) << update.status();
  EXPECT_EQ(update->style, UpdateStyle::kAttributeUpdates);
  ASSERT_EQ(update->sets.size(), 1U);
  EXPECT_EQ(update->sets[0].target.attribute(), "a.b");
  EXPECT_FALSE(update->sets[0].target.nested());
  EXPECT_EQ(update->sets[0].value.operation, UpdateValue::Operation::kNone);
  EXPECT_EQ(update->sets[0].value.left.value()->value->scalar(), "x");
  ASSERT_EQ(update->removes.size(), 1U);
  EXPECT_EQ(update->removes[0].attribute(), "c");
  ASSERT_EQ(update->deletes.size(), 1U);
  EXPECT_EQ(update->deletes[0].target.attribute(), "d");
  ASSERT_EQ(update->adds.size(), 2U);
  EXPECT_EQ(update->adds[0].operand.value->scalar(), "1");
  EXPECT_EQ(update->adds[1].target.attribute(), "f");
  EXPECT_EQ(update->adds[1].operand.value->type(), model::ValueType::kList);
  // In the order of the request, as paths of an expression are in the order of the text.
  EXPECT_LT(update->sets[0].target.position, update->removes[0].position);
  EXPECT_LT(update->removes[0].position, update->deletes[0].target.position);
}

TEST_F(LegacyTest, AttributeUpdatesRefuseWhatActionsCannotDo) {
  const auto error = [](LegacyAction action, std::optional<model::ValueView> value) {
    return ErrorText(BindAttributeUpdates(std::vector<LegacyUpdate>{{"a", action, value}}).status());
  };
  const std::string valueless = Invalid("Only DELETE action is allowed when no attribute value is specified");
  EXPECT_EQ(error(LegacyAction::kPut, {}), valueless);
  EXPECT_EQ(error(LegacyAction::kAdd, {}), valueless);
  EXPECT_EQ(error(LegacyAction::kDelete, {}), "OK");
  struct Case {
    Wire wire;
    std::string_view type;
    bool can_add;
    bool can_delete;
  };
  const Case cases[] = {{S("x"), "S", false, false},    {N("1"), "N", true, false},
                        {B("x"), "B", false, false},    {Bool(true), "BOOL", false, false},
                        {Null(), "NULL", false, false}, {SS({"x"}), "SS", true, true},
                        {NS({"1"}), "NS", true, true},  {BS({"x"}), "BS", true, true},
                        {L({}), "L", true, false},      {M({}), "M", false, false}};
  for (const Case& c : cases) {
    const auto value = Value(c.wire);
    EXPECT_EQ(error(LegacyAction::kPut, value), "OK");
    EXPECT_EQ(error(LegacyAction::kAdd, value),
              c.can_add ? "OK" : Invalid(Cat("ADD action is not supported for the type ", c.type)));
    EXPECT_EQ(error(LegacyAction::kDelete, value),
              c.can_delete ? "OK" : Invalid(Cat("DELETE action with value is not supported for the type ", c.type)));
  }
}

}  // namespace armature::expr::legacy_binder_test
