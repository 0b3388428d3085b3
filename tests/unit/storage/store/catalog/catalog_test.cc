#include "storage/store/catalog/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "rocksdb/write_batch.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/store/catalog/catalog_record.h"
#include "storage/store/catalog/ddl_worker.h"
#include "storage/store/data_directory.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::catalog_test {

using testing::HasSubstr;

ApiErrorType TypeOf(const absl::Status& status) {
  const std::optional<ApiError> error = GetApiError(status);
  EXPECT_TRUE(error.has_value()) << status;
  return error.has_value() ? error->type : ApiErrorType::kCancelled;
}

class CatalogTest : public testing::Test {
 protected:
  void Open() {
    database_.reset();
    database_ = OpenDatabase(options_);
  }
  bool WaitUntilGone(std::string_view name) {
    return Eventually([&] { return database_->catalog()->Find(name) == nullptr; });
  }

  const test::TempDir dir_;
  DatabaseOptions options_ = TestOptions(dir_.path("data"));
  std::unique_ptr<Database> database_;
};

TEST_F(CatalogTest, CreatedTableBecomesActiveWithoutFamilies) {
  Open();
  const size_t families = database_->stats().column_families;
  const auto created = database_->tables().Create(IndexedTable("t"));
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(created->state, model::TableState::kCreating);
  EXPECT_EQ(created->global_indexes[0].state, model::IndexState::kCreating);
  EXPECT_EQ(created->uuid.size(), 36u);
  EXPECT_GT(created->creation_time_ms, 0);
  ASSERT_TRUE(Eventually([&] { return database_->catalog()->Find("t")->lease != nullptr; }));
  const auto snapshot = database_->catalog();
  const Table& table = *snapshot->Find("t");
  EXPECT_EQ(table.descriptor.state, model::TableState::kActive);
  EXPECT_EQ(table.descriptor.uuid, created->uuid);
  EXPECT_EQ(table.descriptor.global_indexes[0].state, model::IndexState::kActive);
  EXPECT_NE(table.data.family, nullptr);
  EXPECT_NE(table.collections.family, nullptr);
  EXPECT_EQ(table.FindIndex("by_l"), &table.local_indexes[0]);
  EXPECT_EQ(table.FindIndex("by_h"), &table.global_indexes[1]);
  EXPECT_EQ(table.FindIndex("by_x"), nullptr);
  EXPECT_EQ(table.global_indexes[1].key_names, (std::vector<std::string>{"h", "pk", "sk"}));
  EXPECT_EQ(snapshot->Find(created->id), &table);
  EXPECT_EQ(database_->stats().column_families, families);
  EXPECT_EQ(database_->stats().column_families_needed, 5u);  // data, three indexes, collections
}

TEST_F(CatalogTest, AnIdFindsTheCurrentStateOfItsTableOnly) {
  Open();
  const TableId gone = CreateActive(database_.get(), PlainTable("t"))->Find("t")->descriptor.id;
  const TableId other = CreateActive(database_.get(), PlainTable("other"))->Find("other")->descriptor.id;
  ASSERT_TRUE(database_->tables().Delete("t").ok());
  ASSERT_TRUE(WaitUntilGone("t"));
  const TableId next = CreateActive(database_.get(), PlainTable("t"))->Find("t")->descriptor.id;
  const auto protect = [](model::TableDescriptor* table) {
    table->settings.deletion_protection = true;
    return absl::OkStatus();
  };
  ASSERT_TRUE(database_->tables().Update("t", protect).ok());
  const auto snapshot = database_->catalog();
  EXPECT_EQ(snapshot->Find(gone), nullptr);
  EXPECT_EQ(snapshot->Hold(gone), nullptr);
  EXPECT_EQ(snapshot->Find(next), snapshot->Find("t"));
  EXPECT_TRUE(snapshot->Hold(next)->descriptor.settings.deletion_protection);
  EXPECT_EQ(snapshot->Find(other), snapshot->Find("other"));
}

TEST_F(CatalogTest, TablesSurviveReopen) {
  Open();
  const model::TableDescriptor before = CreateActive(database_.get(), IndexedTable("t"))->Find("t")->descriptor;
  Open();
  EXPECT_EQ(database_->catalog()->Find("t")->descriptor, before);
}

