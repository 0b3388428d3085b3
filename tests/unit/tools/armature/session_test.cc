#include "tools/armature/session.h"

#include <sstream>

#include <gtest/gtest.h>

namespace armature::cli::session_test {

TEST(ErrorLine, NamesTheSource) {
  EXPECT_EQ(ErrorLine(UsageError("wrong"), ""), "armature: wrong");
  const absl::Status placed = WithSource(UsageError("wrong"), "a.sql:3", "LINE 1: x\n        ^\n");
  EXPECT_EQ(ErrorLine(placed, ""), "armature: a.sql:3: wrong");
  EXPECT_EQ(ErrorDetail(placed), "LINE 1: x\n        ^\n");
  EXPECT_EQ(ExitCodeOf(placed), ExitCode::kUsageError);
  EXPECT_EQ(ErrorLine(WithSource(absl::UnavailableError("gone"), "a.sql:3", ""), "host:1"),
            "armature: a.sql:3: no answer from host:1: gone");
}

TEST(ErrorLine, HasNoControlCharacters) {
  EXPECT_EQ(ErrorLine(UsageError("no \x1b[2J\nlines"), ""), "armature: no \\x1b[2J lines");
  EXPECT_EQ(ErrorLine(UsageError("wrong \x1b[2J\n  {\"a\": x}\n       ^"), ""),
            "armature: wrong \\x1b[2J\n  {\"a\": x}\n       ^");
  EXPECT_EQ(ErrorLine(WithSource(UsageError("wrong"), "a\x1b.sql:3", ""), ""), "armature: a\\x1b.sql:3: wrong");
}

TEST(ErrorLine, TheFirstSourceStays) {
  const absl::Status inner = WithSource(UsageError("wrong"), "inner.sql:1", "");
  const absl::Status outer = WithSource(inner, "outer.sql:2", "detail\n");
  EXPECT_EQ(ErrorLine(outer, ""), "armature: inner.sql:1: wrong");
  EXPECT_EQ(ErrorDetail(outer), "detail\n");
  EXPECT_TRUE(WithSource(absl::OkStatus(), "a", "b").ok());
}

TEST(ErrorLine, ReportedErrorsAreNotPrintedAgain) {
  const absl::Status reported = Reported(InputError("wrong"));
  EXPECT_EQ(ErrorLine(reported, ""), "");
  EXPECT_EQ(ExitCodeOf(reported), ExitCode::kInputError);
  EXPECT_TRUE(Reported(absl::OkStatus()).ok());
}

// The end of the answers at one question does not end the next one.
TEST(Session, AsksAgainAfterTheEndOfTheAnswers) {
  std::ostringstream out;
  std::istringstream answers;
  const Session session({}, out, out, /*is_progress_live=*/false, &answers);
  EXPECT_FALSE(session.Confirm("First").ok());
  answers.str("y\n");
  EXPECT_TRUE(session.Confirm("Second").ok());
}

}  // namespace armature::cli::session_test
