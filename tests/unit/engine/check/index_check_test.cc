// Tables with damaged indexes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/check/index_check.h"
#include "storage/codec/stored_item.h"
#include "storage/store/meta_keys.h"
#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/engine/item_model.h"
#include "tests/unit/storage/model/random_seed.h"
#include "tests/unit/storage/store/damaged_files.h"

namespace armature::engine::index_check_test {

using codec::N;
using codec::S;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kTable[] = "things";

// Index, kind, key of the item, and if it was repaired.
std::string ToText(const IndexDifference& difference) {
  constexpr const char* kKinds[] = {"", "missing", "wrong", "orphan", "damaged"};
  return Cat(difference.index_name, " ", kKinds[static_cast<size_t>(difference.kind)], " ",
             difference.key_bytes.empty() ? "-" : Printed(Decode(difference.key_bytes)),
             difference.repaired ? "repaired" : "");
}

class IndexCheckTest : public testing::Test {
 protected:
  explicit IndexCheckTest(std::function<void(store::DatabaseOptions*)> adjust = nullptr)
      : engine_(store::Durability::kOs, {}, std::move(adjust)) {}

  void SetUp() override {
    model::TableDefinition definition = PlainTable(kTable);
    definition.attribute_definitions = {{"pk", "S"}, {"sk", "N"}, {"color", "S"}};
    definition.local_indexes = {IndexOf("Local", {{"pk", "HASH"}, {"color", "RANGE"}}, "ALL")};
    definition.global_indexes = {IndexOf("Global", {{"color", "HASH"}}, "KEYS_ONLY")};
    ASSERT_TRUE(engine_.CreateTable(definition).ok());
    for (int i = 0; i < kItems; ++i) ASSERT_TRUE(Put(i, "red").ok());
    ASSERT_TRUE(CatchUp().ok());
  }

  absl::Status Put(int key, std::string_view color) {
    return engine_.Put(WriteTo(kTable, PlainItem(std::to_string(key), "1", {{"color", S(color)}, {"other", N("5")}})))
        .status();
  }
  absl::Status CatchUp() {
    ReadRequest request;
    request.table_name = kTable;
    request.index_name = "Global";
    request.limit = 1;
    request.at_least_sequence = engine_.database().change_log().watermark().value();
    return engine_.Scan(request).status();
  }
  // All differences, over all pages.
  std::vector<std::string> Verify(bool repair = false) {
    std::vector<std::string> found;
    VerifyTableRequest request;
    request.table_name = kTable;
    request.repair = repair;
    do {
      Answer<VerifyTableResult> answer;
      engine_->VerifyTable(request, answer.Catch());
      const absl::StatusOr<VerifyTableResult> page = answer.Take();
      if (!page.ok()) return {page.status().ToString()};
      for (const IndexDifference& difference : page->differences) found.push_back(ToText(difference));
      rows_checked_ += page->rows_checked;
      request.start_position = page->next_position;
    } while (!request.start_position.empty());
    std::sort(found.begin(), found.end());
    return found;
  }

  struct StoredRow {
    std::string key;
    std::string value;
  };
  std::vector<StoredRow> Rows(const store::Keyspace& keyspace) {
    std::vector<StoredRow> rows;
    const auto read = engine_.database().rows().ReadRange(keyspace, {}, store::Direction::kForward,
                                                          [&](std::string_view key, std::string_view value) {
                                                            rows.push_back({std::string(key), std::string(value)});
                                                            return store::RowVerdict::kContinue;
                                                          });
    EXPECT_TRUE(read.ok()) << read.status();
    return rows;
  }
  // Writes to an index, or to the table, past the engine.
  void Damage(const std::string& name, const std::function<void(const store::Keyspace&, store::WriteUnit*)>& damage) {
    const std::shared_ptr<const store::CatalogSnapshot> catalog = engine_.database().catalog();
    const store::Table& table = *catalog->Find(kTable);
    store::WriteUnit unit(catalog);
    damage(name.empty() ? table.data : table.FindIndex(name)->keyspace, &unit);
    ASSERT_TRUE(engine_.database().change_log().CommitConsumed(unit, table.descriptor.id, {}).ok());
  }