// The sequences of a batch that failed are never written, but indexes pass them.
TEST_F(CatalogTest, SequencesThatAnIndexHasPassedAreNotUsedAgain) {
  Open();
  auto snapshot = CreateActive(database_.get(), IndexedTable("t"));
  const model::TableDescriptor table = snapshot->Find("t")->descriptor;
  snapshot.reset();
  const absl::Status consumed = database_->change_log().CommitConsumed(
      WriteUnit(/*pin=*/nullptr), table.id, {{table.global_indexes[0].id, ChangeSequence(7)}});
  ASSERT_TRUE(consumed.ok()) << consumed;
  Open();
  EXPECT_EQ(database_->change_log().last_taken(), ChangeSequence(7));
}

TEST_F(CatalogTest, ATakenNameIsInUse) {
  Open();
  CreateActive(database_.get(), PlainTable("t"));
  EXPECT_EQ(TypeOf(database_->tables().Create(PlainTable("t")).status()), ApiErrorType::kResourceInUse);
}

TEST_F(CatalogTest, DeletingWhatIsNotThereOrProtectedIsRefused) {
  Open();
  EXPECT_EQ(TypeOf(database_->tables().Delete("t").status()), ApiErrorType::kResourceNotFound);
  model::TableDescriptor table = PlainTable("t");
  table.settings.deletion_protection = true;
  CreateActive(database_.get(), table);
  EXPECT_EQ(TypeOf(database_->tables().Delete("t").status()), ApiErrorType::kValidation);
}

TEST_F(CatalogTest, FamiliesAreDroppedOnlyAfterTheLastSnapshotIsLetGo) {
  Open();
  const size_t families = database_->stats().column_families;
  std::shared_ptr<const CatalogSnapshot> held = CreateActive(database_.get(), PlainTable("t"));
  const Table& table = *held->Find("t");
  {
    WriteUnit unit(held);
    unit.Put(table.data, "k", "v");
    ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  }
  const auto deleting = database_->tables().Delete("t");
  ASSERT_TRUE(deleting.ok());
  EXPECT_EQ(deleting->state, model::TableState::kDeleting);
  EXPECT_EQ(database_->catalog()->Find("t")->lease, nullptr);
  EXPECT_EQ(TypeOf(database_->tables().Delete("t").status()), ApiErrorType::kResourceInUse);
  EXPECT_EQ(TypeOf(database_->tables().Create(PlainTable("t")).status()), ApiErrorType::kResourceInUse);
  // The DDL thread creates this table in a round that also looks at the deletion.
  CreateActive(database_.get(), PlainTable("other"));
  EXPECT_EQ(database_->stats().column_families, families + 1);
  EXPECT_EQ(ValueOf(*database_, table.data, "k"), "v");
  held.reset();
  EXPECT_TRUE(WaitUntilGone("t"));
  EXPECT_EQ(database_->stats().column_families, families);
  EXPECT_EQ(database_->stats().column_families_needed, 1u);
}

TEST_F(CatalogTest, AWriteUnitUnderWayKeepsItsTable) {
  Open();
  std::shared_ptr<const CatalogSnapshot> snapshot = CreateActive(database_.get(), PlainTable("t"));
  WriteUnit unit(snapshot);
  unit.Put(snapshot->Find("t")->data, "k", "v");
  unit.AddStats(snapshot->Find("t")->data, {1, 1});
  snapshot.reset();
  ASSERT_TRUE(database_->tables().Delete("t").ok());
  CreateActive(database_.get(), PlainTable("other"));
  EXPECT_NE(database_->catalog()->Find("t"), nullptr);
  EXPECT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  EXPECT_TRUE(WaitUntilGone("t"));
}

