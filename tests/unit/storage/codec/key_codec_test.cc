#include "storage/codec/key_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "storage/codec/item_codec.h"
#include "tests/support/rounds.h"
#include "tests/unit/storage/codec/codec_test_util.h"
#include "tests/unit/storage/model/naive_decimal.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::codec::key_codec_test {

using model::ScalarType;

struct GoldenScalar {
  ScalarType type;
  std::string scalar;
};

// "S:6162" or "N:37".
GoldenScalar ParseScalar(std::string_view text) {
  const ScalarType type = text[0] == 'S'   ? ScalarType::kString
                          : text[0] == 'N' ? ScalarType::kNumber
                                           : ScalarType::kBinary;
  return {type, FromHex(text.substr(2))};
}

TEST(KeyCodec, MatchesTheGoldenVectors) {
  for (const auto& vector : ReadGolden("key.golden", 3)) {
    std::string bytes;
    const std::vector<std::string> scalars = Cut(vector[0], " ");
    for (const std::string& text : scalars) {
      const GoldenScalar scalar = ParseScalar(text);
      EXPECT_TRUE(AppendKeyComponent(scalar.type, scalar.scalar, &bytes));
    }
    EXPECT_EQ(ToHex(bytes), vector[1]) << vector[0];
    std::string_view in = bytes;
    for (const std::string& text : scalars) {
      const absl::StatusOr<DecodedComponent> component = TakeKeyComponent(&in);
      ASSERT_TRUE(component.ok()) << component.status();
      EXPECT_EQ(component->type, ParseScalar(text).type);
      EXPECT_EQ(component->scalar, ParseScalar(text).scalar);
    }
    EXPECT_TRUE(in.empty());
  }
}

TEST(KeyCodec, PrefixesMatchTheGoldenVectors) {
  for (const auto& vector : ReadGolden("key_prefix.golden", 3)) {
    const GoldenScalar prefix = ParseScalar(vector[0]);
    std::string begin;
    EXPECT_TRUE(AppendKeyComponentPrefix(prefix.type, prefix.scalar, &begin));
    EXPECT_EQ(ToHex(begin), vector[1]) << vector[0];
    EXPECT_EQ(ToHex(PrefixSuccessor(begin)), vector[2]) << vector[0];
  }
}

TEST(KeyCodec, PrefixSuccessorIsTheNextStringWithoutThePrefix) {
  EXPECT_EQ(PrefixSuccessor("a"), "b");
  EXPECT_EQ(PrefixSuccessor("a\xFF"), "b");
  EXPECT_EQ(PrefixSuccessor("a\xFF"
                            "b"),
            "a\xFF"
            "c");
  EXPECT_EQ(PrefixSuccessor("\xFE\xFF\xFF"), "\xFF");
  EXPECT_EQ(PrefixSuccessor("\xFF\xFF"), "");
  EXPECT_EQ(PrefixSuccessor(""), "");
}

