// CreateTable, DeleteTable and DescribeTable wait for the end of a table's creation or deletion.

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/synchronization/notification.h"
#include "storage/base/strings.h"
#include "tests/unit/engine/engine_test_util.h"

namespace armature::engine::table_waits_test {

EngineOptions Waiting(absl::Duration wait) {
  EngineOptions options;
  options.describe_wait = wait;
  options.table_wait = wait;
  return options;
}

class TableWaitsTest : public testing::Test {
 protected:
  explicit TableWaitsTest(absl::Duration wait = kPatience) : engine_(store::Durability::kOs, Waiting(wait)) {}

  absl::StatusOr<TableDescription> Create(const std::string& name) {
    Answer<TableDescription> answer;
    engine_->CreateTable(PlainTable(name), answer.Catch());
    return answer.Take();
  }
  Answer<TableDescription> StartDescribe(const std::string& name) {
    Answer<TableDescription> answer;
    engine_->DescribeTable(name, answer.Catch());
    return answer;
  }
  Answer<TableDescription> StartCreate(const std::string& name) {
    Answer<TableDescription> answer;
    engine_->CreateTable(PlainTable(name), answer.Catch());
    return answer;
  }
  // A table that stays DELETING while the result is held.
  std::shared_ptr<const store::CatalogSnapshot> HoldDeleted(const std::string& name) {
    EXPECT_TRUE(engine_.CreateTable(PlainTable(name)).ok());
    std::shared_ptr<const store::CatalogSnapshot> held = engine_.database().catalog();
    EXPECT_EQ(engine_.database().tables().Delete(name)->state, model::TableState::kDeleting);
    return held;
  }

  TestEngine engine_;
};

TEST_F(TableWaitsTest, TheFirstDescriptionOfANewTableIsActive) {
  for (int i = 0; i < 20; ++i) {
    const std::string name = Cat("new", i);
    ASSERT_EQ(Create(name)->descriptor.state, model::TableState::kCreating);
    const absl::StatusOr<TableDescription> described = engine_.Describe(name);
    ASSERT_TRUE(described.ok()) << described.status();
    ASSERT_EQ(described->descriptor.state, model::TableState::kActive);
  }
}

TEST_F(TableWaitsTest, ATableCanBeUsedWhenItsCreationIsAnswered) {
  for (int i = 0; i < 50; ++i) {
    const std::string name = Cat("used", i);
    ASSERT_EQ(Create(name)->descriptor.state, model::TableState::kCreating);
    ASSERT_TRUE(engine_.Put(WriteTo(name, PlainItem("p", "1"))).ok());
    ASSERT_EQ(engine_.database().catalog()->Find(name)->descriptor.state, model::TableState::kActive);
  }
}

TEST_F(TableWaitsTest, ATableIsGoneWhenItsDeletionIsAnswered) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(Create("again").ok()) << i;
    ASSERT_TRUE(engine_.Put(WriteTo("again", PlainItem("p", "1"))).ok());
    ASSERT_EQ(engine_.DeleteTable("again")->descriptor.state, model::TableState::kDeleting);
    ASSERT_EQ(engine_.database().catalog()->Find("again"), nullptr);
  }
}

TEST_F(TableWaitsTest, ADeletionIsAnsweredWhenNobodyHoldsTheTable) {
  ASSERT_TRUE(Create("held").ok());
  std::shared_ptr<const store::CatalogSnapshot> held = engine_.database().catalog();
  Answer<TableDescription> deleted;
  engine_->DeleteTable("held", deleted.Catch());
  ASSERT_TRUE(TestEngine::WaitUntil([&] {
                return engine_.database().catalog()->Find("held")->descriptor.state == model::TableState::kDeleting;
              }).ok());
  EXPECT_FALSE(deleted.IsThere());
  held.reset();
  EXPECT_EQ(deleted.Take()->descriptor.state, model::TableState::kDeleting);
}

TEST_F(TableWaitsTest, ADeletionLeavesItsClientHalfOfTheTime) {
  ASSERT_TRUE(Create("held").ok());
  const std::shared_ptr<const store::CatalogSnapshot> held = engine_.database().catalog();
  Answer<TableDescription> deleted;
  engine_->DeleteTable("held", deleted.Catch(), Deadline::After(absl::Milliseconds(50)));
  EXPECT_EQ(deleted.Take()->descriptor.state, model::TableState::kDeleting);
  EXPECT_NE(engine_.database().catalog()->Find("held"), nullptr);
}

TEST_F(TableWaitsTest, ADescriptionLeavesItsClientHalfOfTheTime) {
  const std::shared_ptr<const store::CatalogSnapshot> held = HoldDeleted("held");
  const Deadline deadline = Deadline::After(absl::Milliseconds(200));
  Answer<TableDescription> answer;
  engine_->DescribeTable("held", answer.Catch(), deadline);
  const absl::StatusOr<TableDescription> described = answer.Take();
  ASSERT_TRUE(described.ok()) << described.status();
  EXPECT_EQ(described->descriptor.state, model::TableState::kDeleting);
}