TEST_F(CatalogTest, IdsAreNeverUsedAgain) {
  Open();
  std::set<uint32_t> ids;
  for (int round = 0; round < 3; ++round) {
    const auto created = database_->tables().Create(IndexedTable("t"));
    ASSERT_TRUE(created.ok()) << created.status();
    EXPECT_TRUE(ids.insert(created->id.value()).second);
    for (const model::IndexDescriptor& index : created->local_indexes) EXPECT_TRUE(ids.insert(index.id.value()).second);
    for (const model::IndexDescriptor& index : created->global_indexes)
      EXPECT_TRUE(ids.insert(index.id.value()).second);
    ASSERT_TRUE(Eventually([&] { return database_->catalog()->Find("t")->lease != nullptr; }));
    ASSERT_TRUE(database_->tables().Delete("t").ok());
    EXPECT_TRUE(WaitUntilGone("t"));
    Open();
  }
}

TEST_F(CatalogTest, ANewTableOfAnOldNameIsEmpty) {
  Open();
  {
    const auto snapshot = CreateActive(database_.get(), PlainTable("t"));
    WriteUnit unit(snapshot);
    unit.Put(snapshot->Find("t")->data, "k", "v");
    unit.AddStats(snapshot->Find("t")->data, {1, 1});
    unit.SetChangeRecord(snapshot->Find("t")->descriptor.id, "record");
    ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  }
  ASSERT_TRUE(database_->tables().Delete("t").ok());
  ASSERT_TRUE(WaitUntilGone("t"));
  const auto snapshot = CreateActive(database_.get(), PlainTable("t"));
  EXPECT_TRUE(KeysOf(*database_, snapshot->Find("t")->data).empty());
  EXPECT_EQ(snapshot->Find("t")->data.stats->items(), 0);
}

TEST_F(CatalogTest, BeyondTheCeilingOfFamiliesIsALimit) {
  options_.column_families_max = 6;
  Open();
  CreateActive(database_.get(), IndexedTable("five"));
  CreateActive(database_.get(), PlainTable("one"));
  const absl::Status refused = database_->tables().Create(PlainTable("more")).status();
  EXPECT_EQ(TypeOf(refused), ApiErrorType::kLimitExceeded);
  EXPECT_THAT(GetApiError(refused)->message, HasSubstr("ceiling is 6"));
  ASSERT_TRUE(database_->tables().Delete("one").ok());
  ASSERT_TRUE(WaitUntilGone("one"));
  EXPECT_TRUE(database_->tables().Create(PlainTable("more")).ok());
}

TEST_F(CatalogTest, AnUpdateShowsInLaterSnapshotsAndAfterReopen) {
  Open();
  const auto before = CreateActive(database_.get(), IndexedTable("t"));
  const auto updated = database_->tables().Update("t", [](model::TableDescriptor* table) {
    table->settings.deletion_protection = true;
    table->global_indexes[1].provisioned = {3, 4};
    return absl::OkStatus();
  });
  ASSERT_TRUE(updated.ok()) << updated.status();
  ASSERT_TRUE(updated->has_value());
  EXPECT_TRUE((*updated)->settings.deletion_protection);
  EXPECT_FALSE(before->Find("t")->descriptor.settings.deletion_protection);
  const auto after = database_->catalog();
  EXPECT_EQ(after->Find("t")->descriptor, **updated);
  EXPECT_EQ(after->Find("t")->global_indexes[1].descriptor, (*updated)->global_indexes[1]);
  Open();
  EXPECT_EQ(database_->catalog()->Find("t")->descriptor, **updated);
}

TEST_F(CatalogTest, AnUpdatedTableKeepsItsItemsItsIndexesAndItsLease) {
  Open();
  std::shared_ptr<const CatalogSnapshot> before = CreateActive(database_.get(), IndexedTable("t"));
  const auto protect = [](model::TableDescriptor* table) {
    table->settings.deletion_protection = !table->settings.deletion_protection;
    return absl::OkStatus();
  };
  ASSERT_TRUE(database_->tables().Update("t", protect).ok());
  std::shared_ptr<const CatalogSnapshot> after = database_->catalog();
  const Table& table = *after->Find("t");
  EXPECT_EQ(table.data.family, before->Find("t")->data.family);
  EXPECT_EQ(table.global_indexes[0].progress, before->Find("t")->global_indexes[0].progress);
  EXPECT_EQ(table.lease, before->Find("t")->lease);
  ASSERT_TRUE(database_->tables().Update("t", protect).ok());
  ASSERT_TRUE(database_->tables().Delete("t").ok());
  // A deleted table stays while any of its snapshots is held.
  after.reset();
  CreateActive(database_.get(), PlainTable("other"));
  EXPECT_NE(database_->catalog()->Find("t"), nullptr);
  before.reset();
  EXPECT_TRUE(WaitUntilGone("t"));
}