TEST(KeyCodec, RefusesMalformedComponents) {
  const struct {
    const char* hex;
    const char* message;
  } kCases[] = {
      {"", "key component: expected a type code, found the end"},
      {"00", "key component: unknown type code 0"},
      {"ff6100", "key component: unknown type code 255"},
      {"2282", "key component: expected a canonical number"},
      {"30", "key component: expected an escaped body and its end 00 01"},
      {"3061", "key component: expected an escaped body and its end 00 01"},
      {"306100", "key component: expected an escaped body and its end 00 01"},
      {"30610002", "key component: expected an escaped body and its end 00 01"},
      {"306100ff", "key component: expected an escaped body and its end 00 01"},
  };
  for (const auto& c : kCases) {
    const std::string bytes = FromHex(c.hex);
    std::string_view in = bytes;
    const absl::StatusOr<DecodedComponent> component = TakeKeyComponent(&in);
    ASSERT_FALSE(component.ok()) << c.hex;
    EXPECT_EQ(component.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(component.status().message(), c.message);
  }
}

TEST(KeyCodec, DamagedComponentsAreRefusedOrCanonical) {
  std::string valid;
  EXPECT_TRUE(AppendKeyComponent(ScalarType::kString, std::string_view("a\0b", 3), &valid));
  EXPECT_TRUE(AppendKeyComponent(ScalarType::kNumber, "-12.5", &valid));
  EXPECT_TRUE(AppendKeyComponent(ScalarType::kBinary, std::string_view("\0\xFF\x01", 3), &valid));
  ForEachDamage(valid, [](std::string_view damaged) {
    std::string_view in = damaged;
    std::string again;
    while (!in.empty()) {
      const absl::StatusOr<DecodedComponent> component = TakeKeyComponent(&in);
      if (!component.ok()) return;
      EXPECT_TRUE(AppendKeyComponent(component->type, component->scalar, &again));
    }
    ASSERT_EQ(ToHex(again), ToHex(damaged));
  });
}

TEST(KeyCodec, TableKeyIsHashPartitionSort) {
  const model::KeySchema schema = {.partition = {{"pk", ScalarType::kString}}, .sort = {{"sk", ScalarType::kNumber}}};
  const std::string bytes = CanonicalizeItem(Item({{"sk", N("7")}, {"pk", S("a")}, {"x", S("?")}}))->bytes;
  EXPECT_EQ(ToHex(*EncodeTableKey(schema, model::ItemView(bytes))),
            "b3b91bbd"
            "30610001"
            "22828c");

  const std::string no_sort = Item({{"pk", S("a")}});
  EXPECT_FALSE(EncodeTableKey(schema, model::ItemView(no_sort)));
  const std::string wrong_type = Item({{"pk", S("a")}, {"sk", S("7")}});
  EXPECT_FALSE(EncodeTableKey(schema, model::ItemView(wrong_type)));
  const std::string no_partition = Item({{"sk", N("7")}});
  EXPECT_FALSE(EncodeTableKey(schema, model::ItemView(no_partition)));
}

TEST(KeyCodec, ATableKeyIsDecodedToItsAttributes) {
  const model::KeySchema schema = {.partition = {{"z", ScalarType::kString}, {"b", ScalarType::kBinary}},
                                   .sort = {{"sk", ScalarType::kNumber}}};
  const std::string item =
      CanonicalizeItem(Item({{"z", S(std::string("a\0b", 3))}, {"b", B("\xff")}, {"sk", N("-7.5")}}))->bytes;
  const std::string key = *EncodeTableKey(schema, model::ItemView(item));
  EXPECT_EQ(*DecodeTableKey(schema, key), item);
  ForEachDamage(key, [&](std::string_view damaged) { static_cast<void>(DecodeTableKey(schema, damaged)); });
  const model::KeySchema other = {.partition = schema.partition, .sort = {{"sk", ScalarType::kString}}};
  EXPECT_TRUE(absl::IsDataLoss(DecodeTableKey(other, key).status()));
  EXPECT_TRUE(absl::IsDataLoss(DecodeTableKey(schema, key.substr(0, 3)).status()));
  EXPECT_TRUE(absl::IsDataLoss(DecodeTableKey(schema, key.substr(0, key.size() - 1)).status()));
}

TEST(KeyCodec, ComponentsOfAnItemAreAllOrNothing) {
  const std::vector<model::KeyAttribute> attributes = {{"a", ScalarType::kString}, {"b", ScalarType::kBinary}};
  const std::string whole = Item({{"a", S("1")}, {"b", B("2")}});
  std::string out = "x";
  EXPECT_TRUE(AppendKeyComponents(attributes, model::ItemView(whole), &out));
  EXPECT_EQ(ToHex(out),
            "78"
            "30310001"
            "38320001");

  const std::string half = Item({{"a", S("1")}});
  out = "x";
  EXPECT_FALSE(AppendKeyComponents(attributes, model::ItemView(half), &out));
  EXPECT_EQ(out, "x");

  // A damaged number.
  const std::string damaged = Item({{"a", N("1x")}});
  EXPECT_FALSE(AppendKeyComponents({{"a", ScalarType::kNumber}}, model::ItemView(damaged), &out));
  EXPECT_EQ(out, "x");
}

// ---- Properties of random tuples

struct RandomComponent {
  ScalarType type = ScalarType::kString;
  std::string scalar;
  model::NaiveDecimal number;
};
using Tuple = std::vector<RandomComponent>;

// The expected order: numbers before strings before binaries, then by value.
int CompareByMeaning(const RandomComponent& a, const RandomComponent& b) {
  const auto rank = [](ScalarType type) { return type == ScalarType::kNumber ? 0 : static_cast<int>(type); };
  if (a.type != b.type) return rank(a.type) - rank(b.type);
  if (a.type == ScalarType::kNumber) return model::NaiveDecimal::Compare(a.number, b.number);
  return a.scalar.compare(b.scalar);
}

int CompareByMeaning(const Tuple& a, const Tuple& b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (const int order = CompareByMeaning(a[i], b[i]); order != 0) return order;
  }
  return static_cast<int>(a.size()) - static_cast<int>(b.size());
}

