// Settings of tables: properties that conformance cases cannot show, because they wait for tables and have one caller.

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/tables/table_settings.h"
#include "storage/model/table_name.h"
#include "tests/unit/engine/engine_test_util.h"

namespace armature::engine::table_settings_test {

model::TableDefinition OnDemandTable(const std::string& name) {
  model::TableDefinition definition;
  definition.table_name = name;
  definition.billing_mode = "PAY_PER_REQUEST";
  definition.attribute_definitions = {{"p", "S"}};
  definition.key_schema = {{"p", "HASH"}};
  return definition;
}

class TableSettings : public testing::Test {
 protected:
  absl::StatusOr<TableDescription> Protect(const std::string& name, bool protect) {
    model::TableUpdate update;
    update.table_name = name;
    update.deletion_protection = protect;
    Answer<TableDescription> answer;
    engine_->UpdateTable(update, answer.Catch());
    return answer.Take();
  }
  absl::StatusOr<TimeToLiveSpecification> Expire(const std::string& name, const std::string& attribute) {
    return UpdateTimeToLive(engine_->database(), {name, TimeToLiveSpecification{true, attribute}});
  }
  absl::Status Tag(const std::string& name, const std::string& key) {
    return TagResource(engine_->database(), {model::TableArn(name), model::Tags{{key, "v"}}});
  }
  absl::StatusOr<ListTagsOfResourceResult> Tags(const std::string& name, std::optional<std::string> token = {}) {
    return ListTagsOfResource(*engine_->database(), {model::TableArn(name), std::move(token)});
  }
  std::string DescribeExpiry(const std::string& name) {
    const absl::StatusOr<TimeToLiveDescription> description = DescribeTimeToLive(*engine_->database(), name);
    return description.ok() ? description->attribute_name : std::string(description.status().message());
  }

