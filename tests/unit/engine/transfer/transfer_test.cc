#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/clock.h"
#include "tests/unit/engine/transfer/transfer_test_util.h"

namespace armature::engine::transfer_test {

using ::testing::HasSubstr;

TEST_F(TransferTest, ExportWritesAllItemsAndAManifest) {
  CreateTable("Tab", 20);
  const absl::StatusOr<TransferRecord> started = Export(ExportOf("Tab"));
  ASSERT_TRUE(started.ok()) << started.status();
  EXPECT_THAT(started->arn, HasSubstr(":table/Tab/export/0"));
  const TransferRecord record = AwaitEnd(started);
  EXPECT_EQ(record.state, TransferState::kCompleted) << record.failure_message;
  EXPECT_EQ(record.progress.items, 20);
  const std::vector<fs::path> data = DataFilesOf(record);
  ASSERT_EQ(data.size(), 1u);
  EXPECT_EQ(ReadLines(data[0]).size(), 20u);
  const fs::path directory = data[0].parent_path().parent_path();
  EXPECT_TRUE(fs::exists(directory / "_started"));
  EXPECT_TRUE(fs::exists(directory / "manifest-files.md5"));
  EXPECT_TRUE(fs::exists(directory / "manifest-summary.md5"));
  const std::string id(TransferIdOf(record.arn));
  EXPECT_EQ(ReadFile(directory / "manifest-files.json"),
            Cat(R"({"itemCount":20,"md5Checksum":"bWQ1","etag":"6d6435","dataFileS3Key":"a/b/AWSDynamoDB/)", id,
                "/data/", data[0].filename().string(), "\"}\n"));
  const std::string summary = ReadFile(directory / "manifest-summary.json");
  EXPECT_THAT(summary, HasSubstr(R"("s3Bucket":"bucket","s3Prefix":"a/b","s3SseAlgorithm":null,"s3SseKmsKeyId":null)"));
  EXPECT_THAT(summary, HasSubstr(R"("itemCount":20,"outputFormat":"DYNAMODB_JSON","exportType":"FULL_EXPORT")"));
  EXPECT_EQ(fs::status(directory).permissions(), fs::perms::owner_all);
}

TEST_F(TransferTest, AnEmptyTableIsExportedAsAnEmptyFile) {
  CreateTable("Tab", 0);
  const TransferRecord record = AwaitEnd(Export(ExportOf("Tab")));
  EXPECT_EQ(record.state, TransferState::kCompleted);
  ASSERT_EQ(DataFilesOf(record).size(), 1u);
}

TEST_F(TransferTest, ExportsAreRefusedAsDocumented) {
  CreateTable("Tab", 1);
  ASSERT_TRUE(engine().CreateTable(PlainTable("Off")).ok());
  EXPECT_EQ(ErrorNameOf(Export(ExportOf("None")).status()), "TableNotFoundException");
  EXPECT_EQ(ErrorNameOf(Export(ExportOf("Off")).status()), "PointInTimeRecoveryUnavailableException");
  StartExportRequest old = ExportOf("Tab");
  old.export_time_ms = absl::ToUnixMillis(absl::Now() - absl::Minutes(1));
  EXPECT_EQ(ErrorNameOf(Export(old).status()), "InvalidExportTimeException");
  StartExportRequest ion = ExportOf("Tab");
  ion.format = "ION";
  EXPECT_EQ(ErrorNameOf(Export(ion).status()), "ValidationException");
  StartExportRequest now = ExportOf("Tab");
  now.export_time_ms = absl::ToUnixMillis(absl::Now());
  EXPECT_EQ(AwaitEnd(Export(now)).state, TransferState::kCompleted);
}

