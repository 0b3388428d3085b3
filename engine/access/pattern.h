#ifndef ARMATURE_ENGINE_ACCESS_PATTERN_H_
#define ARMATURE_ENGINE_ACCESS_PATTERN_H_

// Texts with wildcards: `*` stands for any number of characters, `?` for one byte, others for themselves.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "storage/base/strings.h"

namespace armature::access {

// Bound on the work of the matches of one request. Policies are written by tenants, and texts by clients.
//
// Thread-safety: thread-compatible.
class MatchWork {
 public:
  // About a tenth of a second.
  static constexpr uint64_t kStepsMax = 64 << 20;

  explicit MatchWork(uint64_t steps_max = kStepsMax) : left_(steps_max) {}

  // True if there is room for `steps` more. False for ever after the first refusal: nothing matches then, and the
  // request must be denied.
  bool HasRoom(uint64_t steps) {
    is_spent_ = is_spent_ || steps > left_;
    return !is_spent_;
  }
  // Counts steps, for which there was room.
  void Count(uint64_t steps) { left_ -= steps; }
  bool Take(uint64_t steps) {
    if (!HasRoom(steps)) return false;
    Count(steps);
    return true;
  }
  bool is_spent() const { return is_spent_; }
  uint64_t left() const { return left_; }

 private:
  uint64_t left_;
  bool is_spent_ = false;
};

// One pattern. Thread-safety: immutable.
//
// Cost of a match: linear in the text and the pattern. A part between two stars that contains `?` is searched for with
// one step for each 64 of its bytes and each byte of the text.
class Pattern {
 public:
  explicit Pattern(std::string text);

  const std::string& text() const { return text_; }
  bool has_wildcards() const { return has_wildcards_; }

  // True if the pattern matches all of `text`.
  bool Matches(std::string_view text, MatchWork* work) const;

 private:
  // A part between two stars.
  struct Part {
    size_t begin = 0;
    size_t size = 0;
    // In a part without `?`, for each of its prefixes: the length of the longest proper prefix that is its suffix, too.
    std::vector<uint32_t> borders = {};
    // In a part with `?`: a row of bits for each byte value that is in it, and last one for all others. Bit i is set if
    // the value may stand at place i. `rows` has the number of the row of each byte value.
    std::vector<uint16_t> rows = {};
    std::vector<uint64_t> bits = {};
  };

  std::string_view TextOf(const Part& part) const { return std::string_view(text_).substr(part.begin, part.size); }
  void Prepare(Part* part) const;
  bool StandsAt(const Part& part, std::string_view text) const;
  // The end of the first occurrence of the part in `text`, or npos.
  size_t Find(const Part& part, std::string_view text, MatchWork* work) const;
  size_t FindPlain(const Part& part, std::string_view text) const;
  static size_t FindByBits(const Part& part, std::string_view text);

  std::string text_;
  bool has_wildcards_ = false;
  bool has_star_ = false;
  Part first_;
  std::vector<Part> middle_;  // without empty parts
  Part last_;
  size_t bytes_min_ = 0;  // of a text that matches
};

// The same for a pattern that is used once.
bool MatchesPattern(std::string_view pattern, std::string_view text);

// Texts that are found without wildcards.
using TextSet = absl::flat_hash_set<std::string, StringHash, std::equal_to<>>;

// A list of patterns. Thread-safety: immutable, except Add.
class Patterns {
 public:
  Patterns() = default;
  Patterns(std::initializer_list<std::string_view> texts);
  // Implicit: lists are written as texts.
  Patterns(const std::vector<std::string>& texts);  // NOLINT(google-explicit-constructor)

  void Add(std::string text);

  bool empty() const { return plain_.empty() && wild_.empty(); }
  // True if one of the patterns is `*`.
  bool has_star() const { return has_star_; }
  // Number of the patterns with wildcards.
  size_t wildcards() const { return wild_.size(); }

  // True if one of the patterns matches. Cost: that of a hash of the text, and of a match with each pattern that has
  // wildcards.
  bool AnyMatches(std::string_view text, MatchWork* work) const;

 private:
  TextSet plain_;
  std::vector<Pattern> wild_;
  bool has_star_ = false;
};

}  // namespace armature::access

#endif  // ARMATURE_ENGINE_ACCESS_PATTERN_H_
