// The parts of `armature copy` that need no server.

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "armature/client/errors.h"
#include "daemon/auth/sigv4.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/strings.h"
#include "tools/armature/copy/aws_profile.h"
#include "tools/armature/copy/copy_state.h"
#include "tools/armature/copy/endpoint.h"
#include "tools/armature/copy/http_link.h"
#include "tools/armature/copy/item_digest.h"
#include "tools/armature/copy/rate_limit.h"
#include "tools/armature/copy/remote.h"
#include "tools/armature/copy/request_signature.h"
#include "tools/armature/copy/stream_reader.h"
#include "tools/armature/copy/table_pairs.h"
#include "tools/armature/copy/table_scan.h"
#include "tools/armature/copy/value_hash.h"
#include "tools/armature/copy/wire_json.h"

namespace armature::cli::copy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string TempPath(const std::string& name) { return Cat(testing::TempDir(), "/copy_test_", getpid(), "_", name); }

std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

// Sets a variable of the environment for one test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
};

std::string AuthorizationOf(const HttpHeaders& headers) { return headers.back().second; }

constexpr absl::Time kVectorTime = absl::FromUnixSeconds(1440938160);  // 20150830T123600Z

// "post-vanilla" of the published test suite of the signature.
TEST(RequestSignature, IsThatOfThePublishedVector) {
  const SigningKey key{.access_key_id = "AKIDEXAMPLE",
                       .secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                       .session_token = "",
                       .region = "us-east-1",
                       .service = "service"};
  const HttpHeaders headers = SignatureHeaders(key, {{"host", "example.amazonaws.com"}}, "", kVectorTime);
  EXPECT_EQ(AuthorizationOf(headers),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            "SignedHeaders=host;x-amz-date, "
            "Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
}

TEST(RequestSignature, IsAcceptedByTheDaemonWithATokenToo) {
  const SigningKey key{.access_key_id = "AK",
                       .secret = "secret",
                       .session_token = "token/+=",
                       .region = "eu-west-1",
                       .service = "dynamodb"};
  daemon::HttpRequest request;
  request.method = "POST";
  request.target = "/";
  request.body = R"({"TableName":"t"})";
  HttpHeaders headers = {{"content-type", "application/x-amz-json-1.0"},
                         {"host", "db.example.org:8000"},
                         {"x-amz-target", "DynamoDB_20120810.Scan"}};
  const HttpHeaders added = SignatureHeaders(key, headers, request.body, kVectorTime);
  headers.insert(headers.end(), added.begin(), added.end());
  for (const auto& [name, value] : headers) request.headers.push_back({name, value});
  const daemon::SigV4Verifier verifier{daemon::SigV4Options()};
  const std::string secret = "secret";
  const auto secret_of = [&secret](std::string_view) { return &secret; };
  EXPECT_TRUE(verifier.Verify(request, kVectorTime, secret_of).status.ok());
  request.body += " ";
  EXPECT_FALSE(verifier.Verify(request, kVectorTime, secret_of).status.ok());
}

TEST(AwsProfile, ReadsSectionsWithoutCommentsAndNestedKeys) {
  const IniSections sections =
      ParseIni("# c\n[default]\nregion = eu-west-1 \r\ns3 =\n  region = no\n;x=y\n[profile a b]\nX=1=2\n");
  EXPECT_EQ(sections.at("default").at("region"), "eu-west-1");
  EXPECT_EQ(sections.at("profile a b").at("x"), "1=2");
  EXPECT_EQ(sections.at("default").count("x"), 0U);
  EXPECT_THAT(ParseIni("[\n]=\n="), testing::SizeIs(1));
}

TEST(AwsProfile, TakesCredentialsOfTheProfileOrOfTheEnvironment) {
  const std::string credentials = TempPath("credentials");
  const std::string config = TempPath("config");
  std::ofstream(credentials) << "[prod]\naws_access_key_id=AK\naws_secret_access_key=S\naws_session_token=T\n";
  std::ofstream(config) << "[profile prod]\nregion=eu-west-3\n[profile sso]\nsso_session=x\n";
  const Variable first("AWS_SHARED_CREDENTIALS_FILE", credentials);
  const Variable second("AWS_CONFIG_FILE", config);
  const Variable third("AWS_ACCESS_KEY_ID", "ENV");
  const Variable fourth("AWS_SECRET_ACCESS_KEY", "ENVS");
  const absl::StatusOr<AwsSettings> prod = ReadAwsSettings("prod");
  ASSERT_TRUE(prod.ok());
  EXPECT_EQ(Cat(prod->access_key_id, prod->secret, prod->session_token, prod->region), "AKSTeu-west-3");
  EXPECT_EQ(ReadAwsSettings("")->access_key_id, "ENV");
  EXPECT_THAT(MessageOf(ReadAwsSettings("none").status()), HasSubstr("no profile [none]"));
  EXPECT_THAT(MessageOf(ReadAwsSettings("sso").status()), HasSubstr("export-credentials --profile sso"));
}

TEST(Endpoint, KnowsTheCloudsHostsAndTheirStreams) {
  EXPECT_EQ(RegionOfHost("https://dynamodb.eu-west-1.amazonaws.com"), "eu-west-1");
  EXPECT_EQ(RegionOfHost("https://vpce-1.dynamodb.us-east-2.vpce.amazonaws.com"), "us-east-2");
  EXPECT_EQ(RegionOfHost("https://dynamodb.example.org"), "");
  const Variable first("AWS_ACCESS_KEY_ID", "AK");
  const Variable second("AWS_SECRET_ACCESS_KEY", "S");
  const Variable third("AWS_CONFIG_FILE", "/dev/null");
  const absl::StatusOr<Endpoint> cloud =
      ResolveEndpoint("source", {.place = "https://dynamodb.eu-west-1.amazonaws.com", .profile = "", .region = ""});
  ASSERT_TRUE(cloud.ok());
  EXPECT_EQ(cloud->streams.url, "https://streams.dynamodb.eu-west-1.amazonaws.com");
  EXPECT_EQ(cloud->key.region, "eu-west-1");
  const absl::StatusOr<Endpoint> own = ResolveEndpoint("target", {.place = "db:7700", .profile = "", .region = ""});
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->streams.url, "http://db:7700");
}

