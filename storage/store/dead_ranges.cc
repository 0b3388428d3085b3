#include "storage/store/dead_ranges.h"

#include <algorithm>
#include <iterator>

namespace armature::store {
namespace {

bool EndsBehind(const std::string& end, std::string_view key) { return end.empty() || end > key; }

}  // namespace

DeadRanges::Family* DeadRanges::Find(uint32_t family) {
  const auto found = families_.find(family);
  return found == families_.end() ? nullptr : &found->second;
}

// A write in progress that began before the family was watched has not noted its puts, so the read must not add ranges.
DeadRanges::Mark DeadRanges::BeginRead(uint32_t family, uint64_t last_sequence) {
  Mark mark{.is_watched = false, .first_write = 0, .sequence = last_sequence};
  if (!is_any_watched()) return mark;
  const absl::MutexLock lock(&mutex_);
  const Family* const watched = Find(family);
  if (watched == nullptr) return mark;
  mark.first_write = writes_.empty() ? next_write_ : writes_.front();
  mark.is_watched = watched->since <= mark.first_write;
  return mark;
}

// A put that the read sees was noted before the read's iterator was made, so its key is in no range by now.
std::optional<DeadRanges::Range> DeadRanges::Next(uint32_t family, const Mark& mark, std::string_view key,
                                                  bool forward) {
  const absl::MutexLock lock(&mutex_);
  const Family* const watched = Find(family);
  if (watched == nullptr) return std::nullopt;
  const Ranges& ranges = watched->ranges;
  if (forward) {
    auto it = ranges.upper_bound(key);
    if (it != ranges.begin() && EndsBehind(std::prev(it)->second.end, key)) --it;
    while (it != ranges.end() && it->second.sequence > mark.sequence) ++it;
    if (it == ranges.end()) return std::nullopt;
    return Range{it->first, it->second.end};
  }
  auto it = key.empty() ? ranges.end() : ranges.lower_bound(key);
  while (it != ranges.begin()) {
    --it;
    if (it->second.sequence <= mark.sequence) return Range{it->first, it->second.end};
  }
  return std::nullopt;
}

void DeadRanges::Add(uint32_t family, const Mark& mark, Range range, uint64_t sequence) {
  const absl::MutexLock lock(&mutex_);
  Family* const watched = Find(family);
  if (watched == nullptr || !mark.is_watched || watched->since > mark.first_write) return;
  if (watched->puts_from > mark.first_write) return;
  for (const auto& [write, key] : watched->puts) {
    if (write < mark.first_write || key < range.begin || !EndsBehind(range.end, key)) continue;
    if (key == range.begin) return;
    range.end = key;
  }
  if (!EndsBehind(range.end, range.begin)) return;
  Ranges& ranges = watched->ranges;
  // Merge with those that overlap it or touch it.
  auto it = ranges.upper_bound(range.begin);
  if (it != ranges.begin() &&
      (EndsBehind(std::prev(it)->second.end, range.begin) || std::prev(it)->second.end == range.begin)) {
    --it;
  }
  while (it != ranges.end() && (range.end.empty() || it->first <= range.end)) {
    range.begin = std::min(range.begin, it->first);
    if (!range.end.empty() && EndsBehind(it->second.end, range.end)) range.end = it->second.end;
    sequence = std::max(sequence, it->second.sequence);
    it = ranges.erase(it);
  }
  if (ranges.size() >= kRangesMax) ranges.erase(ranges.begin());
  ranges.emplace(std::move(range.begin), Dead{std::move(range.end), sequence});
}

void DeadRanges::Watch(uint32_t family) {
  const absl::MutexLock lock(&mutex_);
  if (families_.size() >= kFamiliesMax || families_.contains(family)) return;
  Family& watched = families_[family];
  watched.since = next_write_;
  watched_.store(families_.size(), std::memory_order_release);
}

void DeadRanges::Forget(uint32_t family) {
  const absl::MutexLock lock(&mutex_);
  families_.erase(family);
  watched_.store(families_.size(), std::memory_order_release);
}

uint64_t DeadRanges::BeginWrite() {
  const absl::MutexLock lock(&mutex_);
  writes_.push_back(next_write_);
  return next_write_++;
}

void DeadRanges::EndWrite(uint64_t write) {
  const absl::MutexLock lock(&mutex_);
  writes_.erase(std::lower_bound(writes_.begin(), writes_.end(), write));
}

void DeadRanges::TakeOut(std::string_view key, Ranges* ranges) {
  auto it = ranges->upper_bound(key);
  if (it == ranges->begin() || !EndsBehind((--it)->second.end, key)) return;
  Dead behind = it->second;
  std::string next_key(key);
  next_key.push_back('\0');
  if (it->first < key) {
    it->second.end = std::string(key);
  } else {
    ranges->erase(it);
  }
  if (EndsBehind(behind.end, next_key) && ranges->size() < kRangesMax) {
    ranges->emplace(std::move(next_key), std::move(behind));
  }
}

void DeadRanges::NotePut(uint64_t write, uint32_t family, std::string_view key) {
  const absl::MutexLock lock(&mutex_);
  Family* const watched = Find(family);
  if (watched == nullptr) return;
  TakeOut(key, &watched->ranges);
  watched->puts.emplace_back(write, key);
  watched->put_bytes += key.size();
  if (watched->puts.size() <= kPutsMax && watched->put_bytes <= kPutBytesMax) return;
  if (watched->ranges.empty()) {
    // Nobody has read over deleted rows for long.
    families_.erase(family);
    watched_.store(families_.size(), std::memory_order_release);
    return;
  }
  while (watched->puts.size() > kPutsMax || watched->put_bytes > kPutBytesMax) {
    // The order is that of the notes: writes at the same time note in any order.
    watched->puts_from = std::max(watched->puts_from, watched->puts.front().first + 1);
    watched->put_bytes -= watched->puts.front().second.size();
    watched->puts.pop_front();
  }
}

}  // namespace armature::store
