// Global indexes added to tables in use, and removed from them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/engine/item_model.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::engine::index_life_test {

using codec::N;
using codec::S;
using testing::HasSubstr;

constexpr char kTable[] = "things";

model::TableUpdate Change(model::GlobalIndexUpdate change) {
  model::TableUpdate update;
  update.table_name = kTable;
  update.attribute_definitions = {{"color", "S"}, {"size", "N"}};
  update.global_index_updates = {std::move(change)};
  return update;
}

model::TableUpdate Create(std::string name, std::string projection = "ALL") {
  return Change({.update = {},
                 .create = IndexOf(std::move(name), {{"color", "HASH"}, {"size", "RANGE"}}, std::move(projection)),
                 .remove = {}});
}

model::TableUpdate Remove(std::string name) { return Change({.update = {}, .create = {}, .remove = std::move(name)}); }

class IndexLifeTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(engine_.CreateTable(PlainTable(kTable)).ok()); }

  absl::StatusOr<TableDescription> Update(model::TableUpdate update) {
    Answer<TableDescription> answer;
    engine_->UpdateTable(std::move(update), answer.Catch());
    return answer.Take();
  }
  // The index with that name, or nullopt.
  std::optional<model::IndexDescriptor> Find(const std::string& name) {
    const absl::StatusOr<TableDescription> described = engine_.Describe(kTable);
    const model::IndexDescriptor* const index = described.ok() ? described->descriptor.FindIndex(name) : nullptr;
    return index == nullptr ? std::nullopt : std::optional(*index);
  }
  absl::Status WaitForActive(const std::string& name) {
    return TestEngine::WaitUntil([&] {
      const auto index = Find(name);
      return index.has_value() && index->state == model::IndexState::kActive;
    });
  }
  absl::Status WaitForBackfilling(const std::string& name) {
    return TestEngine::WaitUntil([&] {
      const auto index = Find(name);
      return index.has_value() && index->backfilling;
    });
  }
  absl::Status WaitForNone(const std::string& name) {
    return TestEngine::WaitUntil([&] { return !Find(name).has_value(); });
  }
  absl::StatusOr<TableDescription> CreateActive(const std::string& name, const std::string& projection = "ALL") {
    absl::StatusOr<TableDescription> updated = Update(Create(name, projection));
    if (!updated.ok()) return updated;
    if (const absl::Status active = WaitForActive(name); !active.ok()) return active;
    return engine_.Describe(kTable);
  }

  absl::Status Put(int key, codec::Attributes more) {
    return engine_.Put(WriteTo(kTable, PlainItem(std::to_string(key), "1", std::move(more)))).status();
  }
  absl::Status Delete(int key) { return engine_.Delete(WriteTo(kTable, PlainItem(std::to_string(key), "1"))).status(); }
  // All items of the table or of an index, printed.
  std::vector<std::string> All(std::optional<std::string> index, absl::Status* failed = nullptr) {
    std::vector<std::string> items;
    ReadRequest request;
    request.table_name = kTable;
    request.index_name = std::move(index);
    do {
      absl::StatusOr<Page> page = engine_.Scan(request);
      if (!page.ok()) {
        if (failed != nullptr) *failed = page.status();
        return items;
      }
      for (const std::string& item : page->items) items.push_back(Printed(Decode(item)));
      request.exclusive_start_key_wire = page->result.last_evaluated_key;
    } while (request.exclusive_start_key_wire.has_value());
    std::sort(items.begin(), items.end());
    return items;
  }
  // The expected entries of an index on color and size that projects all attributes.
  std::vector<std::string> Indexed() {
    std::vector<std::string> indexed;
    for (std::string& item : All(std::nullopt)) {
      if (item.find("color") != std::string::npos && item.find("size") != std::string::npos) {
        indexed.push_back(std::move(item));
      }
    }
    return indexed;
  }
  Totals TotalsOfIndex(const std::string& name) {
    Answer<std::vector<IndexStatus>> answer;
    engine_->ListIndexStatus(kTable, answer.Catch());
    const absl::StatusOr<std::vector<IndexStatus>> statuses = answer.Take();
    if (!statuses.ok()) return {};
    for (const IndexStatus& status : *statuses) {
      if (status.descriptor.name == name) return status.totals;
    }
    return {};
  }

  TestEngine engine_{store::Durability::kOs,
                     {.index_build = {.page_rows = 7, .page_bytes = 1 << 20, .share_under_load = 1}}};
};