TEST_F(CatalogTest, ARefusedUpdateChangesNothing) {
  Open();
  const auto before = CreateActive(database_.get(), PlainTable("t"));
  const auto refused = database_->tables().Update("t", [](model::TableDescriptor* table) {
    table->settings.deletion_protection = true;
    return ValidationError("no");
  });
  EXPECT_EQ(TypeOf(refused.status()), ApiErrorType::kValidation);
  EXPECT_EQ(database_->catalog(), before);
  const auto missing = database_->tables().Update("x", [](model::TableDescriptor*) {
    ADD_FAILURE() << "there is no such table";
    return absl::OkStatus();
  });
  ASSERT_TRUE(missing.ok());
  EXPECT_FALSE(missing->has_value());
}

TEST_F(CatalogTest, AnUpdateOfMoreThanSettingsIsRefused) {
  Open();
  const auto before = CreateActive(database_.get(), IndexedTable("t"));
  using Change = void (*)(model::TableDescriptor*);
  for (const Change change :
       {+[](model::TableDescriptor* t) { t->name = "u"; }, +[](model::TableDescriptor* t) { t->id = TableId(99); },
        +[](model::TableDescriptor* t) { t->state = model::TableState::kDeleting; },
        +[](model::TableDescriptor* t) { t->key.sort.clear(); },
        +[](model::TableDescriptor* t) { t->global_indexes.pop_back(); },
        +[](model::TableDescriptor* t) { t->global_indexes[0].key.partition.clear(); },
        +[](model::TableDescriptor* t) { t->local_indexes[0].name = "x"; }}) {
    const auto refused = database_->tables().Update("t", [&](model::TableDescriptor* table) {
      change(table);
      return absl::OkStatus();
    });
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kInternal);
    EXPECT_EQ(database_->catalog(), before);
  }
}

// Several threads update one table while it is deleted and recreated. No update is lost on a table that stays, and none
// revives a deleted table.
TEST_F(CatalogTest, UpdatesAndDeletionsGoOneAfterTheOther) {
  constexpr int kThreads = 4;
  constexpr int kUpdates = 25;
  Open();
  CreateActive(database_.get(), PlainTable("stays"));
  CreateActive(database_.get(), PlainTable("goes"));
  const auto add_tag = [](model::TableDescriptor* table) {
    if (table->state != model::TableState::kActive) return ResourceInUseError("not active");
    table->settings.tags.emplace_back("k", "v");
    return absl::OkStatus();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < kUpdates; ++n) {
        EXPECT_TRUE(database_->tables().Update("stays", add_tag).ok());
        const auto updated = database_->tables().Update("goes", add_tag);
        if (!updated.ok()) {
          EXPECT_EQ(TypeOf(updated.status()), ApiErrorType::kResourceInUse);
        }
      }
    });
  }
  ASSERT_TRUE(database_->tables().Delete("goes").ok());
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(database_->catalog()->Find("stays")->descriptor.settings.tags.size(), size_t{kThreads * kUpdates});
  EXPECT_TRUE(WaitUntilGone("goes"));
  Open();
  EXPECT_EQ(database_->catalog()->Find("goes"), nullptr);
  EXPECT_EQ(database_->catalog()->Find("stays")->descriptor.settings.tags.size(), size_t{kThreads * kUpdates});
}

// The database files without worker threads, as after a crash.
class CutOffTest : public CatalogTest {
 protected:
  void OpenFiles() {
    database_.reset();
    if (!std::filesystem::exists(options_.path)) Open();
    database_.reset();
    rocks_ = *RocksDb::Open(options_.path + "/db", options_);
    streams_ = *StreamLog::Open(rocks_.get(), &tickets_, StreamOptions().shards);
    catalog_ = *Catalog::Open(rocks_.get(), &timers_, streams_.get());
  }
  void CloseFiles() {
    catalog_.reset();
    streams_.reset();
    rocks_.reset();
  }

