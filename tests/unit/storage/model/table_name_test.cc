#include "storage/model/table_name.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "tests/unit/storage/model/table_definition_cases.h"

namespace armature::model::table_name_test {

constexpr std::string_view kPattern = "satisfy regular expression pattern: [a-zA-Z0-9_.-]+";

struct ReferenceCase {
  std::string text;
  std::string message;  // empty: valid
};

void ExpectAnswers(const std::vector<ReferenceCase>& cases) {
  for (const ReferenceCase& c : cases) {
    SCOPED_TRACE(c.text);
    const absl::Status status = CheckTableReference(c.text);
    EXPECT_EQ(status.ok(), c.message.empty()) << status;
    if (c.message.empty()) continue;
    const std::optional<ApiError> error = GetApiError(status);
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->type, ApiErrorType::kValidation);
    EXPECT_EQ(error->message, c.message);
  }
}

TEST(TableReference, NamesKeepTheSharedRules) {
  const std::string long_name(256, 'x');
  std::string wide;  // 200 characters, 400 bytes
  for (int i = 0; i < 200; ++i) wide += "ä";
  const std::string pattern(kPattern);
  ExpectAnswers({
      {"abc", ""},
      {"ab", One("'ab'", "tableName", "have length greater than or equal to 3")},
      {"A-z_0.9", ""},
      {std::string(255, 'x'), ""},
      {"", One("''", "tableName", "have length greater than or equal to 1")},
      {long_name, One(Cat("'", long_name, "'"), "tableName", "have length less than or equal to 255")},
      {"a b", One("'a b'", "tableName", pattern)},
      {"arm:x", One("'arm:x'", "tableName", pattern)},
      {wide, One(Cat("'", wide, "'"), "tableName", pattern)},
      {long_name + "!", Cat("2 validation errors detected: ",
                            Violation(Cat("'", long_name, "!'"), "tableName", "have length less than or equal to 255"),
                            "; ", Violation(Cat("'", long_name, "!'"), "tableName", pattern))},
  });
}

TEST(TableReference, TextsQuoteTheBeginningOfWhatIsTooLong) {
  const std::string name(8 << 20, '!');
  for (const std::string& each : {name, "arn:" + name}) {
    const absl::Status refused = CheckTableReference(each);
    EXPECT_FALSE(refused.ok());
    EXPECT_LT(refused.message().size(), 3 * kPrintedMaxBytes) << each.substr(0, 10);
    EXPECT_NE(Sv(refused.message()).find("!!!...'"), std::string_view::npos);
  }
}

TEST(TableReference, ArnsTellTheirFirstBadPart) {
  const auto invalid = [](std::string_view what, const std::string& arn) {
    return ReferenceCase{arn, OneViolation(Cat("Invalid ", what, " in '", arn, "'"))};
  };
  const std::string longest = Cat("arn:aws:dynamodb:", std::string(1024 - 41, 'r'), ":000000000000:table/abcd");
  ASSERT_EQ(longest.size(), 1024u);
  ExpectAnswers({
      {"arn:aws:dynamodb:local:000000000000:table/Cats", ""},
      {Cat(kTableArnPrefix, std::string(255, 'x')), ""},
      invalid("AWS region", longest),
      invalid("AWS region", "arn:aws:dynamodb:eu-west-1:000000000000:table/Cats"),
      invalid("AWS partition", "arn:aws-cn:dynamodb:cn-north-1:000000000000:table/Cats"),
      {longest + "x", One(Cat("'", longest, "x'"), "tableName", "have length less than or equal to 1024")},
      invalid("AWS partition", "arn:"),
      invalid("AWS partition", "arn::dynamodb:local:000000000000:table/Cats"),
      invalid("AWS service", "arn:aws"),
      invalid("AWS service", "arn:aws:s3:::bucket"),
      invalid("AWS region", "arn:aws:dynamodb"),
      invalid("AWS region", "arn:aws:dynamodb::000000000000:table/Cats"),
      invalid("AWS region", "arn:aws:dynamodb:Lo cal:000000000000:table/Cats"),
      invalid("AWS account", "arn:aws:dynamodb:local:00000000000:table/Cats"),
      invalid("AWS account", "arn:aws:dynamodb:local:00000000000x:table/Cats"),
      invalid("resource type", "arn:aws:dynamodb:local:000000000000"),
      invalid("resource type", "arn:aws:dynamodb:local:000000000000:Cats"),
      invalid("resource type", "arn:aws:dynamodb:local:000000000000:backup/Cats"),
      invalid("resource type", "arn:aws:dynamodb:local:000000000000:table/Cats/index/ByAge"),
      invalid("resource type", "arn:aws:dynamodb:local:000000000000:table/Cats/"),
      invalid("table name", "arn:aws:dynamodb:local:000000000000:table/"),
      invalid("table name", "arn:aws:dynamodb:local:000000000000:table/Cats:x"),
      invalid("table name", Cat(kTableArnPrefix, std::string(256, 'x'))),
      invalid("table name", Cat(kTableArnPrefix, "ab")),
  });
}

