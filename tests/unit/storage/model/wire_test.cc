#include "storage/model/wire.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace armature::model::wire_test {

using std::string_literals::operator""s;

TEST(Wire, VarintsComeBack) {
  for (int shift = 0; shift < 64; ++shift) {
    for (const int64_t delta : {-1, 0, 1}) {
      const uint64_t value = (uint64_t{1} << shift) + static_cast<uint64_t>(delta);
      std::string bytes;
      AppendVarint(value, &bytes);
      EXPECT_EQ(bytes.size(), VarintSize(value));
      bytes += "rest";
      std::string_view in = bytes;
      uint64_t read = 0;
      ASSERT_TRUE(TakeVarint(&in, &read));
      EXPECT_EQ(read, value);
      EXPECT_EQ(in, "rest");
    }
  }
}

TEST(Wire, RefusesVarintsThatDoNotEnd) {
  const std::string kBad[] = {"",
                              "\x80",
                              std::string(9, '\xFF'),
                              std::string(10, '\xFF'),
                              std::string(9, '\xFF') + "\x02",
                              std::string(11, '\x80')};
  for (const std::string& bytes : kBad) {
    std::string_view in = bytes;
    uint64_t value = 0;
    EXPECT_FALSE(TakeVarint(&in, &value)) << bytes.size();
  }
  const std::string most = std::string(9, '\xFF') + "\x01";
  std::string_view in = most;
  uint64_t value = 0;
  EXPECT_TRUE(TakeVarint(&in, &value));
  EXPECT_EQ(value, std::numeric_limits<uint64_t>::max());
}

TEST(Wire, ReadsFieldsOfEachType) {
  std::string message = "\x08\x96\x01"s;     // 1: varint 150
  AppendBytesField(2, "text", &message);     // 2: bytes
  message += "\x1D\x01\x02\x03\x04"s;        // 3: fixed32
  message += "\x21"s + std::string(8, 'x');  // 4: fixed64
  std::string_view in = message;
  WireField field;
  ASSERT_TRUE(TakeField(&in, &field));
  EXPECT_EQ(field.number, 1u);
  EXPECT_EQ(field.varint, 150u);
  EXPECT_EQ(field.raw, "\x08\x96\x01"s);
  ASSERT_TRUE(TakeField(&in, &field));
  EXPECT_EQ(field.number, 2u);
  EXPECT_EQ(field.bytes, "text");
  EXPECT_EQ(field.raw.size(), BytesFieldSize(4));
  ASSERT_TRUE(TakeField(&in, &field));
  EXPECT_EQ(field.type, WireType::kFixed32);
  ASSERT_TRUE(TakeField(&in, &field));
  EXPECT_EQ(field.type, WireType::kFixed64);
  EXPECT_EQ(field.bytes.size(), 8u);
  EXPECT_TRUE(in.empty());
  EXPECT_FALSE(TakeField(&in, &field));
}

TEST(Wire, RefusesMalformedFields) {
  const std::string kBad[] = {
      "\x00"s,                                          // field 0
      "\x0B"s,                                          // group
      "\x0C"s,                                          // end of group
      "\x0E"s,                                          // wire type 6
      "\x0A"s,                                          // no length
      "\x0A\x02x"s,                                     // too short
      "\x0D\x01\x02\x03"s,                              // fixed32 cut
      "\x09\x01\x02\x03"s,                              // fixed64 cut
      "\x08\x80"s,                                      // varint cut
      "\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"s,  // length 2^64 - 1
      "\x80\x80\x80\x80\x10\x00"s,                      // field number beyond 2^29
  };
  for (const std::string& bytes : kBad) {
    std::string_view in = bytes;
    WireField field;
    EXPECT_FALSE(TakeField(&in, &field)) << static_cast<int>(bytes[0]);
  }
}

}  // namespace armature::model::wire_test
