// Starts after files of the log were lost, damaged, or left unfinished by a power cut.

#include "storage/store/wal/log_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "rocksdb/write_batch.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/inspector.h"
#include "storage/store/meta_keys.h"
#include "storage/store/recovery.h"
#include "storage/store/rocks_db.h"
#include "storage/store/wal/log_scan.h"
#include "storage/store/wal/sync_mark.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::log_check_test {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::string Read(const std::string& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

void Write(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class LogCheckTest : public testing::TestWithParam<Durability> {
 protected:
  LogCheckTest() { options_.durability = GetParam(); }
  void SetUp() override { Open(); }

  void Open() {
    database_ = OpenDatabase(options_);
    if (database_ != nullptr && database_->catalog()->Find("t") == nullptr)
      CreateActive(database_.get(), PlainTable("t"));
  }
  void Close() { database_.reset(); }

  // Commits a row on its own.
  void Put(std::string_view key, size_t size = 100) {
    WriteUnit unit(database_->catalog());
    unit.Put(keyspace(), key, std::string(size, 'v'));
    ASSERT_TRUE(CommitAndWait(database_.get(), std::move(unit)).ok());
  }
  // Writes a row as the worker of the indexes does: without a sync, and without a client that waits.
  void PutUnsynced(std::string_view key) {
    WriteUnit unit(database_->catalog());
    unit.Put(keyspace(), key, std::string(100, 'u'));
    ASSERT_TRUE(database_->change_log().CommitConsumed(unit, TableId(1), {}).ok());
  }
  std::vector<std::string> Keys() { return KeysOf(*database_, keyspace()); }
  const Keyspace& keyspace() { return database_->catalog()->Find("t")->data; }

  std::string db(std::string_view name = "") const { return options_.path + "/db" + std::string(name); }
  std::string register_path() const { return db("/" + std::string(kLogRegisterFile)); }
  std::vector<std::string> Logs() const {
    std::vector<std::string> logs;
    for (const auto& entry : fs::directory_iterator(db())) {
      if (entry.path().extension() == ".log") logs.push_back(entry.path());
    }
    std::sort(logs.begin(), logs.end());
    return logs;
  }
  std::string NewestLog() const { return Logs().back(); }
  std::string Manifest() const {
    const std::string current = Read(db("/CURRENT"));
    return db("/" + current.substr(0, current.find('\n')));
  }

  // Everything in the directory, to compare.
  std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(db())) {
      if (entry.path().filename() != "LOCK") files[entry.path().filename()] = Read(entry.path());
    }
    return files;
  }

  // As left by a program without the register.
  void ForgetRegister() {
    fs::remove(register_path());
    const std::string format = Read(options_.path + "/armature.format");
    Write(options_.path + "/armature.format", format.substr(0, format.find("logs:")));
  }

  // Accepts the one loss, which `fault` and `loss` describe, and opens the database.
  void Recover(const std::string& fault, const std::string& loss) {
    const absl::StatusOr<std::vector<Damage>> damage = FindDamage(LocalVolume(), options_.path);
    ASSERT_TRUE(damage.ok()) << damage.status();
    ASSERT_EQ(damage->size(), 1u);
    EXPECT_THAT(damage->front().fault, HasSubstr(fault));
    EXPECT_THAT(damage->front().loss, HasSubstr(loss));
    const absl::Status accepted = AcceptLosses(LocalVolume(), options_.path, *damage);
    ASSERT_TRUE(accepted.ok()) << accepted;
    EXPECT_THAT(*FindDamage(LocalVolume(), options_.path), testing::IsEmpty());
    Open();
    ASSERT_NE(database_, nullptr);
  }

  // The open is refused with `text`, and changes no file.
  void ExpectRefused(const std::string& text) {
    const std::map<std::string, std::string> before = Files();
    const auto opened = Database::Open(options_);
    ASSERT_EQ(opened.status().code(), absl::StatusCode::kDataLoss) << opened.status();
    EXPECT_THAT(std::string(opened.status().message()), HasSubstr(text));
    EXPECT_THAT(std::string(opened.status().message()), HasSubstr("nothing was changed"));
    EXPECT_EQ(Files(), before);
  }

  const test::TempDir dir_;
  DatabaseOptions options_ = TestOptions(dir_.path("data"));
  std::unique_ptr<Database> database_;
};

