#include "storage/store/transfer_records.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "storage/store/catalog/catalog_record.h"
#include "storage/store/inspector.h"
#include "storage/store/meta_keys.h"
#include "tests/unit/storage/codec/codec_test_util.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::transfer_records_test {

constexpr std::string_view kArn = "arn:aws:dynamodb:local:000000000000:table/T/export/01700000000000-0000000a";

// The records of transfer.golden.
model::TransferRecord GoldenRecord(std::string_view name) {
  model::TransferRecord record;
  record.arn = kArn;
  record.table = TableId(7);
  record.table_name = "T";
  record.table_uuid = "01234567-89ab-cdef-0123-456789abcdef";
  record.start_time_ms = 1'700'000'000'000;
  if (name == "export") {
    record.data_time_ms = 1'700'000'000'500;
    record.output = model::TransferPlace{"bucket", "a/b"};
    return record;
  }
  record.kind = name == "import" ? model::TransferKind::kImport : model::TransferKind::kBulkPut;
  record.state = name == "import" ? model::TransferState::kFailed : model::TransferState::kCompletedWithErrors;
  record.client_token = "token";
  record.request = std::string("\x0a\x00\xff", 3);
  record.end_time_ms = 1'700'000'009'000;
  model::TransferInput& input = record.input.emplace();
  input.place = {"bucket", "in/"};
  input.compression = model::TransferCompression::kZstd;
  record.progress = {"in/1.json", 100, 3, 30, 20, 10, 4096, 8192, 2048, 2, 0xdeadbeef};
  if (name == "import") {
    input.format = model::TransferFormat::kCsv;
    input.csv_delimiter = ";";
    input.csv_header = {"id", "n"};
    record.failure_code = "S3NoSuchBucket";
    record.failure_message = "The specified bucket does not exist";
  } else {
    record.output = model::TransferPlace{"bucket", ""};
    record.write_units_max = 2000;
    record.writes_errors = true;
  }
  if (name == "cancelling") record.state = model::TransferState::kCancelling;
  if (name == "cancelled") record.state = model::TransferState::kCancelled;
  return record;
}

TEST(TransferRecord, HasTheBytesOfTheFormat) {
  for (const auto& vector : codec::ReadGolden("transfer.golden", 2, /*format=*/4)) {
    const model::TransferRecord record = GoldenRecord(vector[0]);
    EXPECT_EQ(codec::ToHex(EncodeTransferRecord(record)), vector[1]) << vector[0];
    const absl::StatusOr<model::TransferRecord> parsed = ParseTransferRecord(codec::FromHex(vector[1]));
    EXPECT_TRUE(parsed.ok()) << vector[0] << ": " << parsed.status();
    EXPECT_EQ(parsed.value_or(model::TransferRecord()), record) << vector[0];
  }
}

TEST(TransferRecord, OtherBytesAreRefused) {
  const std::string valid = EncodeTransferRecord(GoldenRecord("import"));
  EXPECT_TRUE(absl::IsDataLoss(ParseTransferRecord("").status()));
  EXPECT_TRUE(absl::IsDataLoss(ParseTransferRecord("\x02").status()));
  EXPECT_TRUE(absl::IsDataLoss(ParseTransferRecord("\x01").status())) << "a record without an ARN";
  EXPECT_TRUE(absl::IsDataLoss(ParseTransferRecord(valid.substr(0, valid.size() / 2)).status()));
  // Any other damage is either accepted or refused, without a crash.
  codec::ForEachDamage(valid, [](std::string_view bytes) { static_cast<void>(ParseTransferRecord(bytes)); });
}

TEST(TransferRecord, IsARecordOfTheMetaFamily) {
  const model::TransferRecord record = GoldenRecord("bulk");
  const MetaRecord meta = ParseMetaRecord(TransferKey(kArn), EncodeTransferRecord(record));
  EXPECT_TRUE(meta.status.ok()) << meta.status;
  EXPECT_EQ(meta.kind, MetaKind::kTransfer);
  EXPECT_EQ(meta.transfer, record);
  EXPECT_TRUE(absl::IsDataLoss(ParseMetaRecord(TransferKey("other"), EncodeTransferRecord(record)).status));
}

TEST(TransferRecords, AreKeptUntilTheyAreRemoved) {
  const test::TempDir directory;
  std::unique_ptr<Database> database = OpenDatabase(TestOptions(directory.path()));
  const model::TransferRecord first = GoldenRecord("export");
  model::TransferRecord second = GoldenRecord("bulk");
  second.arn += "b";
  ASSERT_TRUE(database->transfers().Put(first).ok());
  ASSERT_TRUE(database->transfers().Put(second).ok());
  second.progress.items = 31;
  ASSERT_TRUE(database->transfers().Put(second).ok());
  database.reset();
  database = OpenDatabase(TestOptions(directory.path()));
  absl::StatusOr<std::vector<model::TransferRecord>> all = database->transfers().ReadAll();
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(*all, (std::vector<model::TransferRecord>{first, second}));
  ASSERT_TRUE(database->transfers().Remove({first.arn}).ok());
  EXPECT_EQ(database->transfers().ReadAll()->size(), 1u);
}

}  // namespace armature::store::transfer_records_test
