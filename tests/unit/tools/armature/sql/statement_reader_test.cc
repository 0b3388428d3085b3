#include "tools/armature/sql/statement_reader.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/strings.h"

namespace armature::cli::statement_reader_test {

using testing::ElementsAre;
using testing::IsEmpty;

// The pieces of a text as "LINE:TEXT"; the buffer that is left as "LINE~TEXT".
std::vector<std::string> Pieces(std::string_view text) {
  StatementReader reader;
  std::vector<std::string> pieces;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    reader.AddLine(text.substr(begin, end - begin));
    begin = end + 1;
    while (const auto piece = reader.Next()) pieces.push_back(Cat(piece->line, ":", piece->text));
  }
  if (const auto rest = reader.TakeBuffer()) pieces.push_back(Cat(rest->line, "~", rest->text));
  EXPECT_EQ(reader.buffer(), "");
  return pieces;
}

TEST(StatementReader, StatementsEndAtSemicolons) {
  EXPECT_THAT(Pieces(""), IsEmpty());
  EXPECT_THAT(Pieces(" ;\n; "), IsEmpty());
  EXPECT_THAT(Pieces("SELECT * FROM a"), ElementsAre("1~SELECT * FROM a"));
  EXPECT_THAT(Pieces("SELECT * FROM a;\n\n  DELETE FROM b\n WHERE p = 1 ; x"),
              ElementsAre("1:SELECT * FROM a", "3:DELETE FROM b\n WHERE p = 1", "4~x"));
}

TEST(StatementReader, TextsNamesAndCommentsEndNothing) {
  EXPECT_THAT(Pieces("SELECT * FROM \"a;b\" WHERE p = 'x;''y;' ; SELECT 1;"),
              ElementsAre("1:SELECT * FROM \"a;b\" WHERE p = 'x;''y;'", "1:SELECT 1"));
  EXPECT_THAT(Pieces("-- first; line\nSELECT * -- all; of it\nFROM a;\n-- end"),
              ElementsAre("2:SELECT * -- all; of it\nFROM a"));
  EXPECT_THAT(Pieces("/* a; */ SELECT /* ; \n ' */ 1;"), ElementsAre("1:SELECT /* ; \n ' */ 1"));
  EXPECT_THAT(Pieces("SELECT '--' FROM a; b"), ElementsAre("1:SELECT '--' FROM a", "1~b"));
  EXPECT_THAT(Pieces("SELECT 'no end; of it"), ElementsAre("1~SELECT 'no end; of it"));
  EXPECT_THAT(Pieces("SELECT 'a\\b';"), ElementsAre("1:SELECT 'a\\b'"));
}

TEST(StatementReader, CommandsEndWithTheirLineAndKeepTheBuffer) {
  EXPECT_THAT(Pieces("\\d  Orders \n\\x"), ElementsAre("1:\\d  Orders", "2:\\x"));
  EXPECT_THAT(Pieces("SELECT 1\n\\timing on\nFROM a;"), ElementsAre("2:\\timing on", "1:SELECT 1\n\nFROM a"));
  EXPECT_THAT(Pieces("SELECT 1 \\watch 2"), ElementsAre("1:\\watch 2", "1~SELECT 1"));
}

TEST(StatementReader, HelpQuitAndExitNeedNoSemicolon) {
  EXPECT_THAT(Pieces("help\nHELP;\nquit\nexit ;"), ElementsAre("1:\\?", "2:\\?", "3:\\q", "4:\\q"));
  EXPECT_THAT(Pieces("SELECT *\nquit\nFROM a;"), ElementsAre("1:SELECT *\nquit\nFROM a"));
  EXPECT_THAT(Pieces("SELECT 1; quit"), ElementsAre("1:SELECT 1", "1:\\q"));
}

TEST(StatementReader, KnowsWhatIsOpen) {
  StatementReader reader;
  reader.AddLine("SELECT 'a");
  EXPECT_EQ(reader.open_quote(), '\'');
  reader.AddLine("b' FROM \"x");
  EXPECT_EQ(reader.open_quote(), '"');
  reader.AddLine("\" /* y");
  EXPECT_EQ(reader.open_quote(), '*');
  reader.Clear();
  EXPECT_EQ(reader.open_quote(), 0);
  EXPECT_EQ(reader.buffer(), "");
  reader.AddLine("/* open");
  EXPECT_EQ(reader.open_quote(), '*');
  EXPECT_FALSE(reader.TakeBuffer().has_value());
  EXPECT_EQ(reader.open_quote(), 0);
}

}  // namespace armature::cli::statement_reader_test
