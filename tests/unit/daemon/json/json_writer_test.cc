#include "daemon/message_json/json_writer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace armature::daemon::json_writer_test {

std::string Quoted(std::string_view text) {
  JsonWriter writer;
  writer.String(text);
  return writer.Take();
}

// The expected result, computed by character.
std::string QuotedPlainly(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    constexpr std::string_view kShort = "\b\t\n\f\r\"\\";
    const size_t at = kShort.find(c);
    if (at != std::string_view::npos) {
      quoted += {'\\', "btnfr\"\\"[at]};
    } else if (byte < 0x20) {
      quoted += {'\\', 'u', '0', '0', kDigits[byte / 16], kDigits[byte % 16]};
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "\"";
}

TEST(JsonWriter, CommasAndColonsComeByThemselves) {
  JsonWriter writer;
  writer.BeginObject().Member("a", "x").Key("b").Integer(1).Key("c").BeginArray();
  writer.BeginObject().EndObject().BeginArray().EndArray().Boolean(true).Boolean(false).EndArray();
  writer.Key("d")
      .BeginObject()
      .EndObject()
      .Key("e")
      .Open(R"({"S":)")
      .String("t")
      .EndObject()
      .Member("f", "")
      .EndObject();
  EXPECT_EQ(writer.Take(), R"({"a":"x","b":1,"c":[{},[],true,false],"d":{},"e":{"S":"t"},"f":""})");
  EXPECT_EQ(writer.Take(), "") << "and it starts anew";
  writer.BeginArray().EndArray();
  EXPECT_EQ(writer.Take(), "[]");
}

TEST(JsonWriter, EachCharacterIsEscapedWhereverItStands) {
  for (int c = 0; c < 256; ++c) {
    for (size_t size = 1; size < 20; ++size) {
      for (size_t at = 0; at < size; ++at) {
        std::string text(size, 'x');
        text[at] = static_cast<char>(c);
        ASSERT_EQ(Quoted(text), QuotedPlainly(text)) << c << " at " << at << " of " << size;
      }
    }
  }
  const std::string controls(1000, '\x01');
  EXPECT_EQ(Quoted(controls), QuotedPlainly(controls));
  EXPECT_EQ(Quoted(""), "\"\"");
}

TEST(JsonWriter, KeysAreEscapedToo) {
  JsonWriter writer;
  writer.BeginObject().Key("a\"\n").Integer(1).EndObject();
  EXPECT_EQ(writer.Take(), R"({"a\"\n":1})");
}

TEST(JsonWriter, NumbersArePlain) {
  JsonWriter writer;
  writer.BeginArray().Integer(std::numeric_limits<int64_t>::min()).Integer(std::numeric_limits<int64_t>::max());
  writer.Double(0).Double(0.5).Double(6).Double(128.5).Double(1e21).Double(-1.25);
  writer.Timestamp(1'700'000'000'123).Timestamp(1'000).Timestamp(7).Timestamp(-1'001).Timestamp(0);
  writer.Timestamp(std::numeric_limits<int64_t>::min()).EndArray();
  EXPECT_EQ(writer.Take(),
            "[-9223372036854775808,9223372036854775807,0.0,0.5,6.0,128.5,1000000000000000000000.0,-1.25,"
            "1700000000.123,1.000,0.007,-1.001,0.000,-9223372036854775.808]");
}

TEST(JsonWriter, ForgetsWhatWasCleared) {
  JsonWriter writer;
  writer.BeginArray().Integer(1);
  writer.Clear();
  EXPECT_EQ(writer.size(), 0u);
  writer.BeginArray().Integer(2).EndArray();
  EXPECT_EQ(writer.Take(), "[2]");
}

TEST(JsonWriter, TakesWhatDoesNotFitAtOnce) {
  const std::string large(3 << 20, 'x');
  JsonWriter writer;
  writer.BeginArray().String(large).Base64(large).EndArray();
  const std::string text = writer.Take();
  EXPECT_EQ(text.size(), large.size() + large.size() / 3 * 4 + 7);
  EXPECT_EQ(text.substr(2, large.size()), large);
}

// Lends a number of bytes.
class Lender final : public MemoryLender {
 public:
  explicit Lender(size_t bytes) : left_(bytes) {}
  bool TryTake(const MemoryClient&, size_t bytes) override {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  void Take(const MemoryClient&, size_t bytes) override { left_ -= bytes; }
  void Return(const MemoryClient&, size_t bytes) override { left_ += bytes; }
  size_t left() const { return left_; }

 private:
  size_t left_;
};

TEST(JsonWriter, TakesTheMemoryOfItsDocument) {
  constexpr size_t kBytes = 1 << 20;
  Lender lender(kBytes);
  {
    JsonWriter writer{HeldMemory({&lender})};
    writer.BeginArray();
    for (int i = 0; i < 900; ++i) {
      writer.String(std::string(1000, 'x'));
      EXPECT_LE(writer.size(), kBytes - lender.left() + HeldMemory::kFreeBytes);
    }
    writer.EndArray();
    EXPECT_FALSE(writer.is_refused());
    const std::string document = writer.Take();
    EXPECT_EQ(document.size(), 900 * 1003 + 1);
    const HeldMemory memory = writer.TakeMemory();
    EXPECT_EQ(memory.counted(), document.capacity());
    EXPECT_EQ(lender.left(), kBytes - document.capacity());
  }
  EXPECT_EQ(lender.left(), kBytes);
}

TEST(JsonWriter, DropsADocumentWithoutMemory) {
  constexpr size_t kBytes = 1 << 20;
  Lender lender(kBytes);
  JsonWriter writer{HeldMemory({&lender})};
  writer.BeginArray();
  for (int i = 0; i < 10'000; ++i) {
    writer.String(std::string(1000, i % 2 == 0 ? 'x' : '\x01'));
    writer.Base64(std::string(1000, 'x'));
    ASSERT_LE(writer.size(), kBytes);
  }
  writer.EndArray();
  EXPECT_TRUE(writer.is_refused());
  EXPECT_EQ(writer.Take(), "");
  EXPECT_EQ(lender.left(), kBytes);
}

TEST(JsonWriter, ADocumentThatIsNeededIsCountedInAnyCase) {
  Lender lender(64 << 10);
  lender.Take({}, 60 << 10);
  JsonWriter writer(HeldMemory({&lender}), 0, /*may_refuse=*/false);
  writer.String(std::string(50'000, 'x'));
  EXPECT_FALSE(writer.is_refused());
  EXPECT_EQ(writer.Take().size(), 50'002);
}

}  // namespace armature::daemon::json_writer_test
