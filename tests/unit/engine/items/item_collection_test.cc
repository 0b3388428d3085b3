#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/items/request_report.h"
#include "index/index_delta.h"
#include "storage/codec/key_codec.h"
#include "storage/model/item_view.h"
#include "storage/store/database.h"
#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/engine/item_model.h"

namespace armature::engine::item_collection_test {

constexpr char kTable[] = "things";
constexpr char kPlain[] = "plain";
constexpr char kRefused[] = "ItemCollectionSizeLimitExceededException";

// A table with the local index `l` that projects all attributes, a table without indexes, and collections of at most
// `kMax` bytes.
class ItemCollectionTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kMax = 10'000;

  void SetUp() override {
    model::TableDefinition table = PlainTable(kTable);
    table.attribute_definitions.push_back({"l", "S"});
    table.local_indexes = {IndexOf("ByL", {{"pk", "HASH"}, {"l", "RANGE"}}, "ALL")};
    absl::Status created = engine_.CreateTable(table);
    ASSERT_TRUE(created.ok()) << created;
    created = engine_.CreateTable(PlainTable(kPlain));
    ASSERT_TRUE(created.ok()) << created;
  }

  // A put of an item whose attribute x has `bytes` bytes.
  static WriteRequest PutOf(std::string_view pk, std::string_view sk, size_t bytes, codec::Attributes more = {}) {
    more.emplace_back("x", codec::S(std::string(bytes, 'x')));
    WriteRequest request = WriteTo(kTable, PlainItem(pk, sk, std::move(more)));
    request.return_item_collection_metrics = "SIZE";
    return request;
  }
  static WriteRequest KeyOf(std::string_view pk, std::string_view sk) {
    WriteRequest request = WriteTo(kTable, PlainItem(pk, sk));
    request.return_item_collection_metrics = "SIZE";
    return request;
  }
  // "key lower..upper", or the name of the error.
  static std::string Told(const absl::StatusOr<WriteResult>& result) {
    if (!result.ok()) return ErrorNameOf(result.status());
    if (!result->collection.has_value()) return "nothing";
    const ItemCollectionMetrics& metrics = *result->collection;
    return absl::StrCat(Printed(Decode(metrics.key)), metrics.lower_gb, "..", metrics.upper_gb);
  }
  // The stored size of the collection `pk`.
  uint64_t Size(std::string_view pk) {
    const auto snapshot = engine_.database().catalog();
    const store::Table& table = *snapshot->Find(kTable);
    const std::string item = PlainItem(pk, "1");
    uint64_t size = 0;
    const auto got = engine_.database().rows().GetCounter(
        table.collections,
        index::CollectionKey(table, *codec::EncodeTableKey(table.descriptor.key, model::ItemView(item))),
        store::ReadMode::kMayBlock, &size);
    EXPECT_TRUE(got.ok()) << got.status();
    return size;
  }

  TestEngine engine_{
      store::Durability::kOs, {}, [](store::DatabaseOptions* options) { options->item_collection_bytes_max = kMax; }};
};

TEST_F(ItemCollectionTest, WritesTellTheSizeOfTheirCollection) {
  EXPECT_EQ(Told(engine_.Put(PutOf("p", "1", 10))), "pk=S:p 0..1");
  WriteRequest update = KeyOf("p", "2");
  update.expressions.update = "SET y = :y";
  update.expressions.values_wire = codec::Item({{":y", codec::S("y")}});
  EXPECT_EQ(Told(engine_.Update(update)), "pk=S:p 0..1");
  EXPECT_EQ(Told(engine_.Delete(KeyOf("p", "2"))), "pk=S:p 0..1");
  // A put that changes nothing and a delete of a missing item.
  EXPECT_EQ(Told(engine_.Put(PutOf("p", "1", 10))), "pk=S:p 0..1");
  EXPECT_EQ(Told(engine_.Delete(KeyOf("q", "1"))), "pk=S:q 0..1");
}

TEST_F(ItemCollectionTest, NothingIsToldUnaskedOrOfTablesWithoutLocalIndexes) {
  WriteRequest unasked = PutOf("p", "1", 10);
  unasked.return_item_collection_metrics = "";
  EXPECT_EQ(Told(engine_.Put(unasked)), "nothing");
  unasked.return_item_collection_metrics = "NONE";
  EXPECT_EQ(Told(engine_.Put(unasked)), "nothing");
  WriteRequest plain = PutOf("p", "1", 10);
  plain.table_name = kPlain;
  EXPECT_EQ(Told(engine_.Put(plain)), "nothing");
  WriteRequest remove = KeyOf("p", "1");
  remove.table_name = kPlain;
  EXPECT_EQ(Told(engine_.Delete(remove)), "nothing");
}

TEST_F(ItemCollectionTest, SizesAreToldInWholeGigabytes) {
  const auto snapshot = engine_.database().catalog();
  RowWrite row;
  row.pinned = {snapshot->Hold(kTable)};
  absl::StatusOr<std::unique_ptr<const RowMutation>> put =
      MakeMutation(WriteKind::kPut, WriteTo(kTable, PlainItem("p", "1")), ValidationLayer::kEnveloped, nullptr);
  ASSERT_TRUE(put.ok()) << put.status();
  row.mutation = *std::move(put);
  const auto told = [&](int64_t bytes) {
    const ItemCollectionMetrics metrics = MetricsOf(row, bytes);
    return absl::StrCat(metrics.lower_gb, "..", metrics.upper_gb);
  };
  constexpr int64_t kGb = int64_t{1} << 30;
  EXPECT_EQ(told(0), "0..1");
  EXPECT_EQ(told(kGb - 1), "0..1");
  EXPECT_EQ(told(kGb), "1..2");
  EXPECT_EQ(told(9 * kGb + kGb / 2), "9..10");
  EXPECT_EQ(told(-5), "0..1");
}

