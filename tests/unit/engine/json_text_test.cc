#include "engine/transfer/json_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace armature::engine::json_text_test {

TEST(JsonText, KeepsTheOrderOfMembers) {
  JsonText object;
  object.Add("z", "text");
  object.Add("a", int64_t{-9'007'199'254'740'993});
  object.AddOrNull("m", "");
  object.AddOrNull("n", "x");
  EXPECT_EQ(object.Take(), R"({"z":"text","a":-9007199254740993,"m":null,"n":"x"})");
  EXPECT_EQ(JsonText().Take(), "{}");
}

TEST(JsonText, EscapesWhatJsonRequires) {
  EXPECT_EQ(JsonText::Quoted("say \"\\\"\n\t\x01/"), R"("say \"\\\"\u000a\u0009\u0001/")");
  EXPECT_EQ(JsonText::Quoted("grün"), "\"grün\"");
}

TEST(JsonText, ShowsTextThatIsNotUtf8WithQuestionMarks) {
  EXPECT_EQ(JsonText::Quoted("a\xC3"
                             "b\xFF\""),
            R"("a?b?\"")");
  EXPECT_EQ(JsonText::Quoted("ü\xC3"), R"("???")") << "a text is shown in one way";
}

}  // namespace armature::engine::json_text_test
