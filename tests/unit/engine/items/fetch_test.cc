// Reads of a local index with attributes that it does not project.

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "storage/codec/key_codec.h"
#include "storage/model/item_view.h"
#include "storage/store/database.h"
#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/engine/item_model.h"

namespace armature::engine::fetch_test {

constexpr char kTable[] = "things";
constexpr char kIndex[] = "ByRank";

// Key (pk, sk). The index sorts by `rank` and projects `a`. Other attributes are in the table only.
class FetchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    model::TableDefinition table = PlainTable(kTable);
    table.attribute_definitions.push_back({"rank", "N"});
    table.local_indexes = {IndexOf(kIndex, {{"pk", "HASH"}, {"rank", "RANGE"}}, "INCLUDE", {"a"})};
    const absl::Status created = engine_.CreateTable(table);
    ASSERT_TRUE(created.ok()) << created;
  }

  void Put(std::string_view sk, std::string_view rank, std::string_view a, std::string_view b) {
    const absl::StatusOr<WriteResult> put = engine_.Put(
        WriteTo(kTable, PlainItem("p", sk, {{"rank", codec::N(rank)}, {"a", codec::S(a)}, {"b", codec::S(b)}})));
    ASSERT_TRUE(put.ok()) << put.status();
  }

  // A query for all entries of "p", in order of rank.
  static ReadRequest QueryOfIndex() {
    ReadRequest request;
    request.table_name = kTable;
    request.index_name = kIndex;
    request.consistent_read = true;
    request.expressions.key_condition = "pk = :p";
    request.expressions.values_wire = codec::Item({{":p", codec::S("p")}});
    request.return_consumed_capacity = "INDEXES";
    return request;
  }
  static ReadRequest Whole() {
    ReadRequest request = QueryOfIndex();
    request.select = "ALL_ATTRIBUTES";
    return request;
  }
  static ReadRequest Filtered(ReadRequest request, std::string filter, codec::Attributes values) {
    values.emplace_back(":p", codec::S("p"));
    request.expressions.filter = std::move(filter);
    request.expressions.values_wire = codec::Item(values);
    return request;
  }

  // Units of index and table, and counts: "index+table count/scanned".
  static std::string Charge(const Page& page) {
    const ConsumedCapacity& capacity = *page.result.capacity;
    EXPECT_DOUBLE_EQ(capacity.total, *capacity.table + capacity.local_indexes.at(kIndex));
    std::string text = absl::StrCat(capacity.local_indexes.at(kIndex), "+", *capacity.table);
    return absl::StrCat(text, " ", page.result.count, "/", page.result.scanned_count);
  }
  // Values of `name`, "-" where it is missing.
  static std::string Column(const Page& page, const std::string& name) {
    std::string text;
    for (const std::string& item : page.items) {
      const ModelItem decoded = Decode(item);
      text += (text.empty() ? "" : " ") + (decoded.contains(name) ? decoded.at(name).text : "-");
    }
    return text;
  }
  Page Query(ReadRequest request) {
    absl::StatusOr<Page> page = engine_.Query(std::move(request));
    EXPECT_TRUE(page.ok()) << page.status();
    return page.ok() ? *std::move(page) : Page();
  }
  void DeleteBaseRow(std::string_view sk) {
    const auto snapshot = engine_.database().catalog();
    const store::Table& table = *snapshot->Find(kTable);
    const std::string item = PlainItem("p", sk);
    store::WriteUnit unit(snapshot);
    unit.Delete(table.data, *codec::EncodeTableKey(table.descriptor.key, model::ItemView(item)));
    Answer<ChangeSequence> answer;
    engine_.database().commits().Commit(std::move(unit), answer.Catch());
    ASSERT_TRUE(answer.Take().ok());
  }

  TestEngine engine_;
};

// Source: the developer guide, "Read capacity units" of local secondary indexes.
TEST_F(FetchTest, CostsWhatTheGuideSays) {
  // The projected part has 200 bytes: keys 4 + 4, rank 4 + 2, and a. With b the item has 300.
  for (const char* const n : {"1", "2", "3", "4"}) Put(n, n, std::string(186, 'a'), std::string(99, 'b'));
  const auto described = engine_.Describe(kTable);
  ASSERT_EQ(described->totals.size_bytes, 4 * (300 + 100));
  ASSERT_EQ(described->local_indexes[0].size_bytes, 4 * (200 + 100));
  EXPECT_EQ(Charge(Query(Whole())), "1+4 4/4");
  ReadRequest eventual = Whole();
  eventual.consistent_read = false;
  EXPECT_EQ(Charge(Query(eventual)), "0.5+2 4/4");
  eventual.return_consumed_capacity = "TOTAL";
  EXPECT_DOUBLE_EQ(Query(eventual).result.capacity->total, 2.5);
  EXPECT_FALSE(Query(eventual).result.capacity->table.has_value());
  // Without unprojected attributes, no items are fetched.
  EXPECT_EQ(Charge(Query(QueryOfIndex())), "1+0 4/4");
}

