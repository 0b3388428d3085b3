#ifndef ARMATURE_TESTS_UNIT_ENGINE_TRANSFER_TRANSFER_TEST_UTIL_H_
#define ARMATURE_TESTS_UNIT_ENGINE_TRANSFER_TRANSFER_TEST_UTIL_H_

// An engine with directories of exports and imports.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "engine/tables/table_settings.h"
#include "engine/transfer/transfer_ops.h"
#include "storage/model/table_name.h"
#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/engine/transfer/fake_item_files.h"

namespace armature::engine::transfer_test {

using model::TransferKind;
using model::TransferRecord;
using model::TransferState;

namespace fs = std::filesystem;

// Stops a job at a record until the test lets it go on.
class Gate {
 public:
  explicit Gate(int64_t line) : line_(line) {}
  void Pass(int64_t line) {
    if (line != line_ || reached_.HasBeenNotified()) return;
    reached_.Notify();
    open_.WaitForNotificationWithTimeout(absl::Seconds(20));
  }
  void AwaitReached() { EXPECT_TRUE(reached_.WaitForNotificationWithTimeout(absl::Seconds(20))); }
  void Open() { open_.Notify(); }

 private:
  const int64_t line_;
  absl::Notification reached_;
  absl::Notification open_;
};

class TransferTest : public testing::Test {
 protected:
  TransferTest() {
    fs::create_directories(Out("bucket"));
    fs::create_directories(In("bucket"));
    Start();
  }

  std::string Out(std::string_view path) const { return files_.path(Cat("out/", path)); }
  std::string In(std::string_view path) const { return files_.path(Cat("in/", path)); }

  void Start() {
    EngineOptions options;
    options.transfer = {files_.path("out"), files_.path("in"), std::make_shared<FakeItemFiles>(hooks_)};
    options.expiry_interval = absl::Hours(1);
    options.table_wait = absl::ZeroDuration();  // jobs hold tables
    engine_ = std::make_unique<TestEngine>(store::Durability::kOs, options);
  }
  TestEngine& engine() { return *engine_; }

  void CreateTable(const std::string& name, int items) {
    model::TableDefinition table = PlainTable(name);
    table.attribute_definitions.push_back({"g", "S"});
    table.global_indexes.emplace().push_back(IndexOf("by_g", {{"g", "HASH"}}, "ALL"));
    ASSERT_TRUE(engine().CreateTable(table).ok());
    ASSERT_TRUE(UpdateContinuousBackups(&engine().database(), nullptr,
                                        {name, PointInTimeRecoverySpecification{true, std::nullopt}})
                    .ok());
    for (int i = 0; i < items; ++i) ASSERT_TRUE(engine().Put(WriteTo(name, ItemOf(i))).ok());
  }

  static std::string ItemOf(int i) { return PlainItem(Cat("k", i), "1", {{"g", codec::S(Cat("g", i % 3))}}); }

  void WriteInput(const std::string& name, const std::vector<std::string>& lines) const {
    fs::create_directories(fs::path(In(Cat("bucket/", name))).parent_path());
    std::ofstream out(In(Cat("bucket/", name)));
    for (const std::string& line : lines) out << line << "\n";
  }
  static std::vector<std::string> LinesOf(int from, int to) {
    std::vector<std::string> lines;
    for (int i = from; i < to; ++i) lines.push_back(absl::BytesToHexString(ItemOf(i)));
    return lines;
  }

