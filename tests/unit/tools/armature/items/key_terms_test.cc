#include "tools/armature/items/key_terms.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "armature/api/v1/items.pb.h"
#include "storage/base/strings.h"
#include "tools/armature/plain_json.h"

namespace armature::cli::key_terms_test {

using testing::HasSubstr;

// The index by_day of the table orders: customer (S) and day (N) over order-id (S).
TargetKeys Keys() {
  TargetKeys keys;
  keys.table = {.name = "orders", .attributes = {{"order-id", api::v1::SCALAR_ATTRIBUTE_TYPE_S, true}}};
  keys.target = {.name = "orders/by_day",
                 .attributes = {{"customer", api::v1::SCALAR_ATTRIBUTE_TYPE_S, true},
                                {"day", api::v1::SCALAR_ATTRIBUTE_TYPE_N, false}}};
  return keys;
}

using WriteTerms = absl::StatusOr<ReadExpressions> (*)(const TargetKeys&, const std::vector<std::string>&,
                                                       ExpressionWriter*);

// "KEY | FILTER" with <name> for names and plain JSON for values; or the error.
std::string Written(WriteTerms write, const std::vector<std::string>& terms) {
  ExpressionWriter writer;
  const absl::StatusOr<ReadExpressions> expressions = write(Keys(), terms, &writer);
  if (!expressions.ok()) return std::string(Sv(expressions.status().message()));
  api::v1::QueryRequest request;
  writer.SetPlaceholders(&request);
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& [placeholder, name] : request.expression_attribute_names()) {
    texts.emplace_back(placeholder, Cat("<", name, ">"));
  }
  for (const auto& [placeholder, value] : request.expression_attribute_values()) {
    texts.emplace_back(placeholder, PlainValue(value));
  }
  return absl::StrReplaceAll(Cat(expressions->key, " | ", expressions->filter), texts);
}

std::string Query(const std::vector<std::string>& terms) { return Written(QueryTerms, terms); }
std::string Scan(const std::vector<std::string>& terms) { return Written(ScanTerms, terms); }

TEST(KeyTermsTest, TermsOnKeyAttributesAreTheKeyCondition) {
  EXPECT_EQ(Query({"customer=C 1", "day>=5"}), "<customer> = \"C 1\" AND <day> >= 5 | ");
  EXPECT_EQ(Query({"customer == C1", "day between 1 and 9"}), "<customer> = \"C1\" AND <day> BETWEEN 1 AND 9 | ");
  EXPECT_EQ(Query({"day<5", "customer=C1"}), "<day> < 5 AND <customer> = \"C1\" | ");
  EXPECT_EQ(Query({"customer=C1", "day^=5"}), "<customer> = \"C1\" AND begins_with(<day>, 5) | ");
}

TEST(KeyTermsTest, ValuesOfKeysHaveTheTypeOfTheKey) {
  EXPECT_EQ(Query({"customer=12"}), "<customer> = \"12\" | ");
  EXPECT_EQ(Query({"customer='it''s'"}), "<customer> = \"it's\" | ");
  EXPECT_EQ(Query({R"(customer="a\"b")"}), "<customer> = \"a\\\"b\" | ");
  EXPECT_EQ(Query({"customer='x", "day='5'"}), "<customer> = \"'x\" AND <day> = 5 | ");
  EXPECT_EQ(Query({"customer=true"}), "<customer> = \"true\" | ");
  EXPECT_EQ(Query({"customer=C1", "day=x"}),
            "\"day=x\": the key attribute day is a number, not \"x\"; "
            "orders/by_day has the key customer (S), day (N)");
  EXPECT_EQ(Query({"customer="}),
            "\"customer=\": the key attribute customer must not be empty; "
            "orders/by_day has the key customer (S), day (N)");
}

TEST(KeyTermsTest, OtherTermsAreTheFilterWithTypesByForm) {
  EXPECT_EQ(Query({"customer=C1", "status=open", "amount>100", "a.b[0]!=true"}),
            "<customer> = \"C1\" | <status> = \"open\" AND <amount> > 100 AND <a>.<b>[0] <> true");
  EXPECT_EQ(Query({"customer=C1", "zip='012'", "note=", "tags={\"SS\": [\"x\"]}", "z=null"}),
            "<customer> = \"C1\" | <zip> = \"012\" AND <note> = \"\" AND <tags> = {\"SS\": [\"x\"]} AND <z> = null");
  EXPECT_EQ(Query({"customer=C1", "amount BETWEEN 'a and b' AND c and d"}),
            "<customer> = \"C1\" | <amount> BETWEEN \"a and b\" AND \"c and d\"");
  // The key of the table is no part of the key of the index.
  EXPECT_EQ(Query({"customer=C1", "order-id=7"}), "<customer> = \"C1\" | <order-id> = \"7\"");
  EXPECT_EQ(Query({"customer=C1", "`x-y`^=a"}), "<customer> = \"C1\" | begins_with(<x-y>, \"a\")");
}

TEST(KeyTermsTest, ValuesWithoutNamesFollowTheKey) {
  EXPECT_EQ(Query({"C1"}), "<customer> = \"C1\" | ");
  EXPECT_EQ(Query({"C1", "5", "amount>1"}), "<customer> = \"C1\" AND <day> = 5 | <amount> > 1");
  EXPECT_THAT(Query({"C1", "5", "6"}), HasSubstr("\"6\" has no operator, and all key attributes have values"));
}

TEST(KeyTermsTest, FaultsAreNamed) {
  EXPECT_THAT(Query({}), HasSubstr("a query needs NAME=VALUE for the partition key; orders/by_day has the key"));
  EXPECT_THAT(Query({"day=5"}), HasSubstr("a query needs NAME=VALUE"));
  EXPECT_THAT(Query({"customer>C1"}), HasSubstr("a query needs NAME=VALUE"));
  EXPECT_THAT(Query({"customer!=C1"}), HasSubstr("!= is not for the key of a query"));
  EXPECT_THAT(Query({"customer=C1", "day between 1"}), HasSubstr("between needs two values"));
  EXPECT_THAT(Query({"customer=C1", "x-y=1"}), HasSubstr("\"x-y=1\": expected the end, not \"-\""));
  EXPECT_THAT(Query({"customer=\xff"}), HasSubstr("not UTF-8"));
  EXPECT_THAT(Query({"customer=C1", "a={"}), HasSubstr("\"a={\": not valid JSON"));
}

TEST(KeyTermsTest, TermsOfAScanAreItsFilter) {
  EXPECT_EQ(Scan({"customer!=C1", "amount>5"}), " | <customer> <> \"C1\" AND <amount> > 5");
  EXPECT_EQ(Scan({}), " | ");
}

TEST(KeyTermsTest, ACountIsAQueryIfThePartitionIsFixed) {
  EXPECT_TRUE(FixPartition(Keys(), {"customer=C1"}));
  EXPECT_TRUE(FixPartition(Keys(), {"amount>5", "C1"}));
  EXPECT_FALSE(FixPartition(Keys(), {"day=5"}));
  EXPECT_FALSE(FixPartition(Keys(), {"customer^=C"}));
  EXPECT_FALSE(FixPartition(Keys(), {}));
}

}  // namespace armature::cli::key_terms_test