TEST(Endpoint, RefusesTheCloudWithoutCredentialsAndOddAddresses) {
  const Variable first("AWS_CONFIG_FILE", "/dev/null");
  const Variable second("AWS_SHARED_CREDENTIALS_FILE", "/dev/null");
  unsetenv("AWS_ACCESS_KEY_ID");
  const auto resolve = [](const std::string& place) {
    return MessageOf(ResolveEndpoint("source", {.place = place, .profile = "", .region = ""}).status());
  };
  EXPECT_THAT(resolve("https://dynamodb.eu-west-1.amazonaws.com"), HasSubstr("no credentials for the source"));
  for (const char* const url : {"ftp://a", "http://", "http://a/b", "http://u:p@h", "http://a?x=1", "http://a b"}) {
    EXPECT_THAT(resolve(url), HasSubstr("is not http://HOST")) << url;
  }
  EXPECT_EQ(resolve("http://[::1]:8000/"), "");
}

TEST(TableNames, RenamesWholeNamesBeforePrefixesAndBack) {
  const absl::StatusOr<TableNames> names = TableNames::Parse({"prod-b=other"}, {"prod-=dev-", "=x-"});
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(names->TargetOf("prod-a"), "dev-a");
  EXPECT_EQ(names->TargetOf("prod-b"), "other");
  EXPECT_EQ(names->TargetOf("c"), "x-c");
  const TableNames back = names->Reversed();
  EXPECT_EQ(back.TargetOf("dev-a"), "prod-a");
  EXPECT_EQ(back.TargetOf("other"), "prod-b");
  EXPECT_EQ(back.TargetOf("x-c"), "c");
  EXPECT_FALSE(TableNames::Parse({"a="}, {}).ok());
  EXPECT_FALSE(TableNames::Parse({"a"}, {}).ok());
  EXPECT_FALSE(TableNames::Parse({}, {"="}).ok());
}

TEST(TableNames, RefusesTwoTablesWithOneTarget) {
  const absl::StatusOr<TableNames> names = TableNames::Parse({"a=c", "b=c"}, {});
  EXPECT_THAT(MessageOf(names->PairsOf({"a", "b"}).status()), HasSubstr("would both become c"));
  EXPECT_THAT(*names->PairsOf({"a", "a"}), testing::SizeIs(1));
}