TEST_F(IndexLifeTest, AnEmptyTableGetsAnIndex) {
  const absl::StatusOr<TableDescription> updated = Update(Create("ByColor"));
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(updated->descriptor.state, model::TableState::kUpdating);
  ASSERT_EQ(updated->descriptor.global_indexes.size(), 1u);
  ASSERT_EQ(updated->global_indexes.size(), 1u);
  EXPECT_EQ(updated->descriptor.global_indexes[0].state, model::IndexState::kCreating);
  EXPECT_EQ(BackfillingOf(updated->descriptor, updated->descriptor.global_indexes[0]), false);
  ASSERT_TRUE(WaitForActive("ByColor").ok());
  const TableDescription described = *engine_.Describe(kTable);
  EXPECT_EQ(described.descriptor.state, model::TableState::kActive);
  EXPECT_EQ(BackfillingOf(described.descriptor, described.descriptor.global_indexes[0]), std::nullopt);
  EXPECT_EQ(described.descriptor.attribute_definitions.size(), 4u);

  ASSERT_TRUE(Put(1, {{"color", S("red")}, {"size", N("5")}}).ok());
  EXPECT_TRUE(TestEngine::WaitUntil([&] { return All("ByColor") == Indexed(); }).ok());
}

TEST_F(IndexLifeTest, WhatWasThereIsInTheIndex) {
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(Put(i, {{"color", S(i % 2 == 0 ? "red" : "blue")}, {"size", N(std::to_string(i))}}).ok());
  }
  ASSERT_TRUE(Put(100, {{"color", S("red")}}).ok());
  ASSERT_TRUE(CreateActive("ByColor").ok());
  EXPECT_EQ(All("ByColor").size(), 100u);
  EXPECT_EQ(All("ByColor"), Indexed());
  const Totals table = engine_.Describe(kTable)->totals;
  EXPECT_EQ(TotalsOfIndex("ByColor").item_count, 100);
  EXPECT_EQ(TotalsOfIndex("ByColor").size_bytes, table.size_bytes - (100 + 5 + 4 + 8));

  engine_.Reopen();
  EXPECT_EQ(All("ByColor"), Indexed());
  EXPECT_EQ(TotalsOfIndex("ByColor").item_count, 100);
}

TEST_F(IndexLifeTest, ItemsWithUnfitAttributesAreSkipped) {
  ASSERT_TRUE(Put(1, {{"color", S("red")}, {"size", N("1")}}).ok());
  ASSERT_TRUE(Put(2, {{"color", N("7")}, {"size", N("1")}}).ok());
  ASSERT_TRUE(Put(3, {{"color", S("")}, {"size", N("1")}}).ok());
  ASSERT_TRUE(Put(4, {{"color", S(std::string(2049, 'x'))}, {"size", N("1")}}).ok());
  ASSERT_TRUE(Put(5, {{"color", S("red")}, {"size", S("1")}}).ok());
  ASSERT_TRUE(Put(6, {{"color", S("red")}}).ok());
  ASSERT_TRUE(CreateActive("ByColor").ok());
  EXPECT_EQ(All("ByColor").size(), 1u);
  // A write of the item adds it to the index.
  ASSERT_TRUE(Put(2, {{"color", S("green")}, {"size", N("1")}}).ok());
  EXPECT_TRUE(TestEngine::WaitUntil([&] { return All("ByColor").size() == 2; }).ok());
  EXPECT_EQ(ErrorNameOf(Put(9, {{"color", N("7")}, {"size", N("1")}})), "ValidationException");
}

// An update does not fail because of an unfit attribute that it leaves unchanged.
TEST_F(IndexLifeTest, UnfitAttributesDoNotStandInTheWayOfUpdates) {
  ASSERT_TRUE(Put(1, {{"color", S("red")}, {"shade", codec::B(std::string(2049, 'x'))}}).ok());
  ASSERT_TRUE(Put(2, {{"color", S("red")}, {"shade", S(std::string(2049, 'x'))}}).ok());
  ASSERT_TRUE(Put(3, {{"color", S("red")}, {"shade", S(std::string(2040, 'x'))}}).ok());
  model::TableUpdate creation = Create("ByBoth");
  creation.attribute_definitions = {{"color", "S"}, {"shade", "S"}};
  creation.global_index_updates->front().create->key_schema = {{"color", "HASH"}, {"shade", "HASH"}};
  ASSERT_TRUE(Update(creation).ok());
  ASSERT_TRUE(WaitForActive("ByBoth").ok());
  const auto update = [this](int key, std::string expression, const std::string& value) {
    WriteRequest request = WriteTo(kTable, PlainItem(std::to_string(key), "1"));
    request.expressions.update = std::move(expression);
    if (!value.empty()) request.expressions.values_wire = codec::Item({{":v", S(value)}});
    return std::string(engine_.Update(request).status().message());
  };
  constexpr char kSize[] =
      "The update expression attempted to update the secondary index key beyond allowed size limits";
  for (const int key : {1, 2}) {
    EXPECT_EQ(update(key, "SET color = :v", "blue"), "") << key;
    EXPECT_EQ(update(key, "SET color = :v", std::string(2049, 'c')), kSize) << key;
    EXPECT_EQ(update(key, "REMOVE color", ""), "") << key;
  }
  EXPECT_EQ(update(2, "SET shade = :v", std::string(2049, 'x')), kSize) << "as it was, but written";
  EXPECT_EQ(update(3, "SET color = :v", "blue and green"), kSize) << "with the shade, which fits";
  EXPECT_EQ(update(3, "SET color = :v", "blue"), "");
  EXPECT_EQ(All("ByBoth").size(), 1u);
}

