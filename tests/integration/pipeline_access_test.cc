// Authorisation of operations on a Pipeline stream.

#include <memory>

#include "armature/client/pipeline.h"
#include "storage/base/strings.h"
#include "tests/support/daemon_test.h"
#include "tests/support/security_files.h"

namespace armature::test {
namespace {

using client::ErrorName;
using client::Pipeline;

constexpr char kOrders[] = R"({"TableName": "orders", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]})";
constexpr char kGet[] = R"({"TableName": "orders", "Key": {"id": {"S": "a"}}})";
constexpr char kPut[] = R"({"TableName": "orders", "Item": {"id": {"S": "a"}}})";

class PipelineAccessTest : public testing::Test {
 protected:
  PipelineAccessTest() : daemon_(files_.Flags(), files_.WithKey("AKROOT")) {
    const auto request = FromJson<api::v1::CreateTableRequest>(kOrders);
    EXPECT_TRUE(daemon_.client().CreateTable(request).ok());
    while (!daemon_.client().PutItem(FromJson<api::v1::PutItemRequest>(kPut)).ok()) {
    }
  }

  std::unique_ptr<Pipeline> Open(std::string_view key_id) {
    auto pipeline = daemon_.ConnectWith(files_.WithKey(key_id)).OpenPipeline();
    EXPECT_TRUE(pipeline.ok()) << pipeline.status();
    return *std::move(pipeline);
  }

  SecurityFiles files_;
  DaemonProcess daemon_;
};

TEST_F(PipelineAccessTest, ADeniedOperationIsAnAnswerLikeOthers) {
  const auto pipeline = Open("AKREADER");
  const auto get = FromJson<api::v1::GetItemRequest>(kGet);
  EXPECT_TRUE(pipeline->Ask(get).get()->has_item());
  const auto put = FromJson<api::v1::PutItemRequest>(kPut);
  const absl::Status denied = pipeline->Ask(put).get().status();
  const absl::Status alone = daemon_.ConnectWith(files_.WithKey("AKREADER")).PutItem(put).status();
  EXPECT_THAT(denied, IsRefused("AccessDeniedException", std::string(alone.message())));
  EXPECT_EQ(denied.code(), absl::StatusCode::kPermissionDenied);
  // A transaction needs the permission for each of its members.
  EXPECT_EQ(ErrorName(pipeline
                          ->Ask(FromJson<api::v1::TransactWriteItemsRequest>(
                              Cat(R"({"TransactItems": [{"Put": )", kPut, "}]}")))
                          .get()
                          .status()),
            "AccessDeniedException");
  EXPECT_TRUE(pipeline->Ask(get).get()->has_item());
  EXPECT_TRUE(pipeline->Close().ok());
}

TEST_F(PipelineAccessTest, AStrangersStreamEndsBeforeItsFirstOperation) {
  const auto pipeline = Open("AKNOBODY");
  const auto answer = pipeline->Ask(FromJson<api::v1::GetItemRequest>(kGet)).get();
  EXPECT_EQ(ErrorName(answer.status()), "UnrecognizedClientException") << answer.status();
  EXPECT_EQ(ErrorName(pipeline->Close()), "UnrecognizedClientException");
}

// Credentials may change during the life of a stream.
TEST_F(PipelineAccessTest, AKeyThatIsTakenAwayEndsItsStreams) {
  files_.WriteCredentials(
      {Cat(R"({"id": "AKGUEST", "secret": ")", SecurityFiles::kRootSecret, R"(", "policy": "reader"})")});
  daemon_.Restart();
  const auto guest = Open("AKGUEST");
  const auto reader = Open("AKREADER");
  const auto get = FromJson<api::v1::GetItemRequest>(kGet);
  EXPECT_TRUE(guest->Ask(get).get().ok());
  files_.WriteCredentials({});
  daemon_.Hangup();
  absl::Status last;
  while (last.ok()) last = guest->Ask(get).get().status();
  EXPECT_EQ(ErrorName(last), "UnrecognizedClientException") << last;
  EXPECT_TRUE(reader->Ask(get).get().ok());
  EXPECT_TRUE(reader->Close().ok());
}

}  // namespace
}  // namespace armature::test
