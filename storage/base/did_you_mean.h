#ifndef ARMATURE_STORAGE_BASE_DID_YOU_MEAN_H_
#define ARMATURE_STORAGE_BASE_DID_YOU_MEAN_H_

// Suggestions for names that were mistyped: commands, options, flags.

#include <string>
#include <string_view>
#include <vector>

namespace armature {

// "; did you mean 'table'?" with the known name nearest to `word`; empty if none is near. The distance counts inserted,
// lost and replaced characters and exchanged neighbours. A third of the word may differ, but at least one character.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& known);

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_DID_YOU_MEAN_H_
