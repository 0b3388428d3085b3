#include "tools/armature/pager.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace armature::cli::pager_test {

class PagerTest : public testing::Test {
 protected:
  // A pager that writes into a file.
  PagerOptions IntoFile(size_t rows) const { return {.command = "cat >" + Path(), .rows = rows, .columns = 80}; }
  std::string Path() const { return directory_.path() + "/paged"; }
  std::string Paged() const {
    std::ifstream file(Path());
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  test::TempDir directory_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(PagerTest, AnOutputThatFitsIsPrinted) {
  {
    Pager pager(IntoFile(4), out_, err_);
    pager.out() << "1\n2\n3\n";
    EXPECT_EQ(out_.str(), "") << "it may become longer";
  }
  EXPECT_EQ(out_.str(), "1\n2\n3\n");
  EXPECT_EQ(Paged(), "");
}

TEST_F(PagerTest, ALongerOneIsPaged) {
  Pager pager(IntoFile(3), out_, err_);
  pager.out() << "1\n2\n" << '3' << "\n4\n5";
  pager.err() << "said\n";
  EXPECT_EQ(err_.str(), "") << "the screen is the pager's";
  pager.Finish();
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(Paged(), "1\n2\n3\n4\n5");
  EXPECT_EQ(err_.str(), "said\n");
  EXPECT_FALSE(pager.was_quit());
}

TEST_F(PagerTest, LinesLongerThanTheScreenAreSeveral) {
  Pager pager(IntoFile(3), out_, err_);
  pager.out() << std::string(81, 'x') << "\n" << std::string(80, 'y') << "\n";
  pager.Finish();
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(Paged().size(), 163U);
}

TEST_F(PagerTest, WhatIsSaidStandsBehindTheOutput) {
  Pager pager(IntoFile(9), out_, err_);
  pager.err() << "first\n";
  EXPECT_EQ(err_.str(), "first\n");
  pager.out() << "1\n";
  pager.err() << "second\n";
  EXPECT_EQ(err_.str(), "first\n");
  pager.Finish();
  EXPECT_EQ(out_.str(), "1\n");
  EXPECT_EQ(err_.str(), "first\nsecond\n");
}

TEST_F(PagerTest, APagerThatQuitsEndsTheOutput) {
  Pager pager({.command = "head -n 1 >" + Path(), .rows = 2, .columns = 80}, out_, err_);
  // More than a pipe holds, so that the end of the pager is seen.
  for (int i = 0; i < 100'000 && pager.out().good(); ++i) pager.out() << "line\n";
  EXPECT_FALSE(pager.out().good());
  EXPECT_TRUE(pager.was_quit());
  pager.Finish();
  EXPECT_EQ(Paged(), "line\n");
  EXPECT_EQ(out_.str(), "");
}

TEST_F(PagerTest, WithoutAPagerEverythingIsPrintedAtOnce) {
  for (const PagerOptions& none :
       {PagerOptions{.command = "", .rows = 2}, PagerOptions{.command = "less", .rows = 0}}) {
    std::ostringstream out;
    Pager pager(none, out, err_);
    pager.out() << "1\n2\n3\n";
    EXPECT_EQ(out.str(), "1\n2\n3\n");
  }
}

// Counts flushes.
class FlushedBuffer final : public std::stringbuf {
 public:
  int flushes = 0;

 protected:
  int sync() override {
    ++flushes;
    return 0;
  }
};

TEST_F(PagerTest, AFlushReachesTheOutput) {
  FlushedBuffer buffer;
  std::ostream out(&buffer);
  Pager pager({}, out, err_);
  pager.out() << "a change" << std::flush;
  EXPECT_EQ(buffer.flushes, 1);
}

TEST_F(PagerTest, AStreamThatFailsIsSeen) {
  std::ofstream full("/dev/full");
  Pager pager({}, full, err_);
  pager.out() << "short" << std::flush;
  EXPECT_FALSE(pager.out().good());
  EXPECT_FALSE(pager.was_quit());
}

TEST(PagerCommand, IsThatOfTheUser) {
  setenv("TERM", "xterm", 1);
  unsetenv("ARMATURE_PAGER");
  for (const char* none : {"", "cat", "no-such-pager-here", "/no/such/pager -x"}) {
    setenv("PAGER", none, 1);
    EXPECT_EQ(PagerCommand(), "") << none;
  }
  setenv("PAGER", "sh -x", 1);
  EXPECT_EQ(PagerCommand(), "sh -x");
  setenv("PAGER", "LESS=-R sh", 1);
  EXPECT_EQ(PagerCommand(), "LESS=-R sh");
  setenv("ARMATURE_PAGER", "/bin/sh", 1);
  EXPECT_EQ(PagerCommand(), "/bin/sh");
  setenv("TERM", "dumb", 1);
  EXPECT_EQ(PagerCommand(), "");
  unsetenv("ARMATURE_PAGER");
  unsetenv("PAGER");
}

}  // namespace armature::cli::pager_test
