#include "engine/access/pattern.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"

namespace armature::access {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kWordBits = 64;
constexpr size_t kByteValues = 256;
// A part that has `?` and at most this many bytes is compared with each place of the text.
constexpr size_t kShortPartMax = 8;

size_t WordsOf(size_t bytes) { return (bytes + kWordBits - 1) / kWordBits; }

bool HasQuestionMark(std::string_view part) { return part.find('?') != kNone; }

// Steps of a search: before it, and for each byte of the text.
struct SearchCost {
  size_t begin = 0;
  size_t each = 1;
};

SearchCost CostOf(std::string_view part) {
  if (!HasQuestionMark(part)) return {};
  if (part.size() <= kShortPartMax) return {.each = part.size()};
  // Filling memory is about eight times as fast as a step.
  return {.begin = part.size() + kByteValues * WordsOf(part.size()) / 8, .each = WordsOf(part.size())};
}

bool StandsAt(std::string_view part, std::string_view text) {
  for (size_t i = 0; i < part.size(); ++i) {
    if (part[i] != '?' && part[i] != text[i]) return false;
  }
  return true;
}

size_t FindShort(std::string_view part, std::string_view text) {
  for (size_t i = 0; i + part.size() <= text.size(); ++i) {
    if (StandsAt(part, text.substr(i))) return i + part.size();
  }
  return kNone;
}

// Bit i of the state is set if the last i + 1 bytes of the text match the first i + 1 of the part. The tables live no
// longer than the search: they take up to 32 times the memory of the part.
size_t FindByBits(std::string_view part, std::string_view text) {
  using Words = absl::InlinedVector<uint64_t, kByteValues>;  // on the stack for a part of one word
  const size_t words = WordsOf(part.size());
  Words places(kByteValues * words, 0);  // of each byte value
  absl::InlinedVector<uint64_t, 2> state(words, 0);
  absl::InlinedVector<uint64_t, 2> any(words, 0);  // places of `?`
  for (size_t i = 0; i < part.size(); ++i) {
    uint64_t* const row = part[i] == '?' ? any.data() : &places[static_cast<uint8_t>(part[i]) * words];
    row[i / kWordBits] |= uint64_t{1} << (i % kWordBits);
  }
  const size_t last_bit = (part.size() - 1) % kWordBits;
  for (size_t i = 0; i < text.size(); ++i) {
    const uint64_t* const row = &places[static_cast<uint8_t>(text[i]) * words];
    uint64_t carry = 1;
    for (size_t w = 0; w < words; ++w) {
      const uint64_t shifted = state[w] << 1 | carry;
      carry = state[w] >> (kWordBits - 1);
      state[w] = shifted & (row[w] | any[w]);
    }
    if ((state[words - 1] >> last_bit & 1) != 0) return i + 1;
  }
  return kNone;
}

// Knuth, Morris and Pratt.
void FillBorders(std::string_view part, uint32_t* borders) {
  uint32_t length = 0;
  for (size_t i = 1; i < part.size(); ++i) {
    while (length > 0 && part[i] != part[length]) length = borders[length - 1];
    if (part[i] == part[length]) ++length;
    borders[i] = length;
  }
}

}  // namespace

Pattern::Pattern(std::string text)
    : text_(std::move(text)), has_wildcards_(text_.find_first_of("*?") != kNone), has_star_(text_.find('*') != kNone) {
  text_.shrink_to_fit();
  first_bytes_ = has_star_ ? text_.find('*') : text_.size();
  last_bytes_ = has_star_ ? text_.size() - text_.rfind('*') - 1 : 0;
  Prepare();
}

std::string_view Pattern::PartAt(size_t begin) const {
  return std::string_view(text_).substr(begin, text_.find('*', begin) - begin);
}

void Pattern::Prepare() {
  bytes_min_ = first_bytes_ + last_bytes_;
  SearchCost cost{.each = 0};  // the searches share the text
  for (size_t at = first_bytes_ + 1; at + last_bytes_ < text_.size();) {
    const std::string_view part = PartAt(at);
    const SearchCost own = part.empty() ? SearchCost{.each = 0} : CostOf(part);
    cost = {.begin = cost.begin + own.begin, .each = std::max(cost.each, own.each)};
    bytes_min_ += part.size();
    if (!part.empty() && !HasQuestionMark(part)) {
      borders_.resize(text_.size(), 0);
      FillBorders(part, &borders_[at]);
    }
    at += part.size() + 1;
  }
  weight_ = 1 + cost.each + (bytes_min_ == 0 ? 0 : (cost.begin + bytes_min_ - 1) / bytes_min_);
}