CopyState SomeState() {
  StreamState stream{.arn = "arn", .began_ms = 5, .listed_ms = 6, .shards = {}};
  stream.shards["s"] = {.after = "7", .parent = "p", .is_done = true, .clear_ms = 8};
  return {
      .from = "http://a",
      .to = "http://b",
      .hash = "",
      .tables = {{.source = "t",
                  .target = "u",
                  .phase = Phase::kFollow,
                  .items = 9,
                  .changes = 10,
                  .segments = {{.next = {{"id", {{"S", "x"}}}}, .is_done = false}, {.next = nullptr, .is_done = true}},
                  .stream = stream}}};
}

TEST(CopyState, SurvivesItsFile) {
  const std::string path = TempPath("state");
  std::remove(path.c_str());
  const CopyState state = SomeState();
  {
    absl::StatusOr<std::unique_ptr<StateKeeper>> keeper = StateKeeper::Open(path, state);
    ASSERT_TRUE(keeper.ok());
    EXPECT_FALSE((*keeper)->is_resumed());
    ASSERT_TRUE((*keeper)->Save().ok());
  }
  struct stat file = {};
  ASSERT_EQ(stat(path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777U, 0600U);
  absl::StatusOr<std::unique_ptr<StateKeeper>> again =
      StateKeeper::Open(path, {.from = "http://a", .to = "http://b", .hash = "", .tables = {}});
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE((*again)->is_resumed());
  CopyState read{.from = "http://a", .to = "http://b", .hash = "", .tables = {*(*again)->Table("t")}};
  EXPECT_EQ(ToWire(read), ToWire(state));
  (*again)->SetSegment("t", 0, {.next = nullptr, .is_done = true}, 3);
  EXPECT_EQ((*again)->items(), 12);
  (*again)->Remove();
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(CopyState, OfAnotherCopyIsRefused) {
  const std::string path = TempPath("other");
  std::ofstream(path) << WireText(ToWire(SomeState()));
  const auto open = [&path](const std::string& to, const std::string& hash) {
    return MessageOf(StateKeeper::Open(path, {.from = "http://a", .to = to, .hash = hash, .tables = {}}).status());
  };
  EXPECT_EQ(open("http://b", ""), "");
  EXPECT_THAT(open("http://c", ""), HasSubstr("from http://a to http://b"));
  EXPECT_THAT(open("http://b", "x"), HasSubstr("another --hash"));
  std::remove(path.c_str());
}

TEST(CopyState, ThatIsDamagedIsNone) {
  const Wire whole = ToWire(SomeState());
  EXPECT_TRUE(StateOf(whole).has_value());
  for (const char* const member : {"Version", "Tables"}) {
    Wire damaged = whole;
    damaged.erase(member);
    EXPECT_FALSE(StateOf(damaged).has_value()) << member;
  }
  for (const char* const member : {"Source", "Target", "Phase", "Segments"}) {
    Wire damaged = whole;
    damaged["Tables"][0].erase(member);
    EXPECT_FALSE(StateOf(damaged).has_value()) << member;
    damaged["Tables"][0][member] = 7;
    EXPECT_FALSE(StateOf(damaged).has_value()) << member;
  }
  Wire damaged = whole;
  damaged["Tables"][0]["Segments"][0] = Wire::object();
  EXPECT_FALSE(StateOf(damaged).has_value());
}

TEST(ValueHash, KeepsEqualityAndTypes) {
  const ValueHash hash("a key of 20 characters", {"s", "n", "b", "set", "deep"});
  const Wire item = *ParseWire(
      R"({"s":{"S":"x"},"n":{"N":"1.50"},"b":{"B":"eA=="},"set":{"NS":["1.5","2"]},
          "deep":{"M":{"a":{"L":[{"S":"x"},{"BOOL":true},{"NULL":true}]}}},"open":{"S":"x"}})");
  const Wire made = hash.Apply(item);
  EXPECT_THAT(made["s"]["S"].get<std::string>(), testing::SizeIs(32));
  EXPECT_EQ(made["deep"]["M"]["a"]["L"][0]["S"], made["s"]["S"]);
  EXPECT_EQ(made["deep"]["M"]["a"]["L"][1]["BOOL"], true);
  EXPECT_EQ(made["open"]["S"], "x");
  EXPECT_EQ(made["set"]["NS"][0], made["n"]["N"]);
  EXPECT_NE(made["set"]["NS"][1], made["n"]["N"]);
  EXPECT_THAT(made["n"]["N"].get<std::string>(), testing::SizeIs(36));
  EXPECT_THAT(made["b"]["B"].get<std::string>(), testing::SizeIs(24));
  EXPECT_EQ(hash.Apply(item), made);
  EXPECT_NE(ValueHash("a key of 20 character2", {"s"}).Apply(item)["s"], made["s"]);
  EXPECT_EQ(ValueHash().Apply(item), item);
}

TEST(ValueHash, HasACheckOfKeyAndAttributes) {
  const ValueHash hash("a key of 20 characters", {"s"});
  EXPECT_NE(hash.Check(), ValueHash("another key of 20 ch", {"s"}).Check());
  EXPECT_NE(hash.Check(), ValueHash("a key of 20 characters", {"t"}).Check());
  EXPECT_EQ(ValueHash().Check(), "");
}

TEST(ItemDigest, EqualItemsHaveEqualTexts) {
  const Wire one =
      *ParseWire(R"({"a":{"N":"1.50"},"b":{"SS":["y","x"]},"c":{"NS":["1","2.0"]},"NS":{"M":{"N":{"N":"01"}}}})");
  const Wire other =
      *ParseWire(R"({"NS":{"M":{"N":{"N":"1"}}},"c":{"NS":["2","1e0"]},"b":{"SS":["x","y"]},"a":{"N":"15e-1"}})");
  EXPECT_EQ(CanonicalText(one), CanonicalText(other));
  EXPECT_NE(CanonicalText(one), CanonicalText(*ParseWire(R"({"a":{"N":"1.5"}})")));
  EXPECT_NE(CanonicalText(*ParseWire(R"({"l":{"L":[{"N":"1"},{"N":"2"}]}})")),
            CanonicalText(*ParseWire(R"({"l":{"L":[{"N":"2"},{"N":"1"}]}})")));
  EXPECT_FALSE(KeyOf(one, {"a", "z"}).ok());
}

TEST(WireJson, RefusesWhatIsNoDocument) {
  EXPECT_TRUE(ParseWire(R"({"a":"}]\"{"})").ok());
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{"), std::string("{\"a\":1}x"),
        Cat(std::string(1'000'000, '['), std::string(1'000'000, ']')), std::string("{\"a\":\"\xff\"}")}) {
    EXPECT_FALSE(ParseWire(text).ok()) << text.substr(0, 10);
  }
  const Wire json = *ParseWire(R"({"n":1,"t":"x","r":1.5,"big":1e300})");
  EXPECT_EQ(NumberIn(json, "t"), 0);
  EXPECT_EQ(NumberIn(json, "big"), 0);
  EXPECT_EQ(TextIn(json, "n"), "");
  EXPECT_EQ(RealIn(json, "r"), 1.5);
  EXPECT_TRUE(ListIn(json, "n").empty());
  EXPECT_EQ(Find(Wire::array(), "n"), nullptr);
}