TEST_F(TransferTest, PrefixesDoNotLeadOutOfTheBucket) {
  CreateTable("Tab", 1);
  for (const std::string prefix : {"..", "a/../b", "/a", "a//b", ".", "a/..", "a\nb"}) {
    EXPECT_EQ(ErrorNameOf(Export(ExportOf("Tab", prefix)).status()), "ValidationException") << prefix;
    EXPECT_EQ(ErrorNameOf(Import(ImportOf("New", prefix)).status()), "ValidationException") << prefix;
  }
  for (const std::string bucket : {"..", "a/b", ".bucket", "bucket/", "/", "a"}) {
    StartExportRequest request = ExportOf("Tab");
    request.place.s3_bucket = bucket;
    EXPECT_EQ(ErrorNameOf(Export(request).status()), "ValidationException") << bucket;
  }
  // Symbolic links, as bucket and below it.
  fs::create_directories(files_.path("elsewhere"));
  fs::create_directory_symlink(files_.path("elsewhere"), Out("link"));
  fs::create_directory_symlink(files_.path("elsewhere"), Out("bucket/link"));
  StartExportRequest link = ExportOf("Tab");
  link.place.s3_bucket = "link";
  EXPECT_EQ(AwaitEnd(Export(link)).failure_code, "S3NoSuchBucket");
  EXPECT_EQ(AwaitEnd(Export(ExportOf("Tab", "link"))).state, TransferState::kFailed);
  EXPECT_TRUE(fs::is_empty(files_.path("elsewhere")));
  std::ofstream(files_.path("elsewhere/secret")) << absl::BytesToHexString(ItemOf(1)) << "\n";
  fs::create_directory_symlink(files_.path("elsewhere"), In("bucket/link"));
  fs::create_symlink(files_.path("elsewhere/secret"), In("bucket/linked"));
  EXPECT_EQ(AwaitEnd(Import(ImportOf("New", "link"))).progress.items, 0);
  EXPECT_EQ(AwaitEnd(Import(ImportOf("New2", "link/s"))).progress.items, 0);
}

TEST_F(TransferTest, AFailedWriteFailsTheExportOnly) {
  CreateTable("Tab", 3);
  hooks_->before_append = [] { return UnavailableError("cannot write x: No space left on device"); };
  const TransferRecord failed = AwaitEnd(Export(ExportOf("Tab")));
  EXPECT_EQ(failed.state, TransferState::kFailed);
  EXPECT_THAT(failed.failure_message, HasSubstr("No space left on device"));
  EXPECT_TRUE(DataFilesOf(failed).empty());
  hooks_->before_append = nullptr;
  EXPECT_EQ(AwaitEnd(Export(ExportOf("Tab"))).state, TransferState::kCompleted);
}

TEST_F(TransferTest, AnInterruptedExportBeginsAnew) {
  CreateTable("Tab", 10);
  const std::shared_ptr<Gate> gate = StopAtAppend(5);
  const absl::StatusOr<TransferRecord> started = Export(ExportOf("Tab"));
  ASSERT_TRUE(started.ok());
  gate->AwaitReached();
  const fs::path data = Out(Cat("bucket/a/b/AWSDynamoDB/", TransferIdOf(started->arn), "/data"));
  std::ofstream(data / "left") << "half";
  RestartAt(gate.get());
  const TransferRecord record = AwaitEnd(started);
  EXPECT_EQ(record.state, TransferState::kCompleted) << record.failure_message;
  EXPECT_EQ(record.progress.items, 10);
  ASSERT_EQ(DataFilesOf(record).size(), 1u) << "what was left is removed";
  EXPECT_EQ(ReadLines(DataFilesOf(record)[0]).size(), 10u);
}

TEST_F(TransferTest, AnExportOfATableThatIsGoneAtTheRestartFails) {
  CreateTable("Tab", 10);
  const std::shared_ptr<Gate> gate = StopAtAppend(5);
  const absl::StatusOr<TransferRecord> started = Export(ExportOf("Tab"));
  gate->AwaitReached();
  ASSERT_TRUE(engine().DeleteTable("Tab").ok());
  RestartAt(gate.get());
  EXPECT_EQ(AwaitEnd(started).failure_code, "TableNotFound");
}

