#ifndef ARMATURE_STORAGE_BASE_STRINGS_H_
#define ARMATURE_STORAGE_BASE_STRINGS_H_

// Conversions between std::string_view and Abseil's own view type, which Debian builds as a different class.
//
// Our interfaces use std::string_view only. This is the only place that converts.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace armature {

inline absl::string_view Av(std::string_view s) { return {s.data(), s.size()}; }
inline std::string_view Sv(absl::string_view s) { return {s.data(), s.size()}; }

namespace strings_internal {
inline absl::string_view Piece(std::string_view s) { return Av(s); }
inline absl::string_view Piece(const std::string& s) { return s; }
inline const char* Piece(const char* s) { return s; }
template <class T>
requires std::is_arithmetic_v<T> T Piece(T v) { return v; }
}  // namespace strings_internal

// Concatenates strings, views and integers. Example: Cat("index ", name, ": ", count, " entries").
template <class... Args>
std::string Cat(const Args&... args) {
  return absl::StrCat(strings_internal::Piece(args)...);
}

// Represents a word of an enumeration that is present and empty, where an empty text represents an absent one. No
// enumeration of the API contains it.
inline constexpr std::string_view kEmptyWord("\0", 1);

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
};

// A hash map with string keys that accepts std::string_view in lookups without allocation.
template <class T>
using StringMap = absl::flat_hash_map<std::string, T, StringHash, std::equal_to<>>;

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_STRINGS_H_
