// Bad input: each request is refused with the documented exception and text, nothing is written, and the daemon stays
// up.

#include <filesystem>
#include <fstream>

#include "armature/version.h"
#include "daemon/grpc/error_map.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/byte_buffer.h"
#include "storage/base/strings.h"
#include "tests/support/daemon_test.h"

namespace armature::test::bad_input_test {

using client::B;
using client::ItemBuilder;
using client::N;
using client::S;

constexpr char kEnvelope[] = "1 validation error detected: ";
constexpr char kInvalid[] = "One or more parameter values were invalid: ";
constexpr char kVe[] = "ValidationException";

constexpr char kTable[] = R"({"TableName": "Bad", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}, {"AttributeName": "r", "AttributeType": "S"},
                             {"AttributeName": "g", "AttributeType": "N"}],
    "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "r", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [{"IndexName": "ByG", "Projection": {"ProjectionType": "ALL"},
        "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}]}]})";

class BadInput : public DaemonTest {
 protected:
  BadInput() {
    Create(kTable);
    Put("Bad", R"({"p": {"S": "kept"}, "r": {"S": "kept"}, "g": {"N": "1"}})");
  }

  // Refused requests have written nothing, and the daemon still accepts valid ones.
  void TearDown() override {
    EXPECT_EQ(Scan(R"({"TableName": "Bad", "ConsistentRead": true})").count(), 1);
    WaitForIndexes("Bad", Put("Bad", R"({"p": {"S": "after"}, "r": {"S": "after"}, "g": {"N": "1"}})"));
    EXPECT_EQ(Scan(R"({"TableName": "Bad", "IndexName": "ByG"})").count(), 2);
    EXPECT_EQ(daemon().Stop(), 0);
  }

  absl::Status PutWith(std::string_view name, const client::AttributeValue& value) {
    api::v1::PutItemRequest request;
    request.set_table_name("Bad");
    *request.mutable_item() = ItemBuilder().Set("p", S("a")).Set("r", S("b")).Set(name, value).Build();
    return client().PutItem(request).status();
  }
};

TEST_F(BadInput, KeysOfWrongTypeOrShape) {
  EXPECT_THAT(TryPut("Bad", R"({"p": {"N": "1"}, "r": {"S": "b"}})"),
              IsRefused(kVe, std::string(kInvalid) + "Type mismatch for key p expected: S actual: N"));
  EXPECT_THAT(TryPut("Bad", R"({"p": {"S": "a"}})"),
              IsRefused(kVe, std::string(kInvalid) + "Missing the key r in the item"));
  EXPECT_THAT(
      PutWith("g", S("1")),
      IsRefused(kVe, std::string(kInvalid) + "Type mismatch for Index Key g Expected: N Actual: S IndexName: ByG"));
  for (const char* const key : {R"({"p": {"S": "a"}})", R"({"p": {"S": "a"}, "r": {"N": "1"}})",
                                R"({"p": {"S": "a"}, "r": {"S": "b"}, "x": {"S": "c"}})", "{}"}) {
    const std::string request = std::string(R"({"TableName": "Bad", "Key": )") + key + "}";
    const auto is_refused = IsRefused(kVe, "The provided key element does not match the schema");
    EXPECT_THAT(client().GetItem(FromJson<api::v1::GetItemRequest>(request)).status(), is_refused) << key;
    EXPECT_THAT(client().DeleteItem(FromJson<api::v1::DeleteItemRequest>(request)).status(), is_refused) << key;
  }
}

TEST_F(BadInput, EmptyKeys) {
  const std::string empty =
      "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
      "string value. Key: ";
  EXPECT_THAT(PutWith("p", S("")), IsRefused(kVe, empty + "p"));
  EXPECT_THAT(PutWith("r", S("")), IsRefused(kVe, empty + "r"));
  const std::string key = R"({"TableName": "Bad", "Key": {"p": {"S": ""}, "r": {"S": "b"}}})";
  EXPECT_THAT(client().GetItem(FromJson<api::v1::GetItemRequest>(key)).status(), IsRefused(kVe, empty + "p"));
  EXPECT_THAT(client().DeleteItem(FromJson<api::v1::DeleteItemRequest>(key)).status(), IsRefused(kVe, empty + "p"));
  EXPECT_THAT(TryQuery(R"({"TableName": "Bad", "KeyConditionExpression": "p = :p",
                           "ExpressionAttributeValues": {":p": {"S": ""}}})"),
              IsRefused(kVe, empty + "p"));
}

