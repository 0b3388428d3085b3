#include "tests/unit/engine/random_values.h"

#include <algorithm>

#include "tests/unit/storage/model/naive_decimal.h"

namespace armature::engine {
namespace {

constexpr size_t kNumbers = 40;

const std::vector<std::string>& Strings() {
  static const std::vector<std::string> kStrings = {"a", "ab", "abc", "b", "\xc3\xa4", "ab0", "B", "~", "a\x01", "aa"};
  return kStrings;
}

const std::vector<std::string>& Binaries() {
  static const std::vector<std::string> kBinaries = {
      std::string("\x00", 1),     std::string("\xff", 1), std::string("\x00\x00", 2), std::string("\x00\xff", 2),
      std::string("\xff\xff", 2), std::string("\x01", 1), std::string("\x00\x01", 2), std::string("\xff\x00\x01", 3)};
  return kBinaries;
}

}  // namespace

RandomValues::RandomValues(uint64_t seed) : Random(seed) {
  while (numbers_.size() < kNumbers) {
    const model::RandomNumber number = model::MakeRandomNumber(rng());
    const std::string plain = number.value.Plain();
    if (!texts_.contains(plain)) numbers_.push_back(plain);
    texts_[plain].insert({plain, number.text});
  }
}

Scalar RandomValues::Value(char type, size_t of) {
  const std::vector<std::string>& all = type == 'N' ? numbers_ : type == 'S' ? Strings() : Binaries();
  return {type, all[Below(std::min(of, all.size()))]};
}

Scalar RandomValues::LongValue(char type) {
  const Scalar first = Value(type, kNumbers);
  if (type == 'N') return first;
  return {type, first.text + Value(type, kNumbers).text};
}

Scalar RandomValues::Unfit(char type) {
  if (type == 'N' || OneIn(2)) {
    std::vector<char> others = {'S', 'N', 'B'};
    std::erase(others, type);
    return Value(Pick(others), kNumbers);
  }
  if (OneIn(2)) return {type, ""};
  return {type, std::string((OneIn(2) ? 1024 : 2048) + 1 + Below(100), 'u')};
}

std::string RandomValues::Written(const ModelItem& item) {
  codec::Attributes attributes;
  for (const auto& [name, value] : item) {
    Scalar written = value;
    const auto forms = texts_.find(value.text);
    if (value.type == 'N' && forms != texts_.end()) {
      written.text = Pick(forms->second);
    }
    attributes.emplace_back(name, written.Wire());
  }
  Shuffle(&attributes);
  return codec::Item(attributes);
}

}  // namespace armature::engine
