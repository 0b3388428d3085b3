#include "storage/store/catalog/catalog_record.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "storage/base/strings.h"
#include "tests/unit/storage/codec/codec_test_util.h"

namespace armature::store::index_build_test {

// The states of the golden records, as today's build must read and write them.
BuildState GoldenState(std::string_view name) {
  BuildState state;
  if (name == "waiting") return state;
  state.phase = BuildPhase::kScanning;
  state.from_sequence = ChangeSequence(300);
  state.started_ms = 1'700'000'000'123;
  if (name == "scan begins") return state;
  state.scanned = 512;
  state.written = 500;
  state.skipped = 7;
  state.next_key = std::string("key\0", 4);
  if (name == "scanning") return state;
  state.phase = BuildPhase::kCatchingUp;
  state.through_sequence = ChangeSequence(1'000'000'000'000);
  state.next_key.clear();
  if (name == "catching up") return state;
  state.from_sequence = ChangeSequence(0);
  state.through_sequence = ChangeSequence(0);
  return state;
}

TEST(BuildRecord, HasTheBytesOfTheFormat) {
  for (const auto& vector : codec::ReadGolden("build.golden", 2)) {
    const BuildState state = GoldenState(vector[0]);
    EXPECT_EQ(codec::ToHex(EncodeBuildState(state)), vector[1]) << vector[0];
    const absl::StatusOr<BuildState> parsed = ParseBuildState(codec::FromHex(vector[1]));
    ASSERT_TRUE(parsed.ok()) << vector[0] << ": " << parsed.status();
    EXPECT_EQ(*parsed, state) << vector[0];
  }
}

TEST(BuildRecord, OtherBytesAreRefused) {
  const std::string valid = EncodeBuildState(GoldenState("scanning"));
  for (size_t size = 0; size < valid.size(); ++size) {
    EXPECT_EQ(ParseBuildState(std::string_view(valid).substr(0, size)).status().code(), absl::StatusCode::kDataLoss);
  }
  EXPECT_EQ(ParseBuildState(valid + "x").status().code(), absl::StatusCode::kDataLoss);
  std::string version = valid;
  version[0] = 2;
  EXPECT_EQ(ParseBuildState(version).status().code(), absl::StatusCode::kDataLoss);
  std::string phase = valid;
  phase[1] = 3;
  EXPECT_EQ(ParseBuildState(phase).status().code(), absl::StatusCode::kDataLoss);
  // Any other damage is either accepted or refused, without a crash.
  codec::ForEachDamage(valid, [](std::string_view bytes) { static_cast<void>(ParseBuildState(bytes)); });
}

}  // namespace armature::store::index_build_test