// Blocks its reader at the first item until it is released.
class BlockedPage final : public PageWriter {
 public:
  void Add(std::string_view) override {
    reached_.Notify();
    released_.WaitForNotification();
  }
  void Clear() override {}
  void AwaitReader() { reached_.WaitForNotification(); }
  void Release() { released_.Notify(); }

 private:
  absl::Notification reached_;
  absl::Notification released_;
};

TEST(TableWork, GoesOnWhileAllReadersAreBusy) {
  EngineOptions options;
  options.read_threads = 1;
  TestEngine engine(store::Durability::kOs, options);
  ASSERT_TRUE(engine.CreateTable(PlainTable("read")).ok());
  ASSERT_TRUE(engine.Put(WriteTo("read", PlainItem("p", "1"))).ok());
  BlockedPage page;
  ReadRequest scan;
  scan.table_name = "read";
  Answer<ReadResult> scanned;
  engine->Scan({}, scan, &page, scanned.Catch());
  page.AwaitReader();
  EXPECT_EQ(engine.CreateTable(PlainTable("created")), absl::OkStatus());
  EXPECT_TRUE(engine.DeleteTable("created").ok());
  page.Release();
  EXPECT_TRUE(scanned.Take().ok());
}

TEST_F(TableWaitsTest, TheFirstDescriptionOfADeletedTableFindsNone) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(Create("gone").ok());
    ASSERT_TRUE(engine_.Describe("gone").ok());
    ASSERT_EQ(engine_.DeleteTable("gone")->descriptor.state, model::TableState::kDeleting);
    ASSERT_TRUE(absl::IsNotFound(engine_.Describe("gone").status()));
  }
}

TEST_F(TableWaitsTest, ADescriptionWaitsWhileTheTableIsHeld) {
  std::shared_ptr<const store::CatalogSnapshot> held = HoldDeleted("held");
  Answer<TableDescription> described = StartDescribe("held");
  Answer<TableDescription> created = StartCreate("held");
  // Other tables come and go meanwhile.
  ASSERT_TRUE(Create("other").ok());
  EXPECT_EQ(engine_.Describe("other")->descriptor.state, model::TableState::kActive);
  EXPECT_FALSE(described.IsThere());
  EXPECT_FALSE(created.IsThere());
  held.reset();
  const absl::StatusOr<TableDescription> result = created.Take();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->descriptor.state, model::TableState::kCreating);
  // The name may belong to the new table by now.
  const absl::StatusOr<TableDescription> old = described.Take();
  EXPECT_TRUE(absl::IsNotFound(old.status()) || old->descriptor.uuid == result->descriptor.uuid) << old.status();
}

TEST_F(TableWaitsTest, WaitsEndWithTheServer) {
  const std::shared_ptr<const store::CatalogSnapshot> held = HoldDeleted("held");
  Answer<TableDescription> described = StartDescribe("held");
  Answer<TableDescription> created = StartCreate("held");
  EXPECT_FALSE(described.IsThere());
  engine_->EndWaits();
  EXPECT_EQ(described.Take()->descriptor.state, model::TableState::kDeleting);
  EXPECT_EQ(ErrorNameOf(created.Take().status()), "ResourceInUseException");
  EXPECT_EQ(engine_.Describe("held")->descriptor.state, model::TableState::kDeleting);
}

class ShortTableWaitsTest : public TableWaitsTest {
 protected:
  ShortTableWaitsTest() : TableWaitsTest(absl::Milliseconds(1)) {}
};

TEST_F(ShortTableWaitsTest, WaitsAreBounded) {
  const std::shared_ptr<const store::CatalogSnapshot> held = HoldDeleted("held");
  EXPECT_EQ(engine_.Describe("held")->descriptor.state, model::TableState::kDeleting);
  EXPECT_EQ(ErrorNameOf(StartCreate("held").Take().status()), "ResourceInUseException");
}

TEST_F(ShortTableWaitsTest, ADeletionIsAnsweredWhileTheTableIsHeld) {
  ASSERT_TRUE(engine_.CreateTable(PlainTable("held")).ok());
  const std::shared_ptr<const store::CatalogSnapshot> held = engine_.database().catalog();
  EXPECT_EQ(engine_.DeleteTable("held")->descriptor.state, model::TableState::kDeleting);
  EXPECT_NE(engine_.database().catalog()->Find("held"), nullptr);
}

// A wait of a request that nobody ended must not outlive the engine.
TEST_F(TableWaitsTest, TheEndOfTheEngineAnswersAll) {
  std::shared_ptr<const store::CatalogSnapshot> held = HoldDeleted("held");
  Answer<TableDescription> described = StartDescribe("held");
  Answer<TableDescription> created = StartCreate("held");
  const auto other = StartDescribe("held");
  held.reset();
  engine_.Reopen();
  EXPECT_TRUE(described.IsThere());
  EXPECT_TRUE(created.IsThere());
  EXPECT_TRUE(other.IsThere());
}

}  // namespace armature::engine::table_waits_test
