// Plans of statements, and the tokens of their pages.

#include "engine/partiql/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "engine/access/facts.h"
#include "engine/items/access_facts.h"
#include "engine/items/message_memory.h"
#include "engine/partiql/key_terms.h"
#include "engine/partiql/parser.h"
#include "engine/partiql/plan_facts.h"
#include "engine/partiql/read_union.h"
#include "engine/partiql/select_run.h"
#include "tests/unit/engine/engine_test_util.h"

namespace armature::engine::partiql_plan_test {

using codec::N;
using codec::S;
using partiql::PageStart;
using partiql::Plan;
using partiql::PlanKind;
using partiql::PlanOptions;
using testing::HasSubstr;

class PartiqlPlanTest : public testing::Test {
 protected:
  PartiqlPlanTest() : engine_(store::Durability::kOs) { EXPECT_TRUE(engine_.CreateTable(PlainTable("tab")).ok()); }

  absl::StatusOr<Plan> PlanOf(const std::string& text, PlanOptions options = {},
                              const std::vector<std::string>& parameters = {}) {
    absl::StatusOr<partiql::Statement> statement = partiql::ParseStatement(text, parameters);
    if (!statement.ok()) return statement.status();
    return partiql::MakePlan(engine_.database(), std::make_shared<const partiql::Statement>(*std::move(statement)),
                             options);
  }
  Plan Made(const std::string& text) {
    absl::StatusOr<Plan> plan = PlanOf(text);
    EXPECT_TRUE(plan.ok()) << text << ": " << plan.status();
    return plan.ok() ? *std::move(plan) : Plan();
  }
  std::string Explained(const std::string& text) { return partiql::Explained(Made(text)); }
  std::string ErrorOf(const std::string& text) {
    const absl::StatusOr<Plan> plan = PlanOf(text);
    return plan.ok() ? "" : std::string(plan.status().message());
  }

