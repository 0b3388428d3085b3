// Exports: a snapshot of a table, held while it is read.

#include "engine/backup/table_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/engine/item_model.h"

namespace armature::engine::table_export_test {

using codec::S;

constexpr char kTable[] = "things";
constexpr int kItems = 40;
// Several pages.
constexpr size_t kTextBytes = 100'000;

using Opened = absl::StatusOr<std::shared_ptr<TableExport>>;

Opened Open(TestEngine& engine, const std::string& table = kTable) {
  Answer<std::shared_ptr<TableExport>> answer;
  engine->OpenExport(table, answer.Catch());
  return answer.Take();
}

absl::StatusOr<bool> ReadPage(TableExport& exported, ItemCollector* page) {
  Answer<bool> answer;
  exported.ReadPage(page, answer.Catch());
  return answer.Take();
}

std::string Text(char filler) { return std::string(kTextBytes, filler); }

absl::Status Put(TestEngine& engine, int key, char filler) {
  return engine.Put(WriteTo(kTable, PlainItem(std::to_string(key), "1", {{"text", S(Text(filler))}}))).status();
}

void MakeTable(TestEngine& engine) {
  ASSERT_TRUE(engine.CreateTable(PlainTable(kTable)).ok());
  for (int key = 0; key < kItems; ++key) ASSERT_TRUE(Put(engine, key, 'a').ok());
}

TEST(TableExport, ShowsTheMomentWhenItWasOpened) {
  TestEngine engine;
  MakeTable(engine);
  const uint64_t last = engine.database().change_log().watermark().value();
  const Opened exported = Open(engine);
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_EQ((*exported)->change_sequence(), last);
  EXPECT_EQ((*exported)->table().totals.item_count, kItems);
  ItemCollector page;
  int pages = 1;
  absl::StatusOr<bool> has_more = ReadPage(**exported, &page);
  // Later changes, new and deleted items are not exported.
  for (int key = 0; key < 2 * kItems; key += 2) ASSERT_TRUE(Put(engine, key, 'b').ok());
  WriteRequest remove = WriteTo(kTable, PlainItem("1", "1", {}));
  ASSERT_TRUE(engine.Delete(remove).ok());
  for (; has_more.ok() && *has_more; ++pages) has_more = ReadPage(**exported, &page);
  ASSERT_TRUE(has_more.ok()) << has_more.status();
  EXPECT_GT(pages, 2);
  EXPECT_EQ(page.items.size(), size_t{kItems});
  EXPECT_EQ(std::set<std::string>(page.items.begin(), page.items.end()).size(), size_t{kItems});
  for (const std::string& item : page.items) EXPECT_NE(item.find(Text('a')), std::string::npos);
}

TEST(TableExport, ATableThatIsDeletedMeanwhileIsExportedToItsEnd) {
  EngineOptions options;
  options.table_wait = absl::ZeroDuration();  // the export holds the table
  TestEngine engine(store::Durability::kOs, options);
  MakeTable(engine);
  Opened exported = Open(engine);
  ASSERT_TRUE(engine.DeleteTable(kTable).ok());
  EXPECT_EQ(GetApiError(Open(engine).status())->type, ApiErrorType::kResourceNotFound);
  ItemCollector page;
  absl::StatusOr<bool> has_more = true;
  while (has_more.ok() && *has_more) has_more = ReadPage(**exported, &page);
  ASSERT_TRUE(has_more.ok()) << has_more.status();
  EXPECT_EQ(page.items.size(), size_t{kItems});
  // After the last page the export holds no snapshot.
  EXPECT_TRUE(engine.WaitForTableGone(kTable).ok());
}

// The client reads nothing meanwhile.
TEST(TableExport, OtherTablesAreMadeAndDeletedAndIndexesBuiltMeanwhile) {
  TestEngine engine;
  MakeTable(engine);
  ASSERT_TRUE(engine.CreateTable(PlainTable("before")).ok());
  const Opened exported = Open(engine);
  ASSERT_TRUE(exported.ok()) << exported.status();
  ASSERT_TRUE(engine.DeleteTable("before").ok());
  EXPECT_TRUE(engine.WaitForTableGone("before").ok());
  ASSERT_TRUE(engine.CreateTable(PlainTable("meanwhile")).ok());
  for (const char* const table : {"meanwhile", kTable}) {
    model::TableUpdate update;
    update.table_name = table;
    update.attribute_definitions = {{"color", "S"}};
    update.global_index_updates = {
        {.update = {}, .create = IndexOf("ByColor", {{"color", "HASH"}}, "ALL"), .remove = {}}};
    Answer<TableDescription> updated;
    engine->UpdateTable(std::move(update), updated.Catch());
    EXPECT_TRUE(updated.Take().ok());
    EXPECT_TRUE(TestEngine::WaitUntil([&] {
                  const absl::StatusOr<TableDescription> now = engine.Describe(table);
                  return now.ok() && now->descriptor.FindIndex("ByColor")->state == model::IndexState::kActive;
                }).ok())
        << table;
  }
  ItemCollector page;
  absl::StatusOr<bool> has_more = true;
  while (has_more.ok() && *has_more) has_more = ReadPage(**exported, &page);
  ASSERT_TRUE(has_more.ok()) << has_more.status();
  EXPECT_EQ(page.items.size(), size_t{kItems});
}

TEST(TableExport, NoMoreThanAFewRunAtOnce) {
  TestEngine engine;
  MakeTable(engine);
  std::vector<Opened> exports;
  for (int i = 0; i < kExportsMax; ++i) exports.push_back(Open(engine));
  for (const Opened& each : exports) EXPECT_TRUE(each.ok()) << each.status();
  EXPECT_EQ(GetApiError(Open(engine).status())->type, ApiErrorType::kLimitExceeded);
  exports.pop_back();
  EXPECT_TRUE(Open(engine).ok());
}

TEST(TableExport, OneThatNobodyReadsIsGivenUp) {
  EngineOptions options;
  options.export_patience = absl::Milliseconds(20);
  TestEngine engine(store::Durability::kOs, options);
  MakeTable(engine);
  const Opened exported = Open(engine);
  ASSERT_TRUE(exported.ok()) << exported.status();
  // The export holds the table and releases it after a timeout.
  ASSERT_TRUE(engine.DeleteTable(kTable).ok());
  EXPECT_TRUE(engine.WaitForTableGone(kTable).ok());
  ItemCollector page;
  EXPECT_EQ(GetApiError(ReadPage(**exported, &page).status())->type, ApiErrorType::kDeadlineExceeded);
  EXPECT_TRUE(page.items.empty());
}

TEST(TableExport, ADamagedRowEndsIt) {
  TestEngine engine;
  MakeTable(engine);
  const std::shared_ptr<const store::CatalogSnapshot> catalog = engine.database().catalog();
  const store::Table& table = *catalog->Find(kTable);
  store::WriteUnit unit(catalog);
  unit.Put(table.data, "\xff\xff\xff\xff\xff", "no item");
  ASSERT_TRUE(engine.database().change_log().CommitConsumed(unit, table.descriptor.id, {}).ok());
  const Opened exported = Open(engine);
  ItemCollector page;
  absl::StatusOr<bool> has_more = true;
  while (has_more.ok() && *has_more) has_more = ReadPage(**exported, &page);
  EXPECT_TRUE(absl::IsDataLoss(has_more.status())) << has_more.status();
  EXPECT_THAT(std::string(has_more.status().message()), testing::HasSubstr("row ffffffffff of table things"));
}

}  // namespace armature::engine::table_export_test
