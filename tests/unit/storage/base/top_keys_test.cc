#include "storage/base/top_keys.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>

#include "storage/base/strings.h"

namespace armature::top_keys_test {

// A random stream of keys in which the k-th key is about 1 / k as frequent as the first one.
class Stream {
 public:
  Stream(uint32_t seed, size_t keys) : random_(seed), keys_(keys) {}
  std::string NextKey() {
    const double u = std::uniform_real_distribution<double>(0, 1)(random_);
    return Cat("key ", static_cast<int64_t>(std::pow(static_cast<double>(keys_), u)));
  }
  uint64_t NextWeight() { return std::uniform_int_distribution<uint64_t>(1, 8)(random_); }

 private:
  std::mt19937 random_;
  const size_t keys_;
};

using Truth = std::map<std::string, uint64_t>;

void Feed(Stream* stream, int count, TopKeys* keys, Truth* truth) {
  for (int i = 0; i < count; ++i) {
    const std::string key = stream->NextKey();
    const uint64_t weight = stream->NextWeight();
    keys->Add(key, weight);
    (*truth)[key] += weight;
  }
}

// The guarantees of the header.
void ExpectGuarantees(const TopKeys& keys, const Truth& truth) {
  uint64_t total = 0;
  for (const auto& [key, sum] : truth) total += sum;
  ASSERT_EQ(keys.total(), total);
  const uint64_t bound = total / TopKeys::kCountersMax;
  EXPECT_LE(keys.missing_max(), bound);
  const std::vector<TopKeys::Counter> counters = keys.Largest(SIZE_MAX);
  EXPECT_LE(counters.size(), TopKeys::kCountersMax);
  Truth missing = truth;
  uint64_t last = UINT64_MAX;
  for (const TopKeys::Counter& counter : counters) {
    EXPECT_LE(counter.sum, last) << "sorted";
    last = counter.sum;
    const uint64_t sum = truth.at(counter.key);
    EXPECT_GE(counter.sum, sum) << counter.key;
    EXPECT_LE(counter.sum - counter.error, sum) << counter.key;
    EXPECT_LE(counter.error, bound) << counter.key;
    missing.erase(counter.key);
  }
  for (const auto& [key, sum] : missing) EXPECT_LE(sum, keys.missing_max()) << key;
}

TEST(TopKeys, CountsExactlyWhileThereAreCounters) {
  TopKeys keys;
  for (uint64_t i = 1; i <= TopKeys::kCountersMax; ++i) keys.Add(Cat("k", i), i);
  for (const TopKeys::Counter& counter : keys.Largest(SIZE_MAX)) {
    EXPECT_EQ(counter.key, Cat("k", counter.sum));
    EXPECT_EQ(counter.error, 0U);
  }
  EXPECT_EQ(keys.missing_max(), 0U);
  EXPECT_EQ(keys.Largest(3).size(), 3U);
  EXPECT_EQ(keys.Largest(1)[0].key, Cat("k", TopKeys::kCountersMax));
}

TEST(TopKeys, KeepsItsGuaranteesForRandomStreams) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    Stream stream(seed, seed % 2 == 0 ? 300 : 100'000);
    TopKeys keys;
    Truth truth;
    for (int i = 0; i < 4; ++i) {
      Feed(&stream, 5'000, &keys, &truth);
      ExpectGuarantees(keys, truth);
    }
  }
}

TEST(TopKeys, KeepsItsGuaranteesWhenAllKeysDiffer) {
  TopKeys keys;
  Truth truth;
  for (int i = 0; i < 20'000; ++i) {
    keys.Add(Cat(i), 1);
    truth[Cat(i)] = 1;
  }
  ExpectGuarantees(keys, truth);
}

TEST(TopKeys, KeepsItsGuaranteesWhenMerged) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    TopKeys all;
    Truth truth;
    for (uint32_t part = 0; part < 10; ++part) {
      Stream stream(1000 * seed + part, part % 3 == 0 ? 50 : 20'000);
      TopKeys keys;
      Feed(&stream, 1'000, &keys, &truth);
      all.Merge(keys);
      ExpectGuarantees(all, truth);
    }
    Stream stream(seed, 20'000);
    Feed(&stream, 3'000, &all, &truth);
    ExpectGuarantees(all, truth);
  }
}

TEST(TopKeys, LongKeysAreCountedApartAndKeptInPart) {
  TopKeys keys;
  const std::string front(TopKeys::kKeyBytesMax, 'x');
  keys.Add(front + "a", 1);
  keys.Add(front + "b", 2);
  keys.Add(front, 3);
  const std::vector<TopKeys::Counter> largest = keys.Largest(10);
  ASSERT_EQ(largest.size(), 3U);
  for (const TopKeys::Counter& counter : largest) {
    EXPECT_EQ(counter.key, front);
    EXPECT_EQ(counter.cut, counter.sum != 3);
  }
}

TEST(TopKeys, ClearForgetsEverything) {
  TopKeys keys;
  keys.Add("a", 1);
  keys.Clear();
  EXPECT_EQ(keys.total(), 0U);
  EXPECT_TRUE(keys.Largest(1).empty());
}

}  // namespace armature::top_keys_test
