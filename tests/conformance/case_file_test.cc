#include "tests/conformance/case_file.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace armature::conformance::case_file_test {

constexpr char kFile[] = R"(# What the file is about.
## setup
CreateTable {"TableName": "T"}

## case: two steps
pending: UpdateItem
PutItem {"TableName": "T",
  "Item": {"a": {"S": "<<x*3>>"}}}
GetItem {"TableName": "T"}
=> {"Item": {}}

## case: an error
only: grpc, http
GetItem {"TableName": ""}
=> SomeException: what: it says
with {"Item": {}}
)";

std::string ErrorOf(std::string_view text) { return std::string(ParseCaseFile("f.txt", text).status().message()); }

TEST(CaseFile, HoldsSetupAndCasesWithTheirLines) {
  const absl::StatusOr<CaseFile> file = ParseCaseFile("f.txt", kFile);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->setup.size(), 1U);
  EXPECT_EQ(file->setup[0].operation, "CreateTable");
  ASSERT_EQ(file->cases.size(), 2U);
  const Case& first = file->cases[0];
  EXPECT_EQ(first.name, "two steps");
  EXPECT_EQ(first.line, 5);
  EXPECT_EQ(first.pending, "UpdateItem");
  ASSERT_EQ(first.steps.size(), 2U);
  EXPECT_EQ(first.steps[0].line, 7);
  EXPECT_EQ(first.steps[0].request["Item"]["a"]["S"], "xxx");
  EXPECT_EQ(first.steps[0].expectation.kind, Expectation::Kind::kSuccess);
  EXPECT_EQ(first.steps[1].expectation.kind, Expectation::Kind::kExact);
}

TEST(CaseFile, ReadsErrorsInThreeForms) {
  const absl::StatusOr<CaseFile> file = ParseCaseFile("f.txt", kFile);
  ASSERT_TRUE(file.ok()) << file.status();
  const Expectation& exact = file->cases[1].steps[0].expectation;
  EXPECT_EQ(exact.kind, Expectation::Kind::kError);
  EXPECT_EQ(exact.error_type, "SomeException");
  EXPECT_EQ(exact.text, "what: it says");
  EXPECT_TRUE(exact.error_members.contains("Item"));
  EXPECT_THAT(file->cases[1].only, testing::ElementsAre("grpc", "http"));

  const auto part =
      ParseCaseFile("f.txt", "## case: a\nScan {}\n=> SomeException ~ part\n## case: b\nScan {}\n=> Other");
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_TRUE(part->cases[0].steps[0].expectation.text_is_part);
  EXPECT_EQ(part->cases[0].steps[0].expectation.text, "part");
  EXPECT_FALSE(part->cases[1].steps[0].expectation.text.has_value());
}

TEST(CaseFile, MarksAboveTheHeadingsHoldForAllCases) {
  const auto file = ParseCaseFile("f.txt", "pending: all\n## case: a\nScan {}\n## case: b\npending: b\nScan {}\n");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->cases[0].pending, "all");
  EXPECT_EQ(file->cases[1].pending, "b");
}

TEST(CaseFile, ErrorsNameFileAndLine) {
  EXPECT_THAT(ErrorOf("## case: a\nScan {\n"), testing::StartsWith("f.txt:2: not valid JSON"));
  EXPECT_EQ(ErrorOf("## case: a\n=> {}\n"), "f.txt:2: an expectation without a request");
  EXPECT_EQ(ErrorOf("## case: a\nScan {}\n=> {}\n=> {}\n"), "f.txt:4: the request has an expectation already");
  EXPECT_EQ(ErrorOf("## case: a\n\n## case: b\nScan {}\n"), "f.txt:1: the case has no request");
  EXPECT_EQ(ErrorOf("## case: a\nScan {}\n## case: a\nScan {}\n"), "f.txt:3: another case has this name");
  EXPECT_EQ(ErrorOf("## case: a\nonly: soap\nScan {}\n"), "f.txt:2: no such backend: soap");
  EXPECT_THAT(ErrorOf("Scan {}\n"), testing::StartsWith("f.txt:1: a request stands"));
  EXPECT_THAT(ErrorOf("## chapter\n"), testing::StartsWith("f.txt:1: a heading is"));
  EXPECT_THAT(ErrorOf("## case: a\nscan {}\n"), testing::StartsWith("f.txt:2: neither"));
  EXPECT_THAT(ErrorOf("## case: a\nScan {}\n=> text\n"), testing::StartsWith("f.txt:3: what is expected"));
}

TEST(CaseFile, RepeatsExpand) {
  EXPECT_EQ(*ExpandRepeats("a<<bc*2>>d<<*3>>"), "abcbcd");
  EXPECT_EQ(*ExpandRepeats("<<1..3| OR |a = :v$>>"), "a = :v1 OR a = :v2 OR a = :v3");
  EXPECT_EQ(*ExpandRepeats("1 << 2"), "1 << 2");
  EXPECT_FALSE(ExpandRepeats("<<abc>>").ok());
}

}  // namespace armature::conformance::case_file_test