  TestEngine engine_;
};

std::string TextOf(const absl::Status& status) {
  const std::optional<ApiError> error = GetApiError(status);
  return error.has_value() ? Cat(ApiErrorName(error->type), ": ", error->message) : status.ToString();
}

TEST_F(TableSettings, SurviveARestart) {
  ASSERT_TRUE(engine_.CreateTable(OnDemandTable("Cats")).ok());
  ASSERT_TRUE(Protect("Cats", true).ok());
  ASSERT_TRUE(Expire("Cats", "expires").ok());
  ASSERT_TRUE(Tag("Cats", "team").ok());
  const absl::StatusOr<ContinuousBackupsDescription> before =
      UpdateContinuousBackups(engine_->database(), nullptr, {"Cats", PointInTimeRecoverySpecification{true, 7}});
  ASSERT_TRUE(before.ok()) << before.status();
  engine_.Reopen();
  EXPECT_TRUE(engine_.Describe("Cats")->descriptor.settings.deletion_protection);
  EXPECT_EQ(DescribeExpiry("Cats"), "expires");
  EXPECT_EQ(Tags("Cats")->tags, (model::Tags{{"team", "v"}}));
  const absl::StatusOr<ContinuousBackupsDescription> after =
      DescribeContinuousBackups(*engine_->database(), nullptr, "Cats");
  EXPECT_TRUE(after->recovery_enabled);
  EXPECT_EQ(after->period_days, 7);
  // There is no archive.
  EXPECT_FALSE(before->window.has_value());
  EXPECT_FALSE(after->window.has_value());
}

// Times in seconds since 1970; `now` is 10 days.
constexpr int64_t kDay = 86'400;
constexpr int64_t kNow = 10 * kDay;

std::optional<archive::Span> WindowOf(int64_t enabled, int32_t days, std::vector<archive::Span> spans) {
  const model::PointInTimeRecovery recovery{.enabled_since_ms = enabled * 1000, .period_days = days};
  return RestorableWindow(recovery, spans, absl::FromUnixSeconds(kNow));
}

TEST(RestorableWindow, IsThatOfTheArchiveFromTheTimeAtWhichItWasEnabled) {
  const std::vector<archive::Span> spans = {{2 * kDay * 1000 + 1, kNow * 1000 - 2500}};
  EXPECT_EQ(WindowOf(kDay, 35, spans), (archive::Span{(2 * kDay + 1) * 1000, (kNow - 3) * 1000}));
  EXPECT_EQ(WindowOf(5 * kDay, 35, spans), (archive::Span{5 * kDay * 1000, (kNow - 3) * 1000}));
  EXPECT_EQ(WindowOf(kDay, 3, spans), (archive::Span{7 * kDay * 1000, (kNow - 3) * 1000}));
}

TEST(RestorableWindow, OfATableWhoseRecoveryWasJustEnabledIsThatTime) {
  EXPECT_EQ(WindowOf(kNow - 1, 35, {{0, (kNow - 4) * 1000}}), (archive::Span{(kNow - 1) * 1000, (kNow - 1) * 1000}));
  // An archive that is away.
  EXPECT_EQ(WindowOf(kNow - 1, 35, {{0, (kNow - 400) * 1000}}), std::nullopt);
  EXPECT_EQ(WindowOf(kNow - 1, 35, {}), std::nullopt);
}

TEST(RestorableWindow, BeginsBehindAGap) {
  const std::vector<archive::Span> spans = {{0, kDay * 1000}, {3 * kDay * 1000, kNow * 1000}};
  EXPECT_EQ(WindowOf(2 * kDay, 35, spans), (archive::Span{3 * kDay * 1000, kNow * 1000}));
  EXPECT_EQ(WindowOf(0, 35, spans), (archive::Span{0, kNow * 1000}));
}

// A held snapshot keeps a table in the state DELETING.
TEST_F(TableSettings, ATableThatIsBeingDeletedIsNotChanged) {
  ASSERT_TRUE(engine_.CreateTable(OnDemandTable("Cats")).ok());
  const auto held = engine_.database().catalog();
  ASSERT_EQ(engine_.database().tables().Delete("Cats")->state, model::TableState::kDeleting);
  EXPECT_EQ(engine_.Describe("Cats")->descriptor.state, model::TableState::kDeleting);
  EXPECT_EQ(TextOf(Protect("Cats", true).status()),
            "ResourceInUseException: Attempt to change a resource which is still in use: Table is being deleted: Cats");
  EXPECT_EQ(TextOf(engine_.DeleteTable("Cats").status()),
            "ResourceInUseException: Attempt to change a resource which is still in use: Table is being deleted: Cats");
  EXPECT_EQ(TextOf(engine_.CreateTable(OnDemandTable("Cats"))), "ResourceInUseException: Table already exists: Cats");
  EXPECT_EQ(TextOf(Expire("Cats", "expires").status()),
            "ResourceInUseException: Attempt to change a resource which is still in use: Table Cats is being deleted");
  EXPECT_EQ(DescribeExpiry("Cats"),
            "Cannot describe time to live while table is in DELETING state: Current table state is DELETING");
  const std::string gone = Cat(
      "ResourceNotFoundException: Requested resource not found: ResourceArn: ", model::TableArn("Cats"), " not found");
  EXPECT_EQ(TextOf(Tag("Cats", "team")), gone);
  EXPECT_EQ(TextOf(Tags("Cats").status()), gone);
}

// Each change is applied to the result of the others.
TEST_F(TableSettings, ChangesFromManyCallersAreAllKept) {
  constexpr int kCallers = 4;
  constexpr int kTags = 12;
  ASSERT_TRUE(engine_.CreateTable(OnDemandTable("Cats")).ok());
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([this, caller] {
      for (int i = 0; i < kTags; ++i) EXPECT_TRUE(Tag("Cats", Cat("tag", caller, "-", i)).ok());
    });
  }
  for (std::thread& caller : callers) caller.join();
  size_t tags = 0;
  std::optional<std::string> token;
  do {
    const absl::StatusOr<ListTagsOfResourceResult> page = Tags("Cats", token);
    ASSERT_TRUE(page.ok()) << page.status();
    tags += page->tags.size();
    token = page->next_token;
  } while (token.has_value());
  EXPECT_EQ(tags, size_t{kCallers * kTags});
}

// Writes continue while settings change.
TEST_F(TableSettings, ItemsAreWrittenThroughChanges) {
  ASSERT_TRUE(engine_.CreateTable(OnDemandTable("Cats")).ok());
  std::atomic<bool> stop = false;
  std::thread changer([&] {
    for (bool protect = true; !stop; protect = !protect) EXPECT_TRUE(Protect("Cats", protect).ok());
  });
  constexpr int kItems = 200;
  for (int i = 0; i < kItems; ++i) {
    const absl::StatusOr<WriteResult> put =
        engine_.Put(WriteTo("Cats", codec::Item({{"p", codec::S(Cat("item", i))}})));
    EXPECT_TRUE(put.ok()) << put.status();
  }
  stop = true;
  changer.join();
  EXPECT_EQ(engine_.Describe("Cats")->totals.item_count, kItems);
}

}  // namespace armature::engine::table_settings_test
