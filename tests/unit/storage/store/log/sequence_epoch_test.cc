#include "storage/store/log/sequence_epoch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/clock.h"
#include "storage/store/data_directory.h"
#include "storage/store/inspector.h"
#include "storage/store/meta_keys.h"
#include "storage/store/stream/stream_log.h"
#include "tests/unit/storage/codec/codec_test_util.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::sequence_epoch_test {

TEST(EpochRecord, HasTheBytesOfTheFormat) {
  for (const auto& vector : codec::ReadGolden("epoch.golden", 3, /*format=*/7)) {
    const ChangeSequence base(std::stoull(vector[0]));
    const int64_t begun_ms = std::stoll(vector[1]);
    EXPECT_EQ(codec::ToHex(EncodeEpochRecord(base, begun_ms)), vector[2]);
    ChangeSequence parsed;
    int64_t parsed_ms = 0;
    ASSERT_TRUE(ParseEpochRecord(codec::FromHex(vector[2]), &parsed, &parsed_ms));
    EXPECT_EQ(parsed, base);
    EXPECT_EQ(parsed_ms, begun_ms);
    const MetaRecord record = ParseMetaRecord(kEpochKey, codec::FromHex(vector[2]));
    EXPECT_TRUE(record.status.ok()) << record.status;
    EXPECT_EQ(record.kind, MetaKind::kEpoch);
    EXPECT_EQ(record.number, base.value());
  }
}

TEST(EpochRecord, OtherBytesAreRefused) {
  ChangeSequence base;
  int64_t begun_ms = 0;
  for (const std::string_view bytes : {std::string_view(), std::string_view("\x02\x01\x01", 3),
                                       std::string_view("\x01\x01", 2), std::string_view("\x01\x01\x01\x01", 4)}) {
    EXPECT_FALSE(ParseEpochRecord(bytes, &base, &begun_ms));
    EXPECT_TRUE(absl::IsDataLoss(ParseMetaRecord(kEpochKey, bytes).status));
  }
}

class EpochTest : public testing::Test {
 protected:
  void Open(uint64_t clock) {
    database_.reset();
    options_.epoch_clock = [clock] { return clock; };
    database_ = OpenDatabase(options_);
  }
  // As a copy of the directory.
  void OpenCopy(uint64_t clock) {
    database_.reset();
    std::ofstream(options_.path + "/armature.place") << "of another file";
    Open(clock);
  }
  uint64_t Base() { return database_->change_log().epoch_base().value(); }
  uint64_t Last() { return database_->change_log().last_taken().value(); }

  const test::TempDir dir_;
  DatabaseOptions options_ = TestOptions(dir_.path("data"));
  std::unique_ptr<Database> database_;
};

TEST_F(EpochTest, BeginsAtTheClockAndStaysForARestart) {
  Open(1000);
  EXPECT_EQ(Base(), 1000u);
  Open(5000);
  EXPECT_EQ(Base(), 1000u);
  const uint64_t later = uint64_t{1} << 40;
  OpenCopy(later);
  EXPECT_EQ(Base(), later);
  EXPECT_EQ(Last(), later);
}

// A history that is gone may have had any sequence up to the time at which it ended.
TEST_F(EpochTest, ABackwardClockLeavesAGap) {
  const uint64_t now = uint64_t{1} << 50;
  Open(now);
  for (const uint64_t clock : {now - 1, uint64_t{0}, now + 1000}) {
    const uint64_t before = Last();
    OpenCopy(clock);
    EXPECT_GT(Base(), before + 1'000'000'000);
    EXPECT_LT(Base(), uint64_t{1} << 53) << "every client counts up to here";
  }
}

TEST_F(EpochTest, TheClockOfTheSystemSeparatesHistories) {
  options_.epoch_clock = nullptr;
  database_ = OpenDatabase(options_);
  const auto now_us = static_cast<uint64_t>(absl::ToUnixMicros(absl::Now()));
  EXPECT_GT(Base(), now_us - 3'600'000'000);
  EXPECT_LT(Base(), now_us + 3'600'000'000);
}

TEST_F(EpochTest, AnUpgradeThatCannotMarkItsPlaceIsRefused) {
  Open(1000);
  database_.reset();
  const std::string format = options_.path + "/armature.format";
  std::stringstream text;
  text << std::ifstream(format).rdbuf();
  std::ofstream(format) << std::regex_replace(text.str(), std::regex("format: [0-9]+"), "format: 6");
  std::filesystem::remove(options_.path + "/armature.place");
  const std::string unfinished = options_.path + std::string(kDataNextPlaceFile);
  std::filesystem::create_directory(unfinished);
  EXPECT_FALSE(Database::Open(options_).ok());
  std::filesystem::remove(unfinished);
  Open(uint64_t{1} << 40);
  EXPECT_EQ(Base(), 1000u) << "it is no copy";
}

TEST_F(EpochTest, BeginsASegmentWithANumberOfItsOwn) {
  Open(0);
  model::TableDescriptor table = PlainTable("t");
  table.settings.stream_enabled = true;
  table.settings.stream_view_type = "NEW_IMAGE";
  CreateActive(database_.get(), table);
  ASSERT_EQ(database_->streams().segments().size(), 1u);
  OpenCopy(uint64_t{1} << 40);
  const std::vector<StreamSegment> segments = database_->streams().segments();
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_GT(segments[1].id.value(), segments[0].id.value() + 1) << "a lost history may have used the next ones";
  EXPECT_EQ(segments[1].first_sequence.value(), Base() + 1);
  EXPECT_GE(segments[1].begin_ms, segments[0].begin_ms);
  OpenCopy(uint64_t{1} << 42);
  EXPECT_EQ(database_->streams().segments().size(), 3u);
}

}  // namespace armature::store::sequence_epoch_test
