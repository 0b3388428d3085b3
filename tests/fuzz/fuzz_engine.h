#ifndef ARMATURE_TESTS_FUZZ_FUZZ_ENGINE_H_
#define ARMATURE_TESTS_FUZZ_FUZZ_ENGINE_H_

// An engine with a table, for targets that run requests.

#include <memory>
#include <optional>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "engine/engine.h"
#include "storage/model/table_definition.h"
#include "tests/fuzz/fuzz_util.h"
#include "tests/support/temp_dir.h"

namespace armature::fuzz {

// The table "Tab" with the string key "p", and its global index "Idx" by the number "s".
class FuzzEngine {
 public:
  FuzzEngine() { Open(); }
  ~FuzzEngine() { Close(); }
  FuzzEngine(const FuzzEngine&) = delete;
  FuzzEngine& operator=(const FuzzEngine&) = delete;

  engine::Engine* get() const { return engine_.get(); }

  // To be called before each input. After some thousand inputs it makes a new database, because stored items slow scans
  // down, and returns true: `get` is another engine then.
  bool Renew() {
    if (++inputs_ % kInputsPerDatabase != 0) return false;
    Close();
    Open();
    return true;
  }

 private:
  static constexpr int kInputsPerDatabase = 5000;

  static model::TableDefinition Table() {
    model::TableDefinition table;
    table.table_name = "Tab";
    table.billing_mode = "PAY_PER_REQUEST";
    table.attribute_definitions = {{"p", "S"}, {"s", "N"}};
    table.key_schema = {{"p", "HASH"}};
    model::IndexDefinition index;
    index.index_name = "Idx";
    index.key_schema = {{"s", "HASH"}};
    index.projection.projection_type = "ALL";
    table.global_indexes = {{index}};
    return table;
  }
  void Open() {
    directory_.emplace();
    store::DatabaseOptions options;
    options.path = directory_->path();
    options.durability = store::Durability::kOs;
    options.cache_bytes = size_t{8} << 20;
    absl::StatusOr<std::unique_ptr<store::Database>> database = store::Database::Open(options);
    Check(database.ok(), "the database opens");
    database_ = *std::move(database);
    engine_ = std::make_unique<engine::Engine>(database_.get(), engine::EngineOptions());
    bool is_created = false;
    absl::Notification answered;
    engine_->CreateTable(Table(), [&](const absl::StatusOr<engine::TableDescription>& created) {
      is_created = created.ok();
      answered.Notify();
    });
    answered.WaitForNotification();
    Check(is_created, "the table is created");
    const bool never = false;
    absl::Mutex mutex;
    while (!IsActive()) {
      const absl::MutexLock lock(&mutex);
      mutex.AwaitWithTimeout(absl::Condition(&never), absl::Milliseconds(1));
    }
  }
  bool IsActive() {
    bool is_active = false;
    absl::Notification answered;
    engine_->DescribeTable("Tab", [&](const absl::StatusOr<engine::TableDescription>& described) {
      is_active = described.ok() && described->descriptor.state == model::TableState::kActive;
      answered.Notify();
    });
    answered.WaitForNotification();
    return is_active;
  }
  void Close() {
    engine_.reset();
    database_.reset();
    directory_.reset();
  }

  int inputs_ = 0;
  std::optional<test::TempDir> directory_;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace armature::fuzz

#endif  // ARMATURE_TESTS_FUZZ_FUZZ_ENGINE_H_