TEST(RateLimit, GivesEachAmountItsTime) {
  RateLimit limit(10);
  const absl::Time start = absl::FromUnixSeconds(100);
  EXPECT_EQ(limit.Take(20, start), absl::ZeroDuration());
  EXPECT_EQ(limit.Take(5, start + absl::Seconds(1)), absl::Seconds(1));
  EXPECT_EQ(limit.Take(1, start + absl::Seconds(60)), absl::ZeroDuration());  // nothing is saved up
  EXPECT_EQ(limit.Take(1, start + absl::Seconds(60)), absl::Milliseconds(100));
  EXPECT_EQ(RateLimit(0).Take(1e9, start), absl::ZeroDuration());
}

TEST(PageCycle, NoticesACircleOfAnyLength) {
  for (const int length : {1, 2, 3, 7, 100}) {
    PageCycle cycle;
    int steps = 0;
    while (!cycle.Repeats(Wire(steps < 5 ? -steps - 1 : steps % length)) && steps < 10'000) ++steps;
    EXPECT_LT(steps, 5 + 5 * length + 16) << length;
  }
  PageCycle straight;
  for (int i = 0; i < 100'000; ++i) ASSERT_FALSE(straight.Repeats(Wire(i)));
}

Wire Record(const char* event, const char* id, const char* value, const char* sequence) {
  Wire record = {{"eventName", event}, {"dynamodb", {{"Keys", {{"id", {{"S", id}}}}}, {"SequenceNumber", sequence}}}};
  if (value != nullptr) record["dynamodb"]["NewImage"] = {{"id", {{"S", id}}}, {"v", {{"S", value}}}};
  return record;
}

TEST(LastChanges, KeepsTheLastChangeOfEachKey) {
  const absl::StatusOr<std::vector<Change>> changes =
      LastChanges({Record("INSERT", "a", "1", "1"), Record("INSERT", "b", "1", "2"), Record("MODIFY", "a", "2", "3"),
                   Record("REMOVE", "b", nullptr, "4")});
  ASSERT_TRUE(changes.ok());
  ASSERT_EQ(changes->size(), 2U);
  EXPECT_EQ((*changes)[0].image["v"]["S"], "2");
  EXPECT_TRUE((*changes)[1].image.is_null());
  EXPECT_FALSE(LastChanges({Record("MODIFY", "a", nullptr, "1")}).ok());
  EXPECT_FALSE(LastChanges({Wire(7)}).ok());
}

Wire Shard(const char* id, const char* parent) { return {{"ShardId", id}, {"ParentShardId", parent}}; }

TEST(Shards, AreReadBehindTheirParents) {
  StreamState state{.arn = "a", .began_ms = 0, .listed_ms = 0, .shards = {}};
  state.shards["old"] = {.after = "", .parent = "", .is_done = true};
  state.shards["open"] = {.after = "5", .parent = "old", .is_done = false};
  const absl::Time now = absl::FromUnixSeconds(9);
  ASSERT_TRUE(
      MergeShards({Shard("old", ""), Shard("open", "old"), Shard("next", "open"), Shard("other", "open")}, now, &state)
          .ok());
  EXPECT_THAT(ReadableShards(state), ElementsAre("open"));
  state.shards["open"].is_done = true;
  EXPECT_THAT(ReadableShards(state), ElementsAre("next", "other"));
  // Shards that are listed no more are forgotten when nothing refers to them.
  ASSERT_TRUE(MergeShards({Shard("next", "open"), Shard("other", "open")}, now, &state).ok());
  ASSERT_TRUE(MergeShards({Shard("next", "open"), Shard("other", "open")}, now, &state).ok());
  EXPECT_EQ(state.shards.count("old"), 0U);
  EXPECT_EQ(state.shards.count("open"), 1U);
}

TEST(Shards, ThatAreGoneUnreadAreAnError) {
  StreamState state{.arn = "a", .began_ms = 0, .listed_ms = 0, .shards = {}};
  state.shards["open"] = {.after = "5", .parent = "", .is_done = false};
  const absl::Time now = absl::FromUnixSeconds(9);
  EXPECT_THAT(MessageOf(MergeShards({Shard("next", "open")}, now, &state)), HasSubstr("after the sequence number 5"));
  EXPECT_THAT(MessageOf(MergeShards({Shard("open", ""), Shard("late", "unseen")}, now, &state)), HasSubstr("unseen"));
}

TEST(ErrorOfAnswer, TellsWhichErrorsPass) {
  const auto error = [](int status, const char* body, bool* passes) { return ErrorOfAnswer({status, body}, passes); };
  bool passes = false;
  const absl::Status refused =
      error(400, R"({"__type":"com.amazonaws.dynamodb.v20120810#ValidationException","message":"no"})", &passes);
  EXPECT_EQ(client::ErrorName(refused), "ValidationException");
  EXPECT_EQ(MessageOf(refused), "no");
  EXPECT_FALSE(passes);
  EXPECT_EQ(client::ErrorName(error(400, R"({"__type":"ThrottlingException","Message":"slow"})", &passes)),
            "ThrottlingException");
  EXPECT_TRUE(passes);
  EXPECT_TRUE(absl::IsUnavailable(error(502, "<html>", &passes)));
  EXPECT_TRUE(passes);
  EXPECT_TRUE(absl::IsDataLoss(error(404, "<html>", &passes)));
  EXPECT_FALSE(passes);
}

}  // namespace
}  // namespace armature::cli::copy