  TimerQueue timers_;
  SequenceTickets tickets_{ChangeSequence(0)};
  std::unique_ptr<RocksDb> rocks_;
  std::unique_ptr<StreamLog> streams_;
  std::unique_ptr<Catalog> catalog_;
};

TEST_F(CutOffTest, CreationIsFinishedAtOpen) {
  // Crashes after no family, after some families, and after all families.
  for (size_t made : {0, 2, 5}) {
    const std::string name = "t" + std::to_string(made);
    OpenFiles();
    const auto created = catalog_->Create(IndexedTable(name));
    ASSERT_TRUE(created.ok());
    std::vector<std::string> families = Catalog::FamilyNames(*created);
    ASSERT_EQ(families.size(), 5u);
    families.resize(made);
    ASSERT_TRUE(rocks_->CreateFamilies(families).ok());
    CloseFiles();
    Open();
    const auto snapshot = database_->catalog();
    ASSERT_NE(snapshot->Find(name), nullptr);
    EXPECT_EQ(snapshot->Find(name)->descriptor.state, model::TableState::kActive);
    EXPECT_NE(snapshot->Find(name)->lease, nullptr);
  }
}

TEST_F(CutOffTest, DeletionIsFinishedAtOpen) {
  for (size_t dropped : {0, 2, 5}) {
    Open();
    const TableId id = CreateActive(database_.get(), IndexedTable("t"))->Find("t")->descriptor.id;
    OpenFiles();
    const size_t families = rocks_->family_count();
    ASSERT_TRUE(rocks_->CreateFamilies(Catalog::FamilyNames(catalog_->snapshot()->Find(id)->descriptor)).ok());
    const auto deleting = catalog_->Delete("t");
    ASSERT_TRUE(deleting.ok());
    std::vector<std::string> names = Catalog::FamilyNames(*deleting);
    names.resize(dropped);
    ASSERT_TRUE(rocks_->DropFamilies(names).ok());
    CloseFiles();
    Open();
    EXPECT_EQ(database_->catalog()->Find("t"), nullptr);
    EXPECT_EQ(database_->stats().column_families, families);
  }
}

// The table is ACTIVE when the construction of its first index has begun, and its other indexes wait.
TEST_F(CutOffTest, ChangesOfSeveralIndexesOfATableAreFinishedAtOpen) {
  using enum model::TableState;
  const struct {
    model::TableState table;
    bool is_first_begun;
    model::IndexState second;
  } cases[] = {{kUpdating, false, kCreating},
               {kUpdating, false, kDeleting},
               {kActive, true, kCreating},
               {kActive, true, kDeleting}};
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << model::TableStateName(c.table) << " " << model::TableStateName(c.second));
    Open();
    const std::string name = Cat("t", database_->catalog()->tables().size());
    model::TableDescriptor table = CreateActive(database_.get(), IndexedTable(name))->Find(name)->descriptor;
    table.state = c.table;
    table.global_indexes[0].state = kCreating;
    table.global_indexes[0].backfilling = c.is_first_begun;
    table.global_indexes[1].state = c.second;
    OpenFiles();
    rocksdb::WriteBatch batch;
    batch.Put(rocks_->meta()->handle(), TableKey(table.id), EncodeTableRecord(table));
    ASSERT_TRUE(rocks_->Write(&batch, /*sync=*/true, "test").ok());
    CloseFiles();
    Open();
    const auto snapshot = database_->catalog();
    const model::TableDescriptor& now = snapshot->Find(name)->descriptor;
    EXPECT_EQ(now.state, kActive);
    ASSERT_EQ(now.global_indexes.size(), c.second == kDeleting ? 1u : 2u);
    for (const model::IndexDescriptor& index : now.global_indexes) EXPECT_TRUE(index.backfilling) << index.name;
  }
}

TEST_F(CutOffTest, FamiliesThatBelongToNoTableAreRemovedAtOpen) {
  OpenFiles();
  const size_t families = rocks_->family_count();
  ASSERT_TRUE(rocks_->CreateFamilies({"t99", "g99.100"}).ok());
  CloseFiles();
  Open();
  EXPECT_EQ(database_->stats().column_families, families);
}

