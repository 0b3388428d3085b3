#include "storage/model/table_update.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/api_error.h"
#include "tests/unit/storage/model/table_definition_cases.h"

namespace armature::model::table_update_test {

// Rules of UpdateTable that clients cannot observe: short-lived states, and the clock. The others are in
// tests/conformance/cases/update_table.txt.

constexpr int64_t kNoonMs = 1'700'049'600'000;  // 2023-11-15 12:00:00 UTC
constexpr int64_t kHourMs = 3'600'000;

TableDescriptor Provisioned() {
  TableDescriptor table;
  table.name = "tab";
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
  named.table_name = "tab";
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
  for (const auto& [state, text] : {StateCase{TableState::kCreating, "Table is being created: tab"},
                                    StateCase{TableState::kUpdating, "Table: tab is in the process of being updated."},
                                    StateCase{TableState::kDeleting, "Table is being deleted: tab"}}) {
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
  ASSERT_TRUE(Apply(ToUnits(9, 8), kNoonMs + 2, &table).ok());  // one higher, one lower
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
  ASSERT_TRUE(Apply(ToStream(true), kNoonMs, &table).ok());  // the clock has not moved
  EXPECT_EQ(table.LatestStreamLabel(), "2023-11-15T12:00:00.001");
  ASSERT_TRUE(Apply(ToStream(false), kNoonMs, &table).ok());
  ASSERT_TRUE(Apply(ToStream(true), kNoonMs - kHourMs, &table).ok());  // or has gone back
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

// Entries without an action or with two. Protobuf messages cannot hold these.
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

IndexDescriptor Global(std::string name, IndexState state, bool backfilling) {
  IndexDescriptor index;
  index.id = IndexId(7);
  index.name = std::move(name);
  index.key.partition = {{"p", ScalarType::kString}};
  index.state = state;
  index.backfilling = backfilling;
  return index;
}

TableUpdate ToCreate(std::string name) {
  TableUpdate update;
  update.attribute_definitions = {{"p", "S"}};
  IndexDefinition index;
  index.index_name = std::move(name);
  index.key_schema = {{"p", "HASH"}};
  index.projection.projection_type = "ALL";
  update.global_index_updates = {{.update = {}, .create = std::move(index), .remove = {}}};
  return update;
}

TableUpdate ToRemove(std::string name) {
  TableUpdate update;
  update.global_index_updates = {{.update = {}, .create = {}, .remove = std::move(name)}};
  return update;
}

TableUpdate ToIndexMaximum(std::string name) {
  TableUpdate update;
  update.global_index_updates = {
      {.update =
           IndexThroughputUpdate{{.provisioned = {}, .on_demand_max = Throughput{9, 9}, .warm = {}}, std::move(name)},
       .create = {},
       .remove = {}}};
  return update;
}

TableUpdate ToProtected() {
  TableUpdate update;
  update.deletion_protection = true;
  return update;
}

TableUpdate ToProvisioned() {
  TableUpdate update;
  update.billing_mode = "PROVISIONED";
  update.provisioned = {1, 1};
  return update;
}

// Operations permitted while an index is created or deleted.
TEST(TableUpdate, StatesOfIndexesAreRespected) {
  constexpr std::string_view kOne =
      "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table";
  constexpr std::string_view kInUse = "Attempt to change a resource which is still in use: ";
  constexpr std::string_view kUpdating = "Table: tab is in the process of being updated.";
  struct Case {
    std::string_view what;
    TableState table;
    IndexState index;
    bool backfilling;
    TableUpdate update;
    std::string_view error;  // empty: accepted
  };
  const TableState updating = TableState::kUpdating;
  const TableState active = TableState::kActive;
  const IndexState creating = IndexState::kCreating;
  const IndexState deleting = IndexState::kDeleting;
  for (const Case& c : std::initializer_list<Case>{
           {"allocating, create", updating, creating, false, ToCreate("new"), kOne},
           {"allocating, remove it", updating, creating, false, ToRemove("ind"),
            "Index creation is in resource allocation phase. Retry deletion during backfilling phase or when the index "
            "is active. Table: tab Index: ind"},
           {"allocating, remove another", updating, creating, false, ToRemove("other"), kOne},
           {"allocating, stream", updating, creating, false, ToStream(true),
            "Can't change stream status when an index is being created"},
           {"allocating, throughput", updating, creating, false, ToProvisioned(), kUpdating},
           {"allocating, protection", updating, creating, false, ToProtected(), ""},
           {"allocating, another index's settings", updating, creating, false, ToIndexMaximum("other"), ""},
           {"filling, create", active, creating, true, ToCreate("new"), kOne},
           {"filling, remove it", active, creating, true, ToRemove("ind"), ""},
           {"filling, remove another", active, creating, true, ToRemove("other"), kOne},
           {"filling, stream", active, creating, true, ToStream(true), ""},
           {"deleting, create", updating, deleting, false, ToCreate("new"), kOne},
           {"deleting, remove it", updating, deleting, false, ToRemove("ind"),
            "Index is being deleted. Table: tab Index: ind"},
           {"deleting, its settings", updating, deleting, false, ToIndexMaximum("ind"),
            "Index is being deleted. Table: tab Index: ind"},
           {"deleting, throughput", updating, deleting, false, ToProvisioned(),
            "Can't change table IOPS when an index is being deleted. Table: tab Indexes: [ind]"},
           {"deleting, protection", updating, deleting, false, ToProtected(), ""},
       }) {
    SCOPED_TRACE(c.what);
    TableDescriptor table = OnDemand();
    table.state = c.table;
    table.global_indexes = {Global("other", IndexState::kActive, false), Global("ind", c.index, c.backfilling)};
    const absl::Status status = Apply(c.update, kNoonMs, &table);
    if (c.error.empty()) {
      EXPECT_TRUE(status.ok()) << status;
      continue;
    }
    const std::optional<ApiError> error = GetApiError(status);
    ASSERT_TRUE(error.has_value()) << status;
    EXPECT_EQ(error->message, c.error == kOne ? std::string(kOne) : Cat(kInUse, c.error));
    EXPECT_EQ(error->type, c.error == kOne ? ApiErrorType::kLimitExceeded : ApiErrorType::kResourceInUse);
  }
}

TEST(TableUpdate, AnIndexIsMadeAndRemoved) {
  TableDescriptor table = OnDemand();
  TableUpdate create = ToCreate("ind");
  create.attribute_definitions = {{"z", "N"}, {"p", "S"}, {"a", "B"}};
  create.global_index_updates->front().create->key_schema = {{"a", "HASH"}, {"p", "RANGE"}};
  ASSERT_TRUE(Apply(create, kNoonMs, &table).ok());
  EXPECT_EQ(table.state, TableState::kUpdating);
  ASSERT_EQ(table.global_indexes.size(), 1u);
  EXPECT_EQ(table.global_indexes[0].state, IndexState::kCreating);
  EXPECT_EQ(table.global_indexes[0].id, IndexId(0));
  EXPECT_EQ(table.attribute_definitions,
            (std::vector<KeyAttribute>{{"a", ScalarType::kBinary}, {"p", ScalarType::kString}}));
  table.state = TableState::kActive;
  table.global_indexes[0].state = IndexState::kActive;
  table.global_indexes[0].id = IndexId(9);
  ASSERT_TRUE(Apply(ToRemove("ind"), kNoonMs, &table).ok());
  EXPECT_EQ(table.state, TableState::kUpdating);
  EXPECT_EQ(table.global_indexes[0].state, IndexState::kDeleting);
  EraseGlobalIndex(IndexId(9), &table);
  EXPECT_TRUE(table.global_indexes.empty());
  EXPECT_EQ(table.attribute_definitions, (std::vector<KeyAttribute>{{"p", ScalarType::kString}}));
}

}  // namespace armature::model::table_update_test