TEST_F(FetchTest, ChargesEachItemRoundedUpByItself) {
  // Entries of 15 bytes and items of 5 KB: 150 bytes, and 10 times 8 KB.
  for (int i = 0; i < 10; ++i) Put(std::to_string(i), "7", "a", std::string(5000, 'b'));
  ReadRequest request = Whole();
  EXPECT_EQ(Charge(Query(request)), "1+20 10/10");
  request.consistent_read = false;
  EXPECT_EQ(Charge(Query(request)), "0.5+10 10/10");
  request.limit = 3;
  EXPECT_EQ(Charge(Query(request)), "0.5+3 3/3");
}

TEST_F(FetchTest, AnswersWhatIsAskedForInTheOrderOfTheIndex) {
  Put("1", "30", "a1", "b1");
  Put("2", "20", "a2", "b2");
  Put("3", "10", "a3", "b3");
  const Page whole = Query(Whole());
  EXPECT_EQ(Column(whole, "b"), "b3 b2 b1");
  EXPECT_EQ(Printed(Decode(whole.items[0])), "a=S:a3 b=S:b3 pk=S:p rank=N:10 sk=N:3 ");
  ReadRequest reverse = Whole();
  reverse.scan_index_forward = false;
  EXPECT_EQ(Column(Query(reverse), "b"), "b1 b2 b3");
  ReadRequest projection = QueryOfIndex();
  projection.expressions.projection = "b, sk, c";
  EXPECT_EQ(Printed(Decode(Query(projection).items[0])), "b=S:b3 sk=N:3 ");
  ReadRequest legacy;
  legacy.table_name = kTable;
  legacy.index_name = kIndex;
  legacy.expressions.legacy.attributes_to_get = {"b", "a"};
  legacy.expressions.legacy.key_conditions = {{"pk", "EQ", {codec::S("p")}}};
  EXPECT_EQ(Printed(Decode(Query(legacy).items[0])), "a=S:a3 b=S:b3 ");
  ReadRequest scan;
  scan.table_name = kTable;
  scan.index_name = kIndex;
  scan.select = "ALL_ATTRIBUTES";
  const absl::StatusOr<Page> scanned = engine_.Scan(scan);
  ASSERT_TRUE(scanned.ok()) << scanned.status();
  EXPECT_EQ(Column(*scanned, "b"), "b3 b2 b1");
}

TEST_F(FetchTest, FetchesOnlyWhatPassesAFilterOnProjectedAttributes) {
  Put("1", "1", "yes", "b1");
  Put("2", "2", "no", "b2");
  Put("3", "3", "yes", "b3");
  const Page page = Query(Filtered(Whole(), "a = :y", {{":y", codec::S("yes")}}));
  EXPECT_EQ(Column(page, "b"), "b1 b3");
  EXPECT_EQ(Charge(page), "1+2 2/3");
  const Page none = Query(Filtered(Whole(), "a = :y", {{":y", codec::S("never")}}));
  EXPECT_EQ(Charge(none), "1+0 0/3");
}

TEST_F(FetchTest, FetchesAllForAFilterOnWhatIsNotProjected) {
  Put("1", "1", "a1", "yes");
  Put("2", "2", "a2", "no");
  Put("3", "3", "a3", "yes");
  const codec::Attributes values = {{":y", codec::S("yes")}};
  const Page whole = Query(Filtered(Whole(), "b = :y", values));
  EXPECT_EQ(Column(whole, "sk"), "1 3");
  EXPECT_EQ(Charge(whole), "1+3 2/3");
  // The filter does not add attributes to the answer.
  const Page projected = Query(Filtered(QueryOfIndex(), "b = :y", values));
  EXPECT_EQ(Column(projected, "a"), "a1 a3");
  EXPECT_EQ(Column(projected, "b"), "- -");
  EXPECT_EQ(Charge(projected), "1+3 2/3");
  ReadRequest count = Filtered(QueryOfIndex(), "NOT (a = :y OR b = :y)", values);
  count.select = "COUNT";
  const Page counted = Query(count);
  EXPECT_TRUE(counted.items.empty());
  EXPECT_EQ(Charge(counted), "1+3 1/3");
}

TEST_F(FetchTest, APageGoesOnWhereTheLastOneEnded) {
  for (int i = 0; i < 50; ++i) Put(std::to_string(i), std::to_string(i / 3), "a", absl::StrCat("b", i));
  for (const bool forward : {true, false}) {
    for (const int limit : {1, 7, 32, 50}) {
      ReadRequest request = Whole();
      request.scan_index_forward = forward;
      request.limit = limit;
      std::string all;
      size_t items = 0;
      do {
        const Page page = Query(request);
        ASSERT_LE(page.result.scanned_count, limit);
        all += Column(page, "b") + " ";
        items += page.items.size();
        request.exclusive_start_key_wire = page.result.last_evaluated_key;
        if (page.result.last_evaluated_key.has_value()) {
          // The key attributes of index and table only.
          EXPECT_EQ(Decode(*page.result.last_evaluated_key).size(), 3u);
        }
      } while (request.exclusive_start_key_wire.has_value());
      EXPECT_EQ(items, 50u);
      ReadRequest at_once = Whole();
      at_once.scan_index_forward = forward;
      std::string expected = Column(Query(at_once), "b") + " ";
      // An empty last page adds a blank.
      while (expected.size() < all.size()) expected += " ";
      EXPECT_EQ(all, expected) << limit;
    }
  }
}

