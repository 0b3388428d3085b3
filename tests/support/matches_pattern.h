#ifndef ARMATURE_TESTS_SUPPORT_MATCHES_PATTERN_H_
#define ARMATURE_TESTS_SUPPORT_MATCHES_PATTERN_H_

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "engine/access/pattern.h"

namespace armature::access {

// Matches a pattern that is used once, without a bound on the work.
inline bool MatchesPattern(std::string_view pattern, std::string_view text) {
  MatchWork work(std::numeric_limits<uint64_t>::max());
  return Pattern(std::string(pattern)).Matches(text, &work);
}

}  // namespace armature::access

#endif  // ARMATURE_TESTS_SUPPORT_MATCHES_PATTERN_H_