TEST(TableReference, AnArnOfAnotherAccountIsDenied) {
  for (const ForeignRegion region : {ForeignRegion::kRefused, ForeignRegion::kIgnored}) {
    const std::optional<ApiError> error =
        GetApiError(CheckTableReference("arn:aws:dynamodb:local:123456789012:table/Cats", region));
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->type, ApiErrorType::kAccessDenied);
    EXPECT_EQ(error->message, "Access is denied");
  }
}

TEST(TableReference, SomeOperationsTakeNoNoticeOfTheRegion) {
  constexpr ForeignRegion kIgnored = ForeignRegion::kIgnored;
  EXPECT_TRUE(CheckTableReference("arn:aws:dynamodb:eu-west-1:000000000000:table/Cats", kIgnored).ok());
  EXPECT_TRUE(CheckTableReference("arn:aws-cn:dynamodb:cn-north-1:000000000000:table/Cats", kIgnored).ok());
  EXPECT_FALSE(CheckTableReference("arn:aws:dynamodb:eu-west-1:000000000000:table/Cats/index/ByAge", kIgnored).ok());
}

TEST(IsTableArn, HoldsForTablesOfAllRegionsAndAccounts) {
  EXPECT_TRUE(IsTableArn("arn:aws-cn:dynamodb:cn-north-1:123456789012:table/Cats"));
  EXPECT_FALSE(IsTableArn("Cats"));
  EXPECT_FALSE(IsTableArn("arn:aws:s3:local:000000000000:table/Cats"));
  EXPECT_FALSE(IsTableArn("arn:aws:dynamodb:local:000000000000:table/Cats/index/ByAge"));
  EXPECT_FALSE(IsTableArn("arn:aws:dynamodb:local:000000000000:table/ab"));
}

TEST(TableNamePart, IsTheNameInWhateverNamesTheTable) {
  EXPECT_EQ(TableNamePart("Cats"), "Cats");
  EXPECT_EQ(TableNamePart(""), "");
  EXPECT_EQ(TableNamePart(TableArn("Cats")), "Cats");
  EXPECT_EQ(TableNamePart("arn:aws:dynamodb:eu-west-1:123456789012:table/Cats"), "Cats");
  EXPECT_EQ(TableNamePart(TableArn("Cats") + "/index/ByAge"), "Cats");
  EXPECT_EQ(TableNamePart(TableArn("Cats") + "/stream/2015-05-11T21:21:33.291"), "Cats");
  EXPECT_EQ(TableNamePart("arn:aws"), "arn:aws");
  EXPECT_EQ(TableNamePart("arn:aws:dynamodb:local:000000000000:backup/Cats"),
            "arn:aws:dynamodb:local:000000000000:backup/Cats");
}

TEST(LocalTableName, IsEmptyForArnsOfOthers) {
  EXPECT_EQ(LocalTableName("Cats"), "Cats");
  EXPECT_EQ(LocalTableName(TableArn("Cats")), "Cats");
  EXPECT_EQ(LocalTableName("arn:aws:dynamodb:eu-west-1:000000000000:table/Cats"), "");
  EXPECT_EQ(LocalTableName("arn:aws:dynamodb:local:123456789012:table/Cats"), "");
}

}  // namespace armature::model::table_name_test