TEST_F(TransferTest, ImportFillsANewTable) {
  WriteInput("x/1", LinesOf(0, 700));
  // The last one has an index key of a wrong type.
  WriteInput("x/2", {"no item", absl::BytesToHexString(codec::Item({{"other", codec::S("1")}})),
                     absl::BytesToHexString(PlainItem("wrong", "1", {{"g", codec::N("1")}}))});
  WriteInput("x/3", LinesOf(600, 710));
  WriteInput("x/4", {absl::BytesToHexString(ItemOf(710)), "damage", "not read"});
  WriteInput("x/.hidden", LinesOf(1000, 1001));
  WriteInput("y", LinesOf(2000, 2001));
  const absl::StatusOr<TransferRecord> started = Import(ImportOf("New", "x/"));
  ASSERT_TRUE(started.ok()) << started.status();
  EXPECT_THAT(started->arn, HasSubstr(":table/New/import/0"));
  const TransferRecord record = AwaitEnd(started);
  EXPECT_EQ(record.state, TransferState::kFailed);
  EXPECT_EQ(record.failure_code, "ItemValidationError");
  EXPECT_EQ(record.progress.items, 700 + 3 + 110 + 2);
  EXPECT_EQ(record.progress.written, 700 + 110 + 1);
  EXPECT_EQ(record.progress.failed, 4);
  EXPECT_EQ(record.progress.bytes_read, record.progress.bytes_total);
  EXPECT_EQ(CountOf("New"), 711u);
  EXPECT_EQ(CountOf("New", "by_g"), 711u);
  const absl::StatusOr<TableDescription> table = engine().Describe("New");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->totals.item_count, 711);
  EXPECT_FALSE(table->descriptor.restore.has_value());
  EXPECT_TRUE(engine().DeleteTable("New").ok());
}

TEST_F(TransferTest, ATableIsCreatingUntilItsImportEnds) {
  WriteInput("1", LinesOf(0, 10));
  const std::shared_ptr<Gate> gate = StopAtRecord(5);
  const absl::StatusOr<TransferRecord> started = Import(ImportOf("New"));
  gate->AwaitReached();
  EXPECT_EQ(engine().Describe("New")->descriptor.state, model::TableState::kCreating);
  EXPECT_EQ(ErrorNameOf(engine().Put(WriteTo("New", ItemOf(1))).status()), "ResourceNotFoundException");
  EXPECT_EQ(ErrorNameOf(engine().DeleteTable("New").status()), "ResourceInUseException");
  EXPECT_EQ(ErrorNameOf(Import(ImportOf("New", "1")).status()), "ResourceInUseException");
  EXPECT_EQ(Describe(*started)->state, TransferState::kInProgress);
  gate->Open();
  AwaitEnd(started);
  EXPECT_EQ(engine().Describe("New")->descriptor.state, model::TableState::kActive);
}

TEST_F(TransferTest, AnImportGoesOnAfterARestart) {
  WriteInput("1", LinesOf(0, 700));
  WriteInput("2", {"no item"});
  WriteInput("3", LinesOf(700, 1900));
  const std::shared_ptr<Gate> gate = StopAtRecord(900);
  const absl::StatusOr<TransferRecord> started = Import(ImportOf("New"));
  RestartAt(gate.get());
  const TransferRecord record = AwaitEnd(started);
  EXPECT_EQ(record.failure_code, "ItemValidationError") << record.failure_message;
  EXPECT_EQ(record.progress.items, 1901);
  EXPECT_EQ(record.progress.written, 1900);
  EXPECT_EQ(record.progress.failed, 1);
  EXPECT_EQ(engine().Describe("New")->totals.item_count, 1900);
}