RandomComponent MakeRandomComponent(std::mt19937_64& rng) {
  const auto below = [&rng](int n) { return std::uniform_int_distribution<int>(0, n - 1)(rng); };
  RandomComponent component;
  component.type = static_cast<ScalarType>(1 + below(3));
  if (component.type == ScalarType::kNumber) {
    component.number = model::MakeRandomNumber(rng).value;
    component.scalar = component.number.Plain();
    return component;
  }
  // Mostly bytes next to the escape and the end code. Values are short, so that they often share prefixes.
  constexpr char kBytes[] = {'\0', '\x01', '\x02', 'a', 'b', '\xFE', '\xFF'};
  const int size = below(10) == 0 ? below(300) : below(6);
  for (int i = 0; i < size; ++i) component.scalar.push_back(kBytes[below(sizeof(kBytes))]);
  return component;
}

std::string Encode(const Tuple& tuple) {
  std::string bytes;
  for (const RandomComponent& component : tuple) {
    EXPECT_TRUE(AppendKeyComponent(component.type, component.scalar, &bytes));
  }
  return bytes;
}

Tuple MakeRandomTuple(std::mt19937_64& rng, const Tuple& before) {
  const auto below = [&rng](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(rng); };
  Tuple tuple;
  // Often a prefix of the previous tuple, so that later components decide the order.
  if (below(3) != 0) tuple.assign(before.begin(), before.begin() + static_cast<ptrdiff_t>(below(before.size() + 1)));
  const size_t size = std::max<size_t>(1 + below(4), tuple.size());
  while (tuple.size() < size) tuple.push_back(MakeRandomComponent(rng));
  return tuple;
}

TEST(KeyCodec, BytesOfTuplesOrderAsTheirMeaning) {
  std::mt19937_64 rng(PrintedTestSeed());
  Tuple before = {MakeRandomComponent(rng)};
  std::string before_bytes = Encode(before);
  int equal = 0;
  for (int i = 0; i < test::Rounds(100'000); ++i) {
    Tuple tuple = MakeRandomTuple(rng, before);
    const std::string bytes = Encode(tuple);
    const int order = CompareByMeaning(before, tuple);
    ASSERT_EQ(order <=> 0, before_bytes.compare(bytes) <=> 0) << ToHex(before_bytes) << " " << ToHex(bytes);
    equal += order == 0 ? 1 : 0;

    std::string_view in = bytes;
    for (const RandomComponent& component : tuple) {
      const absl::StatusOr<DecodedComponent> decoded = TakeKeyComponent(&in);
      ASSERT_TRUE(decoded.ok()) << decoded.status();
      ASSERT_EQ(decoded->type, component.type);
      ASSERT_EQ(decoded->scalar, component.scalar);
    }
    ASSERT_TRUE(in.empty());
    before = std::move(tuple);
    before_bytes = bytes;
  }
  EXPECT_GT(equal, 10);
}

TEST(KeyCodec, PrefixRangeHoldsExactlyWhatBeginsWithThePrefix) {
  std::mt19937_64 rng(PrintedTestSeed());
  int inside = 0;
  for (int i = 0; i < test::Rounds(100'000); ++i) {
    const RandomComponent value = MakeRandomComponent(rng);
    const RandomComponent prefix = MakeRandomComponent(rng);
    if (prefix.type == ScalarType::kNumber) continue;
    std::string begin;
    EXPECT_TRUE(AppendKeyComponentPrefix(prefix.type, prefix.scalar, &begin));
    const std::string end = PrefixSuccessor(begin);
    const std::string key = Encode({value});
    const bool in_range = begin <= key && key < end;
    const bool begins = value.type == prefix.type && value.scalar.starts_with(prefix.scalar);
    ASSERT_EQ(in_range, begins) << ToHex(begin) << " " << ToHex(key);
    inside += begins ? 1 : 0;
  }
  EXPECT_GT(inside, 100);
}

TEST(KeyCodec, RefusesTextsThatAreNoNumbersAndPrefixesOfNumbers) {
  std::string out;
  EXPECT_FALSE(AppendKeyComponent(ScalarType::kNumber, "dog", &out));
  EXPECT_FALSE(AppendKeyComponentPrefix(ScalarType::kNumber, "1", &out));
}

}  // namespace armature::codec::key_codec_test
