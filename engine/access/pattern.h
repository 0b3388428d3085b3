#ifndef ARMATURE_ENGINE_ACCESS_PATTERN_H_
#define ARMATURE_ENGINE_ACCESS_PATTERN_H_

#include <string>
#include <string_view>
#include <vector>

namespace armature::access {

// True if the pattern matches all of `text`: `*` stands for any number of characters, `?` for one byte, others for
// themselves. Cost: at most the product of the sizes.
bool MatchesPattern(std::string_view pattern, std::string_view text);

// True if one of the patterns matches.
bool AnyMatches(const std::vector<std::string>& patterns, std::string_view text);

}  // namespace armature::access

#endif  // ARMATURE_ENGINE_ACCESS_PATTERN_H_
