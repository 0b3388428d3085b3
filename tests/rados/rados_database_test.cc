// Whole databases in RADOS: nothing acknowledged is lost when the process is killed, an OSD dies or the pool is full.

#include <gtest/gtest.h>
#include <sys/types.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/strings.h"
#include "storage/store/database.h"
#include "storage/store/inspector.h"
#include "storage/store/recovery.h"
#include "tests/rados/child_process.h"
#include "tests/rados/rados_database.h"
#include "tests/rados/rados_under_test.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::rados {
namespace {

class RadosDatabase : public testing::Test {
 protected:
  bool Open() {
    volume_ = MountForTest(options_);
    if (volume_ != nullptr) database_ = OpenTestDatabase(volume_.get());
    return database_ != nullptr;
  }
  void Close() {
    database_.reset();
    volume_.reset();
  }
  bool Put(const std::string& key) {
    const bool is_written = IsRowWritten(database_.get(), key);
    if (is_written) acknowledged_.push_back(key);
    return is_written;
  }
  void CheckRows() {
    for (const std::string& key : acknowledged_) ASSERT_TRUE(HasRow(*database_, key)) << key;
  }
  // Reads the output of a writer until it has acknowledged `rows` more.
  void AwaitRows(ChildProcess* writer, size_t rows) {
    const size_t until = acknowledged_.size() + rows;
    std::string line;
    while (acknowledged_.size() < until && writer->ReadLine(&line)) Take(line);
    ASSERT_GE(acknowledged_.size(), until);
  }
  // Reads the rest of the output of a writer.
  void TakeRest(ChildProcess* writer) {
    for (std::string line; writer->ReadLine(&line);) Take(line);
  }
  void Take(const std::string& line) {
    if (line.starts_with("ack ")) acknowledged_.push_back(line.substr(4));
  }

  RadosVolumeOptions options_ = NewTestVolume();
  std::unique_ptr<RadosVolume> volume_;
  std::unique_ptr<store::Database> database_;
  std::vector<std::string> acknowledged_;
};

TEST_F(RadosDatabase, IsThereAfterAnOrderlyEnd) {
  ASSERT_TRUE(Open());
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(Put(Cat("row", i)));  // several flushes
  Close();
  ASSERT_TRUE(Open());
  CheckRows();
  ASSERT_TRUE(Put("later"));
  database_.reset();
  const auto inspector = store::Inspector::Open(volume_.get(), kTestData);
  ASSERT_TRUE(inspector.ok()) << inspector.status();
  EXPECT_TRUE((*inspector)->problems().empty());
  const auto damage = store::FindDamage(volume_.get(), kTestData);
  EXPECT_TRUE(damage.ok() && damage->empty()) << damage.status();
}

TEST_F(RadosDatabase, KilledWritersLoseNothing) {
  for (int round = 0; round < 5; ++round) {
    ChildProcess writer({ARMATURE_ROW_WRITER, options_.name_space, Cat("round", round, ".")});
    AwaitRows(&writer, 100);
    writer.Signal(SIGKILL);
    TakeRest(&writer);
    writer.Wait();
  }
  ASSERT_TRUE(Open());
  CheckRows();
  EXPECT_GE(acknowledged_.size(), 500u);
}

TEST_F(RadosDatabase, AnOsdMayDieMeanwhile) {
  {
    ChildProcess writer({ARMATURE_ROW_WRITER, options_.name_space, "row"});
    AwaitRows(&writer, 50);
    ASSERT_TRUE(RunClusterTool("kill-osd", "1"));
    AwaitRows(&writer, 100);
    writer.Signal(SIGKILL);
    TakeRest(&writer);
  }
  ASSERT_TRUE(Open());
  CheckRows();
  ASSERT_TRUE(Put("with two OSDs"));
  ASSERT_TRUE(RunClusterTool("start-osd", "1"));
  ASSERT_TRUE(Put("with three OSDs"));
  Close();
  ASSERT_TRUE(Open());
  CheckRows();
}

TEST_F(RadosDatabase, WritesGoOnWithoutTheMonitor) {
  ASSERT_TRUE(Open());
  ASSERT_TRUE(Put("before"));
  ASSERT_TRUE(RunClusterTool("stop-mon"));
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(Put(Cat("row", i)));
  ASSERT_TRUE(RunClusterTool("start-mon"));
  volume_->Abandon();
  Close();
  ASSERT_TRUE(Open());
  CheckRows();
}

TEST_F(RadosDatabase, AFullPoolRefusesWritesUntilThereIsSpace) {
  ASSERT_TRUE(Open());
  ASSERT_TRUE(Put("before"));
  ASSERT_TRUE(SetClusterFull(true, volume_.get()));
  EXPECT_FALSE(IsRowWritten(database_.get(), "refused"));
  EXPECT_TRUE(database_->disk_report().is_read_only());
  EXPECT_FALSE(database_->disk_report().is_broken);
  CheckRows();
  ASSERT_TRUE(SetClusterFull(false, volume_.get()));
  EXPECT_TRUE(store::Eventually([&] { return Put("after"); }));
  volume_->Abandon();
  Close();
  ASSERT_TRUE(Open());
  CheckRows();
  EXPECT_FALSE(HasRow(*database_, "refused"));
}

}  // namespace
}  // namespace armature::rados