  TestEngine engine_;
};

TEST_F(PartiqlPlanTest, AWholeKeyIsAGetItem) {
  for (const char* text :
       {"SELECT * FROM tab WHERE pk = 'a' AND sk = 1", "SELECT n FROM \"tab\" WHERE sk = 1 AND pk = 'a'"}) {
    const Plan plan = Made(text);
    EXPECT_EQ(plan.kind, PlanKind::kGet) << text;
    EXPECT_TRUE(plan.is_key_only);
    EXPECT_TRUE(plan.get.has_value());
    EXPECT_FALSE(plan.row_key.empty());
    EXPECT_FALSE(plan.is_full_scan());
  }
  // Writes of one item have one row key.
  const std::string row_key = Made("UPDATE tab SET n = 1 WHERE pk = 'a' AND sk = 1").row_key;
  EXPECT_NE(row_key, "");
  EXPECT_EQ(Made("DELETE FROM tab WHERE sk = 1 AND pk = 'a' AND n > 2").row_key, row_key);
  EXPECT_NE(Made("DELETE FROM tab WHERE pk = 'a' AND sk = 2").row_key, row_key);
}

TEST_F(PartiqlPlanTest, APartitionKeyIsAQueryAndNoneAScan) {
  EXPECT_EQ(Made("SELECT * FROM tab WHERE pk = 'a'").kind, PlanKind::kQuery);
  EXPECT_EQ(Made("SELECT * FROM tab WHERE pk = 'a' AND sk > 1").kind, PlanKind::kQuery);
  EXPECT_EQ(Made("SELECT * FROM tab WHERE pk = 'a' AND sk BETWEEN 1 AND 2").kind, PlanKind::kQuery);
  EXPECT_EQ(Made("SELECT * FROM tab WHERE pk = 'a' AND n = 1").kind, PlanKind::kQuery);
  for (const char* text : {"SELECT * FROM tab", "SELECT * FROM tab WHERE n = 1", "SELECT * FROM tab WHERE pk > 'a'",
                           "SELECT * FROM tab WHERE sk = 1", "SELECT * FROM tab WHERE pk = 'a' OR n = 1"}) {
    const Plan plan = Made(text);
    EXPECT_EQ(plan.kind, PlanKind::kScan) << text;
    EXPECT_TRUE(plan.is_full_scan());
    EXPECT_EQ(plan.read_count(), 1u);
  }
}

TEST_F(PartiqlPlanTest, SeveralPartitionKeysAreAQueryEach) {
  EXPECT_EQ(Made("SELECT * FROM tab WHERE pk IN ['a', 'b', 'c']").read_count(), 3u);
  EXPECT_EQ(Made("SELECT * FROM tab WHERE pk = 'a' OR pk = 'b'").read_count(), 2u);
  EXPECT_THAT(Explained("SELECT * FROM tab WHERE pk = 'a' ORDER BY sk DESC"), HasSubstr("backwards"));
}

TEST_F(PartiqlPlanTest, WritesNeedTheWholeKey) {
  EXPECT_EQ(Made("INSERT INTO tab VALUE {'pk': 'a', 'sk': 1}").kind, PlanKind::kPut);
  EXPECT_EQ(Made("DELETE FROM tab WHERE pk = 'a' AND sk = 1").kind, PlanKind::kDelete);
  const Plan conditional = Made("UPDATE tab SET n = 2 WHERE pk = 'a' AND sk = 1 AND n = 1");
  EXPECT_EQ(conditional.kind, PlanKind::kUpdate);
  EXPECT_FALSE(conditional.is_key_only);
  EXPECT_NE(ErrorOf("UPDATE tab SET n = 2 WHERE pk = 'a'"), "");
  EXPECT_NE(ErrorOf("DELETE FROM tab WHERE pk = 'a' AND sk = 1 OR n = 1"), "");
  EXPECT_NE(ErrorOf("SELECT * FROM missing"), "");
  EXPECT_NE(ErrorOf("SELECT * FROM tab.missing"), "");
}

TEST_F(PartiqlPlanTest, ReadsAreCountedBeforeTheyAreMade) {
  const auto list = [](int count) {
    std::string text = "0";
    for (int i = 1; i < count; ++i) text += Cat(", ", i);
    return text;
  };
  EXPECT_EQ(Made(Cat("SELECT * FROM tab WHERE pk = 'a' AND sk IN [", list(50), "]")).read_count(), 50u);
  EXPECT_THAT(ErrorOf(Cat("SELECT * FROM tab WHERE pk = 'a' AND sk IN [", list(51), "]")),
              HasSubstr("Too many decomposed read operations"));
  EXPECT_THAT(ErrorOf(Cat("SELECT * FROM tab WHERE pk IN ['a', 'b', 'c'] AND sk IN [", list(17), "]")),
              HasSubstr("Too many decomposed read operations"));
}

TEST_F(PartiqlPlanTest, ProductsOfListsAndChoicesEndAtABoundOfReads) {
  const auto joined = [](const std::string& separator, const std::string& before, const std::string& after = "") {
    std::string text;
    for (int i = 0; i < 50; ++i) text += Cat(text.empty() ? "" : separator, before, i, after);
    return text;
  };
  const auto texts = Cat("[", joined(", ", "'", "'"), "]");
  const auto numbers = Cat("[", joined(", ", ""), "]");
  const auto partitions = Cat("(", joined(" OR ", "pk = '", "'"), ")");
  const auto ranges = Cat("(", joined(" OR ", "sk < "), ")");
  const auto product = Cat(partitions, " AND sk IN ", numbers, " AND ", ranges);
  // 2,500 reads, of which those of one partition become one.
  const auto filtered = Cat("pk IN ", texts, " AND (", joined(" OR ", "pk IN ['", "']"), ")");
  constexpr char kOverlap[] = "Overlapping conditions with range keys";
  constexpr char kTooMany[] = "Too many decomposed read operations";
  struct Product {
    std::string where;
    std::string error;
    size_t reads;
  };
  for (const Product& each : {
           Product{product, kOverlap, 0},
           Product{Cat("sk IN ", numbers, " AND ", ranges, " AND ", partitions), kOverlap, 0},
           Product{Cat("pk IN ", texts, " AND sk IN ", numbers, " AND ", ranges), kTooMany, 0},
           Product{filtered, "", 50},
           Product{Cat(filtered, " OR ", filtered), kTooMany, 0},
           // The first read of the last branch spends the budget: 50 partitions and 49 choices make 2,500 before.
           Product{Cat("pk IN ", texts, " AND (", ranges.substr(1, ranges.rfind(" OR ") - 1),
                       ") OR pk = 'a' AND (sk = 1 OR sk = 2)"),
                   kTooMany, 0},
           // A branch without a value of the partition key, behind too many reads, makes it a scan.
           Product{Cat(product, " OR (pk = 'a' OR pk > 'b') AND n = 1"), "", 0},
       }) {
    const absl::StatusOr<partiql::Statement> statement =
        partiql::ParseStatement(Cat("SELECT * FROM tab WHERE ", each.where), {});
    ASSERT_TRUE(statement.ok()) << statement.status();
    partiql::ReadBudget budget;
    const auto reads =
        partiql::DecomposeReads(engine_.database().catalog()->Hold("tab")->descriptor.key, *statement->where, &budget);
    EXPECT_LE(budget.made(), partiql::ReadBudget::kMadeMax + partiql::kReadsMax) << each.where;
    if (each.error.empty()) {
      ASSERT_TRUE(reads.ok()) << reads.status();
      EXPECT_EQ(reads->size(), each.reads);
    } else {
      EXPECT_THAT(std::string(reads.status().message()), HasSubstr(each.error)) << each.where;
    }
  }
}

TEST_F(PartiqlPlanTest, FactsOfSeveralReadsAreThoseOfEach) {
  for (const char* const text :
       {"SELECT n, m.x FROM tab WHERE pk IN ['a', 'b', 'c'] AND n > 1", "SELECT * FROM tab WHERE pk = 'a' OR pk = 'b'",
        "SELECT * FROM tab WHERE pk = 'a' AND (sk = 1 OR sk > 3 AND contains(x.y, n)) OR pk = 'b' AND NOT z IN [1, k]",
        "SELECT * FROM tab WHERE pk = 'a' AND v = 1 OR pk = 'a' AND size(w) = 2 OR pk = 'b'",
        "SELECT n FROM tab WHERE pk = 'a' AND sk IN [1, 2] ORDER BY sk DESC", "SELECT n FROM tab WHERE pk = 'a'"}) {
    const Plan plan = Made(text);
    access::Facts each;
    for (size_t i = 0; i < plan.read_count(); ++i) {
      const auto one = FactsOf(engine_.database(), /*is_scan=*/false, plan.RequestOf(i));
      ASSERT_TRUE(one.ok()) << one.status();
      MergeFacts(*one, &each);
    }
    const absl::StatusOr<access::Facts> facts = partiql::FactsOfPlan(engine_.database(), plan, "");
    ASSERT_TRUE(facts.ok()) << facts.status();
    EXPECT_EQ(facts->values, each.values) << text;
  }
}

TEST_F(PartiqlPlanTest, FactsBindOneReadOnly) {
  std::string deep = "a";
  for (int i = 0; i < 40; ++i) deep += ".a";
  // The second read is refused when it is executed.
  const auto facts = partiql::FactsOfPlan(
      engine_.database(), Made(Cat("SELECT * FROM tab WHERE pk = 'a' OR pk = 'b' AND ", deep, " = 1")), "");
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_THAT((*facts)[access::ConditionKey::kLeadingKeys], testing::ElementsAre("a", "b"));
  EXPECT_THAT((*facts)[access::ConditionKey::kAttributes], testing::ElementsAre("a", "pk"));
}

TEST_F(PartiqlPlanTest, ColumnsAreFoundInOneWalk) {
  const std::string item = codec::Item(
      {{"a", codec::M({{"b", codec::L({N("1"), S("x"), codec::M({{"c", N("2")}})})}})}, {"b", S("y")}, {"n", N("3")}});
  const auto columns = [&](const std::string& list) {
    const auto statement = partiql::ParseStatement(Cat("SELECT ", list, " FROM tab"), {});
    const partiql::Columns made(statement->columns);
    const partiql::Columns::Selection selection = made.Of(item);
    EXPECT_EQ(selection.bytes(), selection.Item().size());
    EXPECT_EQ(selection.Memory(), MessageMemory(selection.Item()));
    return selection.Item();
  };
  EXPECT_EQ(columns("n, b"), codec::Item({{"b", S("y")}, {"n", N("3")}}));
  EXPECT_EQ(columns("a.b[2].c, a.b[0], a.b[9], n.x"), codec::Item({{"b[0]", N("1")}, {"c", N("2")}}));
  // The first column of a name that has a value is kept.
  EXPECT_EQ(columns("a.x.b, b, a.b"), codec::Item({{"b", S("y")}}));
  EXPECT_EQ(columns("absent"), "");
  // Statements have no such path.
  expr::DocumentPath deep;
  deep.elements.assign(2000, {expr::PathElement::Kind::kName, "a", 0});
  EXPECT_TRUE(partiql::Columns({deep}).Of(item).empty());
}

StatementRequest Request(const std::string& text) {
  StatementRequest request;
  request.statement = text;
  return request;
}

TEST(PartiqlTokens, AreRead) {
  const StatementRequest request = Request("SELECT * FROM tab");
  for (const PageStart& start : {PageStart{}, PageStart{7, std::nullopt}, PageStart{300, std::string("k\0ey", 4)}}) {
    const absl::StatusOr<PageStart> read = partiql::DecodeToken(request, partiql::EncodeToken(request, start));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->read, start.read);
    EXPECT_EQ(read->key, start.key);
  }
}