// A held snapshot acts like a running request: the build waits for it.
TEST_F(IndexLifeTest, AnIndexThatIsBeingFilledIsNotRead) {
  std::shared_ptr<const store::CatalogSnapshot> holder = engine_.database().catalog();
  ASSERT_TRUE(Update(Create("ByColor")).ok());
  ASSERT_TRUE(WaitForBackfilling("ByColor").ok());
  const TableDescription described = *engine_.Describe(kTable);
  EXPECT_EQ(described.descriptor.state, model::TableState::kActive);
  EXPECT_EQ(BackfillingOf(described.descriptor, described.descriptor.global_indexes[0]), true);
  absl::Status failed;
  All("ByColor", &failed);
  EXPECT_THAT(std::string(failed.message()), HasSubstr("Cannot read from backfilling global secondary index: ByColor"));

  EXPECT_EQ(ErrorNameOf(Update(Create("Other")).status()), "LimitExceededException");
  EXPECT_EQ(ErrorNameOf(Update(Create("ByColor")).status()), "LimitExceededException");
  const absl::Status deleted = engine_.DeleteTable(kTable).status();
  EXPECT_EQ(ErrorNameOf(deleted), "ResourceInUseException");
  EXPECT_THAT(std::string(deleted.message()),
              HasSubstr("Cannot delete table while indexes are being created, updated, or deleted."));
  // Writes continue, and are already validated against the index.
  ASSERT_TRUE(Put(1, {{"color", S("red")}, {"size", N("1")}}).ok());
  EXPECT_EQ(ErrorNameOf(Put(1, {{"color", N("7")}, {"size", N("1")}})), "ValidationException");

  holder.reset();
  ASSERT_TRUE(WaitForActive("ByColor").ok());
  EXPECT_EQ(All("ByColor"), Indexed());
  EXPECT_TRUE(CreateActive("Other").ok());
}

TEST_F(IndexLifeTest, AnIndexGoesAndItsNameIsFree) {
  ASSERT_TRUE(Put(1, {{"color", S("red")}, {"size", N("1")}}).ok());
  ASSERT_TRUE(CreateActive("ByColor").ok());
  const size_t families = engine_.database().stats().column_families;
  const absl::StatusOr<TableDescription> removed = Update(Remove("ByColor"));
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_EQ(removed->descriptor.state, model::TableState::kUpdating);
  EXPECT_EQ(removed->descriptor.global_indexes[0].state, model::IndexState::kDeleting);
  absl::Status failed;
  All("ByColor", &failed);
  EXPECT_THAT(std::string(failed.message()), HasSubstr("The table does not have the specified index: ByColor"));
  ASSERT_TRUE(WaitForNone("ByColor").ok());
  const TableDescription described = *engine_.Describe(kTable);
  EXPECT_EQ(described.descriptor.state, model::TableState::kActive);
  EXPECT_EQ(described.descriptor.attribute_definitions.size(), 2u);
  EXPECT_EQ(engine_.database().stats().column_families, families - 1);
  // The attribute may have any type again.
  ASSERT_TRUE(Put(2, {{"color", N("7")}}).ok());
  EXPECT_EQ(ErrorNameOf(Update(Remove("ByColor")).status()), "ResourceNotFoundException");
  ASSERT_TRUE(CreateActive("ByColor", "KEYS_ONLY").ok());
  EXPECT_EQ(All("ByColor").size(), 1u);
  engine_.Reopen();
  EXPECT_EQ(All("ByColor").size(), 1u);
}

TEST_F(IndexLifeTest, AnIndexIsDroppedOnlyWhenNobodyHoldsIt) {
  ASSERT_TRUE(CreateActive("ByColor").ok());
  std::shared_ptr<const store::CatalogSnapshot> holder = engine_.database().catalog();
  ASSERT_TRUE(Update(Remove("ByColor")).ok());
  ASSERT_TRUE(Put(1, {{"color", S("red")}, {"size", N("1")}}).ok());
  EXPECT_TRUE(Find("ByColor").has_value());
  EXPECT_EQ(ErrorNameOf(engine_.DeleteTable(kTable).status()), "ResourceInUseException");
  const store::Index* const held = holder->Find(kTable)->FindIndex("ByColor");
  std::string value;
  EXPECT_TRUE(engine_.database().rows().Get(held->keyspace, "x", store::ReadMode::kMayBlock, &value).ok());
  holder.reset();
  EXPECT_TRUE(WaitForNone("ByColor").ok());
}