// As a tool does that opens the data directory of a stopped daemon, or a daemon without the flags.
TEST_F(TransferTest, AJobWaitsForAStartWithItsDirectories) {
  WriteInput("1", LinesOf(0, 700));
  const std::shared_ptr<Gate> gate = StopAtRecord(300);
  const absl::StatusOr<TransferRecord> started = Import(ImportOf("New"));
  const TransferOptions transfer = std::exchange(engine().options().transfer, {});
  RestartAt(gate.get());
  EXPECT_EQ(Describe(*started)->state, TransferState::kInProgress);
  EXPECT_EQ(engine().Describe("New")->descriptor.state, model::TableState::kCreating);
  engine().options().transfer = transfer;
  engine().Reopen();
  EXPECT_EQ(AwaitEnd(started).state, TransferState::kCompleted);
  EXPECT_EQ(CountOf("New"), 700u);
}

TEST_F(TransferTest, AnImportNoticesThatItsFileHasChanged) {
  WriteInput("1", LinesOf(0, 1900));
  const std::shared_ptr<Gate> gate = StopAtRecord(900);
  const absl::StatusOr<TransferRecord> started = Import(ImportOf("New"));
  gate->AwaitReached();
  WriteInput("1", LinesOf(1, 1900));
  RestartAt(gate.get());
  const TransferRecord record = AwaitEnd(started);
  EXPECT_EQ(record.failure_code, "InputChanged");
  EXPECT_TRUE(engine().WaitForTableGone("New").ok());
}

TEST_F(TransferTest, AnImportOfNothingMakesAnEmptyTable) {
  for (const std::string prefix : {"", "none", "none/at/all"}) {
    const std::string table = Cat("New", prefix.size());
    const TransferRecord record = AwaitEnd(Import(ImportOf(table, prefix)));
    EXPECT_EQ(record.state, TransferState::kCompleted) << record.failure_message;
    EXPECT_EQ(record.progress.items, 0);
    EXPECT_EQ(engine().Describe(table)->descriptor.state, model::TableState::kActive);
    EXPECT_EQ(CountOf(table), 0u);
  }
  CreateTable("Tab", 0);
  EXPECT_EQ(AwaitEnd(Bulk(BulkOf("Tab"))).failure_code, "S3NoSuchKey");
}

// A table with bad records is in use when the daemon dies before it has recorded the end of the job.
TEST_F(TransferTest, AnImportWithBadRecordsKeepsItsTable) {
  WriteInput("1", {absl::BytesToHexString(ItemOf(1)), "no item", absl::BytesToHexString(ItemOf(2))});
  const TransferRecord record = AwaitEnd(Import(ImportOf("New")));
  EXPECT_EQ(record.state, TransferState::kFailed);
  EXPECT_EQ(record.failure_code, "ItemValidationError");
  EXPECT_THAT(record.failure_message, HasSubstr("1 of 3"));
  EXPECT_EQ(record.progress.written, 2);
  EXPECT_EQ(CountOf("New"), 2u);
  EXPECT_EQ(CountOf("New", "by_g"), 2u);
  ASSERT_TRUE(engine().Put(WriteTo("New", ItemOf(3))).ok());
  engine().Reopen();
  EXPECT_EQ(CountOf("New"), 3u);
}

TEST_F(TransferTest, AFailedImportLeavesNoTable) {
  StartImportRequest request = ImportOf("New");
  request.source->s3_bucket = "nowhere";
  const TransferRecord record = AwaitEnd(Import(request));
  EXPECT_EQ(record.state, TransferState::kFailed);
  EXPECT_EQ(record.failure_code, "S3NoSuchBucket");
  EXPECT_TRUE(engine().WaitForTableGone("New").ok());
}

TEST_F(TransferTest, ATableWhoseImportHasNoRecordIsDeletedAtTheStart) {
  absl::StatusOr<model::TableDescriptor> table = model::BuildTableDescriptor(PlainTable("Lost"));
  table->restore.emplace().in_progress = true;
  table->restore->is_import = true;
  ASSERT_TRUE(engine().database().tables().Create(*table).ok());
  engine().Reopen();
  EXPECT_TRUE(engine().WaitForTableGone("Lost").ok());
}

