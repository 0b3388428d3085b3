#include "storage/base/top_keys.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "storage/base/strings.h"

namespace armature {
namespace {

bool IsLarger(const TopKeys::Counter& a, const TopKeys::Counter& b) {
  return a.sum != b.sum ? a.sum > b.sum : a.key < b.key;
}

}  // namespace

uint64_t TopKeys::HashOf(std::string_view key) { return absl::HashOf(Av(key)); }

void TopKeys::Add(std::string_view key, uint64_t hash, uint64_t weight) {
  total_ += weight;
  if (const auto place = places_.find(hash); place != places_.end()) {
    counters_[place->second].sum += weight;
    return;
  }
  size_t position = counters_.size();
  if (position < kCountersMax) {
    counters_.emplace_back();
  } else {
    position = FindLeast();
    places_.erase(counters_[position].hash);
    missing_max_ = std::max(missing_max_, counters_[position].sum);
  }
  // The key may have been counted before, as far as a key without counter can have been.
  Counter& counter = counters_[position];
  counter.hash = hash;
  counter.error = missing_max_;
  counter.sum = missing_max_ + weight;
  counter.key.assign(key.substr(0, kKeyBytesMax));
  counter.cut = key.size() > kKeyBytesMax;
  places_.emplace(hash, static_cast<uint32_t>(position));
}

size_t TopKeys::FindLeast() {
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < counters_.size(); ++i) {
      hand_ = hand_ + 1 < counters_.size() ? hand_ + 1 : 0;
      if (counters_[hand_].sum <= least_) return hand_;
    }
    least_ = std::min_element(counters_.begin(), counters_.end(), [](const Counter& a, const Counter& b) {
               return a.sum < b.sum;
             })->sum;
  }
  return hand_;
}

void TopKeys::Merge(const TopKeys& other) {
  for (Counter& counter : counters_) {
    const auto place = other.places_.find(counter.hash);
    const Counter* const same = place == other.places_.end() ? nullptr : &other.counters_[place->second];
    counter.sum += same == nullptr ? other.missing_max_ : same->sum;
    counter.error += same == nullptr ? other.missing_max_ : same->error;
  }
  for (const Counter& counter : other.counters_) {
    if (places_.contains(counter.hash)) continue;
    Counter& added = counters_.emplace_back(counter);
    added.sum += missing_max_;
    added.error += missing_max_;
  }
  total_ += other.total_;
  missing_max_ += other.missing_max_;
  if (counters_.size() > kCountersMax) {
    std::sort(counters_.begin(), counters_.end(), IsLarger);
    missing_max_ = std::max(missing_max_, counters_[kCountersMax].sum);
    counters_.resize(kCountersMax);
    counters_.shrink_to_fit();
  }
  IndexCounters();
}

void TopKeys::IndexCounters() {
  places_.clear();
  for (size_t i = 0; i < counters_.size(); ++i) places_.emplace(counters_[i].hash, static_cast<uint32_t>(i));
  least_ = 0;
}

std::vector<TopKeys::Counter> TopKeys::Largest(size_t max) const {
  std::vector<const Counter*> sorted;
  for (const Counter& counter : counters_) sorted.push_back(&counter);
  const size_t count = std::min(max, sorted.size());
  std::partial_sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count), sorted.end(),
                    [](const Counter* a, const Counter* b) { return IsLarger(*a, *b); });
  std::vector<Counter> largest;
  for (size_t i = 0; i < count; ++i) largest.push_back(*sorted[i]);
  return largest;
}

}  // namespace armature
