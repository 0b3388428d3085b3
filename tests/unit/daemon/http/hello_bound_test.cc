#include "daemon/http/hello_bound.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/support/h2_client.h"

namespace armature::daemon::hello_bound_test {

std::string Record(uint32_t type, std::string_view payload) {
  return BigEndian(type, 1) + "\x03\x01" + BigEndian(static_cast<uint32_t>(payload.size()), 2) + std::string(payload);
}
std::string Message(uint32_t type, uint32_t announced, std::string_view body) {
  return BigEndian(type, 1) + BigEndian(announced, 3) + std::string(body);
}
std::string Hello(size_t bytes) { return Message(1, static_cast<uint32_t>(bytes), std::string(bytes, '\x01')); }

// The number of bytes that are admitted, each by itself.
size_t Admitted(std::string_view bytes) {
  HelloBound bound;
  size_t admitted = 0;
  while (admitted < bytes.size() && bound.Admits(bytes.substr(admitted, 1))) ++admitted;
  HelloBound at_once;
  EXPECT_EQ(at_once.Admits(bytes), admitted == bytes.size());
  EXPECT_EQ(at_once.has_passed(), bound.has_passed());
  return admitted;
}

TEST(HelloBound, ALargeHelloIsRefusedWhenItsSizeIsThere) {
  EXPECT_EQ(Admitted(Record(22, Message(1, 131'000, "begin"))), 8);
  EXPECT_EQ(Admitted(Record(22, Message(1, HelloBound::kBytesMax + 1, "begin"))), 8);
  const std::string largest = Record(22, Message(1, HelloBound::kBytesMax, "begin"));
  EXPECT_EQ(Admitted(largest), largest.size());
}

TEST(HelloBound, ARecordMustNotHideTheSize) {
  EXPECT_EQ(Admitted(Record(22, "\x01")), 5);
  EXPECT_EQ(Admitted(Record(22, "")), 4);
  EXPECT_EQ(Admitted(Record(22, Hello(0))), 9);
}

// Also if a part of the hello looks like another one.
TEST(HelloBound, AHelloInSeveralRecords) {
  const std::string hello = Hello(3000);
  const std::string bytes = Record(22, hello.substr(0, 10)) + Record(22, hello.substr(10, 2000)) +
                            Record(22, hello.substr(2010, 1)) + Record(22, hello.substr(2011));
  EXPECT_EQ(Admitted(bytes), bytes.size());
  HelloBound bound;
  EXPECT_TRUE(bound.Admits(bytes.substr(0, bytes.size() - 1)));
  EXPECT_FALSE(bound.has_passed());
  EXPECT_TRUE(bound.Admits(bytes.substr(bytes.size() - 1)));
  EXPECT_TRUE(bound.has_passed());
}

// As after a HelloRetryRequest, behind a record that only intermediate boxes want.
TEST(HelloBound, ASecondHelloIsBoundedLikeTheFirst) {
  const std::string first = Record(22, Hello(300)) + Record(20, "\x01");
  const std::string honest = first + Record(22, Hello(400)) + Record(23, "encrypted");
  EXPECT_EQ(Admitted(honest), honest.size());
  EXPECT_EQ(Admitted(first + Record(22, Message(1, 131'000, "begin"))), first.size() + 8);
}

TEST(HelloBound, OtherRecordsAreNoConcern) {
  const std::string bytes =
      Record(23, Message(1, 131'000, "x")) + Record(21, "\x01\x5a") + Record(22, Message(11, 131'000, "a certificate"));
  EXPECT_EQ(Admitted(bytes), bytes.size());
}

}  // namespace armature::daemon::hello_bound_test