TEST_F(TransferTest, BulkPutWritesIntoATableAndReportsTheRest) {
  CreateTable("Tab", 5);
  WriteInput("1", LinesOf(0, 250));
  WriteInput("2", {"no item", absl::BytesToHexString(codec::Item({{"pk", codec::S("x")}}))});
  const absl::StatusOr<TransferRecord> started = Bulk(BulkOf("Tab"));
  ASSERT_TRUE(started.ok()) << started.status();
  const TransferRecord record = AwaitEnd(started);
  EXPECT_EQ(record.state, TransferState::kCompletedWithErrors) << record.failure_message;
  EXPECT_EQ(record.progress.items, 252);
  EXPECT_EQ(record.progress.written, 250);
  EXPECT_EQ(record.progress.failed, 2);
  EXPECT_EQ(CountOf("Tab"), 250u);
  const std::vector<std::string> errors =
      ReadLines(Out(Cat("bucket/AWSDynamoDB/", TransferIdOf(record.arn), "/errors/000001.json")));
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0], R"({"errorMessage":"no item","inputFile":"2","line":1,"record":"no item"})");
}

TEST_F(TransferTest, BulkPutGoesOnAfterARestart) {
  CreateTable("Tab", 0);
  WriteInput("1", LinesOf(0, 1000));
  const std::shared_ptr<Gate> gate = StopAtRecord(500);
  const absl::StatusOr<TransferRecord> started = Bulk(BulkOf("Tab"));
  RestartAt(gate.get());
  const TransferRecord record = AwaitEnd(started);
  EXPECT_EQ(record.state, TransferState::kCompleted) << record.failure_message;
  EXPECT_EQ(record.progress.items, 1000);
  EXPECT_EQ(CountOf("Tab"), 1000u);
}

TEST_F(TransferTest, ABulkPutCanBeCancelled) {
  CreateTable("Tab", 0);
  WriteInput("1", LinesOf(0, 1000));
  const std::shared_ptr<Gate> gate = StopAtRecord(500);
  const absl::StatusOr<TransferRecord> started = Bulk(BulkOf("Tab"));
  gate->AwaitReached();
  const absl::StatusOr<TransferRecord> cancelled =
      Begin(&Engine::CancelTransfer, TransferName{TransferKind::kBulkPut, started->arn});
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(cancelled->state, TransferState::kCancelling);
  gate->Open();
  const TransferRecord record = AwaitEnd(started);
  EXPECT_EQ(record.state, TransferState::kCancelled);
  EXPECT_LT(CountOf("Tab"), 1000u);
  const absl::StatusOr<TransferRecord> again =
      Begin(&Engine::CancelTransfer, TransferName{TransferKind::kBulkPut, started->arn});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->state, TransferState::kCancelled);
}

TEST_F(TransferTest, ABulkPutIntoADeletedTableFails) {
  CreateTable("Tab", 0);
  WriteInput("1", LinesOf(0, 1000));
  const std::shared_ptr<Gate> gate = StopAtRecord(500);
  const absl::StatusOr<TransferRecord> started = Bulk(BulkOf("Tab"));
  gate->AwaitReached();
  ASSERT_TRUE(engine().DeleteTable("Tab").ok());
  ASSERT_TRUE(engine().WaitForTableGone("Tab").ok());
  CreateTable("Tab", 0);
  gate->Open();
  const TransferRecord record = AwaitEnd(started);
  EXPECT_EQ(record.failure_code, "ResourceNotFoundException");
  EXPECT_EQ(CountOf("Tab"), 0u) << "the table that was created again is another one";
}