// The catalog may drop a snapshot while the worker reads it. The address sanitizer checks the reads.
TEST_F(CutOffTest, TheWorkerKeepsTheSnapshotThatItReads) {
  Open();
  for (int i = 0; i < 20; ++i) CreateActive(database_.get(), PlainTable("t" + std::to_string(i)));
  OpenFiles();
  {
    DdlWorker worker(catalog_.get(), rocks_.get());
    std::atomic<bool> stop = false;
    std::thread reader([&] {
      while (!stop) worker.RunOnce();
    });
    for (int i = 0; i < 100; ++i) {
      const auto updated = catalog_->Update("t7", [](model::TableDescriptor* table) {
        table->settings.deletion_protection = !table->settings.deletion_protection;
        return absl::OkStatus();
      });
      EXPECT_TRUE(updated.ok()) << updated.status();
    }
    stop = true;
    reader.join();
  }
  CloseFiles();
}

TEST_F(CutOffTest, ATableWhoseFamilyIsMissingIsDataLoss) {
  Open();
  TableId id;
  {
    const auto table = CreateActive(database_.get(), PlainTable("t"));
    id = table->Find("t")->descriptor.id;
    WriteUnit unit(table);
    unit.Put(table->Find("t")->data, "k", "v");
    unit.AddStats(table->Find("t")->data, {1, 1});
    ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  }
  OpenFiles();
  catalog_.reset();
  ASSERT_TRUE(rocks_->DropFamilies({DataFamilyName(id)}).ok());
  CloseFiles();
  const absl::Status status = Database::Open(options_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr(DataFamilyName(id)));
}

TEST_F(CutOffTest, DamagedMetaRecordsAreDataLoss) {
  for (const std::string& key : {std::string(kNextIdKey), std::string(kSequenceKey), TableKey(TableId(1))}) {
    OpenFiles();
    rocksdb::WriteBatch batch;
    const absl::StatusOr<std::optional<std::string>> before = rocks_->Get(*rocks_->meta(), key);
    ASSERT_TRUE(before.ok());
    batch.Put(rocks_->meta()->handle(), key, "x");
    ASSERT_TRUE(rocks_->Write(&batch, false, "test").ok());
    CloseFiles();
    EXPECT_EQ(Database::Open(options_).status().code(), absl::StatusCode::kDataLoss) << key;
    // Repairs the value for the next case.
    rocks_ = *RocksDb::Open(options_.path + "/db", options_);
    rocksdb::WriteBatch repair;
    if (before->has_value()) {
      repair.Put(rocks_->meta()->handle(), key, **before);
    } else {
      repair.Delete(rocks_->meta()->handle(), key);
    }
    ASSERT_TRUE(rocks_->Write(&repair, false, "test").ok());
    rocks_.reset();
  }
}

// Unless it is prevented, a batch that names a dropped family makes every later write of the engine fail.
TEST_F(CutOffTest, AWriteToADroppedFamilyDoesNotStopLaterWrites) {
  OpenFiles();
  ASSERT_TRUE(rocks_->CreateFamilies({"dead", "alive"}).ok());
  const ColumnFamily* const alive = rocks_->Find("alive");
  // A handle of its own, like that of a late writer.
  ASSERT_TRUE(rocks_->db()->DropColumnFamily(rocks_->Find("dead")->handle()).ok());
  rocksdb::WriteBatch batch;
  batch.Put(rocks_->Find("dead")->handle(), "k", "v");
  batch.Put(alive->handle(), "k", "v");
  EXPECT_TRUE(rocks_->Write(&batch, true, "test").ok());
  EXPECT_EQ(*rocks_->Get(*alive, "k"), "v");
  rocksdb::WriteBatch later;
  later.Put(alive->handle(), "l", "w");
  EXPECT_TRUE(rocks_->Write(&later, true, "test").ok());
  EXPECT_EQ(*rocks_->Get(*alive, "l"), "w");
}

}  // namespace armature::store::catalog_test
