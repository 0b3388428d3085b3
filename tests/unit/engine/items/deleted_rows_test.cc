// Reads of tables and indexes in which very many rows were deleted: their pages end, empty or not, and go on at a key.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/index_entry.h"
#include "storage/base/strings.h"
#include "storage/codec/item_codec.h"
#include "storage/codec/key_codec.h"
#include "tests/unit/engine/engine_test_util.h"

namespace armature::engine::deleted_rows_test {

using codec::S;

constexpr char kTable[] = "things";
constexpr int kDeleted = 150'000;
constexpr int kPagesMin = 3;
constexpr int kPagesMax = 50;

class DeletedRowsTest : public testing::Test {
 protected:
  DeletedRowsTest()
      : engine_(store::Durability::kOs, {}, [](store::DatabaseOptions* options) {
          options->memtable_bytes = size_t{64} << 20;  // the deletions stay where readers find them
        }) {}

  void SetUp() override {
    model::TableDefinition definition = PlainTable(kTable);
    definition.attribute_definitions.push_back({"g", "S"});
    definition.local_indexes = {IndexOf("Local", {{"pk", "HASH"}, {"g", "RANGE"}}, "KEYS_ONLY")};
    definition.global_indexes = {IndexOf("Global", {{"g", "HASH"}, {"pk", "RANGE"}}, "ALL")};
    ASSERT_TRUE(engine_.CreateTable(definition).ok());
    for (const char* const sk : {"-1", "100000", "999999"}) {
      const auto written = engine_.Put(WriteTo(kTable, PlainItem("p", sk, {{"g", S(Cat("g", sk))}})));
      ASSERT_TRUE(written.ok()) << written.status();
      last_sequence_ = written->change_sequence;
    }
    Bury();
  }

  // Writes deletions of rows and of their entries in both indexes. The live rows are among them.
  void Bury() {
    const auto snapshot = engine_.database().catalog();
    const store::Table& table = *snapshot->Find(kTable);
    const model::KeySchema& key = table.descriptor.key;
    store::WriteUnit unit(snapshot);
    for (int row = 0; row < kDeleted; ++row) {
      if (row == 100'000) continue;
      const std::string item = codec::CanonicalizeItem(PlainItem("p", std::to_string(row), {{"g", S("g5")}}))->bytes;
      const model::ItemView view(item);
      unit.Delete(table.data, *codec::EncodeTableKey(key, view));
      for (const auto* const group : {&table.local_indexes, &table.global_indexes}) {
        const model::IndexDescriptor& index = group->front().descriptor;
        unit.Delete(group->front().keyspace, *index::EncodeIndexKey(index.kind, index.key, key, view));
      }
    }
    ASSERT_TRUE(engine_.database().change_log().CommitConsumed(unit, table.descriptor.id, {}).ok());
  }

  ReadRequest RequestOf(std::optional<std::string> index, std::optional<int64_t> limit = std::nullopt) {
    ReadRequest request;
    request.table_name = kTable;
    if (index == "Global") request.at_least_sequence = last_sequence_;
    request.index_name = std::move(index);
    request.limit = limit;
    return request;
  }
  // The request with a key condition on the partition with the live rows.
  ReadRequest QueryOf(std::optional<std::string> index, bool forward) {
    ReadRequest request = RequestOf(std::move(index));
    request.expressions.key_condition = "pk = :p";
    request.expressions.values_wire = codec::Item({{":p", S("p")}});
    request.scan_index_forward = forward;
    return request;
  }

  struct Pages {
    std::vector<std::string> items;
    int count = 0;
    int empty = 0;
  };
  Pages ReadAll(ReadRequest request) {
    Pages pages;
    const bool is_query = request.expressions.key_condition.has_value();
    do {
      absl::StatusOr<Page> page = is_query ? engine_.Query(request) : engine_.Scan(request);
      EXPECT_TRUE(page.ok()) << page.status();
      if (!page.ok()) return pages;
      ++pages.count;
      pages.empty += page->items.empty() ? 1 : 0;
      for (const std::string& item : page->items) {
        pages.items.emplace_back(model::ItemView(item).Find("sk")->scalar());
      }
      request.exclusive_start_key_wire = page->result.last_evaluated_key;
    } while (request.exclusive_start_key_wire.has_value() && pages.count < kPagesMax);
    return pages;
  }

  TestEngine engine_;
  uint64_t last_sequence_ = 0;
};

TEST_F(DeletedRowsTest, APageEndsAmongThemAndTheNextOneGoesOn) {
  const std::vector<std::string> forward = {"-1", "100000", "999999"};
  const std::vector<std::string> reverse(forward.rbegin(), forward.rend());
  for (const std::optional<std::string>& index :
       {std::optional<std::string>(), std::optional<std::string>("Local"), std::optional<std::string>("Global")}) {
    SCOPED_TRACE(index.value_or("the table"));
    for (const std::optional<int64_t> limit : {std::optional<int64_t>(), std::optional<int64_t>(1)}) {
      Pages pages = ReadAll(RequestOf(index, limit));
      std::sort(pages.items.begin(), pages.items.end());
      EXPECT_EQ(pages.items, forward);
      EXPECT_GE(pages.count, kPagesMin);
      EXPECT_LT(pages.count, kPagesMax);
      EXPECT_GT(pages.empty, 0);
    }
    if (index == "Global") continue;
    // These jump over what the scans have passed.
    const Pages up = ReadAll(QueryOf(index, /*forward=*/true));
    EXPECT_EQ(up.items.size(), forward.size());
    EXPECT_LT(up.count, kPagesMin);
    const Pages down = ReadAll(QueryOf(index, /*forward=*/false));
    EXPECT_EQ(down.items.size(), forward.size());
    EXPECT_LT(down.count, kPagesMin);
    if (index.has_value()) continue;  // the local index has another order
    EXPECT_EQ(up.items, forward);
    EXPECT_EQ(down.items, reverse);
  }
}

TEST_F(DeletedRowsTest, ItemsThatALocalIndexFetchesToo) {
  ReadRequest request = QueryOf("Local", /*forward=*/true);
  request.select = "ALL_ATTRIBUTES";
  const Pages pages = ReadAll(request);
  EXPECT_EQ(pages.items.size(), 3u);
  EXPECT_GE(pages.count, kPagesMin);
}

TEST_F(DeletedRowsTest, AClientThatHasGoneIsNoticedAmongThem) {
  RequestContext context;
  int asked = 0;
  context.cancelled = [&asked] { return ++asked > 5; };
  const absl::StatusOr<Page> page = engine_.Scan(RequestOf(std::nullopt), context);
  EXPECT_TRUE(absl::IsCancelled(page.status())) << page.status();
  EXPECT_LT(asked, 20);
}

}  // namespace armature::engine::deleted_rows_test
