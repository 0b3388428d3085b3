#include "storage/store/commit/idempotency.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "storage/base/strings.h"
#include "storage/store/database.h"
#include "storage/store/meta_keys.h"
#include "tests/unit/storage/codec/codec_test_util.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::idempotency_test {

TEST(TokenRecord, HasTheBytesOfTheFormat) {
  for (const auto& vector : codec::ReadGolden("token.golden", 3)) {
    const TokenRecord record{std::stoll(vector[0]), codec::FromHex(vector[1])};
    EXPECT_EQ(codec::ToHex(EncodeTokenRecord(record)), vector[2]) << vector[0];
    const absl::StatusOr<TokenRecord> parsed = ParseTokenRecord(codec::FromHex(vector[2]));
    ASSERT_TRUE(parsed.ok()) << vector[0] << ": " << parsed.status();
    EXPECT_EQ(*parsed, record) << vector[0];
  }
}

TEST(TokenRecord, OtherBytesAreRefused) {
  const std::string valid = EncodeTokenRecord({300, std::string(TokenRecord::kFingerprintBytes, 'f')});
  for (size_t size = 0; size < valid.size(); ++size) {
    EXPECT_EQ(ParseTokenRecord(std::string_view(valid).substr(0, size)).status().code(), absl::StatusCode::kDataLoss);
  }
  EXPECT_EQ(ParseTokenRecord(valid + "x").status().code(), absl::StatusCode::kDataLoss);
  codec::ForEachDamage(valid, [](std::string_view bytes) { static_cast<void>(ParseTokenRecord(bytes)); });
}

TEST(TokenKeys, AreInOrderOfTime) {
  EXPECT_EQ(TokenKey("abc"), "token/abc");
  EXPECT_LT(TokenTimeKey(255, "z"), TokenTimeKey(256, "a"));
  EXPECT_EQ(TokenOfTimeKey(TokenTimeKey(256, "abc")), "abc");
  EXPECT_EQ(TokenOfTimeKey("token_at/"), "");
  EXPECT_EQ(ExpiryOfTimeKey(TokenTimeKey(256, "abc")), 256);
  EXPECT_EQ(ExpiryOfTimeKey("token_at/"), 0);
}

class TokenSweepTest : public testing::Test {
 protected:
  TokenSweepTest() { Open(); }

  void Open() {
    database_.reset();
    database_ = OpenDatabase(TestOptions(directory_.path("data")));
  }
  void Add(std::string_view token, int64_t expires_ms,
           std::string fingerprint = std::string(TokenRecord::kFingerprintBytes, 'f')) {
    WriteUnit unit(nullptr);
    database_->tokens().AddTo(token, {expires_ms, std::move(fingerprint)}, &unit);
    absl::Notification done;
    database_->commits().Commit(std::move(unit), [&done](const absl::StatusOr<ChangeSequence>& sequence) {
      EXPECT_TRUE(sequence.ok()) << sequence.status();
      done.Notify();
    });
    done.WaitForNotification();
  }
  absl::StatusOr<GetResult> Find(std::string_view token) {
    TokenRecord record;
    return database_->tokens().Find(token, ReadMode::kMayBlock, &record);
  }
  bool Has(std::string_view token) {
    const auto got = Find(token);
    EXPECT_TRUE(got.ok()) << got.status();
    return got.ok() && *got == GetResult::kFound;
  }
  TokenSweep Sweep(int64_t now_ms, size_t max = 100, std::string_view in_use = "") {
    auto sweep = database_->tokens().SweepExpired(now_ms, resume_, max,
                                                  [in_use](std::string_view token) { return token != in_use; });
    EXPECT_TRUE(sweep.ok()) << sweep.status();
    if (sweep.ok()) resume_ = sweep->resume;
    return sweep.value_or(TokenSweep());
  }

  test::TempDir directory_;
  std::unique_ptr<Database> database_;
  std::string resume_;
};

TEST_F(TokenSweepTest, TakesWhatHasExpired) {
  Add("a", 10);
  Add("b", 20);
  Add("c", 30);
  EXPECT_EQ(Sweep(9).removed, 0u);
  EXPECT_EQ(Sweep(20).removed, 2u);
  EXPECT_FALSE(Has("a"));
  EXPECT_FALSE(Has("b"));
  EXPECT_TRUE(Has("c"));
  EXPECT_EQ(*database_->tokens().LastExpiry(), 30);
  EXPECT_EQ(Sweep(20).removed, 0u);
  EXPECT_EQ(Sweep(1000).removed, 1u);
  EXPECT_FALSE(Has("c"));
  EXPECT_EQ(*database_->tokens().LastExpiry(), 0);
}

TEST_F(TokenSweepTest, GoesOnWhereItHasStopped) {
  for (int i = 0; i < 25; ++i) Add(Cat("t", i), 10 + i);
  TokenSweep sweep = Sweep(100, 10);
  EXPECT_EQ(sweep.removed, 10u);
  EXPECT_TRUE(sweep.more);
  EXPECT_TRUE(Sweep(100, 10).more);
  sweep = Sweep(100, 10);
  EXPECT_EQ(sweep.removed, 5u);
  EXPECT_FALSE(sweep.more);
}

TEST_F(TokenSweepTest, ATokenThatWasUsedAnewStays) {
  Add("a", 10);
  Add("a", 50);
  EXPECT_EQ(Sweep(20).removed, 1u);  // the row with the first time
  EXPECT_TRUE(Has("a"));
  EXPECT_EQ(Sweep(60).removed, 1u);
  EXPECT_FALSE(Has("a"));
}

TEST_F(TokenSweepTest, ATokenInUseIsLeftForLater) {
  Add("a", 10);
  Add("b", 20);
  EXPECT_EQ(Sweep(30, 100, "a").removed, 1u);
  EXPECT_TRUE(Has("a"));
  EXPECT_EQ(Sweep(30).removed, 1u);
  EXPECT_FALSE(Has("a"));
}

TEST_F(TokenSweepTest, ARecordThatCannotBeReadStaysAndIsInNobodysWay) {
  Add("a", 10, "not the size of a fingerprint");
  Add("b", 20);
  EXPECT_EQ(Sweep(30).removed, 2u);
  EXPECT_TRUE(absl::IsDataLoss(Find("a").status())) << "it may be that of a request after the one that has expired";
  EXPECT_FALSE(Has("b"));
  EXPECT_EQ(Sweep(30).removed, 0u);
}

TEST_F(TokenSweepTest, TokensOutliveARestart) {
  Add("a", 10);
  Open();
  EXPECT_TRUE(Has("a"));
  EXPECT_EQ(Sweep(30).removed, 1u);
}

}  // namespace armature::store::idempotency_test
