#include "engine/expr/parse_cache.h"

#include <functional>
#include <utility>

namespace armature::expr {
namespace {

// Estimated size of an entry: a tree has a node of some hundred bytes per dozen characters of text.
size_t Charge(std::string_view key) { return 512 + 16 * key.size(); }

std::string MakeKey(ExpressionKind kind, std::string_view text) {
  std::string key;
  key.reserve(text.size() + 1);
  key.push_back(static_cast<char>('a' + static_cast<int>(kind)));
  key.append(text);
  return key;
}

}  // namespace

ParseCache::ParseCache(size_t bytes_max) : shard_bytes_max_(bytes_max / kShards) {}

ParseCache::Shard& ParseCache::ShardOf(std::string_view key) {
  // Uses the upper bits, because the maps use the lower ones.
  return shards_[(std::hash<std::string_view>{}(key) >> 32) % kShards];
}

std::shared_ptr<const ParseCache::Tree> ParseCache::Find(ExpressionKind kind, std::string_view text) {
  const std::string key = MakeKey(kind, text);
  Shard& shard = ShardOf(key);
  const absl::MutexLock lock(&shard.mutex);
  const auto found = shard.by_key.find(key);
  if (found == shard.by_key.end()) return nullptr;
  shard.entries.splice(shard.entries.begin(), shard.entries, found->second);
  return found->second->tree;
}

void ParseCache::Insert(ExpressionKind kind, std::string_view text, Tree tree) {
  Entry entry{MakeKey(kind, text), std::make_shared<const Tree>(std::move(tree))};
  const size_t charge = Charge(entry.key);
  if (charge > shard_bytes_max_) return;
  Shard& shard = ShardOf(entry.key);
  const absl::MutexLock lock(&shard.mutex);
  if (shard.by_key.contains(entry.key)) return;
  while (shard.bytes + charge > shard_bytes_max_) {
    const Entry& oldest = shard.entries.back();
    shard.bytes -= Charge(oldest.key);
    shard.by_key.erase(oldest.key);
    shard.entries.pop_back();
  }
  shard.entries.push_front(std::move(entry));
  shard.by_key.emplace(shard.entries.front().key, shard.entries.begin());
  shard.bytes += charge;
}

size_t ParseCache::size() const {
  size_t count = 0;
  for (const Shard& shard : shards_) {
    const absl::MutexLock lock(&shard.mutex);
    count += shard.entries.size();
  }
  return count;
}

}  // namespace armature::expr