size_t Pattern::heap_bytes() const { return HeapBytesOf(text_) + borders_.capacity() * sizeof(borders_.front()); }

size_t Pattern::FindPlain(std::string_view part, std::string_view text) const {
  const uint32_t* const borders = &borders_[static_cast<size_t>(part.data() - text_.data())];
  size_t matched = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (matched == 0) {
      i = text.find(part.front(), i);
      if (i == kNone) return kNone;
    }
    while (matched > 0 && text[i] != part[matched]) matched = borders[matched - 1];
    if (text[i] == part[matched]) ++matched;
    if (matched == part.size()) return i + 1;
  }
  return kNone;
}

size_t Pattern::Find(std::string_view part, std::string_view text, MatchWork* work) const {
  if (part.size() > text.size()) return kNone;
  const SearchCost cost = CostOf(part);
  if (!work->HasRoom(cost.begin + cost.each * text.size())) return kNone;
  size_t end = kNone;
  if (!HasQuestionMark(part)) {
    end = FindPlain(part, text);
  } else {
    end = part.size() <= kShortPartMax ? FindShort(part, text) : FindByBits(part, text);
  }
  work->Count(cost.begin + cost.each * std::min(end, text.size()));
  return end;
}

bool Pattern::Matches(std::string_view text, MatchWork* work) const {
  if (text.size() < bytes_min_ || (!has_star_ && text.size() != bytes_min_)) return false;
  if (!work->Take(1 + first_bytes_ + last_bytes_)) return false;
  if (!StandsAt(first(), text) || !StandsAt(last(), text.substr(text.size() - last_bytes_))) return false;
  text.remove_prefix(first_bytes_);
  text.remove_suffix(last_bytes_);
  // The leftmost place of each part leaves most for the next ones.
  for (size_t at = first_bytes_ + 1; at + last_bytes_ < text_.size();) {
    const std::string_view part = PartAt(at);
    at += part.size() + 1;
    if (part.empty()) continue;
    const size_t end = Find(part, text, work);
    if (end == kNone) return false;
    text.remove_prefix(end);
  }
  return true;
}

size_t HeapBytesOf(const std::string& text) {
  static const size_t kInside = std::string().capacity();
  return text.capacity() > kInside ? text.capacity() + 1 : 0;
}

size_t HeapBytesOf(const TextSet& texts) {
  size_t bytes = texts.capacity() * (sizeof(std::string) + 1);
  for (const std::string& text : texts) bytes += HeapBytesOf(text);
  return bytes;
}

Patterns::Patterns(std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) Add(std::string(text));
}

Patterns::Patterns(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) Add(text);
}

void Patterns::Add(std::string text) {
  has_star_ = has_star_ || text == "*";
  Pattern pattern(std::move(text));
  if (pattern.has_wildcards()) {
    wild_.push_back(std::move(pattern));
  } else {
    plain_.insert(pattern.text());
  }
}

size_t Patterns::weight() const {
  size_t weight = plain_.empty() ? 0 : 1;
  for (const Pattern& pattern : wild_) weight += pattern.weight();
  return weight;
}

size_t Patterns::heap_bytes() const {
  size_t bytes = HeapBytesOf(plain_) + wild_.capacity() * sizeof(Pattern);
  for (const Pattern& pattern : wild_) bytes += pattern.heap_bytes();
  return bytes;
}

bool Patterns::AnyMatches(std::string_view text, MatchWork* work) const {
  if (!plain_.empty()) {
    if (!work->Take(1 + text.size() / sizeof(uint64_t))) return false;
    if (plain_.contains(text)) return true;
  }
  return std::any_of(wild_.begin(), wild_.end(),
                     [text, work](const Pattern& pattern) { return pattern.Matches(text, work); });
}

}  // namespace armature::access
