#ifndef ARMATURE_TESTS_FUZZ_FUZZ_ENGINE_H_
#define ARMATURE_TESTS_FUZZ_FUZZ_ENGINE_H_

// An engine with a table, for targets that run requests.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "engine/engine.h"
#include "storage/model/table_definition.h"
#include "tests/fuzz/fuzz_util.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/storage/codec/codec_test_util.h"

namespace armature::fuzz {

// The table "Tab" with the string key "p", and its global index "Idx" by the number "s". With kKeysOfAllTypes also the
// tables "Str", "Num" and "Bin", whose keys "pk" and "sk" have the type of their name. Each has a local index "Loc" by
// "n", a number, and the global indexes "Two" by "a" and "e", and "Eight" by the partition attributes "a" to "d" and
// the sort attributes "e" to "h". A few items are in each.
enum class FuzzTables { kOne, kKeysOfAllTypes };

class FuzzEngine {
 public:
  explicit FuzzEngine(FuzzTables tables = FuzzTables::kOne) : tables_(tables) { Open(); }
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
  // The attributes of the global indexes, and their types.
  static constexpr std::pair<const char*, const char*> kIndexKeys[] = {{"a", "S"}, {"b", "N"}, {"c", "B"}, {"d", "S"},
                                                                       {"e", "N"}, {"f", "S"}, {"g", "B"}, {"h", "N"}};

  static std::string TableOf(const std::string& type) { return type == "S" ? "Str" : type == "N" ? "Num" : "Bin"; }

  static model::TableDefinition KeyedTable(const std::string& type) {
    model::TableDefinition table;
    table.table_name = TableOf(type);
    table.billing_mode = "PAY_PER_REQUEST";
    table.attribute_definitions = {{"pk", type}, {"sk", type}, {"n", "N"}};
    for (const auto& [name, of] : kIndexKeys) table.attribute_definitions.push_back({name, of});
    table.key_schema = {{"pk", "HASH"}, {"sk", "RANGE"}};
    model::IndexDefinition local;
    local.index_name = "Loc";
    local.key_schema = {{"pk", "HASH"}, {"n", "RANGE"}};
    local.projection.projection_type = "KEYS_ONLY";
    table.local_indexes = {{local}};
    model::IndexDefinition two;
    two.index_name = "Two";
    two.key_schema = {{"a", "HASH"}, {"e", "RANGE"}};
    two.projection.projection_type = "KEYS_ONLY";
    model::IndexDefinition eight;
    eight.index_name = "Eight";
    for (const auto& [name, of] : kIndexKeys) {
      eight.key_schema.push_back({name, std::string_view(name) < "e" ? "HASH" : "RANGE"});
    }
    eight.projection.projection_type = "ALL";
    table.global_indexes = {{two, eight}};
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
    Create(Table());
    if (tables_ == FuzzTables::kOne) return;
    for (const char* const type : {"S", "N", "B"}) {
      Create(KeyedTable(type));
      for (int i = 0; i < 4; ++i) Put(type, i);
    }
  }
  void Create(const model::TableDefinition& definition) {
    bool is_created = false;
    absl::Notification answered;
    engine_->CreateTable(definition, [&](const absl::StatusOr<engine::TableDescription>& created) {
      is_created = created.ok();
      answered.Notify();
    });
    answered.WaitForNotification();
    Check(is_created, "the table is created");
    const bool never = false;
    absl::Mutex mutex;
    while (!IsActive(definition.table_name)) {
      const absl::MutexLock lock(&mutex);
      mutex.AwaitWithTimeout(absl::Condition(&never), absl::Milliseconds(1));
    }
  }
  void Put(const std::string& type, int i) {
    namespace codec = ::armature::codec;
    const auto value = [&](const std::string& of, int number) {
      const std::string text = std::to_string(number);
      return of == "S" ? codec::S(text) : of == "N" ? codec::N(text) : codec::B(text);
    };
    engine::WriteRequest put;
    put.table_name = TableOf(type);
    codec::Attributes attributes = {{"pk", value(type, i / 2)}, {"sk", value(type, i)}, {"n", codec::N("1")}};
    for (const auto& [name, of] : kIndexKeys) attributes.emplace_back(name, value(of, i % 2));
    put.item_wire = codec::Item(attributes);
    absl::Notification answered;
    engine_->PutItem({}, std::move(put), [&](const absl::StatusOr<engine::WriteResult>& written) {
      Check(written.ok(), "the item is put");
      answered.Notify();
    });
    answered.WaitForNotification();
  }
  bool IsActive(const std::string& table) {
    bool is_active = false;
    absl::Notification answered;
    engine_->DescribeTable(table, [&](const absl::StatusOr<engine::TableDescription>& described) {
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

  const FuzzTables tables_;
  int inputs_ = 0;
  std::optional<test::TempDir> directory_;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace armature::fuzz

#endif  // ARMATURE_TESTS_FUZZ_FUZZ_ENGINE_H_
