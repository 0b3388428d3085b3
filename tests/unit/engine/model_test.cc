// A random history of an engine, compared with a simple model: writes and reads while indexes and tables are created
// and deleted and the database is reopened.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/engine/item_model.h"
#include "tests/unit/engine/model_reader.h"
#include "tests/unit/engine/model_table.h"
#include "tests/unit/engine/model_writer.h"
#include "tests/unit/engine/random_tables.h"
#include "tests/unit/engine/random_values.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::engine::model_test {

constexpr int kOperationsPerRound = 800;
constexpr int kQueriesPerKeyspace = 40;
constexpr size_t kGlobalIndexesMax = 5;

int Rounds() {
  const char* const text = std::getenv("ARMATURE_MODEL_ROUNDS");
  return text == nullptr ? 2 : std::max(1, std::atoi(text));
}

class ModelTest : public ::testing::Test {
 protected:
  // Counts of events, to show that each kind occurred.
  struct Tally {
    int indexes_made = 0;
    int indexes_removed = 0;
    int removed_while_filled = 0;
    int reopened = 0;
    int reopened_while_filled = 0;
    int tables_replaced = 0;
    size_t unfit_rows = 0;  // found by new indexes
  };
  // A creation or deletion of an index in progress.
  struct Change {
    ModelTable* table;
    std::string index;
    bool creates;
  };

  void SetUp() override {
    ASSERT_TRUE(engine_.CreateTable(sorted_.Definition()).ok());
    ASSERT_TRUE(engine_.CreateTable(unsorted_.Definition()).ok());
  }

  void TearDown() override {
    std::cout << "indexes made " << tally_.indexes_made << ", of them removed while being filled "
              << tally_.removed_while_filled << "; unfit rows met " << tally_.unfit_rows << "; indexes removed "
              << tally_.indexes_removed << "; tables replaced " << tally_.tables_replaced << "; reopened "
              << tally_.reopened << ", of these while an index was being filled " << tally_.reopened_while_filled
              << "; writes refused " << writer_.refused() << "; queries " << reader_.queries() << " found "
              << reader_.found() << " entries" << std::endl;
  }

  ModelTable* AnyTable() { return values_.OneIn(4) ? &unsorted_ : &sorted_; }

  absl::StatusOr<TableDescription> UpdateTable(model::TableUpdate update) {
    Answer<TableDescription> answer;
    engine_->UpdateTable(std::move(update), answer.Catch());
    return answer.Take();
  }

  // The index as the engine describes it, or nullopt.
  std::optional<model::IndexDescriptor> Told(const Change& change) {
    const absl::StatusOr<TableDescription> described = engine_.Describe(change.table->name());
    if (!described.ok()) return std::nullopt;
    const model::IndexDescriptor* const index = described->descriptor.FindIndex(change.index);
    return index == nullptr ? std::nullopt : std::optional(*index);
  }
  // Number of rows that the build has scanned; nullopt if the index is not being built.
  std::optional<int64_t> RowsScanned(const Change& change) {
    Answer<std::vector<IndexStatus>> answer;
    engine_->ListIndexStatus(change.table->name(), answer.Catch());
    const absl::StatusOr<std::vector<IndexStatus>> listed = answer.Take();
    if (!listed.ok()) return std::nullopt;
    for (const IndexStatus& index : *listed) {
      if (index.descriptor.name == change.index && index.build.has_value()) return index.build->scanned;
    }
    return std::nullopt;
  }

  void Reopen() {
    holder_.reset();
    engine_.Reopen();
    ++tally_.reopened;
  }

  void WriteSome(ModelTable* table, bool counts) {
    for (size_t left = 1 + values_.Below(8); left > 0; --left) {
      ASSERT_NO_FATAL_FAILURE(writer_.WriteOnce(table, counts));
    }
  }

