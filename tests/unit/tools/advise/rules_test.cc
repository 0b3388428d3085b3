// Tests of the single rules in docs/develop/advise.md.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/strings.h"
#include "tests/unit/tools/advise/advise_testing.h"

namespace armature::advise::rules_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// id is the key. customer has many values, state few, day some.
WorkloadBuilder Things() {
  WorkloadBuilder builder;
  builder.Attribute("id", 1e6).Attribute("customer", 10'000).Attribute("state", 4).Attribute("day", 1000);
  builder.Attribute("open", 5000, 0.01).Attribute("note", 100).TableKey("id");
  return builder;
}

TEST(AdviseKey, TheWholeTableKeyIsAGetItem) {
  const Advice advice = Things().Pattern("p", {"id", "state"}).Advise();
  EXPECT_THAT(advice.indexes, IsEmpty());
  EXPECT_EQ(advice.patterns[0].service, Service::kItem);
}

TEST(AdviseKey, TheTableKeyAnswersWhatItCan) {
  WorkloadBuilder builder = Things();
  builder.TableKey("customer", "day").Pattern("all", {"customer"}).Pattern("range", {"customer"}, "day");
  builder.Pattern("order", {"customer"}, "", {"day"}).Pattern("both", {"customer", "day"});
  const Advice advice = builder.Advise();
  EXPECT_THAT(advice.indexes, IsEmpty());
  EXPECT_EQ(advice.patterns[1].service, Service::kTable);
  EXPECT_EQ(advice.patterns[3].service, Service::kItem);
}

TEST(AdviseKey, PartitionIsTheAttributeWithTheMostValues) {
  EXPECT_THAT(Summaries(Things().Pattern("p", {"state", "customer"}).Advise()),
              ElementsAre("GLOBAL customer | state KEYS_ONLY"));
}

TEST(AdviseKey, RangeComesLastAndTheRestOfTheOrderBehindIt) {
  EXPECT_THAT(Summaries(Things().Pattern("p", {"customer", "state"}, "day", {"day", "note"}).Advise()),
              ElementsAre("GLOBAL customer | state, day, note KEYS_ONLY"));
}

TEST(AdviseKey, OrderBesideARangeIsLeftToTheClient) {
  const Advice advice = Things().Pattern("p", {"customer"}, "day", {"note"}).Advise();
  EXPECT_THAT(Summaries(advice), ElementsAre("GLOBAL customer | day INCLUDE note"));
  EXPECT_TRUE(advice.patterns[0].sorted_by_client);
}

TEST(AdviseKey, OrderByWhatIsGivenByEqualityIsNone) {
  const Advice advice = Things().Pattern("p", {"customer", "state"}, "", {"state", "day"}).Advise();
  EXPECT_THAT(Summaries(advice), ElementsAre("GLOBAL customer | state, day KEYS_ONLY"));
  EXPECT_FALSE(advice.patterns[0].sorted_by_client);
}

TEST(AdviseKey, MoreThanFourSortAttributesOverflowIntoThePartition) {
  WorkloadBuilder builder = Things();
  builder.Attribute("a", 2).Attribute("b", 3);
  builder.Pattern("p", {"customer", "state", "note", "a", "b"}, "day");
  EXPECT_THAT(Summaries(builder.Advise()), ElementsAre("GLOBAL customer, note | a, b, state, day KEYS_ONLY"));
}

TEST(AdviseKey, WhatCannotBeAKeyIsFiltered) {
  WorkloadBuilder builder = Things();
  builder.Typed("flag", AttributeType::kOther).Pattern("p", {"customer", "flag"}).Pattern("q", {"flag"});
  const Advice advice = builder.Advise();
  EXPECT_THAT(Summaries(advice), ElementsAre("GLOBAL customer INCLUDE flag"));
  EXPECT_EQ(advice.patterns[0].filter, "flag = ?");
  EXPECT_EQ(advice.patterns[1].service, Service::kScan);
}

TEST(AdviseKey, WithoutEqualityThereIsAScan) {
  const Advice advice = Things().Pattern("p", {}, "day").Advise();
  EXPECT_THAT(advice.indexes, IsEmpty());
  EXPECT_EQ(advice.patterns[0].service, Service::kScan);
  EXPECT_DOUBLE_EQ(advice.patterns[0].units_per_read, 125'000) << "a million kilobytes, eventually consistent";
  EXPECT_THAT(advice.patterns[0].reason, HasSubstr("Not served"));
}

TEST(AdviseTableKey, IsTheIdentityThatNeedsTheFewestIndexes) {
  WorkloadBuilder builder = Things();
  builder.workload().table.key.reset();
  builder.workload().table.identity = builder.Ids({"day", "customer"});
  builder.Pattern("p", {"customer"}, "", {"day"});
  const Advice advice = builder.Advise();
  EXPECT_EQ(advice.table.key.ToString(), "customer | day");
  EXPECT_THAT(advice.indexes, IsEmpty());
  EXPECT_THAT(FindReason(advice.table.reasons, "key"), HasSubstr("2 possible keys"));
}

TEST(AdviseTableKey, MayPutAnotherAttributeBeforeTheIdentity) {
  WorkloadBuilder builder = Things();
  builder.workload().table.key.reset();
  builder.workload().table.identity = builder.Ids({"id"});
  builder.Pattern("p", {"customer"}).Strong();
  EXPECT_EQ(builder.Advise().table.key.ToString(), "customer | id");
  builder.Writes(0, {{builder.Ids({"customer"}), 1, UpdateKind::kChange}});
  EXPECT_EQ(builder.Advise().table.key.ToString(), "id") << "keys never change";
}

TEST(AdviseSharing, AnIndexAnswersWhatItsKeyBeginsWith) {
  WorkloadBuilder builder = Things();
  builder.Pattern("short", {"customer"}).Pattern("long", {"customer", "state"}, "day").Returns({"note"});
  builder.Pattern("middle", {"state", "customer"});
  const Advice advice = builder.Advise();
  EXPECT_THAT(Summaries(advice), ElementsAre("GLOBAL customer | state, day INCLUDE note"));
  EXPECT_THAT(advice.indexes[0].patterns, ElementsAre("short", "long", "middle"));
  EXPECT_THAT(FindReason(advice.indexes[0].reasons, "sharing"),
              HasSubstr(R"(One index for "short", "long" and "middle")"));
}

TEST(AdviseSharing, AGapInTheSortKeyNeedsAnotherIndex) {
  WorkloadBuilder builder = Things();
  builder.Pattern("by state", {"customer", "state"}, "day").Pattern("by day", {"customer"}, "day");
  EXPECT_THAT(Summaries(builder.Advise()),
              ElementsAre("GLOBAL customer | state, day KEYS_ONLY", "GLOBAL customer | day KEYS_ONLY"));
}

TEST(AdviseSharing, ChoosesTheIndexWhoseProjectionHoldsTheAnswer) {
  WorkloadBuilder builder = Things();
  builder.Writes(0, {{builder.Ids({"note"}), 10, UpdateKind::kChange}});
  builder.Pattern("c", {"customer"}).Returns({"note"});
  builder.Pattern("a", {"customer"}, "day").Pattern("b", {"customer"}, "state").Returns({"note"});
  const Advice advice = builder.Advise();
  EXPECT_THAT(Summaries(advice),
              ElementsAre("GLOBAL customer | state INCLUDE note", "GLOBAL customer | day KEYS_ONLY"));
  EXPECT_THAT(advice.indexes[0].patterns, ElementsAre("c", "b")) << "wherever the short pattern stands in the file";
}

TEST(AdviseSharing, NotAtThePriceOfAPartitionKeyWithFewValues) {
  WorkloadBuilder builder = Things();
  builder.Pattern("mine", {"customer", "state"}).Pattern("all", {"state"});
  EXPECT_THAT(Summaries(builder.Advise()), ElementsAre("GLOBAL customer | state KEYS_ONLY", "GLOBAL state KEYS_ONLY"));
}

TEST(AdviseSharing, NotAtThePriceOfShards) {
  WorkloadBuilder builder = Things();
  // Half of the writes go to one day. Customer and day together are spread evenly.
  builder.workload().table.attributes[builder.Id("day")].hot_share = 0.5;
  builder.Writes(4000).Pattern("both", {"customer", "day"}).Pattern("day", {"day"});
  EXPECT_THAT(Summaries(builder.Advise()),
              ElementsAre("GLOBAL customer | day KEYS_ONLY", "GLOBAL day, dayShard KEYS_ONLY x4"));
}

TEST(AdviseSparse, OnlyPatternsThatWantThoseItemsUseASparseIndex) {
  WorkloadBuilder builder = Things();
  builder.Pattern("open", {"customer"}, "", {"open"}).Pattern("all", {"customer"});
  const Advice advice = builder.Advise();
  EXPECT_THAT(Summaries(advice), ElementsAre("GLOBAL customer | open KEYS_ONLY sparse", "GLOBAL customer KEYS_ONLY"));
  EXPECT_DOUBLE_EQ(advice.indexes[0].entries.value(), 10'000);
  EXPECT_THAT(FindReason(advice.indexes[0].reasons, "sparse"), HasSubstr("Only items with open"));
}

TEST(AdviseSparse, ADemandedAttributeJoinsTheKey) {
  EXPECT_THAT(Summaries(Things().Pattern("p", {"customer"}, "day").Has({"open"}).Advise()),
              ElementsAre("GLOBAL customer | day, open KEYS_ONLY sparse"));
}

TEST(AdviseSparse, WithoutEqualityTheSparseIndexIsScanned) {
  const Advice advice = Things().Pattern("p", {}).Has({"open"}).Advise();
  EXPECT_THAT(Summaries(advice), ElementsAre("GLOBAL open KEYS_ONLY sparse"));
  EXPECT_EQ(advice.patterns[0].service, Service::kIndexScan);
  EXPECT_LT(advice.patterns[0].units_per_read, 100);
}

TEST(AdviseKind, StrongReadsOfATablePartitionAreALocalIndex) {
  WorkloadBuilder builder = Things();
  builder.TableKey("customer", "id").Pattern("p", {"customer"}, "day").Strong().Pattern("q", {"customer", "day"});
  const Advice advice = builder.Advise();
  EXPECT_THAT(Summaries(advice), ElementsAre("LOCAL customer | day KEYS_ONLY"));
  EXPECT_TRUE(advice.patterns[0].strong);
  EXPECT_THAT(advice.warnings, ElementsAre(HasSubstr("may not pass 10 GB")));
  EXPECT_DOUBLE_EQ(advice.patterns[0].units_per_read, 1);
  EXPECT_DOUBLE_EQ(advice.patterns[1].units_per_read, 0.5);
}

TEST(AdviseKind, ALocalIndexHasOneSortAttributeAndFiltersTheRest) {
  WorkloadBuilder builder = Things();
  builder.TableKey("customer", "id").Pattern("p", {"customer", "state"}, "", {"day"}).Strong();
  const Advice advice = builder.Advise();
  EXPECT_THAT(Summaries(advice), ElementsAre("LOCAL customer | day INCLUDE state"));
  EXPECT_EQ(advice.patterns[0].filter, "state = ?");
  EXPECT_EQ(advice.patterns[0].condition, "customer = ?");
}

TEST(AdviseKind, StrongReadsOfAnotherPartitionGetAGlobalIndexAndAreToldSo) {
  WorkloadBuilder builder = Things();
  builder.TableKey("customer", "id").Pattern("p", {"day"}).Strong();
  const Advice advice = builder.Advise();
  EXPECT_THAT(Summaries(advice), ElementsAre("GLOBAL day KEYS_ONLY"));
  EXPECT_FALSE(advice.patterns[0].strong);
  EXPECT_THAT(advice.patterns[0].reason, HasSubstr("Only eventually consistent, although strong is asked for"));
}

TEST(AdviseKind, ACreatedTableGetsNoLocalIndex) {
  WorkloadBuilder builder = Things();
  builder.TableKey("customer", "id").Pattern("p", {"customer"}, "day").Strong();
  builder.workload().table.created = true;
  Advice advice = builder.Advise();
  EXPECT_THAT(advice.indexes, IsEmpty()) << "a hundred items of a kilobyte are filtered";
  EXPECT_EQ(advice.patterns[0].filter, "day BETWEEN ? AND ?");
  EXPECT_DOUBLE_EQ(advice.patterns[0].units_per_read, 25);
  builder.workload().table.items = 1e9;
  advice = builder.Advise();
  EXPECT_THAT(Summaries(advice), ElementsAre("GLOBAL customer | day KEYS_ONLY"));
  EXPECT_FALSE(advice.patterns[0].strong);
}

TEST(AdviseKind, NoLocalIndexWhereAPartitionOutgrowsItsLimit) {
  WorkloadBuilder builder = Things();
  builder.TableKey("customer", "id").Pattern("p", {"customer"}, "day").Strong();
  builder.workload().table.attributes[builder.Id("customer")].hot_share = 0.5;
  builder.workload().table.items = 1e8;
  const Advice advice = builder.Advise();
  EXPECT_THAT(Summaries(advice), ElementsAre("GLOBAL customer | day KEYS_ONLY"));
  EXPECT_THAT(advice.patterns[0].reason, HasSubstr("may not pass 10 GB"));
}

TEST(AdviseProjection, IsAsSmallAsTheAnswers) {
  EXPECT_THAT(Summaries(Things().Pattern("p", {"customer"}).Returns({"id", "customer"}).Advise()),
              ElementsAre("GLOBAL customer KEYS_ONLY"));
  WorkloadBuilder builder = Things();
  builder.Pattern("p", {"customer"}).Returns({"note"}).Pattern("q", {"customer"}).Returns({"day"});
  EXPECT_THAT(Summaries(builder.Advise()), ElementsAre("GLOBAL customer INCLUDE note day"));
  EXPECT_THAT(Summaries(Things().Pattern("p", {"customer"}).ReturnsAll().Advise()), ElementsAre("GLOBAL customer ALL"));
}

TEST(AdviseProjection, NearlyTheWholeItemIsAll) {
  WorkloadBuilder builder = Things();
  builder.Pattern("p", {"customer"}).Returns({"note", "day", "state"});
  builder.workload().table.item_bytes = 155;
  EXPECT_THAT(Summaries(builder.Advise()), ElementsAre("GLOBAL customer INCLUDE note day state"));
  builder.workload().table.item_bytes = 150;
  EXPECT_THAT(Summaries(builder.Advise()), ElementsAre("GLOBAL customer ALL"));
}

TEST(AdviseProjection, RareReadsAndManyWritesSuggestKeysOnly) {
  WorkloadBuilder builder = Things();
  builder.Pattern("p", {"customer"}).Returns({"note"}).PerSecond(0.1);
  EXPECT_THAT(FindReason(builder.Advise().indexes[0].reasons, "projection"), Not(HasSubstr("Consider KEYS_ONLY")));
  builder.Writes(0, {{builder.Ids({"note"}), 100, UpdateKind::kChange}});
  EXPECT_THAT(FindReason(builder.Advise().indexes[0].reasons, "projection"), HasSubstr("Consider KEYS_ONLY"));
}

TEST(AdviseSharding, BeginsWhereAPartitionTakesNoMoreWrites) {
  WorkloadBuilder builder = Things();
  builder.Pattern("p", {"state"}).Writes(4000);
  EXPECT_THAT(Summaries(builder.Advise()), ElementsAre("GLOBAL state KEYS_ONLY")) << "1,000 for each of four values";
  EXPECT_THAT(FindReason(builder.Advise().indexes[0].reasons, "sharding"), HasSubstr("before the index gets 4,000"));
  builder.Writes(4004);
  const Advice advice = builder.Advise();
  EXPECT_THAT(Summaries(advice), ElementsAre("GLOBAL state, stateShard KEYS_ONLY x3"));
  EXPECT_EQ(advice.indexes[0].key.partition[1].type, AttributeType::kNumber);
  EXPECT_EQ(advice.patterns[0].queries, 3);
  EXPECT_DOUBLE_EQ(advice.patterns[0].units_per_read, 1.5) << "each query costs its half";
}

TEST(AdviseSharding, SpreadsLargeReadsButCannotHelpSmallOnes) {
  WorkloadBuilder builder = Things();
  builder.Pattern("p", {"state"}).ReturnsAll().PerSecond(120);
  builder.workload().patterns[0].rows = 1000;
  const Advice large = builder.Advise();  // 125 units each, a quarter of them for one value
  EXPECT_THAT(Summaries(large), ElementsAre("GLOBAL state, stateShard ALL x3"));
  builder.PerSecond(40'000);
  builder.workload().patterns[0].rows = 1;
  const Advice small = builder.Advise();
  EXPECT_THAT(Summaries(small), ElementsAre("GLOBAL state ALL"));
  EXPECT_THAT(FindReason(small.indexes[0].reasons, "sharding"), HasSubstr("cache the answers"));
}

TEST(AdviseSharding, GrowsThePartitionKeyBeforeItShards) {
  WorkloadBuilder builder = Things();
  builder.workload().table.attributes[builder.Id("customer")].hot_share = 0.5;
  builder.Writes(3000).Pattern("p", {"customer", "state"}, "day");
  EXPECT_THAT(Summaries(builder.Advise()), ElementsAre("GLOBAL customer, state | day KEYS_ONLY"));
  builder.Pattern("q", {"customer"}, "state");
  EXPECT_THAT(Summaries(builder.Advise()), ElementsAre("GLOBAL customer, state | day KEYS_ONLY",
                                                       "GLOBAL customer, customerShard | state KEYS_ONLY x3"))
      << "what needs shards stays apart";
}

TEST(AdviseSharding, EachIndexHasItsOwnShardAttribute) {
  WorkloadBuilder builder = Things();
  builder.Writes(8000).Pattern("p", {"state"}, "day").Pattern("q", {"state"}, "note");
  EXPECT_THAT(Summaries(builder.Advise()), ElementsAre("GLOBAL state, stateShard | day KEYS_ONLY x4",
                                                       "GLOBAL state, stateShard2 | note KEYS_ONLY x4"));
}

TEST(AdviseExisting, IndexesThatAreThereAreUsed) {
  WorkloadBuilder builder = Things();
  builder.workload().table.created = true;
  builder.workload().table.indexes = {
      {"by-customer", false, {builder.Ids({"customer"}), builder.Ids({"day"})}, {ProjectionKind::kKeysOnly, {}}}};
  builder.Pattern("held", {"customer"}, "day").Pattern("not held", {"customer"}).Returns({"note"});
  const Advice advice = builder.Advise();
  EXPECT_EQ(advice.patterns[0].service, Service::kExistingIndex);
  EXPECT_EQ(advice.patterns[0].index, "by-customer");
  EXPECT_THAT(Summaries(advice), ElementsAre("GLOBAL customer INCLUDE note"));
}

TEST(AdviseLimits, TooManyGlobalIndexesAreSaid) {
  WorkloadBuilder builder = Things();
  for (int i = 0; i < 21; ++i) builder.Attribute(Cat("a", i), 1000);
  for (int i = 0; i < 20; ++i) builder.Pattern(Cat("p", i), {Cat("a", i)});
  EXPECT_THAT(builder.Advise().warnings, IsEmpty());
  builder.Pattern("rare", {"a20"}).PerSecond(0.5);
  const Advice advice = builder.Advise();
  EXPECT_THAT(advice.indexes, SizeIs(21));
  EXPECT_THAT(advice.warnings, ElementsAre(testing::AllOf(HasSubstr("21 global indexes, and at most 20"),
                                                          HasSubstr("a20-index (0.5 reads a second)"))));
}

TEST(AdviseLimits, TooManyLocalIndexesAreSaid) {
  WorkloadBuilder builder = Things();
  builder.TableKey("customer", "id");
  for (int i = 0; i < 6; ++i) {
    builder.Attribute(Cat("a", i), 1000).Pattern(Cat("p", i), {"customer"}, Cat("a", i)).Strong();
  }
  EXPECT_THAT(builder.Advise().warnings, testing::Contains(HasSubstr("6 local indexes, and at most 5")));
}

TEST(AdviseLimits, ABusyPartitionOfTheTableIsSaid) {
  WorkloadBuilder builder = Things();
  builder.TableKey("state", "id").Writes(5000).Pattern("p", {"state", "id"});
  EXPECT_THAT(builder.Advise().warnings, ElementsAre(HasSubstr("busiest partition of the table itself")));
}

TEST(AdviseReasons, EveryChoiceHasOne) {
  for (const char* const name : {"orders.json", "business.json", "order-status.json", "dashboard.json", "forum.json",
                                 "dashboard-hot.json", "game-scores.json", "open-orders.json"}) {
    const Advice advice = AdviseOnExample(name);
    EXPECT_NE(FindReason(advice.table.reasons, "key"), "");
    for (const IndexAdvice& index : advice.indexes) {
      for (const char* const topic : {"key", "kind", "projection", "cost"}) {
        EXPECT_NE(FindReason(index.reasons, topic), "") << name << " " << index.name << " " << topic;
      }
      EXPECT_EQ(FindReason(index.reasons, "sparse") != "", index.share < 1);
      EXPECT_TRUE(FindReason(index.reasons, "sharding") != "" || index.shards == 1);
    }
    for (const PatternAdvice& pattern : advice.patterns) EXPECT_NE(pattern.reason, "");
  }
}

}  // namespace armature::advise::rules_test
