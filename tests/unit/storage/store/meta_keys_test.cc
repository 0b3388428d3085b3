#include "storage/store/meta_keys.h"

#include <gtest/gtest.h>

namespace armature::store::meta_keys_test {

using std::string_literals::operator""s;

TEST(MetaKeys, HaveTheBytesOfTheFormat) {
  EXPECT_EQ(TableKey(TableId(258)), "table/\0\0\1\2"s);
  EXPECT_EQ(CursorKey(TableId(1), IndexId(2)), "cursor/\0\0\0\1\0\0\0\2"s);
  EXPECT_EQ(StatsKey("t7"), "stats/t7");
  EXPECT_EQ(LogKey(TableId(1), ChangeSequence(258)), "\0\0\0\1\0\0\0\0\0\0\1\2"s);
}

TEST(MetaKeys, FamiliesAreNamedByIds) {
  EXPECT_EQ(DataFamilyName(TableId(7)), "t7");
  EXPECT_EQ(LocalIndexFamilyName(TableId(7), IndexId(8)), "l7.8");
  EXPECT_EQ(GlobalIndexFamilyName(TableId(7), IndexId(9)), "g7.9");
  EXPECT_EQ(CollectionFamilyName(TableId(7)), "c7");
}

TEST(MetaKeys, AFamilyTellsItsTable) {
  for (const std::string& family : {DataFamilyName(TableId(7)), LocalIndexFamilyName(TableId(7), IndexId(8)),
                                    GlobalIndexFamilyName(TableId(7), IndexId(9)), CollectionFamilyName(TableId(7))}) {
    EXPECT_EQ(TableOfFamily(family), TableId(7)) << family;
  }
  for (const std::string_view family : {kMetaFamily, kLogFamily, kStreamFamily, kExpiryFamily}) {
    EXPECT_FALSE(TableOfFamily(family).has_value()) << family;
  }
  for (const char* const other : {"", "t", "tx", "t7x", "t99999999999", "default"}) {
    EXPECT_FALSE(TableOfFamily(other).has_value()) << other;
  }
}

TEST(MetaKeys, SequenceOfALogKeyIsReadBack) {
  EXPECT_EQ(SequenceOfLogKey(LogKey(TableId(3), ChangeSequence(1ull << 40))), ChangeSequence(1ull << 40));
  EXPECT_FALSE(SequenceOfLogKey("short").has_value());
  EXPECT_FALSE(SequenceOfLogKey(LogKey(TableId(3), ChangeSequence(1)) + "x").has_value());
}

TEST(MetaKeys, IntegersRoundTripAndRefuseOtherSizes) {
  EXPECT_EQ(ParseU32(EncodeU32(0xFFFFFFFF)), 0xFFFFFFFF);
  EXPECT_EQ(ParseU64(EncodeU64(0x0102030405060708)), 0x0102030405060708u);
  EXPECT_FALSE(ParseU32("abc").has_value());
  EXPECT_FALSE(ParseU64("abcdefghi").has_value());
}

}  // namespace armature::store::meta_keys_test