  void ExpectUnreadable(const Change& change, const std::string& text) {
    ReadRequest request;
    request.table_name = change.table->name();
    request.index_name = change.index;
    const absl::Status status = engine_.Scan(request).status();
    EXPECT_EQ(ErrorNameOf(status), "ValidationException");
    EXPECT_EQ(std::string(status.message()), text + change.index);
  }

  // A name that no index of the table has now. A deleted index may have had it.
  std::string FreeIndexName(const ModelTable& table) {
    const std::vector<std::string> taken = table.GlobalIndexNames();
    std::string name;
    do {
      name = "index" + std::to_string(values_.Below(kGlobalIndexesMax + 1));
    } while (std::find(taken.begin(), taken.end(), name) != taken.end());
    return name;
  }

  // Sometimes holds a snapshot, so that the change cannot proceed.
  void MaybeHold() {
    if (values_.OneIn(2)) holder_ = engine_.database().catalog();
  }

  void BeginCreation(ModelTable* table) {
    ModelKeyspace index = tables_.Index(*table, FreeIndexName(*table));
    index.filling = true;
    for (const auto& [key, row] : table->rows()) {
      if (!index.FaultsOf(row).empty()) ++tally_.unfit_rows;
    }
    const Change change = {table, *index.index_name, true};
    table->AddIndex(std::move(index));
    MaybeHold();
    const absl::StatusOr<TableDescription> updated = UpdateTable(table->Creation(change.index));
    ASSERT_TRUE(updated.ok()) << updated.status();
    ++tally_.indexes_made;
    change_ = change;
    // At some unknown moment, writes begin to consume capacity of the index.
    if (values_.OneIn(2)) {
      ASSERT_NO_FATAL_FAILURE(WriteSome(table, /*counts=*/false));
    }
    ASSERT_TRUE(TestEngine::WaitUntil([&] {
                  const auto told = Told(change);
                  return told.has_value() && (told->backfilling || told->state == model::IndexState::kActive);
                }).ok());
    if (holder_ != nullptr) ExpectUnreadable(change, "Cannot read from backfilling global secondary index: ");
  }

  void BeginDeletion(ModelTable* table, const std::string& index) {
    MaybeHold();
    const absl::StatusOr<TableDescription> updated = UpdateTable(table->Deletion(index));
    ASSERT_TRUE(updated.ok()) << updated.status();
    ++tally_.indexes_removed;
    table->DropIndex(index);
    change_ = {table, index, false};
    ExpectUnreadable(*change_, "The table does not have the specified index: ");
  }

  // Lets the build begin and reopens the database, if possible before the build ends.
  void ReopenWhileFilled(const Change& change) {
    holder_.reset();
    ASSERT_TRUE(TestEngine::WaitUntil([&] { return RowsScanned(change) != 0; }).ok());
    Reopen();
    const std::optional<int64_t> scanned = RowsScanned(change);
    if (scanned.has_value() && *scanned > 0) ++tally_.reopened_while_filled;
    WriteSome(change.table, /*counts=*/true);
  }

  void FinishCreation(const Change& change) {
    if (values_.OneIn(2)) {
      ASSERT_NO_FATAL_FAILURE(ReopenWhileFilled(change));
    }
    holder_.reset();
    ASSERT_TRUE(TestEngine::WaitUntil([&] {
                  const auto told = Told(change);
                  return told.has_value() && told->state == model::IndexState::kActive;
                }).ok());
    change.table->SetFilled(change.index);
  }

  void FinishDeletion(const Change& change) {
    if (values_.OneIn(4)) Reopen();
    holder_.reset();
    ASSERT_TRUE(TestEngine::WaitUntil([&] { return !Told(change).has_value(); }).ok());
  }

  void FinishChange() {
    if (!change_.has_value()) return;
    const Change change = *std::exchange(change_, std::nullopt);
    if (!change.creates) return FinishDeletion(change);
    if (holder_ == nullptr || !values_.OneIn(4)) return FinishCreation(change);
    ++tally_.removed_while_filled;
    holder_.reset();
    BeginDeletion(change.table, change.index);
  }

