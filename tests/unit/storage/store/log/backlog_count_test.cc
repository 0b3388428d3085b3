// The backlog of global indexes is counted after a database was opened.

#include "storage/store/log/backlog_count.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rocksdb/db.h"
#include "storage/codec/change_codec.h"
#include "storage/store/rocks_db.h"
#include "tests/support/repeating_change_record.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::backlog_count_test {

constexpr uint64_t kRecords = 100;

// Flips a bit in the middle of each log file.
void DamageLog(const DatabaseOptions& options) {
  std::vector<std::string> files;
  {
    const std::unique_ptr<RocksDb> rocks = *RocksDb::Open(options.path + "/db", options);
    ASSERT_TRUE(rocks->db()->Flush({}, rocks->log()->handle()).ok());
    std::vector<rocksdb::LiveFileMetaData> live;
    rocks->db()->GetLiveFilesMetaData(&live);
    for (const rocksdb::LiveFileMetaData& file : live) {
      if (file.column_family_name == rocks->log()->name()) files.push_back(options.path + "/db/" + file.name);
    }
  }
  ASSERT_FALSE(files.empty());
  for (const std::string& path : files) {
    const auto middle = static_cast<std::streamoff>(std::filesystem::file_size(path) / 2);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(middle);
    const int byte = file.get();
    file.seekp(middle);
    file.put(static_cast<char>(byte ^ 1));
    ASSERT_TRUE(file.good()) << path;
  }
}

TEST(BacklogCount, ALogThatCannotBeReadIsCountedUpToThere) {
  const test::TempDir dir;
  const DatabaseOptions options = TestOptions(dir.path("data"));
  std::unique_ptr<Database> database = OpenDatabase(options);
  std::shared_ptr<const CatalogSnapshot> snapshot = CreateActive(database.get(), IndexedTable("t"));
  const auto index = [&]() -> const Index& { return snapshot->Find("t")->global_indexes[0]; };
  for (uint64_t i = 0; i < kRecords; ++i) {
    // Large incompressible values, so that there are many blocks.
    std::string value;
    for (uint64_t n = 0; n < 200; ++n) value += std::to_string((i + 1) * (n + 7919) * 0x9E3779B97F4A7C15ULL);
    codec::IndexRowChange change;
    change.index = index().descriptor.id;
    change.key = "key";
    change.value = value;
    codec::ChangeRecord record;
    record.base_key = "row";
    record.index_changes = {change};
    WriteUnit unit(snapshot);
    unit.SetChangeRecord(snapshot->Find("t")->descriptor.id, test::RepeatingChangeRecord(record));
    unit.AddIndexChange({index().descriptor.id, index().keyspace, &index().progress->backlog(), codec::RowBytes(change),
                         /*is_built=*/false});
    ASSERT_TRUE(CommitAndWait(database.get(), std::move(unit)).ok());
  }
  const auto reopen = [&] {
    database = OpenDatabase(options);
    if (database == nullptr) return false;
    snapshot = database->catalog();
    while (!index().progress->backlog().is_counted()) std::this_thread::yield();
    return true;
  };
  snapshot.reset();
  database.reset();
  ASSERT_TRUE(reopen());
  EXPECT_EQ(index().progress->backlog().load().records, kRecords);
  snapshot.reset();
  database.reset();
  ASSERT_NO_FATAL_FAILURE(DamageLog(options));
  ASSERT_TRUE(reopen()) << "what is there can be served";
  const uint64_t counted = index().progress->backlog().load().records;
  EXPECT_GT(counted, 0u);
  EXPECT_LT(counted, kRecords);
  // The database is usable.
  WriteUnit unit(snapshot);
  unit.Put(snapshot->Find("t")->data, "row", "value");
  EXPECT_TRUE(CommitAndWait(database.get(), std::move(unit)).ok());
}

}  // namespace armature::store::backlog_count_test
