#ifndef ARMATURE_TESTS_UNIT_STORAGE_CODEC_RANDOM_ITEM_H_
#define ARMATURE_TESTS_UNIT_STORAGE_CODEC_RANDOM_ITEM_H_

// Random items of all types, as they come from clients.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/random.h"
#include "tests/unit/storage/codec/codec_test_util.h"
#include "tests/unit/storage/model/naive_decimal.h"

namespace armature::codec {

// Makes one random value twice, in two different encodings with the same meaning.
class TwinMaker {
 public:
  using Twins = std::pair<std::string, std::string>;

  explicit TwinMaker(uint64_t seed) : random_(seed) {}

  Twins Item(int depth) {
    const auto [first, second] = Entries(depth);
    return {codec::Item(first), codec::Item(second)};
  }

 private:
  std::string Text() {
    constexpr std::string_view kPieces[] = {"a",          "b",  "A",  " ",  "\xC3\xA9", "\xF0\x9F\x98\x80",
                                            "long piece", "\"", "\\", "\n", "\x1F",     "\x7F"};
    std::string text;
    for (size_t i = random_.Below(random_.OneIn(10) ? 30 : 4); i > 0; --i) text += random_.Pick(kPieces);
    if (random_.OneIn(20)) text.push_back('\0');
    return text;
  }

  // Two texts of one number.
  Twins NumberTexts() {
    const model::RandomNumber number = model::MakeRandomNumber(random_.rng());
    return {number.text, number.value.Plain()};
  }

  std::pair<Attributes, Attributes> Entries(int depth) {
    std::pair<Attributes, Attributes> entries;
    std::set<std::string> names;
    for (size_t i = random_.Below(6); i > 0; --i) names.insert("n" + Text());
    for (const std::string& name : names) {
      const Twins value = Value(depth - 1);
      entries.first.emplace_back(name, value.first);
      entries.second.emplace_back(name, value.second);
    }
    random_.Shuffle(&entries.first);
    random_.Shuffle(&entries.second);
    return entries;
  }

  template <class Make>
  Twins Set(Make make, bool numbers) {
    std::set<std::string> seen;
    std::vector<std::string> first;
    std::vector<std::string> second;
    for (size_t i = 1 + random_.Below(5); i > 0; --i) {
      const Twins element = numbers ? NumberTexts() : Twins{Text(), ""};
      if (!seen.insert(numbers ? element.second : element.first).second) continue;
      first.push_back(element.first);
      second.push_back(numbers ? element.second : element.first);
    }
    random_.Shuffle(&first);
    random_.Shuffle(&second);
    return {make(first), make(second)};
  }

  Twins Same(std::string value) { return {value, value}; }

  Twins Value(int depth) {
    switch (random_.Below(depth > 0 ? 10 : 8)) {
      case 0:
        return Same(S(Text()));
      case 1: {
        const Twins texts = NumberTexts();
        return {N(texts.first), N(texts.second)};
      }
      case 2:
        return Same(B(Text() + "\xFF"));
      case 3:
        return random_.OneIn(2) ? Twins{Bool(1), Bool(77)} : Same(Bool(0));
      case 4:
        return {Null(1), Null(300)};
      case 5:
        return Set(Ss, false);
      case 6:
        return Set(Ns, true);
      case 7:
        return Set(Bs, false);
      case 8: {
        std::vector<std::string> first;
        std::vector<std::string> second;
        for (size_t i = random_.Below(5); i > 0; --i) {
          const Twins value = Value(depth - 1);
          first.push_back(value.first);
          second.push_back(value.second);
        }
        return {L(first), L(second)};
      }
      default: {
        const auto [first, second] = Entries(depth);
        return {M(first), M(second)};
      }
    }
  }

  test::Random random_;
};

}  // namespace armature::codec

#endif  // ARMATURE_TESTS_UNIT_STORAGE_CODEC_RANDOM_ITEM_H_