  // One index is created or deleted at a time.
  void StepIndexes() {
    if (change_.has_value()) return FinishChange();
    ModelTable* const table = AnyTable();
    const std::vector<std::string> names = table->GlobalIndexNames();
    if (names.size() < 2 || (names.size() < kGlobalIndexesMax && values_.OneIn(2))) {
      BeginCreation(table);
    } else {
      BeginDeletion(table, values_.Pick(names));
    }
  }

  // Deletes the table without sort key and creates a different one with the same name, without rows.
  void ReplaceTable() {
    while (change_.has_value()) ASSERT_NO_FATAL_FAILURE(FinishChange());
    ASSERT_TRUE(engine_.DeleteTable(unsorted_.name()).ok());
    const WriteRequest late = WriteTo(unsorted_.name(), values_.Written(tables_.Item(unsorted_)));
    EXPECT_EQ(ErrorNameOf(engine_.Put(late).status()), "ResourceNotFoundException");
    if (values_.OneIn(2)) Reopen();
    ASSERT_TRUE(engine_.WaitForTableGone(unsorted_.name()).ok());
    unsorted_ = tables_.WithoutSortKey(unsorted_.name());
    ASSERT_TRUE(engine_.CreateTable(unsorted_.Definition()).ok());
    ++tally_.tables_replaced;
  }

  void Operate() {
    if (values_.OneIn(30)) {
      ASSERT_NO_FATAL_FAILURE(StepIndexes());
    }
    if (values_.OneIn(800)) {
      ASSERT_NO_FATAL_FAILURE(ReplaceTable());
    }
    if (values_.OneIn(600)) Reopen();
    ModelTable* const table = AnyTable();
    ASSERT_NO_FATAL_FAILURE(writer_.WriteOnce(table));
    if (values_.OneIn(4)) {
      ASSERT_NO_FATAL_FAILURE(reader_.CompareRow(*table, tables_.Key(*table)));
    }
    if (values_.OneIn(10)) {
      ASSERT_NO_FATAL_FAILURE(reader_.CompareSome(*table, 2));
    }
  }

  void CompareAll() {
    ASSERT_NO_FATAL_FAILURE(reader_.CompareAll(sorted_, kQueriesPerKeyspace));
    ASSERT_NO_FATAL_FAILURE(reader_.CompareAll(unsorted_, kQueriesPerKeyspace / 2));
  }

  RandomValues values_{PrintedTestSeed()};
  RandomTables tables_{&values_};
  ModelTable sorted_ = RandomTables::WithSortKey("sorted");
  ModelTable unsorted_ = tables_.WithoutSortKey("unsorted");
  // Builds in small pages, so that other steps run between them.
  TestEngine engine_{store::Durability::kOs,
                     {.index_build = {.page_rows = 2, .page_bytes = 1 << 20, .share_under_load = 1}}};
  ModelWriter writer_{&engine_, &values_, &tables_};
  ModelReader reader_{&engine_, &values_};
  std::optional<Change> change_;
  std::shared_ptr<const store::CatalogSnapshot> holder_;
  Tally tally_;
};

TEST_F(ModelTest, AgreesWithTheEngineThroughARandomHistory) {
  for (int round = 0; round < Rounds(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    if (round > 0) {
      ASSERT_NO_FATAL_FAILURE(ReplaceTable());
    }
    for (int i = 0; i < kOperationsPerRound; ++i) {
      ASSERT_NO_FATAL_FAILURE(Operate()) << "operation " << i;
    }
    if (values_.OneIn(2)) Reopen();
    ASSERT_NO_FATAL_FAILURE(CompareAll());
  }
  while (change_.has_value()) ASSERT_NO_FATAL_FAILURE(FinishChange());
  Reopen();
  ASSERT_NO_FATAL_FAILURE(CompareAll()) << "reopened at rest";
  EXPECT_GT(reader_.found(), reader_.queries()) << "the queries hardly find anything";
}

}  // namespace armature::engine::model_test
