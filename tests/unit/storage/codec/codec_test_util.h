#ifndef ARMATURE_TESTS_UNIT_STORAGE_CODEC_CODEC_TEST_UTIL_H_
#define ARMATURE_TESTS_UNIT_STORAGE_CODEC_CODEC_TEST_UTIL_H_

// Hex texts, golden files, and short builders of AttributeValues on the wire.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/strings.h"
#include "storage/model/item_view.h"
#include "storage/model/wire.h"
#include "tests/support/test_data.h"

namespace armature::codec {

inline std::string ToHex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    hex.push_back(kDigits[static_cast<uint8_t>(c) >> 4]);
    hex.push_back(kDigits[static_cast<uint8_t>(c) & 15]);
  }
  return hex;
}

inline std::string FromHex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1])));
  }
  return bytes;
}

// Splits `text` at each `separator`.
inline std::vector<std::string> Cut(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

// The vectors of a file in tests/data/format/v<format>: lines of fields between " | ", comments after '#'. The
// directory of a format has the files of what the format changed. A file with fewer vectors than `vectors_min` is torn.
inline std::vector<std::vector<std::string>> ReadGolden(std::string_view file, size_t fields, int format = 1,
                                                        size_t vectors_min = 5) {
  std::ifstream in(test::TestDataPath(Cat("format/v", format, "/")) + std::string(file));
  EXPECT_TRUE(in.good()) << file;
  std::vector<std::vector<std::string>> vectors;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#') || line.empty()) continue;
    vectors.push_back(Cut(line, " | "));
    EXPECT_EQ(vectors.back().size(), fields) << line;
  }
  EXPECT_GE(vectors.size(), vectors_min) << file;
  return vectors;
}

// Calls fn(bytes) for every prefix of `valid`, and for `valid` with each byte set to each other value.
template <class Fn>
void ForEachDamage(const std::string& valid, Fn fn) {
  // Copies of exact size, so that the address sanitizer sees a read beyond the end.
  const auto give = [&fn](std::string_view bytes) {
    const std::vector<char> copy(bytes.begin(), bytes.end());
    fn(std::string_view(copy.data(), copy.size()));
  };
  for (size_t size = 0; size < valid.size(); ++size) give(std::string_view(valid).substr(0, size));
  for (size_t i = 0; i < valid.size(); ++i) {
    for (int flip = 1; flip < 256; ++flip) {
      std::string damaged = valid;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      give(damaged);
    }
  }
}

// Encodes an AttributeValue exactly as given, without sorting or normalising.
inline std::string Member(model::ValueType type, std::string_view body) {
  std::string bytes;
  model::AppendBytesField(static_cast<uint32_t>(type), body, &bytes);
  return bytes;
}
inline std::string Elements(const std::vector<std::string>& elements) {
  std::string body;
  for (const std::string& element : elements) model::AppendBytesField(1, element, &body);
  return body;
}
inline std::string S(std::string_view text) { return Member(model::ValueType::kString, text); }
inline std::string N(std::string_view text) { return Member(model::ValueType::kNumber, text); }
inline std::string B(std::string_view bytes) { return Member(model::ValueType::kBinary, bytes); }
inline std::string Bool(uint64_t value) {
  std::string bytes(1, '\x20');
  model::AppendVarint(value, &bytes);
  return bytes;
}
inline std::string Null(uint64_t value) {
  std::string bytes(1, '\x28');
  model::AppendVarint(value, &bytes);
  return bytes;
}
inline std::string Ss(const std::vector<std::string>& elements) {
  return Member(model::ValueType::kStringSet, Elements(elements));
}
inline std::string Ns(const std::vector<std::string>& elements) {
  return Member(model::ValueType::kNumberSet, Elements(elements));
}
inline std::string Bs(const std::vector<std::string>& elements) {
  return Member(model::ValueType::kBinarySet, Elements(elements));
}
inline std::string L(const std::vector<std::string>& values) {
  return Member(model::ValueType::kList, Elements(values));
}
// Encodes attributes in the given order: the form of an item and of a map's body.
using Attributes = std::vector<std::pair<std::string, std::string>>;
inline std::string Item(const Attributes& attributes) {
  std::string bytes;
  for (const auto& [name, value] : attributes) {
    std::string entry;
    model::AppendBytesField(1, name, &entry);
    model::AppendBytesField(2, value, &entry);
    model::AppendBytesField(1, entry, &bytes);
  }
  return bytes;
}
inline std::string M(const Attributes& entries) { return Member(model::ValueType::kMap, Item(entries)); }

}  // namespace armature::codec

#endif  // ARMATURE_TESTS_UNIT_STORAGE_CODEC_CODEC_TEST_UTIL_H_