TEST(PartiqlTokens, BelongToOneStatementWithItsParameters) {
  StatementRequest request = Request("SELECT * FROM tab WHERE a = ?");
  request.parameters = {S("x")};
  const std::string token = partiql::EncodeToken(request, {1, "key"});
  StatementRequest other = request;
  other.statement = "SELECT * FROM u WHERE a = ?";
  EXPECT_FALSE(partiql::DecodeToken(other, token).ok());
  other = request;
  other.parameters = {N("1")};
  EXPECT_FALSE(partiql::DecodeToken(other, token).ok());
  other.parameters = std::nullopt;
  EXPECT_FALSE(partiql::DecodeToken(other, token).ok());
}

TEST(PartiqlTokens, CutAndChangedOnesAreRefused) {
  const StatementRequest request = Request("SELECT * FROM tab");
  std::string bytes;
  ASSERT_TRUE(absl::Base64Unescape(partiql::EncodeToken(request, {1, "key"}), &bytes));
  codec::ForEachDamage(bytes, [&request](std::string_view damaged) {
    const auto read = partiql::DecodeToken(request, absl::Base64Escape(std::string(damaged)));
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(GetApiError(read.status())->message, "NextToken does not match request");
  });
  for (const char* nonsense : {"", "====", "nonsense", "\x01\x02"}) {
    EXPECT_FALSE(partiql::DecodeToken(request, nonsense).ok()) << nonsense;
  }
}

}  // namespace armature::engine::partiql_plan_test