INSTANTIATE_TEST_SUITE_P(EveryDurability, LogCheckTest,
                         testing::Values(Durability::kSync, Durability::kInterval, Durability::kOs));

TEST_P(LogCheckTest, StartWithoutTheLogIsRefused) {
  Put("a");
  Close();
  const std::string log = NewestLog();
  for (const std::string& each : Logs()) fs::remove(each);
  ExpectRefused(log + " is missing");
}

// As a directory of an earlier version: nothing tells whether files are missing, but rows without a table do.
TEST_P(LogCheckTest, StartWithoutTheCatalogIsRefusedWithoutARegisterToo) {
  for (int i = 0; i < 30; ++i) Put("row" + std::to_string(i), 100'000);
  ASSERT_TRUE(Eventually([this] { return database_->stats().files.file_bytes > 0; }));
  Close();
  for (const std::string& each : Logs()) fs::remove(each);
  ForgetRegister();
  const auto opened = Database::Open(options_);
  ASSERT_EQ(opened.status().code(), absl::StatusCode::kDataLoss) << opened.status();
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("belong to no table of the catalog: t1"));
}

TEST_P(LogCheckTest, StartWithALostOlderLogIsRefused) {
  // Full memtables begin new files; the catalog's memtable keeps the older ones.
  for (int i = 0; i < 30; ++i) Put("row" + std::to_string(i), 100'000);
  Close();
  ASSERT_GE(Logs().size(), 2u);
  const std::string older = Logs()[1];
  fs::remove(older);
  ExpectRefused(older + " is missing");
  Recover(older + " is missing", "all writes that were only in this file");
  EXPECT_THAT(Keys(), testing::Contains("row29"));
}

// A start may leave the rows in the log. A power cut must not take them while later writes survive.
TEST_P(LogCheckTest, AStartMakesTheLogOfAKilledDaemonDurable) {
  Put("synced");
  PutUnsynced("unsynced");
  const std::string killed = dir_.path("killed");
  fs::copy(options_.path, killed, fs::copy_options::recursive);
  const auto checked = CheckLogs(LocalVolume(), killed + "/db", /*may_create=*/false, /*accept_losses=*/false);
  ASSERT_TRUE(checked.ok()) << checked.status();
  size_t logs = 0;
  for (const auto& [name, entry] : checked->log_register->entries()) {
    if (name.kind != LogKind::kWriteAhead) continue;
    ++logs;
    EXPECT_EQ(entry.synced, fs::file_size(killed + "/db/" + FileName(name)));
  }
  EXPECT_GE(logs, 1u);
}

TEST_P(LogCheckTest, FlippedByteInTheMiddleStopsTheStart) {
  for (int i = 0; i < 50; ++i) Put("row" + std::to_string(i));
  Close();
  const std::string log = NewestLog();
  std::string bytes = Read(log);
  bytes[bytes.size() / 2] ^= 1;
  Write(log, bytes);
  ExpectRefused(log + " is damaged at offset ");
  Recover(log + " is damaged at offset ", "from offset ");
  EXPECT_GE(Keys().size(), 20u);
  EXPECT_LT(Keys().size(), 50u);
}

// RocksDB reads nothing of it, so it flushes nothing, and keeps the file.
TEST_P(LogCheckTest, ALogThatIsLostAsAWholeIsAcceptedOnce) {
  for (int i = 0; i < 50; ++i) Put("row" + std::to_string(i));
  Close();
  Open();
  for (int i = 50; i < 60; ++i) Put("row" + std::to_string(i));
  Close();
  const std::string log = NewestLog();
  std::string bytes = Read(log);
  bytes[0] ^= 1;
  Write(log, bytes);
  ExpectRefused(log + " is damaged at offset 0 ");
  Recover(log + " is damaged at offset 0 ", "");
  EXPECT_EQ(Keys().size(), 50u);
}

TEST_P(LogCheckTest, UnfinishedEndIsCutOff) {
  Put("a");
  const std::string unfinished[] = {
      std::string(5, '\0'),        // the file grew, its data did not arrive
      std::string(100'000, '\0'),  // zeros over several blocks
      std::string(70'000, 'x'),    // garbage
      std::string("\x12\x34\x56\x78\x20\x00\x01 half of a record", 24),
  };
  int n = 0;
  for (const std::string& tail : unfinished) {
    Close();
    const std::string log = NewestLog();
    Write(log, Read(log) + tail);
    Open();
    ASSERT_NE(database_, nullptr);
    EXPECT_EQ(Keys().size(), static_cast<size_t>(++n));
    Put("more" + std::to_string(n));
  }
}

TEST_P(LogCheckTest, TheEndOfTheManifestIsCutOffIfItIsUnfinished) {
  Put("a");
  Close();
  Write(Manifest(), Read(Manifest()) + std::string(300, '\0'));
  Open();
  ASSERT_NE(database_, nullptr);
  EXPECT_EQ(Keys().size(), 1u);
}

TEST_P(LogCheckTest, DamagedManifestStopsTheStart) {
  Put("a");
  Close();
  const std::string manifest = Manifest();
  const std::string whole = Read(manifest);
  for (const size_t at : {size_t{20}, whole.size() - 2}) {
    std::string bytes = whole;
    bytes[at] ^= 1;
    Write(manifest, bytes);
    ExpectRefused(manifest + " is damaged at offset ");
  }
}

TEST_P(LogCheckTest, RegisterOfAnotherProgramsRunIsNotTrusted) {
  Put("a");
  const std::string stale = Read(register_path());
  Close();
  ForgetRegister();
  Open();
  Put("b");
  Close();
  Write(register_path(), stale);
  Open();
  ASSERT_NE(database_, nullptr);
  EXPECT_EQ(Keys().size(), 2u);
}

// The first start of a directory of an older version, or of a restored backup, has no register to compare with.
TEST_P(LogCheckTest, DamageInALogThatIsNotRegisteredIsFound) {
  for (int i = 0; i < 50; ++i) Put("row" + std::to_string(i));
  Close();
  ForgetRegister();
  const std::string log = NewestLog();
  std::string bytes = Read(log);
  bytes[bytes.size() / 2] ^= 1;
  Write(log, bytes);
  if (GetParam() == Durability::kSync) {
    EXPECT_FALSE(Database::Open(options_).ok());
    ForgetRegister();
  }
  Recover("the database in", "the writes in damaged blocks");
  EXPECT_GE(Keys().size(), 20u);
}

// States that a power cut leaves while a batch is being synced. The register is as it was before.
class PowerCutTest : public LogCheckTest {
 protected:
  PowerCutTest() { options_.sync_interval_ms = 3'600'000; }

  // Commits `before`, writes `unsynced`, commits `last`; then the power is cut during the sync of the last commit, and
  // the unsynced record does not reach the disk.
  void CutPower(bool is_last_acknowledged) {
    LeaveHole(is_last_acknowledged);
    ChangeRegister([](LogRegister* logs) { EXPECT_TRUE(logs->SetBoot(LocalVolume()->boot() + 1).ok()); });
  }
  // A hole without a start of the machine is a damage.
  void LeaveHole(bool is_last_acknowledged) {
    Put("before");
    const std::string then = Read(register_path());
    const std::string log = NewestLog();
    const size_t begin = fs::file_size(log);
    PutUnsynced("unsynced");
    const size_t end = fs::file_size(log);
    Put("last");
    if (is_last_acknowledged) Put("later");
    Close();
    std::string bytes = Read(log);
    std::fill(bytes.begin() + static_cast<ptrdiff_t>(begin), bytes.begin() + static_cast<ptrdiff_t>(end), '\0');
    Write(log, bytes);
    Write(register_path(), then);
  }
  void ChangeRegister(absl::FunctionRef<void(LogRegister*)> change) {
    const auto opened = LogRegister::Open(LocalVolume(), register_path(), LogRegister::Access::kCreate);
    ASSERT_TRUE(opened.ok()) << opened.status();
    change(opened->get());
  }
  LogName NewestName() const {
    LogName name;
    EXPECT_TRUE(ParseLogName(NewestLog(), &name));
    return name;
  }
};

INSTANTIATE_TEST_SUITE_P(EveryDurability, PowerCutTest,
                         testing::Values(Durability::kSync, Durability::kInterval, Durability::kOs));

TEST_P(PowerCutTest, HoleBeforeTheUnfinishedBatchIsCutOff) {
  CutPower(/*is_last_acknowledged=*/false);
  const auto logs = LogRegister::Open(LocalVolume(), register_path(), LogRegister::Access::kRead);
  ASSERT_TRUE(logs.ok()) << logs.status();
  const auto found = FindLogFaults(LocalVolume(), db(), **logs);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->tails.size(), 1u);
  EXPECT_EQ(found->tails[0].lost, GetParam() == Durability::kSync ? 0u : 1u);
  Open();
  ASSERT_NE(database_, nullptr);
  EXPECT_EQ(Keys(), std::vector<std::string>{"before"});
  Put("after");
  Close();
  Open();
  EXPECT_EQ(Keys(), (std::vector<std::string>{"after", "before"}));
}

// With a sync before each answer, the last record tells that the log was synced behind the hole: the hole is damage.
TEST_P(PowerCutTest, HoleBeforeASyncedBatchStopsTheStart) {
  CutPower(/*is_last_acknowledged=*/true);
  if (GetParam() == Durability::kSync) return ExpectRefused("the next good record is at offset");
  Open();
  ASSERT_NE(database_, nullptr);
  EXPECT_EQ(Keys(), std::vector<std::string>{"before"});
}

// A kill loses nothing, so the hole is damage at every durability.
TEST_P(PowerCutTest, HoleBeforeAnAcknowledgedBatchStopsAStartWithoutAPowerCut) {
  LeaveHole(/*is_last_acknowledged=*/true);
  ExpectRefused("the next good record is at offset");
}

TEST_P(PowerCutTest, AcknowledgedBatchesInALogThatFailedLaterAreNotCutOff) {
  LeaveHole(/*is_last_acknowledged=*/true);
  ChangeRegister([this](LogRegister* logs) { logs->Abandon(NewestName()); });
  ExpectRefused("the next good record is at offset");
}

// An orderly end syncs the log at every durability.
TEST_P(PowerCutTest, SyncedEndIsNotCutOff) {
  Put("a");
  Put("b");
  Close();
  const std::string log = NewestLog();
  const std::string bytes = Read(log);
  Write(log, bytes.substr(0, bytes.size() - 10) + std::string(10, '\0'));
  ExpectRefused("it was synced up to offset " + std::to_string(bytes.size()));
  Write(log, bytes.substr(0, bytes.size() - 10));
  ExpectRefused("it was synced up to offset " + std::to_string(bytes.size()));
  ChangeRegister([](LogRegister* logs) { EXPECT_TRUE(logs->SetBoot(LocalVolume()->boot() + 1).ok()); });
  fs::resize_file(log, 0);
  ExpectRefused(log + " ends at offset 0");
}

// Damage that has the same effect at every durability.
class DamageTest : public LogCheckTest {};

INSTANTIATE_TEST_SUITE_P(OneDurability, DamageTest, testing::Values(Durability::kOs));

TEST_P(DamageTest, RowsWithoutATableAreNotDeleted) {
  Close();
  {
    const std::unique_ptr<RocksDb> rocks = *RocksDb::Open(db(), options_);
    ASSERT_TRUE(rocks->CreateFamilies({"t98", "t99", "g99.120"}).ok());
    rocksdb::WriteBatch batch;
    batch.Put(rocks->Find("t99")->handle(), "k", "v");
    batch.Delete(rocks->Find("t99")->handle(), "x");  // the estimated number of rows is 0
    batch.Put(rocks->log()->handle(), LogKey(TableId(99), ChangeSequence(700)), "record");
    batch.Put(rocks->meta()->handle(), CursorKey(TableId(99), IndexId(120)), EncodeU64(300));
    batch.Put(rocks->meta()->handle(), StatsKey("t99"), EncodeStats({1, 1}));
    ASSERT_TRUE(rocks->Write(&batch, /*sync=*/true, "test").ok());
    EXPECT_TRUE(FindSyncMark(batch.Data()).has_value());
  }
  for (int i = 0; i < 2; ++i) {
    const auto opened = Database::Open(options_);
    ASSERT_EQ(opened.status().code(), absl::StatusCode::kDataLoss) << opened.status();
    EXPECT_THAT(std::string(opened.status().message()), HasSubstr("of the catalog: t99;"));
    // Only families that were shown are dropped.
    EXPECT_TRUE(AcceptLosses(LocalVolume(), options_.path, {}).ok());
  }
  Recover("column family t99", "its rows, about 1 in");
  // Nothing is left of the table, and its ids and sequences are not used again.
  const auto created = database_->tables().Create(PlainTable("next"));
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(created->id.value(), 121u);
  Close();
  const std::unique_ptr<RocksDb> rocks = *RocksDb::Open(db(), options_);
  EXPECT_FALSE((*rocks->Get(*rocks->log(), LogKey(TableId(99), ChangeSequence(700)))).has_value());
  EXPECT_FALSE((*rocks->Get(*rocks->meta(), CursorKey(TableId(99), IndexId(120)))).has_value());
  EXPECT_FALSE((*rocks->Get(*rocks->meta(), StatsKey("t99"))).has_value());
  EXPECT_GE(Catalog::ReadLastSequence(rocks.get())->value(), 700u);
}

TEST_P(DamageTest, ShownLossIsWhatRocksDbGivesUp) {
  constexpr size_t kRows = 200;
  const std::string log = NewestLog();
  const size_t begin = fs::file_size(log);
  for (size_t i = 0; i < kRows; ++i) Put("row" + std::to_string(1000 + i), 1000);
  Close();
  const double record_bytes = static_cast<double>(fs::file_size(log) - begin) / kRows;
  std::string bytes = Read(log);
  for (const size_t block : {1, 2, 4}) bytes[block * (32 << 10) + 12'000] ^= 1;
  Write(log, bytes);
  const auto scan = ScanLog(LocalVolume(), log, [](std::string_view, bool) {});
  ASSERT_TRUE(scan.ok()) << scan.status();
  EXPECT_EQ(scan->lost_places, 3u);
  Recover("is damaged at offset ",
          " bytes of the file, from offset " + std::to_string(scan->whole) + " on in 3 places");
  EXPECT_NEAR(static_cast<double>(scan->lost_bytes) / record_bytes, static_cast<double>(kRows - Keys().size()), 3);
}

TEST_P(DamageTest, DamageOfOtherFilesIsFound) {
  for (int i = 0; i < 30; ++i) Put("row" + std::to_string(i), 100'000);
  ASSERT_TRUE(Eventually([this] { return database_->stats().files.file_bytes > 0; }));
  Close();
  std::string table;
  for (const auto& entry : fs::directory_iterator(db())) {
    if (entry.path().extension() == ".sst") table = entry.path();
  }
  for (const std::string& file : {table, Manifest()}) {
    fs::rename(file, dir_.path("moved"));
    EXPECT_FALSE(Database::Open(options_).ok()) << file;
    const auto damage = FindDamage(LocalVolume(), options_.path);
    ASSERT_TRUE(damage.ok()) << damage.status();
    ASSERT_EQ(damage->size(), 1u) << file;
    EXPECT_EQ(damage->front().loss, "");
    fs::rename(dir_.path("moved"), file);
  }
  EXPECT_THAT(*FindDamage(LocalVolume(), options_.path), testing::IsEmpty());
}

TEST_P(DamageTest, LostCurrentIsReplaced) {
  Put("a");
  for (const std::string_view damaged : {"", "garbage", "MANIFEST-999999\n"}) {
    Close();
    Write(db("/CURRENT"), damaged);
    if (damaged.empty()) fs::remove(db("/CURRENT"));
    {
      const auto inspector = Inspector::Open(LocalVolume(), options_.path);
      ASSERT_TRUE(inspector.ok()) << inspector.status();
      EXPECT_EQ((*inspector)->problems().size(), 1u);
      EXPECT_TRUE((*inspector)->HasFamily("t1"));
    }
    Recover("CURRENT", "nothing: the file is written anew");
    EXPECT_EQ(Keys().size(), 1u);
  }
}

TEST_P(DamageTest, LossesThatDoNotHelpAreNotAccepted) {
  for (int i = 0; i < 30; ++i) Put("row" + std::to_string(i), 100'000);
  Close();
  const std::string older = Logs()[1];
  fs::remove(older);
  const std::string manifest = Read(Manifest());
  std::string damaged = manifest;
  damaged[20] ^= 1;
  Write(Manifest(), damaged);
  EXPECT_EQ(AcceptLosses(LocalVolume(), options_.path, {}).code(), absl::StatusCode::kDataLoss);
  Write(Manifest(), manifest);
  ExpectRefused(older + " is missing");
}

TEST_P(DamageTest, MissingRegisterStopsTheStart) {
  Put("a");
  Close();
  for (const std::string& each : Logs()) fs::remove(each);
  fs::remove(register_path());
  ExpectRefused(register_path() + " is missing");
  Recover(register_path() + " is missing", "of which nothing is known");
}

TEST_P(DamageTest, DamagedRegisterCanBeGivenUp) {
  Put("a");
  Close();
  std::string bytes = Read(register_path());
  bytes[0] ^= 1;
  Write(register_path(), bytes);
  ExpectRefused(register_path() + " is damaged");
  Recover(register_path() + " is damaged", "of which nothing is known");
  EXPECT_EQ(Keys().size(), 1u);
}

TEST_P(DamageTest, FailuresToReadAreNoDamage) {
  Put("a");
  Close();
  ForgetRegister();
  const std::string manifest = Manifest();
  fs::remove(manifest);
  fs::create_directory(manifest);  // cannot be read
  const absl::Status opened = Database::Open(options_).status();
  EXPECT_EQ(opened.code(), absl::StatusCode::kUnavailable) << opened;
}

TEST_P(DamageTest, RegisterOutlastsADamagedCurrent) {
  Put("a");
  Close();
  const std::string current = Read(db("/CURRENT"));
  for (const std::string& damaged : {std::string("garbage"), std::string("MANIFEST-999999\n"), std::string()}) {
    Write(db("/CURRENT"), damaged);
    ExpectRefused("nothing was changed");
  }
  fs::remove(db("/CURRENT"));
  fs::create_directory(db("/CURRENT"));  // cannot be read
  EXPECT_EQ(Database::Open(options_).status().code(), absl::StatusCode::kUnavailable);
  fs::remove(db("/CURRENT"));
  Write(db("/CURRENT"), current);
  fs::remove(NewestLog());
  ExpectRefused(" is missing");
}

// The entry of a log that is not needed any more is removed before the file, whose removal a power cut may undo.
TEST_P(DamageTest, DamagedLogsThatAreNotNeededDoNotMatter) {
  Put("a");
  Close();
  Write(db("/000001.log"), std::string(100, 'x'));
  Open();
  ASSERT_NE(database_, nullptr);
  EXPECT_EQ(Keys().size(), 1u);
}

}  // namespace armature::store::log_check_test
