#ifndef ARMATURE_TESTS_FUZZ_FUZZ_UTIL_H_
#define ARMATURE_TESTS_FUZZ_FUZZ_UTIL_H_

// Shared helpers of fuzz targets.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string_view>

#include "engine/expr/ast.h"

namespace armature::fuzz {

// Aborts unless `holds`, which the fuzzer reports as a failure.
inline void Check(bool holds, const char* what) {
  if (holds) return;
  std::cerr << "violated: " << what << std::endl;
  std::abort();
}

inline std::string_view Text(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

// True if `inner` is inside `outer`. An empty view may be anywhere.
inline bool LiesIn(std::string_view inner, std::string_view outer) {
  return inner.empty() || (inner.data() >= outer.data() && inner.data() + inner.size() <= outer.data() + outer.size());
}

// The kind of expression for an input's letter.
inline std::optional<expr::ExpressionKind> KindOf(char letter) {
  switch (letter) {
    case 'u':
      return expr::ExpressionKind::kUpdate;
    case 'c':
      return expr::ExpressionKind::kCondition;
    case 'k':
      return expr::ExpressionKind::kKeyCondition;
    case 'f':
      return expr::ExpressionKind::kFilter;
    case 'p':
      return expr::ExpressionKind::kProjection;
    default:
      return std::nullopt;
  }
}

}  // namespace armature::fuzz

#endif  // ARMATURE_TESTS_FUZZ_FUZZ_UTIL_H_
