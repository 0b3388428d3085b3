#include "storage/archive/segment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "storage/archive/text_record.h"
#include "storage/base/strings.h"
#include "tests/unit/storage/codec/codec_test_util.h"

namespace armature::archive::segment_test {

using testing::ElementsAre;
using testing::HasSubstr;

store::LogBatch BatchOf(uint64_t sequence, uint32_t writes, std::string bytes) {
  return {.sequence = sequence, .writes = writes, .bytes = std::move(bytes)};
}

SegmentWriter NewWriter() {
  return SegmentWriter({.chain = "00000000-0000-4000-8000-000000000001",
                        .index = 2,
                        .previous = std::string(32, 'a'),
                        .start = {7, 100},
                        .families = {{1, "meta"}, {12, "t3"}}});
}

std::string SmallSegment() {
  SegmentWriter writer = NewWriter();
  writer.Add(BatchOf(10, 2, "first batch"), 1'700'000'000'000);
  writer.Add(BatchOf(12, 1, std::string("\0\xff", 2)), 1'700'000'000'250);
  const absl::StatusOr<std::string> bytes = writer.Finish({8, 40}, 1'700'000'001'000);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return *bytes;
}

TEST(ArchiveSegment, IsReadAsItWasWritten) {
  const absl::StatusOr<Segment> segment = ParseSegment(SmallSegment());
  ASSERT_TRUE(segment.ok()) << segment.status();
  const SegmentFacts& facts = segment->facts;
  EXPECT_EQ(facts.chain, "00000000-0000-4000-8000-000000000001");
  EXPECT_EQ(facts.index, 2u);
  EXPECT_EQ(facts.previous, std::string(32, 'a'));
  EXPECT_EQ(facts.start, (store::LogPosition{7, 100}));
  EXPECT_EQ(facts.end, (store::LogPosition{8, 40}));
  EXPECT_EQ(facts.first_sequence, 10u);
  EXPECT_EQ(facts.last_sequence, 12u);
  EXPECT_EQ(facts.first_ms, 1'700'000'000'000);
  EXPECT_EQ(facts.last_ms, 1'700'000'000'250);
  EXPECT_EQ(facts.until_ms, 1'700'000'001'000);
  EXPECT_EQ(facts.batches, 2u);
  EXPECT_EQ(facts.families, (store::FamilyNamesById{{1, "meta"}, {12, "t3"}}));
  std::vector<std::string> seen;
  ASSERT_TRUE(ForEachBatch(*segment, [&](const ArchivedBatch& batch) {
                seen.push_back(Cat(batch.sequence, " ", batch.time_ms, " ", batch.bytes));
                return absl::OkStatus();
              }).ok());
  EXPECT_THAT(seen,
              ElementsAre("10 1700000000000 first batch", Cat("12 1700000000250 ", std::string_view("\0\xff", 2))));
}

// The bytes of zstd differ between its versions, so the vectors are read and not compared.
TEST(ArchiveSegment, ReadsTheVectorsOfTheFormat) {
  for (const auto& vector : codec::ReadGolden("archive_segment.golden", 4, /*format=*/7, /*vectors_min=*/2)) {
    const absl::StatusOr<Segment> segment = ParseSegment(codec::FromHex(vector[3]));
    ASSERT_TRUE(segment.ok()) << segment.status();
    EXPECT_EQ(Cat(segment->facts.first_sequence, "-", segment->facts.last_sequence), vector[0]);
    EXPECT_EQ(Cat(segment->facts.until_ms), vector[1]);
    EXPECT_EQ(codec::ToHex(segment->plain), vector[2]);
  }
}

TEST(ArchiveSegment, AnyOtherByteAndAnyCutIsFound) {
  const std::string valid = SmallSegment();
  size_t damages = 0;
  codec::ForEachDamage(valid, [&](std::string_view bytes) {
    ++damages;
    const absl::StatusOr<Segment> segment = ParseSegment(bytes);
    ASSERT_FALSE(segment.ok()) << "damage " << damages;
    // A build that knows no such format says so.
    EXPECT_TRUE(absl::IsDataLoss(segment.status()) || absl::IsFailedPrecondition(segment.status())) << segment.status();
  });
  EXPECT_GT(damages, 100'000u);
}

TEST(ArchiveSegment, BytesBehindItAreFound) {
  EXPECT_TRUE(absl::IsDataLoss(ParseSegment(SmallSegment() + "x").status()));
}

// Checksums are right, what they cover is not.
TEST(ArchiveSegment, ContentsOfOtherProgramsAreErrors) {
  const std::string valid = SmallSegment();
  const size_t head_end = valid.find("\nchecksum: ") + 44;
  const std::string body = valid.substr(head_end);
  const auto with = [&](std::string_view name, std::string_view value) {
    TextRecord head("armature segment");
    bool has_name = false;
    for (std::string_view left = std::string_view(valid).substr(17, head_end - 17 - 43); !left.empty();) {
      const std::string_view line = left.substr(0, left.find('\n'));
      left.remove_prefix(line.size() + 1);
      const std::string_view own = line.substr(0, line.find(": "));
      has_name = has_name || own == name;
      head.Add(own, own == name ? value : line.substr(own.size() + 2));
    }
    EXPECT_TRUE(has_name) << name;
    return ParseSegment(head.Encode() + body).status();
  };
  EXPECT_TRUE(with("chain", "another").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(with("format", "2")));
  for (const std::string_view name : {"index", "start", "end", "first_sequence", "until_ms", "plain_bytes", "body"}) {
    EXPECT_TRUE(absl::IsDataLoss(with(name, "x"))) << name;
    EXPECT_TRUE(absl::IsDataLoss(with(name, "-1 -1"))) << name;
  }
  for (const std::string_view name : {"until_ms", "plain_bytes"}) {
    EXPECT_TRUE(absl::IsDataLoss(with(name, "18446744073709551615"))) << name;
  }
  EXPECT_TRUE(absl::IsDataLoss(with("plain_bytes", "3")));
  EXPECT_TRUE(absl::IsDataLoss(with("family", "1")));
  EXPECT_TRUE(absl::IsDataLoss(with("family", "4294967296 t3")));
}

TEST(ArchiveSegment, TornBatchesAreErrors) {
  absl::StatusOr<Segment> segment = ParseSegment(SmallSegment());
  ASSERT_TRUE(segment.ok());
  const std::string whole = segment->plain;
  size_t good = 0;
  for (size_t size = 0; size <= whole.size(); ++size) {
    segment->plain = whole.substr(0, size);
    if (ForEachBatch(*segment, [](const ArchivedBatch&) { return absl::OkStatus(); }).ok()) ++good;
  }
  // None, the first one, both.
  EXPECT_EQ(good, 3u);
}

TEST(ArchiveSegment, TakesLittleSpaceForRepeatedRows) {
  SegmentWriter writer = NewWriter();
  for (uint64_t i = 0; i < 1000; ++i) writer.Add(BatchOf(100 + i, 1, std::string(1000, 'x')), 1'700'000'000'000);
  const absl::StatusOr<std::string> bytes = writer.Finish({8, 40}, 1'700'000'001'000);
  ASSERT_TRUE(bytes.ok());
  EXPECT_LT(bytes->size(), 20'000u);
  EXPECT_TRUE(ParseSegment(*bytes).ok());
}

TEST(ArchiveRecord, ATextWithLineBreaksStaysOneLine) {
  TextRecord record("title");
  record.Add("format", 1);
  record.Add("reason", "first\nchecksum: 0\r");
  const absl::StatusOr<TextRecord> parsed = TextRecord::Parse(record.Encode(), "title", 1);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed->Text("reason"), "first checksum: 0 ");
  EXPECT_THAT(std::string(parsed->Text("other").status().message()), HasSubstr("other"));
}

}  // namespace armature::archive::segment_test