TEST_F(ItemCollectionTest, TheSizeIsReadFromDiskIfNeedBe) {
  ASSERT_TRUE(engine_.Put(PutOf("p", "1", 10)).ok());
  engine_.Reopen();
  EXPECT_EQ(Told(engine_.Put(PutOf("p", "2", 10))), "pk=S:p 0..1");
}

TEST_F(ItemCollectionTest, AWriteThatGrowsACollectionTooFarIsRefused) {
  // Item and entry: twice (5 + 4 + 2 + 1 + 4,000 + 1), and twice 100 of overhead.
  const codec::Attributes indexed = {{"l", codec::S("l")}};
  ASSERT_TRUE(engine_.Put(PutOf("p", "1", 4000, indexed)).ok());
  const uint64_t size = Size("p");
  EXPECT_GT(size, 8200u);
  EXPECT_LT(size, 8300u);
  const absl::StatusOr<WriteResult> refused = engine_.Put(PutOf("p", "2", 1000, indexed));
  EXPECT_EQ(Told(refused), kRefused);
  EXPECT_EQ(GetApiError(refused.status())->message, "Collection size exceeded.");
  // Nothing was written, and the lock was released.
  EXPECT_FALSE(engine_.Get(GetFrom(kTable, PlainItem("p", "2")))->item.has_value());
  EXPECT_EQ(Size("p"), size);
  EXPECT_EQ(engine_.Describe(kTable)->totals.item_count, 1);
  // Without an entry the item fits.
  EXPECT_EQ(Told(engine_.Put(PutOf("p", "2", 1000))), "pk=S:p 0..1");
  // An update that adds the entry does not fit.
  WriteRequest update = KeyOf("p", "2");
  update.expressions.update = "SET l = :l";
  update.expressions.values_wire = codec::Item({{":l", codec::S("l")}});
  EXPECT_EQ(Told(engine_.Update(update)), kRefused);
  // The limit does not affect other collections and tables without local indexes.
  EXPECT_EQ(Told(engine_.Put(PutOf("q", "1", 4000, indexed))), "pk=S:q 0..1");
  WriteRequest plain = PutOf("p", "1", 20'000);
  plain.table_name = kPlain;
  EXPECT_EQ(Told(engine_.Put(plain)), "nothing");
}

TEST_F(ItemCollectionTest, AFullCollectionShrinksAndIsRead) {
  for (const char* const sk : {"1", "2"}) ASSERT_TRUE(engine_.Put(PutOf("p", sk, 4700)).ok());
  EXPECT_EQ(Told(engine_.Put(PutOf("p", "3", 4700))), kRefused);
  ReadRequest query;
  query.table_name = kTable;
  query.expressions.key_condition = "pk = :p";
  query.expressions.values_wire = codec::Item({{":p", codec::S("p")}});
  EXPECT_EQ(engine_.Query(query)->items.size(), 2u);
  // A put of the same size, a smaller one, and a delete.
  WriteRequest same = PutOf("p", "1", 4700);
  same.item_wire = PlainItem("p", "1", {{"y", codec::S(std::string(4700, 'y'))}});
  EXPECT_EQ(Told(engine_.Put(same)), "pk=S:p 0..1");
  EXPECT_EQ(Told(engine_.Put(PutOf("p", "1", 10))), "pk=S:p 0..1");
  EXPECT_EQ(Told(engine_.Delete(KeyOf("p", "2"))), "pk=S:p 0..1");
  EXPECT_EQ(Told(engine_.Put(PutOf("p", "3", 4700))), "pk=S:p 0..1");
}

// Concurrent writers of one collection and of others. The sizes stay exact.
TEST_F(ItemCollectionTest, WritersThatRaceForRoomNeverPassTheLimit) {
  constexpr int kThreads = 4;
  constexpr int kPuts = 60;
  std::atomic<int> written = 0;
  std::atomic<int> others = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kPuts; ++i) {
        // The key ends in 1, because trailing zeros would change the size of a number.
        const std::string sk = std::to_string(1000 + t * kPuts + i) + "1";
        const std::string outcome = Told(engine_.Put(PutOf("p", sk, 200)));
        ASSERT_TRUE(outcome == kRefused || outcome == "pk=S:p 0..1") << outcome;
        written += outcome == kRefused ? 0 : 1;
        // Writes to collections below the limit are never refused.
        others += engine_.Put(PutOf(absl::StrCat("other", t), sk, 10)).ok() ? 1 : 0;
        ASSERT_LE(Size("p"), kMax);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(others, kThreads * kPuts);
  ReadRequest query;
  query.table_name = kTable;
  query.expressions.key_condition = "pk = :p";
  query.expressions.values_wire = codec::Item({{":p", codec::S("p")}});
  const absl::StatusOr<Page> page = engine_.Query(query);
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->items.size(), static_cast<size_t>(written));
  // Each item takes 300 bytes and its key. Exactly as many as fit are stored.
  const uint64_t each = Size("p") / static_cast<uint64_t>(written);
  EXPECT_GT(each, 300u);
  EXPECT_EQ(static_cast<uint64_t>(written), kMax / each);
}

}  // namespace armature::engine::item_collection_test
