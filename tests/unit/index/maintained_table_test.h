#ifndef ARMATURE_TESTS_UNIT_INDEX_MAINTAINED_TABLE_TEST_H_
#define ARMATURE_TESTS_UNIT_INDEX_MAINTAINED_TABLE_TEST_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "index/gsi_applier.h"
#include "index/index_delta.h"
#include "storage/codec/change_codec.h"
#include "storage/codec/key_codec.h"
#include "storage/model/wire.h"
#include "tests/support/repeating_change_record.h"
#include "tests/unit/index/index_test_util.h"

namespace armature::index {

// A table with the local index by_l, the global index by_g on `g` and the global index by_h on (`h`, `sk`). Writes take
// the engine's path: item, local entries and change record in one unit.
class MaintainedTableTest : public testing::Test {
 public:
  using Item = std::vector<std::pair<std::string, std::string>>;
  // Encoding of change records: the present one, or that of formats 1 to 5.
  enum class Encoding { kPresent, kRepeating };

 protected:
  explicit MaintainedTableTest(store::IndexUpdates updates) : updates_(updates) {}
  void SetUp() override {
    store::CreateActive(database_.get(), store::IndexedTable("t"));
    snapshot_ = database_->catalog();
    applier_ = std::make_unique<GsiApplier>(database_.get());
  }
  void TearDown() override { applier_.reset(); }

  void Reopen() {
    applier_.reset();
    snapshot_.reset();
    database_.reset();
    database_ = store::OpenDatabase(Options());
    snapshot_ = database_->catalog();
    applier_ = std::make_unique<GsiApplier>(database_.get());
  }

  store::DatabaseOptions Options() const {
    store::DatabaseOptions options = store::TestOptions(dir_.path("data"));
    options.index_updates = updates_;
    return options;
  }

  const store::Table& table() const { return *snapshot_->Find(name_); }
  TableId id() const { return table().descriptor.id; }
  const store::Index& by_l() const { return table().local_indexes[0]; }
  const store::Index& by_g() const { return table().global_indexes[0]; }
  const store::Index& by_h() const { return table().global_indexes[1]; }

  // The change of one item. An empty list means no item.
  store::WriteUnit MakeUnit(const Item& before, const Item& after, Encoding encoding = Encoding::kPresent) {
    const std::string old_bytes = before.empty() ? "" : StringItem(before);
    const std::string new_bytes = after.empty() ? "" : StringItem(after);
    std::optional<model::ItemView> old_view;
    std::optional<model::ItemView> new_view;
    if (!before.empty()) old_view = model::ItemView(old_bytes);
    if (!after.empty()) new_view = model::ItemView(new_bytes);
    const model::KeySchema& key = table().descriptor.key;
    const std::string base_key = *codec::EncodeTableKey(key, old_view.has_value() ? *old_view : *new_view);
    const auto pk = (old_view.has_value() ? *old_view : *new_view).Find("pk");
    const store::StatsDelta base{static_cast<int64_t>(!after.empty()) - static_cast<int64_t>(!before.empty()),
                                 static_cast<int64_t>(new_view.has_value() ? model::ApiSize(*new_view) : 0) -
                                     static_cast<int64_t>(old_view.has_value() ? model::ApiSize(*old_view) : 0)};
    store::WriteUnit unit(snapshot_);
    AddLocalIndexChanges(table(), HashedKey({std::string(pk->scalar())}, {}), base,
                         IndexDelta(table().local_indexes, key, old_view, new_view), &unit);
    RecordGlobalIndexChanges(table(), base_key, 1234, IndexDelta(table().global_indexes, key, old_view, new_view),
                             &unit);
    if (encoding == Encoding::kRepeating && unit.has_record()) {
      const std::string present = unit.record();
      unit.SetChangeRecord(id(), test::RepeatingChangeRecord(*codec::ParseChangeRecord(present)));
    }
    return unit;
  }
  ChangeSequence Write(const Item& before, const Item& after, Encoding encoding = Encoding::kPresent) {
    const absl::StatusOr<ChangeSequence> sequence =
        store::CommitAndWait(database_.get(), MakeUnit(before, after, encoding));
    EXPECT_TRUE(sequence.ok()) << sequence.status();
    return *sequence;
  }

  void Apply() {
    while (true) {
      const absl::StatusOr<bool> drained = applier_->RunOnce(id());
      ASSERT_TRUE(drained.ok()) << drained.status();
      if (*drained) return;
    }
  }

  size_t LogRecords() {
    store::ChangeLog& log = database_->change_log();
    const auto outcome = log.Read(id(), ChangeSequence(0), log.watermark(), 1u << 20, 1u << 30,
                                  [](ChangeSequence, std::string_view record) { return record.size(); });
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return outcome->records;
  }

  std::vector<std::string> Keys(const store::Index& index) { return store::KeysOf(*database_, index.keyspace); }

  // The collection's size, 0 without a collection.
  uint64_t Collection(std::string_view pk) {
    const std::string value = store::ValueOf(*database_, table().collections, HashedKey({std::string(pk)}, {}));
    if (value == "(none)") return 0;
    std::string_view bytes = value;
    uint64_t size = 0;
    EXPECT_TRUE(model::TakeVarint(&bytes, &size));
    return size;
  }

  void ExpectTotals(const store::Index& index, int64_t items, int64_t bytes) {
    EXPECT_EQ(index.keyspace.stats->items(), items);
    EXPECT_EQ(index.keyspace.stats->bytes(), bytes);
  }

  const store::IndexUpdates updates_;
  std::string name_ = "t";
  const test::TempDir dir_;
  std::unique_ptr<store::Database> database_ = store::OpenDatabase(Options());
  std::shared_ptr<const store::CatalogSnapshot> snapshot_;
  std::unique_ptr<GsiApplier> applier_;
};

}  // namespace armature::index

#endif  // ARMATURE_TESTS_UNIT_INDEX_MAINTAINED_TABLE_TEST_H_