  static constexpr int kItems = 700;  // more than one page
  std::string damaged_family_;        // its files are damaged when the database is opened
  TestEngine engine_;
  std::string blue_;  // key of an entry
  int64_t rows_checked_ = 0;
};

TEST_F(IndexCheckTest, SoundIndexesHaveNoDifferences) {
  EXPECT_THAT(Verify(), IsEmpty());
  EXPECT_EQ(rows_checked_, 3 * kItems);
}

TEST_F(IndexCheckTest, EveryKindOfDamageIsFoundAndMended) {
  for (const char* name : {"Local", "Global"}) {
    SCOPED_TRACE(name);
    Damage(name, [&](const store::Keyspace& keyspace, store::WriteUnit* unit) {
      const std::vector<StoredRow> rows = Rows(keyspace);
      const auto item_of = [](const StoredRow& row) {
        return std::string(codec::ParseStoredItem(row.value)->item.bytes());
      };
      // Damages: a missing entry, an entry with wrong content, an entry without an item, an unreadable entry.
      unit->Delete(keyspace, rows[0].key);
      unit->AddStats(keyspace, {-1, -static_cast<int64_t>(codec::ParseStoredItem(rows[0].value)->api_size)});
      unit->Put(keyspace, rows[1].key,
                codec::EncodeStoredItem({item_of(rows[1]) + codec::Item({{"zz", N("1")}}), 99, false}));
      unit->AddStats(keyspace, {0, 99 - static_cast<int64_t>(codec::ParseStoredItem(rows[1].value)->api_size)});
      const std::string orphan = codec::Item({{"color", S("red")}, {"pk", S("nobody")}, {"sk", N("1")}});
      unit->Put(keyspace, rows[2].key + "x", codec::EncodeStoredItem({orphan, 40, false}));
      unit->AddStats(keyspace, {1, 40});
      unit->Put(keyspace, rows[3].key + "y", "no stored item");
      unit->AddStats(keyspace, {1, 0});
    });
    const std::vector<std::string> found = Verify();
    ASSERT_EQ(found.size(), 4u) << testing::PrintToString(found);
    EXPECT_EQ(found[0], Cat(name, " damaged -"));
    EXPECT_THAT(found[1], testing::StartsWith(Cat(name, " missing pk=S:")));
    EXPECT_EQ(found[2], Cat(name, " orphan pk=S:nobody sk=N:1 "));
    EXPECT_THAT(found[3], testing::StartsWith(Cat(name, " wrong pk=S:")));
    EXPECT_EQ(Verify(), found) << "looking mends nothing";

    const std::vector<std::string> mended = Verify(/*repair=*/true);
    ASSERT_EQ(mended.size(), 4u);
    for (const std::string& difference : mended) EXPECT_THAT(difference, testing::EndsWith("repaired"));
    ASSERT_TRUE(CatchUp().ok());
    EXPECT_THAT(Verify(), IsEmpty());
  }
  // The totals are unchanged, too.
  const TableDescription described = *engine_.Describe(kTable);
  EXPECT_EQ(described.local_indexes[0].item_count, kItems);
  EXPECT_EQ(described.local_indexes[0].size_bytes, described.totals.size_bytes);
  EXPECT_EQ(described.global_indexes[0].item_count, kItems);
}

// A repair is still in the change log when the entry is checked again for the item that it named.
TEST_F(IndexCheckTest, EntriesThatHaveChangedPlacesAreMended) {
  for (int round = 0; round < 20; ++round) {
    Damage("Global", [&](const store::Keyspace& keyspace, store::WriteUnit* unit) {
      const std::vector<StoredRow> rows = Rows(keyspace);
      for (size_t i = 0; i + 1 < rows.size(); i += 100) {
        unit->Put(keyspace, rows[i].key, rows[i + 1].value);
        unit->Put(keyspace, rows[i + 1].key, rows[i].value);
      }
    });
    EXPECT_EQ(Verify(/*repair=*/true).size(), 14u);
    ASSERT_TRUE(CatchUp().ok());
    ASSERT_THAT(Verify(), IsEmpty());
  }
}

TEST_F(IndexCheckTest, ARowThatCannotBeReadIsTold) {
  Damage("", [&](const store::Keyspace& keyspace, store::WriteUnit* unit) {
    unit->Put(keyspace, Rows(keyspace)[5].key, "no stored item");
  });
  // Its entries may be all that remains of the item, so they stay.
  EXPECT_THAT(Verify(/*repair=*/true), ElementsAre(" damaged -"));
  EXPECT_THAT(Verify(), ElementsAre(" damaged -"));
}

// A write makes an unreadable entry the right one of its item, while a repair removes it.
TEST_F(IndexCheckTest, ARepairRemovesNoEntryThatIsBeingWritten) {
  std::mt19937 random(static_cast<uint32_t>(PrintedTestSeed()));
  for (int round = 0; round < 3; ++round) {
    for (const char* name : {"Local", "Global"}) {
      ASSERT_TRUE(Put(3, "blue").ok());
      ASSERT_TRUE(CatchUp().ok());
      Damage(name, [&](const store::Keyspace& keyspace, store::WriteUnit*) {
        for (const StoredRow& row : Rows(keyspace)) {
          const absl::StatusOr<codec::StoredItemView> stored = codec::ParseStoredItem(row.value);
          if (stored->item.Find("color")->scalar() == "blue") blue_ = row.key;
        }
      });
      ASSERT_TRUE(Put(3, "red").ok());
      ASSERT_TRUE(CatchUp().ok());
      Damage(name, [&](const store::Keyspace& keyspace, store::WriteUnit* unit) {
        unit->Put(keyspace, blue_, "no stored item");
        unit->AddStats(keyspace, {1, 0});
      });
      std::thread writer([&, pause = absl::Microseconds(random() % 20'000)] {
        const absl::Time begin = absl::Now();
        while (absl::Now() - begin < pause) std::this_thread::yield();
        EXPECT_TRUE(Put(3, "blue").ok());
      });
      Verify(/*repair=*/true);
      writer.join();
      ASSERT_TRUE(CatchUp().ok());
      ASSERT_THAT(Verify(), IsEmpty()) << name << " " << round;
    }
  }
}

// A database whose table files can be damaged while it is closed.
class DamagedFilesTest : public IndexCheckTest {
 protected:
  DamagedFilesTest()
      : IndexCheckTest([this](store::DatabaseOptions* options) {
          if (!damaged_family_.empty()) store::DamageFilesOf(damaged_family_, options->path);
        }) {}

  // Flips a byte of the first block of the family's files when the database is opened again.
  void DamageFamily(const std::string& name) {
    {
      const std::shared_ptr<const store::CatalogSnapshot> catalog = engine_.database().catalog();
      const store::Table& table = *catalog->Find(kTable);
      damaged_family_ = name.empty()
                            ? store::DataFamilyName(table.descriptor.id)
                            : store::GlobalIndexFamilyName(table.descriptor.id, table.FindIndex(name)->descriptor.id);
    }
    engine_.Reopen();
    damaged_family_.clear();
  }
};

TEST_F(DamagedFilesTest, AnIndexWithADamagedBlockIsNamedAndTheOthersAreChecked) {
  Damage("Local", [&](const store::Keyspace& keyspace, store::WriteUnit* unit) {
    unit->Put(keyspace, Rows(keyspace)[3].key + "y", "no stored item");
  });
  DamageFamily("Global");
  const std::vector<std::string> found = Verify();
  EXPECT_THAT(found, testing::Contains("Global damaged -"));
  EXPECT_THAT(found, testing::Contains("Local damaged -"));
  for (const std::string& difference : found) EXPECT_THAT(difference, testing::EndsWith(" damaged -"));
}

TEST_F(DamagedFilesTest, ATableWithADamagedBlockIsNamedAndItsIndexesStay) {
  DamageFamily("");
  const std::vector<std::string> found = Verify(/*repair=*/true);
  EXPECT_THAT(found, testing::Each(" damaged -"));
  EXPECT_THAT(found, testing::Not(IsEmpty()));
}

TEST_F(IndexCheckTest, WritesUnderWayAreNoDifferences) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> writers;
  const auto seed = static_cast<uint32_t>(PrintedTestSeed());
  for (uint32_t w = 0; w < 3; ++w) {
    writers.emplace_back([&, w] {
      std::mt19937 random(seed + w);
      while (!stop) {
        const int key = static_cast<int>(random() % kItems);
        if (random() % 4 == 0) {
          EXPECT_TRUE(engine_.Delete(WriteTo(kTable, PlainItem(std::to_string(key), "1"))).ok());
        } else {
          EXPECT_TRUE(Put(key, Cat("c", random() % 9)).ok());
        }
      }
    });
  }
  for (int i = 0; i < 5; ++i) EXPECT_THAT(Verify(i % 2 == 1), IsEmpty());
  stop = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_THAT(Verify(), IsEmpty());
}

TEST_F(IndexCheckTest, BadRequestsAreRefused) {
  const auto verify = [&](std::string table, std::string position) {
    Answer<VerifyTableResult> answer;
    engine_->VerifyTable({std::move(table), std::move(position), false}, answer.Catch());
    return ErrorNameOf(answer.Take().status());
  };
  EXPECT_EQ(verify("nowhere", ""), "ResourceNotFoundException");
  EXPECT_EQ(verify("", ""), "ValidationException");
  for (const char* position : {"x", "0", ":", "1x:", "99999999999:"}) {
    EXPECT_EQ(verify(kTable, position), "ValidationException") << position;
  }
  EXPECT_EQ(verify(kTable, "77:nothing"), "OK") << "an index that has gone";
}

TEST_F(IndexCheckTest, ItemsThatAnIndexLeavesOutAreNamed) {
  const auto list = [&](std::string index) {
    std::vector<std::string> found;
    ListIndexViolationsRequest request{kTable, std::move(index), ""};
    do {
      Answer<ListIndexViolationsResult> answer;
      engine_->ListIndexViolations(request, answer.Catch());
      const absl::StatusOr<ListIndexViolationsResult> page = answer.Take();
      if (!page.ok()) return std::vector<std::string>{ErrorNameOf(page.status())};
      for (const IndexViolation& violation : page->violations) {
        found.push_back(Cat(Printed(Decode(violation.key_bytes)), violation.fault.attribute, " ",
                            static_cast<int>(violation.fault.kind)));
      }
      request.start_position = page->next_position;
    } while (!request.start_position.empty());
    return found;
  };
  EXPECT_THAT(list("Global"), IsEmpty());
  EXPECT_THAT(list("Local"), ElementsAre("ValidationException"));
  EXPECT_THAT(list("None"), ElementsAre("ValidationException"));

  ASSERT_TRUE(engine_.Put(WriteTo(kTable, PlainItem("bad", "7", {{"size", S("large")}}))).ok());
  model::TableUpdate update;
  update.table_name = kTable;
  update.attribute_definitions = {{"size", "N"}};
  update.global_index_updates = {{.update = {}, .create = IndexOf("BySize", {{"size", "HASH"}}, "ALL"), .remove = {}}};
  Answer<TableDescription> answer;
  engine_->UpdateTable(update, answer.Catch());
  ASSERT_TRUE(answer.Take().ok());
  EXPECT_THAT(list("BySize"), ElementsAre("pk=S:bad sk=N:7 size 0"));
}

}  // namespace armature::engine::index_check_test
