#include "storage/base/did_you_mean.h"

#include <algorithm>

#include "storage/base/strings.h"

namespace armature {
namespace {

// Optimal string alignment distance.
size_t Distance(std::string_view from, std::string_view to) {
  // Row i holds the distances of the first i characters of `from` to all prefixes of `to`.
  std::vector<std::vector<size_t>> rows(from.size() + 1, std::vector<size_t>(to.size() + 1));
  for (size_t i = 0; i <= from.size(); ++i) {
    for (size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = i + j;
        continue;
      }
      const bool is_same = from[i - 1] == to[j - 1];
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (is_same ? 0 : 1)});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
      }
    }
  }
  return rows.back().back();
}

}  // namespace

std::string DidYouMean(std::string_view word, const std::vector<std::string>& known) {
  constexpr size_t kWordSizeMax = 100;  // The cost is the product of the sizes.
  if (word.size() > kWordSizeMax) return {};
  size_t nearest_distance = std::max<size_t>(1, word.size() / 3) + 1;
  std::string_view nearest;
  for (const std::string& name : known) {
    const size_t distance = Distance(word, name);
    if (distance >= nearest_distance) continue;
    nearest_distance = distance;
    nearest = name;
  }
  return nearest.empty() ? std::string() : Cat("; did you mean '", nearest, "'?");
}

}  // namespace armature