TEST_F(TransferTest, ATokenRepeatsTheRequest) {
  CreateTable("Tab", 1);
  StartExportRequest request = ExportOf("Tab");
  request.client_token = "token";
  const absl::StatusOr<TransferRecord> first = Export(request);
  ASSERT_TRUE(first.ok());
  AwaitEnd(first);
  engine().Reopen();
  EXPECT_EQ(Export(request)->arn, first->arn);
  StartExportRequest other = ExportOf("Tab", "c");
  other.client_token = "token";
  EXPECT_EQ(ErrorNameOf(Export(other).status()), "ExportConflictException");
  // Tokens of imports and bulk operations are others.
  WriteInput("1", LinesOf(0, 1));
  StartImportRequest import = ImportOf("New");
  import.client_token = "token";
  const absl::StatusOr<TransferRecord> imported = Import(import);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(Import(import)->arn, imported->arn);
  import.message += "x";
  EXPECT_EQ(ErrorNameOf(Import(import).status()), "ImportConflictException");
  StartBulkPutRequest bulk = BulkOf("Tab");
  bulk.client_token = "token";
  ASSERT_TRUE(Bulk(bulk).ok());
  bulk.message += "x";
  EXPECT_EQ(ErrorNameOf(Bulk(bulk).status()), "IdempotentParameterMismatchException");
}

TEST_F(TransferTest, ListsHavePages) {
  CreateTable("Tab", 1);
  CreateTable("Uab", 1);
  std::vector<std::string> arns;
  for (int i = 0; i < 3; ++i) arns.push_back(AwaitEnd(Export(ExportOf("Tab"))).arn);
  AwaitEnd(Export(ExportOf("Uab")));
  std::sort(arns.rbegin(), arns.rend());
  ListTransfersRequest request;
  request.table_arn = model::TableArn("Tab");
  request.max = 2;
  const TransferPage first = List(request);
  ASSERT_EQ(first.records.size(), 2u);
  EXPECT_EQ(first.records[0].arn, arns[0]);
  ASSERT_TRUE(first.next_token.has_value());
  request.next_token = first.next_token;
  const TransferPage second = List(request);
  ASSERT_EQ(second.records.size(), 1u);
  EXPECT_EQ(second.records[0].arn, arns[2]);
  EXPECT_FALSE(second.next_token.has_value());
  EXPECT_EQ(List({}).records.size(), 4u);
  EXPECT_TRUE(List({.kind = TransferKind::kImport}).records.empty());
  Answer<TransferPage> answer;
  engine()->ListTransfers({.next_token = "zz"}, answer.Catch());
  EXPECT_EQ(ErrorNameOf(answer.Take().status()), "ValidationException");
}

TEST_F(TransferTest, TheNumberOfWaitingJobsIsLimited) {
  CreateTable("Tab", 10);
  const std::shared_ptr<Gate> gate = StopAtAppend(1);
  for (size_t i = 0; i < TransferJobs::kUnfinishedMax; ++i) ASSERT_TRUE(Export(ExportOf("Tab")).ok());
  gate->AwaitReached();
  EXPECT_EQ(ErrorNameOf(Export(ExportOf("Tab")).status()), "LimitExceededException");
  EXPECT_EQ(engine()->stats().transfers.unfinished, TransferJobs::kUnfinishedMax);
  gate->Open();
}

TEST_F(TransferTest, JobsThatDoNotExistAreNotFound) {
  const std::string arn = MakeTransferArn(TransferKind::kExport, "Tab", 1, 2);
  EXPECT_EQ(ErrorNameOf(Begin(&Engine::DescribeTransfer, TransferName{TransferKind::kExport, arn}).status()),
            "ExportNotFoundException");
  EXPECT_EQ(ErrorNameOf(Begin(&Engine::DescribeTransfer, TransferName{TransferKind::kImport, arn}).status()),
            "ImportNotFoundException");
  EXPECT_EQ(ErrorNameOf(Begin(&Engine::CancelTransfer, TransferName{TransferKind::kBulkPut, arn}).status()),
            "ResourceNotFoundException");
}

TEST(Transfer, NeedsTheDirectories) {
  TestEngine engine;
  ASSERT_TRUE(engine.CreateTable(PlainTable("Tab")).ok());
  StartExportRequest request;
  request.table_arn = model::TableArn("Tab");
  request.place.s3_bucket = "bucket";
  Answer<TransferRecord> answer;
  engine->StartExport(request, answer.Catch());
  const absl::Status refused = answer.Take().status();
  EXPECT_EQ(ErrorNameOf(refused), "ValidationException");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("--export_dir"));
}

}  // namespace armature::engine::transfer_test
