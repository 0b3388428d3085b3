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
// one step for each of its bytes and each byte of the text if it is short, else with one step for each 64 of its bytes.
// Cost in memory: that of the text, and at most four bytes more for each of its bytes.
class Pattern {
 public:
  explicit Pattern(std::string text);

  const std::string& text() const { return text_; }
  bool has_wildcards() const { return has_wildcards_; }
  // Steps that a match takes for each byte of a text, at most.
  size_t weight() const { return weight_; }
  // Bytes on the heap.
  size_t heap_bytes() const;

  // True if the pattern matches all of `text`.
  bool Matches(std::string_view text, MatchWork* work) const;

 private:
  std::string_view first() const { return std::string_view(text_).substr(0, first_bytes_); }
  std::string_view last() const { return std::string_view(text_).substr(text_.size() - last_bytes_); }
  // The part between two stars that begins at `begin`.
  std::string_view PartAt(size_t begin) const;
  void Prepare();
  // The end of the first occurrence of a part in `text`, or npos.
  size_t Find(std::string_view part, std::string_view text, MatchWork* work) const;
  size_t FindPlain(std::string_view part, std::string_view text) const;

  std::string text_;
  // For each byte of a part without `?` between two stars: the length of the longest proper prefix of the part that
  // ends there. Empty if the pattern has no such part.
  std::vector<uint32_t> borders_;
  bool has_wildcards_ = false;
  bool has_star_ = false;
  // The parts before the first star and behind the last one. The first is all of a text without stars.
  size_t first_bytes_ = 0;
  size_t last_bytes_ = 0;
  size_t bytes_min_ = 0;  // of a text that matches
  size_t weight_ = 1;
};

// Texts that are found without wildcards.
using TextSet = absl::flat_hash_set<std::string, StringHash, std::equal_to<>>;
// Bytes on the heap, about.
size_t HeapBytesOf(const std::string& text);
size_t HeapBytesOf(const TextSet& texts);

// Steps that the policies for a request take, at most.
struct MatchWeight {
  size_t values = 0;  // for each byte of the values of condition keys
  size_t names = 0;   // for each byte of the names of an operation, a table and an index

  friend MatchWeight operator+(const MatchWeight& a, const MatchWeight& b) {
    return {.values = a.values + b.values, .names = a.names + b.names};
  }
};

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
  // Steps that AnyMatches takes for each byte of a text, at most.
  size_t weight() const;
  // Bytes on the heap, about.
  size_t heap_bytes() const;

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