  template <class Request>
  absl::StatusOr<TransferRecord> Begin(void (Engine::*start)(Request, Callback<TransferRecord>), Request request) {
    Answer<TransferRecord> answer;
    (&*engine()->*start)(std::move(request), answer.Catch());
    return answer.Take();
  }
  static StartExportRequest ExportOf(const std::string& table, const std::string& prefix = "a/b") {
    StartExportRequest request;
    request.table_arn = model::TableArn(table);
    request.place.s3_bucket = "bucket";
    request.place.prefix = prefix;
    request.message = Cat(table, prefix);
    return request;
  }
  absl::StatusOr<TransferRecord> Export(StartExportRequest request) {
    return Begin(&Engine::StartExport, std::move(request));
  }
  static StartImportRequest ImportOf(const std::string& table, const std::string& prefix = "") {
    StartImportRequest request;
    request.source = FilePlaceRequest{"bucket", prefix, std::nullopt};
    request.format = "DYNAMODB_JSON";
    request.table = PlainTable(table);
    request.table->attribute_definitions.push_back({"g", "S"});
    request.table->global_indexes.emplace().push_back(IndexOf("by_g", {{"g", "HASH"}}, "ALL"));
    request.message = Cat(table, prefix);
    return request;
  }
  absl::StatusOr<TransferRecord> Import(StartImportRequest request) {
    return Begin(&Engine::StartImport, std::move(request));
  }
  static StartBulkPutRequest BulkOf(const std::string& table) {
    StartBulkPutRequest request;
    request.table_name = table;
    request.input = {FilePlaceRequest{"bucket", "", std::nullopt}, "DYNAMODB_JSON", std::nullopt};
    request.output.emplace().place.s3_bucket = "bucket";
    request.output->types = {"ERROR"};
    request.message = table;
    return request;
  }
  absl::StatusOr<TransferRecord> Bulk(StartBulkPutRequest request) {
    return Begin(&Engine::StartBulkPut, std::move(request));
  }

  absl::StatusOr<TransferRecord> Describe(const TransferRecord& record) {
    return Begin(&Engine::DescribeTransfer, TransferName{record.kind, record.arn});
  }
  TransferRecord AwaitEnd(const absl::StatusOr<TransferRecord>& started) {
    if (!started.ok()) {
      ADD_FAILURE() << started.status();
      return {};
    }
    TransferRecord last;
    EXPECT_TRUE(TestEngine::WaitUntil([&] {
                  last = Describe(*started).value_or(*started);
                  return last.has_ended();
                }).ok());
    return last;
  }
  TransferPage List(ListTransfersRequest request) {
    Answer<TransferPage> answer;
    engine()->ListTransfers(std::move(request), answer.Catch());
    return answer.Take().value_or(TransferPage());
  }

  // Gates in the way of the jobs. The hooks keep them, since jobs that a test leaves behind pass them until the engine
  // ends.
  std::shared_ptr<Gate> StopAtAppend(int64_t line) {
    auto gate = std::make_shared<Gate>(line);
    hooks_->before_append = [gate, appended = int64_t{0}]() mutable {
      gate->Pass(++appended);
      return absl::OkStatus();
    };
    return gate;
  }
  std::shared_ptr<Gate> StopAtRecord(int64_t line) {
    auto gate = std::make_shared<Gate>(line);
    hooks_->before_record = [gate](int64_t record) { gate->Pass(record); };
    return gate;
  }

  // Restarts the engine while the job is at `gate`.
  void RestartAt(Gate* gate) {
    gate->AwaitReached();
    engine()->EndWaits();
    gate->Open();
    engine().Reopen();
  }

  size_t CountOf(const std::string& table, const std::optional<std::string>& index = std::nullopt) {
    ReadRequest request;
    request.table_name = table;
    request.index_name = index;
    const absl::StatusOr<Page> page = engine().Scan(request);
    EXPECT_TRUE(page.ok()) << page.status();
    return page.ok() ? page->items.size() : 0;
  }
  static std::string ReadFile(const fs::path& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  static std::vector<std::string> ReadLines(const fs::path& path) {
    std::ifstream in(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  std::vector<fs::path> DataFilesOf(const TransferRecord& record) {
    std::vector<fs::path> paths;
    for (const auto& entry :
         fs::directory_iterator(Out(Cat("bucket/a/b/AWSDynamoDB/", TransferIdOf(record.arn), "/data")))) {
      paths.push_back(entry.path());
    }
    return paths;
  }

  test::TempDir files_;
  std::shared_ptr<FakeHooks> hooks_ = std::make_shared<FakeHooks>();
  std::unique_ptr<TestEngine> engine_;
};

}  // namespace armature::engine::transfer_test

#endif  // ARMATURE_TESTS_UNIT_ENGINE_TRANSFER_TRANSFER_TEST_UTIL_H_