TEST_F(BadInput, KeysThatAreTooLong) {
  EXPECT_THAT(
      PutWith("p", S(std::string(2049, 'p'))),
      IsRefused(kVe, std::string(kInvalid) + "Size of hashkey has exceeded the maximum size limit of2048 bytes"));
  EXPECT_THAT(PutWith("r", S(std::string(1025, 'r'))),
              IsRefused(kVe, std::string(kInvalid) +
                                 "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"));
}

TEST_F(BadInput, ItemsThatAreTooLarge) {
  // "p" "a" "r" "b" "x" take 5 bytes.
  EXPECT_THAT(PutWith("x", B(std::string(409'600 - 4, 'x'))),
              IsRefused(kVe, std::string(kEnvelope) + "Item size has exceeded the maximum allowed size"));
  EXPECT_TRUE(PutWith("x", B(std::string(409'600 - 5, 'x'))).ok());
  Delete("Bad", R"({"p": {"S": "a"}, "r": {"S": "b"}})");
}

// An update of three kilobytes whose results would have ten gigabytes: a list of 100,000 numbers, each 131 bytes long
// once it is stored, appended to itself 150 times.
TEST_F(BadInput, UpdatesThatMultiplyALargeList) {
  ASSERT_TRUE(PutWith("l", client::L(std::vector<client::AttributeValue>(100'000, N("1e125")))).ok());
  const std::string key = R"({"p": {"S": "a"}, "r": {"S": "b"}})";
  std::string clauses;
  for (int i = 0; i < 150; ++i) clauses += (i == 0 ? "b" : ", b") + std::to_string(i) + " = list_append(l, l)";
  const std::string update =
      R"({"TableName": "Bad", "Key": )" + key + R"(, "UpdateExpression": "SET )" + clauses + R"("})";
  const std::string too_large = "Item size to update has exceeded the maximum allowed size";
  EXPECT_THAT(client().UpdateItem(FromJson<api::v1::UpdateItemRequest>(update)).status(), IsRefused(kVe, too_large));
  const std::string transaction = R"({"TransactItems": [{"Update": )" + update + "}]}";
  EXPECT_EQ(client::ErrorName(
                client().TransactWriteItems(FromJson<api::v1::TransactWriteItemsRequest>(transaction)).status()),
            "TransactionCanceledException");
  Delete("Bad", key);
}

TEST_F(BadInput, NumbersThatAreNone) {
  EXPECT_THAT(
      PutWith("x", N("1234567890123456789012345678901234567891")),
      IsRefused(kVe, std::string(kEnvelope) + "Attempting to store more than 38 significant digits in a Number"));
  EXPECT_THAT(
      PutWith("x", N("1e126")),
      IsRefused(kVe, std::string(kEnvelope) + "Number overflow. Attempting to store a number with magnitude larger "
                                              "than supported range"));
  EXPECT_THAT(PutWith("x", N("1e-131")),
              IsRefused(kVe, std::string(kEnvelope) + "Number underflow. Attempting to store a number with magnitude "
                                                      "smaller than supported range"));
  EXPECT_THAT(PutWith("x", N("dog")),
              IsRefused(kVe, std::string(kEnvelope) + "The parameter cannot be converted to a numeric value: dog"));
  EXPECT_THAT(PutWith("x", N("")),
              IsRefused(kVe, std::string(kEnvelope) + "The parameter cannot be converted to a numeric value: "));
}

TEST_F(BadInput, ValuesThatAreNone) {
  EXPECT_THAT(PutWith("x", client::SS({})),
              IsRefused(kVe, std::string(kEnvelope) + kInvalid + "An string set  may not be empty"));
  EXPECT_THAT(
      PutWith("x", client::SS({"a", "a"})),
      IsRefused(kVe, std::string(kEnvelope) + kInvalid + "Input collection [\"a\", \"a\"] contains duplicates."));
  EXPECT_THAT(PutWith("x", client::NS({"1", "1.0"})),
              IsRefused(kVe, std::string(kEnvelope) + kInvalid + "Input collection contains duplicates."));
  EXPECT_THAT(
      PutWith("x", client::AttributeValue()),
      IsRefused(kVe, std::string(kEnvelope) +
                         "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes" +
                         std::string(daemon::kTypeHint)));
}

TEST_F(BadInput, NestingThatIsTooDeep) {
  client::AttributeValue value = S("deep");
  for (int level = 0; level < 32; ++level) value = client::M({{"m", value}});
  EXPECT_THAT(
      PutWith("x", value),
      IsRefused(kVe, std::string(kEnvelope) +
                         "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "
                         "beyond supported limit"));
}

TEST_F(BadInput, TablesAndIndexesThatDoNotExist) {
  EXPECT_THAT(TryPut("Nowhere", R"({"p": {"S": "a"}})"),
              IsRefused("ResourceNotFoundException", "Requested resource not found"));
  EXPECT_THAT(TryScan(R"({"TableName": "Nowhere"})"),
              IsRefused("ResourceNotFoundException", "Requested resource not found"));
  EXPECT_THAT(TryScan(R"({"TableName": "Bad", "IndexName": "Nowhere"})"),
              IsRefused(kVe, "The table does not have the specified index: Nowhere"));
  EXPECT_THAT(client().DescribeTable(FromJson<api::v1::DescribeTableRequest>(R"({"TableName": "Nowhere"})")).status(),
              IsRefused("ResourceNotFoundException", "Requested resource not found: Table: Nowhere not found"));
}

TEST_F(BadInput, StartKeysOfAnotherQuery) {
  const std::string query = R"({"TableName": "Bad", "KeyConditionExpression": "p = :p",
      "ExpressionAttributeValues": {":p": {"S": "kept"}}, "ExclusiveStartKey": )";
  EXPECT_THAT(TryQuery(query + R"({"p": {"S": "other"}, "r": {"S": "kept"}}})"),
              IsRefused(kVe, "The provided starting key is outside query boundaries based on provided conditions"));
  EXPECT_THAT(TryQuery(query + R"({"p": {"S": "kept"}}})"), IsRefused(kVe, "The provided starting key is invalid"));
  EXPECT_THAT(TryQuery(query + R"({"p": {"S": "kept"}, "r": {"S": "kept"}, "g": {"N": "1"}}})"),
              IsRefused(kVe, "The provided starting key is invalid"));
  EXPECT_THAT(TryQuery(query + R"({"p": {"S": "kept"}, "r": {"N": "1"}}})"),
              IsRefused(kVe, "The provided key element does not match the schema"));
  EXPECT_THAT(TryQuery(R"({"TableName": "Bad", "KeyConditionExpression": "p = :p AND r > :r",
                           "ExpressionAttributeValues": {":p": {"S": "kept"}, ":r": {"S": "m"}},
                           "ExclusiveStartKey": {"p": {"S": "kept"}, "r": {"S": "a"}}})"),
              IsRefused(kVe, "The provided starting key does not match the range key predicate"));
  EXPECT_THAT(
      TryScan(R"({"TableName": "Bad", "ExclusiveStartKey": {"p": {"S": "kept"}}})"),
      IsRefused(kVe, "The provided starting key is invalid: The provided key element does not match the schema"));
}

TEST_F(BadInput, RequestsOutOfRange) {
  EXPECT_THAT(
      TryScan(R"({"TableName": "Bad", "Limit": 0})"),
      IsRefused(kVe,
                "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have "
                "value greater than or equal to 1"));
  EXPECT_THAT(TryScan(R"({"TableName": "Bad", "Segment": 2, "TotalSegments": 2})"),
              IsRefused(kVe,
                        "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 2 "
                        "is not less than TotalSegments: 2"));
  EXPECT_THAT(
      TryQuery(R"({"TableName": "Bad"})"),
      IsRefused(kVe, "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."));
}

// A table with local indexes of these names.
std::string TableWithLocalIndexes(const std::vector<std::string>& names) {
  std::string indexes;
  for (const std::string& name : names) {
    indexes += (indexes.empty() ? "" : ", ") + (R"({"IndexName": ")" + name) +
               R"(", "Projection": {"ProjectionType": "ALL"}, "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"},
                   {"AttributeName": "t", "KeyType": "RANGE"}]})";
  }
  return R"({"TableName": "Locals", "BillingMode": "PAY_PER_REQUEST",
      "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}, {"AttributeName": "r", "AttributeType": "S"},
                               {"AttributeName": "t", "AttributeType": "S"}],
      "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}, {"AttributeName": "r", "KeyType": "RANGE"}],
      "LocalSecondaryIndexes": [)" +
         indexes + "]}";
}

TEST_F(BadInput, LocalIndexesThatAreTooManyOrOfOneName) {
  EXPECT_THAT(TryCreate(TableWithLocalIndexes({"one", "two", "one"})),
              IsRefused(kVe, std::string(kInvalid) + "Duplicate index name: one"));
  EXPECT_THAT(TryCreate(TableWithLocalIndexes({"in1", "in2", "in3", "in4", "in5", "in6"})),
              IsRefused(kVe, std::string(kInvalid) + "Number of LocalSecondaryIndexes exceeds per-table limit of 5"));
  const auto tables = client().ListTables({});
  ASSERT_TRUE(tables.ok());
  EXPECT_THAT(tables->table_names(), testing::ElementsAre("Bad"));
  EXPECT_TRUE(TryCreate(TableWithLocalIndexes({"in1", "in2", "in3", "in4", "in5"})).ok());
}

TEST_F(BadInput, MessagesOverTheSizeLimit) {
  const absl::Status status = PutWith("x", B(std::string(17 << 20, 'x')));
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
}

// The daemon's answer to bytes that a generated stub would not send.
grpc::Status SendRaw(const std::string& address, const std::string& method, const std::string& bytes) {
  grpc::GenericStub stub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  grpc::CompletionQueue queue;
  grpc::Status status;
  const auto call = stub.PrepareUnaryCall(&context, method, request, &queue);
  call->StartCall();
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  return status;
}

TEST_F(BadInput, TextThatIsNotUtf8AndBytesThatAreNoMessage) {
  const std::string address = daemon().address();
  const std::string put = "/armature.api.v1.ItemService/PutItem";
  api::v1::PutItemRequest request;
  request.set_table_name("Bad");
  *request.mutable_item() = ItemBuilder().Set("p", S("a")).Set("r", S("MARK")).Build();
  const std::string good = request.SerializeAsString();
  std::string bad = good;
  bad.replace(bad.find("MARK"), 2, "\xff\xfe");
  const grpc::Status not_utf8 = SendRaw(address, put, bad);
  EXPECT_EQ(not_utf8.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << not_utf8.error_message();
  bad = good;
  bad.replace(bad.find("Bad"), 2, "\xff\xfe");
  EXPECT_EQ(SendRaw(address, put, bad).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  for (const std::string& bytes :
       {std::string("\xff\xff\xff"), good.substr(0, good.size() - 3), std::string("\x0a\x7f")}) {
    EXPECT_EQ(SendRaw(address, put, bytes).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  }
  const grpc::Status no_table = SendRaw(address, "/armature.api.v1.TableService/ListTables", "\xff\xff\xff");
  EXPECT_EQ(no_table.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(no_table.error_message(), "The request cannot be read");
}

TEST_F(BadInput, OperationsThatAreNotThere) {
  const std::string suffix = Cat(" is not supported by Armature ", kVersion);
  const std::pair<std::string, std::string> cases[] = {
      {"/armature.api.v1.ItemService/NoSuchCall", "NoSuchCall"},
      {"/armature.api.v2.ItemService/GetItem", "armature.api.v2.ItemService/GetItem"},
      {"/armature.api.v1.TableService/GetItem", "armature.api.v1.TableService/GetItem"},
      {"/armature.api.v1.ItemService/", "armature.api.v1.ItemService/"},
      {"/other.Service/Call", "other.Service/Call"},
      {Cat("/armature.api.v1.ItemService/", std::string(2000, 'x')), std::string(255, 'x') + "..."},
  };
  for (const auto& [method, operation] : cases) {
    const grpc::Status status = SendRaw(daemon().address(), method, "request");
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << method;
    EXPECT_EQ(status.error_message(), Cat(operation, suffix));
    const absl::Status error =
        client::MakeCallStatus(absl::StatusCode::kUnimplemented, status.error_message(), status.error_details());
    EXPECT_EQ(client::ErrorName(error), "UnknownOperationException");
  }
}

// A length-delimited field with a number below 16.
std::string BytesField(int number, const std::string& bytes) {
  std::string field(1, static_cast<char>(number << 3 | 2));
  size_t length = bytes.size();
  for (; length >= 128; length >>= 7) field += static_cast<char>((length & 127) | 128);
  return field + static_cast<char>(length) + bytes;
}

// Far deeper than the nesting limit.
TEST_F(BadInput, NestingThatWouldExhaustAStack) {
  std::string value = S("deep").SerializeAsString();
  for (int level = 0; level < 5'000; ++level) value = BytesField(9, BytesField(1, value));  // A list of one list.
  api::v1::PutItemRequest request;
  request.set_table_name("Bad");
  *request.mutable_item() = ItemBuilder().Set("p", S("a")).Set("r", S("b")).Build();
  const std::string entry = BytesField(1, "x") + BytesField(2, value);
  const std::string bytes = request.SerializeAsString() + BytesField(2, BytesField(1, entry));
  EXPECT_EQ(SendRaw(daemon().address(), "/armature.api.v1.ItemService/PutItem", bytes).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

// Starts that fail: exit code 1, and one line on stderr with the reason. Lines of the log begin with a letter of
// severity and a digit.
void ExpectRefusedStart(const std::vector<std::string>& flags, std::string_view reason) {
  const Ended ended = RunDaemon(flags);
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_EQ(ended.out, "");
  std::vector<std::string> messages;
  std::istringstream lines(ended.err);
  for (std::string line; std::getline(lines, line);) {
    const bool is_log = line.size() > 1 && std::string_view("IWE").find(line[0]) != std::string_view::npos &&
                        std::isdigit(static_cast<unsigned char>(line[1])) != 0;
    if (!is_log && line.rfind("WARNING: Logging before", 0) != 0) messages.push_back(line);
  }
  EXPECT_THAT(messages, testing::ElementsAre(testing::AllOf(testing::StartsWith("armatured: "),
                                                            testing::HasSubstr(std::string(reason)))));
}

TEST(BadDataDirectory, InUseByAnotherDaemon) {
  const DaemonProcess daemon;
  ExpectRefusedStart({"--data_dir=" + daemon.data_dir(), "--grpc_listen=127.0.0.1:0"}, "is in use by another process");
  EXPECT_TRUE(daemon.client().ListTables({}).ok());
}

TEST(BadDataDirectory, OfANewerFormat) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.Stop(), 0);
  const std::string file = daemon.data_dir() + "/armature.format";
  std::ifstream in(file);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const size_t at = text.find("format: 7");
  ASSERT_NE(at, std::string::npos) << text;
  std::ofstream(file) << std::string(text).replace(at, 9, "format: 99");
  ExpectRefusedStart({"--data_dir=" + daemon.data_dir(), "--grpc_listen=127.0.0.1:0"}, "has format 99");
  std::ofstream(file) << "something else\n";
  ExpectRefusedStart({"--data_dir=" + daemon.data_dir(), "--grpc_listen=127.0.0.1:0"}, "is not the format file");
  std::ofstream(file) << text;
  daemon.Restart();
  EXPECT_EQ(daemon.Stop(), 0);
}

TEST(BadDataDirectory, NotOurs) {
  const TempDir directory;
  std::ofstream(directory.path("thesis.txt")) << "years of work";
  ExpectRefusedStart({"--data_dir=" + directory.path(), "--grpc_listen=127.0.0.1:0"}, "not ours");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(BadDataDirectory, NotWritable) {
  ExpectRefusedStart({"--data_dir=/proc/armature", "--grpc_listen=127.0.0.1:0"}, "/proc/armature");
  const TempDir directory;
  const std::string file = directory.path("file");
  std::ofstream(file) << "x";
  ExpectRefusedStart({"--data_dir=" + file, "--grpc_listen=127.0.0.1:0"}, file);
}

struct BadFlag {
  std::string_view flag;
  std::string_view reason;
};

TEST(BadFlags, AreRefusedWithWhatIsAllowed) {
  constexpr BadFlag kFlags[] = {
      {"--data_dir=", "must name the directory that holds the database"},
      {"--grpc_listen=somewhere", "must be HOST:PORT"},
      {"--grpc_listen=0.0.0.0:0", "is reachable from other machines"},
      {"--durability=maybe", "must be sync, os, or interval:"},
      {"--durability=interval:0", "must be sync, os, or interval:"},
      {"--cache_mb=1", "must be between 8 and 1048576"},
      {"--read_threads=-1", "must be between 0 and 256"},
      {"--column_families_max=0", "must be between 1 and 100000"},
      {"surplus", "unexpected argument: surplus"},
  };
  const TempDir directory;
  for (const BadFlag& bad : kFlags) {
    SCOPED_TRACE(bad.flag);
    ExpectRefusedStart({"--data_dir=" + directory.path("data"), "--grpc_listen=127.0.0.1:0", std::string(bad.flag)},
                       bad.reason);
  }
  EXPECT_EQ(RunDaemon({"--no_such_flag"}).exit_code, 1);
}

TEST(BadFlags, AnAddressInUse) {
  const DaemonProcess daemon;
  const TempDir directory;
  ExpectRefusedStart({"--data_dir=" + directory.path("data"), "--grpc_listen=" + daemon.address()},
                     "cannot listen on " + daemon.address());
}

}  // namespace armature::test::bad_input_test
