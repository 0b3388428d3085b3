#include "tests/rados/rados_database.h"

#include <utility>

#include "storage/base/strings.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::rados {
namespace {

std::string RowValue(const std::string& key) { return Cat(key, ".", std::string(size_t{2000}, 'v')); }

}  // namespace

std::unique_ptr<store::Database> OpenTestDatabase(store::Volume* volume) {
  store::DatabaseOptions options = store::TestOptions(kTestData);
  options.volume = volume;
  options.durability = store::Durability::kSync;
  options.memtable_bytes = size_t{256} << 10;
  std::unique_ptr<store::Database> database = store::OpenDatabase(options);
  if (database != nullptr && database->catalog()->Find("t") == nullptr) {
    store::CreateActive(database.get(), store::PlainTable("t"));
  }
  return database;
}

bool IsRowWritten(store::Database* database, const std::string& key) {
  const std::shared_ptr<const store::CatalogSnapshot> catalog = database->catalog();
  store::WriteUnit unit(catalog);
  unit.Put(catalog->Find("t")->data, key, RowValue(key));
  return store::CommitAndWait(database, std::move(unit)).ok();
}

bool HasRow(const store::Database& database, const std::string& key) {
  return store::ValueOf(database, database.catalog()->Find("t")->data, key) == RowValue(key);
}

}  // namespace armature::rados
