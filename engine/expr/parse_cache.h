#ifndef ARMATURE_ENGINE_EXPR_PARSE_CACHE_H_
#define ARMATURE_ENGINE_EXPR_PARSE_CACHE_H_

// Cache of parsed expressions by text: applications send the same few texts again and again.
//
// Holds trees with unresolved placeholders, so an entry depends on its text and kind only. Texts with faults are not
// cached.
//
// Thread-safety: thread-safe.
// Limits: about `bytes_max` bytes, in shards of equal size. Each shard evicts its least recently used entries.

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "engine/expr/ast.h"

namespace armature::expr {

class ParseCache {
 public:
  using Tree = std::variant<Condition, std::vector<DocumentPath>, Update>;

  explicit ParseCache(size_t bytes_max);
  ParseCache(const ParseCache&) = delete;
  ParseCache& operator=(const ParseCache&) = delete;

  // Null if the text is not cached. The tree stays valid while the pointer is held.
  std::shared_ptr<const Tree> Find(ExpressionKind kind, std::string_view text);

  // If the text is cached already, keeps the cached tree, which is equal.
  void Insert(ExpressionKind kind, std::string_view text, Tree tree);

  // Number of cached entries.
  size_t size() const;

 private:
  struct Entry {
    std::string key;  // a character for the kind, then the text
    std::shared_ptr<const Tree> tree;
  };
  using Entries = std::list<Entry>;  // the most recently used first

  struct Shard {
    mutable absl::Mutex mutex;
    Entries entries ABSL_GUARDED_BY(mutex);
    // The keys are views into the entries.
    std::unordered_map<std::string_view, Entries::iterator> by_key ABSL_GUARDED_BY(mutex);
    size_t bytes ABSL_GUARDED_BY(mutex) = 0;
  };

  static constexpr size_t kShards = 8;

  Shard& ShardOf(std::string_view key);

  const size_t shard_bytes_max_;
  std::array<Shard, kShards> shards_;
};

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_PARSE_CACHE_H_