TEST_F(FetchTest, APageHoldsAMegabyteOfEntriesAndOfItemsRoundedUp) {
  // 255 items of 4 KB each, rounded up, and 4 KB of entries.
  for (int i = 0; i < 260; ++i) Put(std::to_string(i), "1", "a", "b");
  const Page small = Query(Whole());
  EXPECT_EQ(small.items.size(), 255u);
  EXPECT_TRUE(small.result.last_evaluated_key.has_value());
  EXPECT_EQ(Query(QueryOfIndex()).items.size(), 260u);
  // 74 blocks for each item and one for the entries: the fourth item reaches the limit.
  for (int i = 0; i < 10; ++i) Put(std::to_string(i), "-1", "a", std::string(300'000, 'b'));
  const Page large = Query(Whole());
  EXPECT_EQ(large.items.size(), 4u);
  EXPECT_EQ(Charge(large), "1+296 4/4");
}

TEST_F(FetchTest, ReadsWhatIsNotInMemory) {
  for (int i = 0; i < 40; ++i) Put(std::to_string(i), std::to_string(i), "a", absl::StrCat("b", i));
  engine_.Reopen();
  ReadRequest request = Whole();
  request.limit = 20;
  const std::string cold = Column(Query(request), "b");
  EXPECT_TRUE(cold.starts_with("b0 b1 b2")) << cold;
  EXPECT_EQ(Column(Query(request), "b"), cold);
}

TEST_F(FetchTest, AnEntryWithoutItsItemIsDamage) {
  Put("1", "1", "a1", "b1");
  Put("2", "2", "a2", "b2");
  DeleteBaseRow("2");
  const std::string row = codec::ToHex(*codec::EncodeTableKey(
      engine_.database().catalog()->Find(kTable)->descriptor.key, model::ItemView(PlainItem("p", "2"))));
  const absl::Status status = engine_.Query(Whole()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  for (const std::string_view part : {std::string_view(kTable), std::string_view(kIndex), std::string_view(row)}) {
    EXPECT_NE(status.message().find(absl::string_view(part.data(), part.size())), absl::string_view::npos) << status;
  }
  // The entry itself can be read, and so can the page before it.
  EXPECT_EQ(Column(Query(QueryOfIndex()), "a"), "a1 a2");
  ReadRequest first = Whole();
  first.limit = 1;
  EXPECT_EQ(Column(Query(first), "b"), "b1");
}

// Each update stores the next number in an item's rank, projected attribute and other attribute. A page from one
// snapshot has these numbers in ascending order, each item once.
TEST_F(FetchTest, EntriesAndItemsAreOfOneMomentWhileBothChange) {
  constexpr int kItems = 48;
  constexpr int kUpdates = 3000;
  std::atomic<int> next = 1;
  const auto update = [&](int item, int number) {
    WriteRequest request = WriteTo(kTable, PlainItem("p", std::to_string(item)));
    request.expressions.update = "SET #r = :n, a = :n, b = :n";
    request.expressions.names.emplace();
    (*request.expressions.names)["#r"] = "rank";
    request.expressions.values_wire = codec::Item({{":n", codec::N(std::to_string(number))}});
    ASSERT_TRUE(engine_.Update(std::move(request)).ok());
  };
  for (int i = 0; i < kItems; ++i) update(i, next++);
  std::atomic<bool> done = false;
  std::atomic<int> pages = 0;
  std::vector<std::thread> readers;
  for (int t = 0; t < 2; ++t) {
    readers.emplace_back([&, t] {
      while (!done) {
        ReadRequest request = Whole();
        // Once on the pool, once directly from memory.
        if (t == 1) request.limit = kItems;
        const absl::StatusOr<Page> page = engine_.Query(std::move(request));
        ASSERT_TRUE(page.ok()) << page.status();
        ASSERT_EQ(page->items.size(), size_t{kItems});
        int last = 0;
        for (const std::string& bytes : page->items) {
          const ModelItem item = Decode(bytes);
          const int rank = std::stoi(item.at("rank").text);
          ASSERT_GT(rank, last);
          ASSERT_EQ(item.at("a").text, item.at("rank").text);
          ASSERT_EQ(item.at("b").text, item.at("rank").text);
          last = rank;
        }
        ++pages;
      }
    });
  }
  for (int i = 0; i < kUpdates; ++i) update(i * 31 % kItems, next++);
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_GT(pages, 10);
}

}  // namespace armature::engine::fetch_test
