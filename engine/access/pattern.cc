#include "engine/access/pattern.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace armature::access {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kWordBits = 64;
constexpr size_t kByteValues = 256;

size_t WordsOf(size_t bytes) { return (bytes + kWordBits - 1) / kWordBits; }

bool HasQuestionMark(std::string_view part) { return part.find('?') != kNone; }

// Knuth, Morris and Pratt.
std::vector<uint32_t> BordersOf(std::string_view part) {
  std::vector<uint32_t> borders(part.size(), 0);
  uint32_t length = 0;
  for (size_t i = 1; i < part.size(); ++i) {
    while (length > 0 && part[i] != part[length]) length = borders[length - 1];
    if (part[i] == part[length]) ++length;
    borders[i] = length;
  }
  return borders;
}

}  // namespace

Pattern::Pattern(std::string text)
    : text_(std::move(text)), has_wildcards_(text_.find_first_of("*?") != kNone), has_star_(text_.find('*') != kNone) {
  size_t begin = 0;
  while (true) {
    const size_t star = text_.find('*', begin);
    const Part part{.begin = begin, .size = std::min(star, text_.size()) - begin};
    bytes_min_ += part.size;
    if (begin == 0) {
      first_ = part;
    } else if (star == kNone) {
      last_ = part;
    } else if (part.size > 0) {
      Prepare(&middle_.emplace_back(part));
    }
    if (star == kNone) return;
    begin = star + 1;
  }
}

void Pattern::Prepare(Part* part) const {
  const std::string_view own = TextOf(*part);
  if (!HasQuestionMark(own)) {
    part->borders = BordersOf(own);
    return;
  }
  constexpr uint16_t kUnset = kByteValues;
  const size_t words = WordsOf(own.size());
  part->rows.assign(kByteValues, kUnset);
  uint16_t rows = 0;
  for (const char c : own) {
    uint16_t& row = part->rows[static_cast<uint8_t>(c)];
    if (c != '?' && row == kUnset) row = rows++;
  }
  for (uint16_t& row : part->rows) row = std::min(row, rows);
  part->bits.assign((rows + size_t{1}) * words, 0);
  const auto set = [&](size_t row, size_t place) {
    part->bits[row * words + place / kWordBits] |= uint64_t{1} << (place % kWordBits);
  };
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i] != '?') set(part->rows[static_cast<uint8_t>(own[i])], i);
    for (size_t row = 0; own[i] == '?' && row <= rows; ++row) set(row, i);
  }
}

bool Pattern::StandsAt(const Part& part, std::string_view text) const {
  const std::string_view own = TextOf(part);
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i] != '?' && own[i] != text[i]) return false;
  }
  return true;
}

size_t Pattern::FindPlain(const Part& part, std::string_view text) const {
  const std::string_view own = TextOf(part);
  size_t matched = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (matched == 0) {
      i = text.find(own.front(), i);
      if (i == kNone) return kNone;
    }
    while (matched > 0 && text[i] != own[matched]) matched = part.borders[matched - 1];
    if (text[i] == own[matched]) ++matched;
    if (matched == own.size()) return i + 1;
  }
  return kNone;
}

// Bit i of the state is set if the last i + 1 bytes of the text match the first i + 1 of the part.
size_t Pattern::FindByBits(const Part& part, std::string_view text) {
  const size_t words = WordsOf(part.size);
  const size_t last_bit = (part.size - 1) % kWordBits;
  std::vector<uint64_t> state(words, 0);
  for (size_t i = 0; i < text.size(); ++i) {
    const uint64_t* const row = &part.bits[part.rows[static_cast<uint8_t>(text[i])] * words];
    uint64_t carry = 1;
    for (size_t w = 0; w < words; ++w) {
      const uint64_t shifted = state[w] << 1 | carry;
      carry = state[w] >> (kWordBits - 1);
      state[w] = shifted & row[w];
    }
    if ((state[words - 1] >> last_bit & 1) != 0) return i + 1;
  }
  return kNone;
}

size_t Pattern::Find(const Part& part, std::string_view text, MatchWork* work) const {
  if (part.size > text.size()) return kNone;
  const size_t words = part.borders.empty() ? WordsOf(part.size) : 1;
  if (!work->HasRoom(words * text.size())) return kNone;
  const size_t end = part.borders.empty() ? FindByBits(part, text) : FindPlain(part, text);
  work->Count(words * std::min(end, text.size()));
  return end;
}

bool Pattern::Matches(std::string_view text, MatchWork* work) const {
  if (text.size() < bytes_min_ || (!has_star_ && text.size() != bytes_min_)) return false;
  if (!work->Take(1 + first_.size + last_.size)) return false;
  if (!StandsAt(first_, text) || !StandsAt(last_, text.substr(text.size() - last_.size))) return false;
  text.remove_prefix(first_.size);
  text.remove_suffix(last_.size);
  // The leftmost place of each part leaves most for the next ones.
  for (const Part& part : middle_) {
    const size_t end = Find(part, text, work);
    if (end == kNone) return false;
    text.remove_prefix(end);
  }
  return true;
}

bool MatchesPattern(std::string_view pattern, std::string_view text) {
  MatchWork work(std::numeric_limits<uint64_t>::max());
  return Pattern(std::string(pattern)).Matches(text, &work);
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

bool Patterns::AnyMatches(std::string_view text, MatchWork* work) const {
  if (!plain_.empty()) {
    if (!work->Take(1 + text.size() / sizeof(uint64_t))) return false;
    if (plain_.contains(text)) return true;
  }
  return std::any_of(wild_.begin(), wild_.end(),
                     [text, work](const Pattern& pattern) { return pattern.Matches(text, work); });
}

}  // namespace armature::access
