#include "tools/armature/command.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "armature/api/v1/tables.pb.h"

namespace armature::cli::command_test {

TEST(ShorthandTest, ReadsPairsAndJson) {
  EXPECT_EQ(CompactJson(*ParseShorthand("AttributeName=1,AttributeType=S", Scalars::kTexts)),
            R"({"AttributeName":"1","AttributeType":"S"})");
  EXPECT_EQ(CompactJson(*ParseShorthand("ReadCapacityUnits=1,X=true", Scalars::kTyped)),
            R"({"ReadCapacityUnits":1,"X":true})");
  EXPECT_EQ(CompactJson(*ParseShorthandList({"A=1", R"([{"A":"2"},{"A":"3"}])", R"({"A":"4"})"})),
            R"([{"A":"1"},{"A":"2"},{"A":"3"},{"A":"4"}])");
  for (const std::string text : {"", "A", "=1", "A=1,", "A=1,A=2"}) {
    EXPECT_FALSE(ParseShorthand(text, Scalars::kTexts).ok()) << text;
  }
}

// The request that `arguments` make with some options of each kind.
absl::StatusOr<api::v1::CreateTableRequest> Built(std::vector<std::string> arguments) {
  CLI::App app;
  const RequestOptions options(app, *api::v1::CreateTableRequest::descriptor(),
                               {{"--table-name", "", Presence::kRequired},
                                {"--key-schema", ""},
                                {"--global-secondary-indexes", ""},
                                {"--provisioned-throughput", ""},
                                {"--deletion-protection-enabled", ""}});
  app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  return options.Build<api::v1::CreateTableRequest>();
}

TEST(RequestOptionsTest, ListsMayBeRepeatedFollowEachOtherOrBeJson) {
  const std::string first = "AttributeName=a,KeyType=HASH";
  const std::string second = "AttributeName=b,KeyType=RANGE";
  const std::string json = R"([{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"b","KeyType":"RANGE"}])";
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--table-name", "T", "--key-schema", first, second},
                                             {"--key-schema", first, second, "--table-name", "T"},
                                             {"--key-schema", first, "--key-schema", second, "--table-name", "T"},
                                             {"--table-name", "T", "--key-schema", json}}) {
    const auto request = Built(arguments);
    ASSERT_TRUE(request.ok()) << request.status();
    ASSERT_EQ(request->key_schema_size(), 2);
    EXPECT_EQ(request->key_schema(1).attribute_name(), "b");
  }
}

TEST(RequestOptionsTest, JsonArraysReachTheReaderWhole) {
  const auto request = Built({"--table-name", "T", "--global-secondary-indexes",
                              R"([{"IndexName":"I"},{"IndexName":"J"}])", "--provisioned-throughput",
                              "ReadCapacityUnits=3,WriteCapacityUnits=4", "--no-deletion-protection-enabled"});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->global_secondary_indexes_size(), 2);
  EXPECT_EQ(request->provisioned_throughput().write_capacity_units(), 4);
  EXPECT_TRUE(request->has_deletion_protection_enabled());
  EXPECT_FALSE(request->deletion_protection_enabled());
}

TEST(RequestOptionsTest, OptionsPrevailOverTheInput) {
  const auto request =
      Built({"--cli-input-json", R"({"TableName":"A","BillingMode":"PROVISIONED"})", "--table-name", "B"});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->table_name(), "B");
  EXPECT_EQ(request->billing_mode(), api::v1::BILLING_MODE_PROVISIONED);
}

TEST(RequestOptionsTest, WrongUseIsAUsageError) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"--table-name", "T", "--key-schema", "nonsense"},
                                             {"--table-name", "T", "--global-secondary-indexes", "{"},
                                             {"--cli-input-json", "[]"},
                                             {"--cli-input-json", R"({"TableName":1})"}}) {
    const auto request = Built(arguments);
    ASSERT_FALSE(request.ok());
    EXPECT_EQ(ExitCodeOf(request.status()), ExitCode::kUsageError) << request.status();
  }
}

}  // namespace armature::cli::command_test
