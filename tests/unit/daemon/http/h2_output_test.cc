#include "daemon/http/h2_output.h"

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace armature::daemon::h2_output_test {

std::string Bytes(size_t size, char first) {
  std::string made(size, ' ');
  for (size_t i = 0; i < size; ++i) made[i] = static_cast<char>(first + static_cast<char>(i % 50));
  return made;
}

// The begin of the output, as far as `count` pieces reach.
std::string Gathered(const H2Output& output, size_t count) {
  std::array<std::string_view, 64> pieces;
  std::string bytes;
  const size_t gathered = output.Gather({pieces.data(), count});
  for (const std::string_view piece : std::span(pieces).first(gathered)) {
    EXPECT_FALSE(piece.empty());
    bytes += piece;
  }
  return bytes;
}

TEST(H2Output, IsAsAPlainString) {
  std::mt19937 random(7);
  const auto upto = [&](size_t most) { return std::uniform_int_distribution<size_t>(0, most)(random); };
  for (int round = 0; round < 30; ++round) {
    H2Output output;
    std::string expected;
    const size_t largest = std::array<size_t, 3>{20, 3000, 10000}[upto(2)];
    for (int step = 0; step < 1000; ++step) {
      const std::string bytes = Bytes(upto(largest), static_cast<char>('!' + upto(40)));
      if (upto(1) == 0) {
        output.Copy(bytes);
        expected += bytes;
      } else {
        const auto message = std::make_shared<const OutMessage>(OutMessage{.head = {}, .bytes = bytes});
        const std::string_view part = std::string_view(message->bytes).substr(upto(bytes.size()));
        output.Refer(message, part);
        expected += part;
      }
      const size_t read = upto(std::min(expected.size(), 2 * largest));
      output.Advance(read);
      expected.erase(0, read);
      ASSERT_EQ(output.size(), expected.size());
      const std::string gathered = Gathered(output, 1 + upto(63));
      ASSERT_EQ(gathered, expected.substr(0, gathered.size()));
      ASSERT_EQ(gathered.empty(), expected.empty());
    }
    output.Advance(expected.size());
    EXPECT_EQ(output.size(), 0);
    EXPECT_EQ(Gathered(output, 64), "");
  }
}

TEST(H2Output, RefersToLongTextsAndCopiesShortOnes) {
  H2Output output;
  const auto message = std::make_shared<const OutMessage>(OutMessage{.head = {}, .bytes = Bytes(100'000, 'a')});
  const auto tiny = std::make_shared<const OutMessage>(OutMessage{.head = {}, .bytes = Bytes(10, 'b')});
  output.Copy("head");
  output.Refer(message, message->bytes);
  output.Refer(tiny, tiny->bytes);
  EXPECT_EQ(tiny.use_count(), 1);
  std::array<std::string_view, 4> pieces;
  ASSERT_EQ(output.Gather(pieces), 3);
  EXPECT_EQ(pieces[1].data(), message->bytes.data());
  output.Advance(4 + 99'999);
  EXPECT_EQ(message.use_count(), 2);
  output.Advance(1);
  EXPECT_EQ(message.use_count(), 1);
  EXPECT_EQ(Gathered(output, 4), tiny->bytes);
}

// A client that reads steadily, but never all that there is.
TEST(H2Output, ForgetsWhatIsReadThoughSomeIsAlwaysLeft) {
  H2Output copies;
  H2Output both;
  copies.Copy(Bytes(1000, 'a'));
  both.Copy("a");
  for (int i = 0; i < 20'000; ++i) {
    copies.Copy(Bytes(1000, 'a'));
    copies.Advance(1000);
    const auto message = std::make_shared<const OutMessage>(OutMessage{.head = {}, .bytes = Bytes(4000, 'a')});
    both.Copy("123456789");
    both.Refer(message, message->bytes);
    both.Advance(4009);
  }
  EXPECT_LT(copies.copied_bytes(), 32 << 10);
  EXPECT_LT(both.copied_bytes(), 32 << 10);
}

TEST(H2Output, AnEmptyOneKeepsLittleMemory) {
  H2Output output;
  output.Copy(Bytes(1 << 20, 'a'));
  output.Advance(1 << 20);
  EXPECT_LE(output.copied_bytes(), 4 << 10);
  output.Copy({});
  EXPECT_EQ(Gathered(output, 4), "");
}

}  // namespace armature::daemon::h2_output_test
