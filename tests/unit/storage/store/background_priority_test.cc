// Flushes yield the processor to requests.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::background_priority_test {

// The least niceness of the threads of this process with this name, or -100 if there is none.
int NicenessOf(const std::string& name) {
  int least = -100;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string found;
    std::getline(std::ifstream(entry.path() / "comm"), found);
    if (found != name) continue;
    const int niceness = getpriority(PRIO_PROCESS, static_cast<id_t>(std::stoul(entry.path().filename().string())));
    least = least == -100 ? niceness : std::min(least, niceness);
  }
  return least;
}

TEST(BackgroundPriority, FlushesYieldToRequests) {
  const test::TempDir dir;
  DatabaseOptions options = TestOptions(dir.path("data"));
  options.memtable_bytes = size_t{64} << 10;
  const std::unique_ptr<Database> database = OpenDatabase(options);
  const std::shared_ptr<const CatalogSnapshot> snapshot = CreateActive(database.get(), PlainTable("t"));
  for (int row = 0; row < 64; ++row) {
    WriteUnit unit(snapshot);
    unit.Put(snapshot->Find("t")->data, std::to_string(row), std::string(size_t{8} << 10, 'x'));
    ASSERT_TRUE(CommitAndWait(database.get(), std::move(unit)).ok());
  }
  const int own = getpriority(PRIO_PROCESS, 0);
  EXPECT_TRUE(Eventually([own] { return NicenessOf("rocksdb:high") == std::min(own + 5, 19); }))
      << NicenessOf("rocksdb:high") << " beside " << own;
}

}  // namespace armature::store::background_priority_test
