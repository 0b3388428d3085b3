#include "storage/model/table_update.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "storage/base/api_error.h"
#include "tests/unit/model/table_definition_cases.h"

namespace armature::model {
namespace {

// What a client can see of the rules is in tests/conformance/cases/update_table.txt. Here is what it cannot: states
// that pass too fast, and the clock.

constexpr int64_t kNoonMs = 1'700'049'600'000;  // 2023-11-15 12:00:00 UTC
constexpr int64_t kHourMs = 3'600'000;

TableDescriptor Provisioned() {
  TableDescriptor table;
  table.name = "t";
  table.state = TableState::kActive;
  table.creation_time_ms = kNoonMs - 1000;
  table.key.partition = {{"p", ScalarType::kString}};
  table.attribute_definitions = {{"p", ScalarType::kString}};
  table.settings.provisioned = {5, 5};
  return table;
}

TableDescriptor OnDemand() {
  TableDescriptor table = Provisioned();
  table.settings.billing_mode = BillingMode::kPayPerRequest;
  table.settings.provisioned.reset();
  return table;
}

absl::Status Apply(const TableUpdate& update, int64_t now_ms, TableDescriptor* table) {
  TableUpdate named = update;
  named.table_name = "t";
  if (const absl::Status checked = CheckTableUpdate(named); !checked.ok()) return checked;
  return ApplyTableUpdate(named, now_ms, table);
}

TableUpdate ToUnits(int64_t read, int64_t write) {
  TableUpdate update;
  update.provisioned = {read, write};
  return update;
}

TableUpdate ToStream(bool enabled) {
  TableUpdate update;
  update.stream = StreamDefinition{enabled, enabled ? "KEYS_ONLY" : ""};
  return update;
}

TEST(TableUpdate, OnlyAnActiveTableIsChanged) {
  struct StateCase {
    TableState state;
    std::string_view text;
  };
  for (const auto& [state, text] : {StateCase{TableState::kCreating, "Table is being created: t"},
                                    StateCase{TableState::kUpdating, "Table: t is in the process of being updated."},
                                    StateCase{TableState::kDeleting, "Table is being deleted: t"}}) {
    TableDescriptor table = Provisioned();
    table.state = state;
    const std::optional<ApiError> error = GetApiError(Apply(ToUnits(6, 5), kNoonMs, &table));
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->type, ApiErrorType::kResourceInUse);
    EXPECT_EQ(error->message, Cat("Attempt to change a resource which is still in use: ", text));
  }
}

TEST(TableUpdate, DecreasesAreCountedByDay) {
  TableDescriptor table = Provisioned();
  const ThroughputChanges& changes = table.settings.throughput_changes;
  ASSERT_TRUE(Apply(ToUnits(9, 9), kNoonMs, &table).ok());
  EXPECT_EQ(changes, (ThroughputChanges{kNoonMs, 0, 0}));
  ASSERT_TRUE(Apply(ToUnits(8, 9), kNoonMs + 1, &table).ok());
  EXPECT_EQ(changes, (ThroughputChanges{kNoonMs, kNoonMs + 1, 1}));
  ASSERT_TRUE(Apply(ToUnits(9, 8), kNoonMs + 2, &table).ok());  // more of one, less of the other
  EXPECT_EQ(changes, (ThroughputChanges{kNoonMs + 2, kNoonMs + 2, 2}));
  EXPECT_EQ(DecreasesOnDayOf(kNoonMs + 11 * kHourMs, changes), 2);
  EXPECT_EQ(DecreasesOnDayOf(kNoonMs + 12 * kHourMs, changes), 0);
  ASSERT_TRUE(Apply(ToUnits(1, 1), kNoonMs + 12 * kHourMs, &table).ok());
  EXPECT_EQ(changes, (ThroughputChanges{kNoonMs + 2, kNoonMs + 12 * kHourMs, 1}));
  EXPECT_EQ(table.settings.provisioned, (Throughput{1, 1}));
}

TEST(TableUpdate, TheLastChangeToOnDemandIsRemembered) {
  TableDescriptor table = OnDemand();
  EXPECT_EQ(table.OnDemandSinceMs(), table.creation_time_ms);
  TableUpdate to_provisioned = ToUnits(1, 1);
  to_provisioned.billing_mode = "PROVISIONED";
  ASSERT_TRUE(Apply(to_provisioned, kNoonMs, &table).ok());
  EXPECT_EQ(table.OnDemandSinceMs(), table.creation_time_ms);
  TableUpdate to_on_demand;
  to_on_demand.billing_mode = "PAY_PER_REQUEST";
  ASSERT_TRUE(Apply(to_on_demand, kNoonMs + 5, &table).ok());
  EXPECT_EQ(table.OnDemandSinceMs(), kNoonMs + 5);
  EXPECT_FALSE(table.settings.provisioned.has_value());
  ASSERT_TRUE(Apply(to_on_demand, kNoonMs + 9, &table).ok());
  EXPECT_EQ(table.OnDemandSinceMs(), kNoonMs + 5) << "it was on demand already";
  EXPECT_EQ(Provisioned().OnDemandSinceMs(), 0);
}

TEST(TableUpdate, EachStreamHasALaterLabel) {
  TableDescriptor table = OnDemand();
  EXPECT_EQ(table.LatestStreamLabel(), "");
  ASSERT_TRUE(Apply(ToStream(true), kNoonMs, &table).ok());
  EXPECT_EQ(table.LatestStreamLabel(), "2023-11-15T12:00:00.000");
  ASSERT_TRUE(Apply(ToStream(false), kNoonMs + 7, &table).ok());
  EXPECT_EQ(table.LatestStreamLabel(), "2023-11-15T12:00:00.000");
  EXPECT_EQ(table.settings.stream_view_type, "");
  ASSERT_TRUE(Apply(ToStream(true), kNoonMs, &table).ok());  // the clock has stood still
  EXPECT_EQ(table.LatestStreamLabel(), "2023-11-15T12:00:00.001");
  ASSERT_TRUE(Apply(ToStream(false), kNoonMs, &table).ok());
  ASSERT_TRUE(Apply(ToStream(true), kNoonMs - kHourMs, &table).ok());  // or gone back
  EXPECT_EQ(table.LatestStreamLabel(), "2023-11-15T12:00:00.002");
}

TEST(TableUpdate, AStreamMadeWithItsTableKeepsItsLabel) {
  TableDescriptor table = OnDemand();
  table.settings.stream_enabled = true;
  table.settings.stream_view_type = "NEW_IMAGE";
  EXPECT_EQ(table.LatestStreamLabel(), "2023-11-15T11:59:59.000");
  ASSERT_TRUE(Apply(ToStream(false), kNoonMs, &table).ok());
  EXPECT_EQ(table.LatestStreamLabel(), "2023-11-15T11:59:59.000");
}

TEST(TableUpdate, ATableClassRemembersItsChange) {
  TableDescriptor table = OnDemand();
  TableUpdate update;
  update.table_class = "STANDARD_INFREQUENT_ACCESS";
  ASSERT_TRUE(Apply(update, kNoonMs, &table).ok());
  ASSERT_TRUE(Apply(update, kNoonMs + 5, &table).ok());
  EXPECT_EQ(table.settings.table_class, "STANDARD_INFREQUENT_ACCESS");
  EXPECT_EQ(table.settings.table_class_changed_ms, kNoonMs);
}

TEST(TableUpdate, AmountsThatAreNotGivenStay) {
  TableDescriptor table = OnDemand();
  TableUpdate update;
  update.on_demand_max = {7, kThroughputNotGiven};
  ASSERT_TRUE(Apply(update, kNoonMs, &table).ok());
  EXPECT_EQ(table.settings.on_demand_max, (Throughput{7, -1}));
  update.on_demand_max = {kThroughputNotGiven, 8};
  ASSERT_TRUE(Apply(update, kNoonMs, &table).ok());
  EXPECT_EQ(table.settings.on_demand_max, (Throughput{7, 8}));
  update.on_demand_max = {-1, -1};
  ASSERT_TRUE(Apply(update, kNoonMs, &table).ok());
  EXPECT_FALSE(table.settings.on_demand_max.has_value());
}

// Protobuf cannot say an entry without an action, nor one with two.
TEST(TableUpdate, AnEntryHasOneAction) {
  TableDescriptor table = OnDemand();
  TableUpdate update;
  update.global_index_updates.emplace(1);
  EXPECT_EQ(GetApiError(Apply(update, kNoonMs, &table))->message,
            Cat(kInvalid,
                "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
                "GlobalSecondaryIndexUpdate.Delete must not be null"));
  update.global_index_updates->front().remove = "abc";
  update.global_index_updates->front().update.emplace().index_name = "abc";
  EXPECT_EQ(GetApiError(Apply(update, kNoonMs, &table))->message,
            Cat(kInvalid, "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object"));
}

}  // namespace
}  // namespace armature::model