TEST_F(IndexLifeTest, AnIndexThatIsBeingFilledCanBeRemoved) {
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(Put(i, {{"color", S("red")}, {"size", N("1")}}).ok());
  std::shared_ptr<const store::CatalogSnapshot> holder = engine_.database().catalog();
  ASSERT_TRUE(Update(Create("ByColor")).ok());
  ASSERT_TRUE(WaitForBackfilling("ByColor").ok());
  ASSERT_TRUE(Update(Remove("ByColor")).ok());
  holder.reset();
  ASSERT_TRUE(WaitForNone("ByColor").ok());
  ASSERT_TRUE(CreateActive("ByColor").ok());
  EXPECT_EQ(All("ByColor"), Indexed());
}

// Concurrent writes of all kinds while indexes are added and removed, across restarts.
TEST_F(IndexLifeTest, ConcurrentWritesAreNotMissed) {
  constexpr int kKeys = 200;
  for (int i = 0; i < kKeys; ++i) {
    ASSERT_TRUE(Put(i, {{"color", S("c" + std::to_string(i % 3))}, {"size", N(std::to_string(i % 5))}}).ok());
  }
  const auto seed = static_cast<uint32_t>(PrintedTestSeed());
  for (int round = 0; round < 6; ++round) {
    std::atomic<bool> stop = false;
    std::vector<std::thread> writers;
    for (uint32_t w = 0; w < 3; ++w) {
      writers.emplace_back([&, w] {
        std::mt19937 random(seed + 100 * static_cast<uint32_t>(round) + w);
        const auto below = [&](uint32_t n) { return static_cast<int>(random() % n); };
        while (!stop) {
          const int key = below(kKeys);
          if (below(6) == 0) {
            EXPECT_TRUE(Delete(key).ok());
            continue;
          }
          codec::Attributes more = {{"other", N(std::to_string(below(3)))}};
          if (below(5) != 0) more.emplace_back("color", S("c" + std::to_string(below(3))));
          if (below(5) != 0) more.emplace_back("size", N(std::to_string(below(4))));
          std::sort(more.begin(), more.end());
          const absl::Status put = Put(key, std::move(more));
          EXPECT_TRUE(put.ok()) << put;
        }
      });
    }
    const std::string name = "Round" + std::to_string(round);
    const absl::StatusOr<TableDescription> created = CreateActive(name);
    EXPECT_TRUE(created.ok()) << created.status();
    stop = true;
    for (std::thread& writer : writers) writer.join();
    EXPECT_TRUE(TestEngine::WaitUntil([&] { return All(name) == Indexed(); }).ok()) << name;
    EXPECT_EQ(TotalsOfIndex(name).item_count, static_cast<int64_t>(Indexed().size()));
    if (round % 2 == 1) {
      ASSERT_TRUE(Update(Remove(name)).ok());
      ASSERT_TRUE(WaitForNone(name).ok());
    }
  }
  // Indexes with the same projection have equal entries and totals.
  EXPECT_EQ(All("Round0"), All("Round2"));
  EXPECT_EQ(TotalsOfIndex("Round0").size_bytes, TotalsOfIndex("Round4").size_bytes);
  engine_.Reopen();
  EXPECT_EQ(All("Round0"), Indexed());
  EXPECT_EQ(TotalsOfIndex("Round0").size_bytes, TotalsOfIndex("Round4").size_bytes);
}

TEST_F(IndexLifeTest, ARestartGoesOnWithTheFilling) {
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(Put(i, {{"color", S("c" + std::to_string(i % 3))}, {"size", N(std::to_string(i % 5))}}).ok());
  }
  for (const char* name : {"First", "Second", "Third"}) {
    ASSERT_TRUE(Update(Create(name)).ok());
    for (int i = 0; i < 8; ++i) {
      engine_.Reopen();
      ASSERT_TRUE(Put(i, {{"color", S(name)}, {"size", N(std::to_string(i))}}).ok());
    }
    ASSERT_TRUE(WaitForActive(name).ok());
    EXPECT_TRUE(TestEngine::WaitUntil([&] { return All(name) == Indexed(); }).ok()) << name;
    EXPECT_EQ(TotalsOfIndex(name).item_count, 300);
  }
}

}  // namespace armature::engine::index_life_test
