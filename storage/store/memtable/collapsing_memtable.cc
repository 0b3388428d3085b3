#include "storage/store/memtable/collapsing_memtable.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "storage/store/memtable/read_horizon.h"

namespace armature::store {
namespace {

// As in RocksDB's skip list: every fourth node of a level is in the next one.
constexpr int kHeightMax = 12;
constexpr int kBranchingBits = 2;
// Old versions are dropped when so many rows have one, because finding out what is read costs as much as some inserts.
constexpr size_t kOverwrittenMin = 16;
// The oldest of more than these are forgotten: they are dropped with the next write of their row.
constexpr size_t kOverwrittenMax = 4096;
// Number of rows and versions that one insert deals with. More are left for the next ones, so that none takes long
// after a read that has kept many.
constexpr int kDropStepsMax = 128;

// An internal key of RocksDB: user key, then sequence number and type as 64 bits.
constexpr size_t kTrailerBytes = 8;
// The types that a data family has; see ValueType of RocksDB's dbformat.h.
constexpr uint8_t kDeletionType = 0;
constexpr uint8_t kPutType = 1;

struct VersionKey {
  std::string_view user_key;
  uint64_t trailer;  // sequence << 8 | type

  uint64_t sequence() const { return trailer >> 8; }
  uint8_t type() const { return static_cast<uint8_t>(trailer); }
};

VersionKey Split(const char* data, size_t size) {
  static_assert(std::endian::native == std::endian::little);
  VersionKey key{{data, size - kTrailerBytes}, 0};
  std::memcpy(&key.trailer, data + size - kTrailerBytes, sizeof key.trailer);
  return key;
}

// `entry`: the internal key behind its size as a varint, then the value.
VersionKey KeyOf(const char* entry) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(entry);
  size_t size = 0;
  for (int shift = 0;; shift += 7) {
    const uint8_t byte = *bytes++;
    size |= size_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) break;
  }
  return Split(reinterpret_cast<const char*>(bytes), size);
}

// By user key, then from the newest version to the oldest.
bool IsBefore(const VersionKey& a, const VersionKey& b) {
  const int order = a.user_key.compare(b.user_key);
  return order != 0 ? order < 0 : a.trailer > b.trailer;
}

// As RocksDB counts those of its own memtables.
void CountComparisons(uint64_t count) {
  if (rocksdb::GetPerfLevel() >= rocksdb::PerfLevel::kEnableCount) {
    rocksdb::get_perf_context()->user_key_comparison_count += count;
  }
}

// The links of upper levels are in front of the node, and its entry is behind it.
struct Node {
  std::atomic<Node*> next0;
  // Number of levels in which the node is linked. For the writer only.
  int32_t height;

  const char* entry() const { return reinterpret_cast<const char*>(this) + kEntryOffset; }
  char* entry() { return reinterpret_cast<char*>(this) + kEntryOffset; }
  std::atomic<Node*>& link(int level) { return *(&next0 - level); }
  Node* Next(int level) { return link(level).load(std::memory_order_acquire); }
  void SetNext(int level, Node* node) { link(level).store(node, std::memory_order_release); }

  static constexpr size_t kEntryOffset = sizeof(std::atomic<Node*>) + sizeof(int32_t);
};

Node* NodeOf(char* entry) { return reinterpret_cast<Node*>(entry - Node::kEntryOffset); }

// One thread writes at a time, and any number read.
class CollapsingMemtable final : public rocksdb::MemTableRep {
 public:
  CollapsingMemtable(const ReadHorizon* horizon, rocksdb::Allocator* allocator)
      : MemTableRep(allocator), horizon_(horizon), head_(NewNode(kHeightMax, 0)) {
    for (int level = 0; level < kHeightMax; ++level) head_->SetNext(level, nullptr);
  }

  rocksdb::KeyHandle Allocate(size_t size, char** entry) override {
    Node* const node = NewNode(RandomHeight(), size);
    *entry = node->entry();
    return *entry;
  }

  void Insert(rocksdb::KeyHandle handle) override { InsertKey(handle); }
  bool InsertKey(rocksdb::KeyHandle handle) override;
  bool Contains(const char* entry) const override {
    const VersionKey key = KeyOf(entry);
    Node* const node = FindFirst(key);
    return node != nullptr && !IsBefore(key, KeyOf(node->entry()));
  }
  // Beside what it has from the allocator.
  size_t ApproximateMemoryUsage() override { return 0; }
  // For sizes of key ranges in memory, which the store does not ask for.
  uint64_t ApproximateNumEntries(const rocksdb::Slice&, const rocksdb::Slice&) override { return 0; }
  Iterator* GetIterator(rocksdb::Arena* arena) override;
  Iterator* GetDynamicPrefixIterator(rocksdb::Arena* arena) override;

  // The first node that is not before `key`, or null.
  Node* FindFirst(const VersionKey& key) const {
    Node* node = head_;
    Node* found = nullptr;
    uint64_t compared = 0;
    for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
      Node* next = node->Next(level);
      // A node that was found not to be before the key is met again in the levels below.
      while (next != nullptr && next != found && IsBefore(KeyOf(next->entry()), key)) {
        node = next;
        next = node->Next(level);
        if (next != nullptr) __builtin_prefetch(next);
        ++compared;
      }
      found = next;
    }
    CountComparisons(compared);
    return found;
  }
  // The last node that is before `key`, or the last of all if `key` is null; null if there is none.
  Node* FindLast(const VersionKey* key) const {
    Node* node = head_;
    for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
      for (Node* next = node->Next(level); next != nullptr && (key == nullptr || IsBefore(KeyOf(next->entry()), *key));
           next = node->Next(level)) {
        node = next;
      }
    }
    return node == head_ ? nullptr : node;
  }
  Node* First() const { return head_->Next(0); }

 private:
  Node* NewNode(int height, size_t entry_bytes);
  int RandomHeight();
  void Link(Node* node);
  // `before` is directly in front of `node`.
  void Unlink(Node* before, Node* node, const VersionKey& key);
  void DropOld();
  // Takes one of `steps` for each version that it drops. False if they are used up: there may be more to drop.
  bool DropOlderThan(Node* node, int* steps);

  const ReadHorizon* const horizon_;
  Node* const head_;
  std::atomic<int> height_ = 1;
  uint64_t random_ = 0x9E3779B97F4A7C15;
  std::array<Node*, kHeightMax> before_{};  // the nodes in front of the one that is inserted, by level
  std::deque<Node*> overwriting_;           // nodes with an older version behind them, in the order of their writes
  size_t next_drop_ = kOverwrittenMin;
  ReadHorizon::Limits limits_;
};

Node* CollapsingMemtable::NewNode(int height, size_t entry_bytes) {
  const size_t links = static_cast<size_t>(height - 1) * sizeof(std::atomic<Node*>);
  char* memory = nullptr;
  MemTableRep::Allocate(links + Node::kEntryOffset + entry_bytes + alignof(Node) - 1, &memory);
  const uintptr_t address = reinterpret_cast<uintptr_t>(memory) + links;
  memory += links + (alignof(Node) - address % alignof(Node)) % alignof(Node);
  Node* const node = reinterpret_cast<Node*>(memory);
  for (int level = 0; level < height; ++level) new (&node->link(level)) std::atomic<Node*>(nullptr);
  node->height = height;
  return node;
}

int CollapsingMemtable::RandomHeight() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  const int levels = std::countr_zero(random_ | (uint64_t{1} << 63)) / kBranchingBits;
  return 1 + std::min(levels, kHeightMax - 1);
}

bool CollapsingMemtable::InsertKey(rocksdb::KeyHandle handle) {
  Node* const node = NodeOf(static_cast<char*>(handle));
  const VersionKey key = KeyOf(node->entry());
  Node* at = head_;
  Node* found = nullptr;
  for (int level = std::max(height_.load(std::memory_order_relaxed), node->height) - 1; level >= 0; --level) {
    Node* next = at->Next(level);
    while (next != nullptr && next != found && IsBefore(KeyOf(next->entry()), key)) {
      at = next;
      next = at->Next(level);
      if (next != nullptr) __builtin_prefetch(next);
    }
    found = next;
    before_[static_cast<size_t>(level)] = at;
  }
  bool has_older = false;
  if (found != nullptr) {
    const VersionKey older = KeyOf(found->entry());
    has_older = older.user_key == key.user_key;
    if (has_older && older.trailer == key.trailer) return false;
  }
  Link(node);
  if (has_older) {
    overwriting_.push_back(node);
    if (overwriting_.size() >= next_drop_) DropOld();
  }
  return true;
}

void CollapsingMemtable::Link(Node* node) {
  for (int level = 0; level < node->height; ++level) {
    node->link(level).store(before_[static_cast<size_t>(level)]->Next(level), std::memory_order_relaxed);
  }
  for (int level = 0; level < node->height; ++level) before_[static_cast<size_t>(level)]->SetNext(level, node);
  if (node->height > height_.load(std::memory_order_relaxed)) height_.store(node->height, std::memory_order_relaxed);
}

// In the levels that both have, `before` is directly in front of `node` as well. The others are searched from the top.
void CollapsingMemtable::Unlink(Node* before, Node* node, const VersionKey& key) {
  const int shared = std::min(before->height, node->height);
  for (int level = 0; level < shared; ++level) before->SetNext(level, node->Next(level));
  if (shared == node->height) return;
  Node* at = head_;
  for (int level = height_.load(std::memory_order_relaxed) - 1; level >= shared; --level) {
    Node* next = at->Next(level);
    while (next != nullptr && next != node && IsBefore(KeyOf(next->entry()), key)) {
      at = next;
      next = at->Next(level);
    }
    if (next == node) at->SetNext(level, node->Next(level));
  }
}

void CollapsingMemtable::DropOld() {
  horizon_->GetLimits(&limits_);
  bool is_done = true;
  for (int steps = kDropStepsMax; is_done && !overwriting_.empty(); --steps) {
    if (KeyOf(overwriting_.front()->entry()).sequence() > limits_.overwritten) break;
    is_done = DropOlderThan(overwriting_.front(), &steps);
    if (is_done) overwriting_.pop_front();
  }
  while (overwriting_.size() > kOverwrittenMax) overwriting_.pop_front();
  next_drop_ = is_done ? overwriting_.size() + kOverwrittenMin : 0;
}

bool CollapsingMemtable::DropOlderThan(Node* node, int* steps) {
  VersionKey key = KeyOf(node->entry());
  for (Node* older = node->Next(0); older != nullptr; older = node->Next(0)) {
    const VersionKey older_key = KeyOf(older->entry());
    if (older_key.user_key != key.user_key) return true;
    if (*steps <= 0) return false;
    const bool hides_older = key.type() == kPutType || key.type() == kDeletionType;
    if (hides_older && limits_.AllowsToDrop(older_key.sequence(), key.sequence())) {
      Unlink(node, older, older_key);
      --*steps;
    } else {
      node = older;
      key = older_key;
    }
  }
  return true;
}

class NodeIterator : public rocksdb::MemTableRep::Iterator {
 public:
  explicit NodeIterator(const CollapsingMemtable* table) : table_(table) {}

  bool Valid() const override { return node_ != nullptr; }
  const char* key() const override { return node_->entry(); }
  void Next() override { node_ = node_->Next(0); }
  void Prev() override {
    const VersionKey key = KeyOf(node_->entry());
    node_ = table_->FindLast(&key);
  }
  void Seek(const rocksdb::Slice& internal_key, const char*) override {
    node_ = table_->FindFirst(Split(internal_key.data(), internal_key.size()));
  }
  void SeekForPrev(const rocksdb::Slice& internal_key, const char*) override {
    const VersionKey key = Split(internal_key.data(), internal_key.size());
    node_ = table_->FindFirst(key);
    if (node_ == nullptr || IsBefore(key, KeyOf(node_->entry()))) node_ = table_->FindLast(&key);
  }
  void SeekToFirst() override { node_ = table_->First(); }
  void SeekToLast() override { node_ = table_->FindLast(nullptr); }

 private:
  const CollapsingMemtable* const table_;
  Node* node_ = nullptr;
};

// RocksDB destroys an iterator in an arena without freeing its memory. Arenas are not in its public headers, so the
// iterator is on the heap. Its memory must outlive its destructor, so it is left to the next one of the thread.
class ArenaIterator final : public NodeIterator {
 public:
  static ArenaIterator* New(const CollapsingMemtable* table) {
    void* memory = std::exchange(Spare(), nullptr);
    if (memory == nullptr) memory = ::operator new(sizeof(ArenaIterator));
    return new (memory) ArenaIterator(table);
  }
  ~ArenaIterator() override { ::operator delete(std::exchange(Spare(), static_cast<void*>(this))); }

 private:
  using NodeIterator::NodeIterator;

  static void*& Spare() {
    struct Memory {
      void* memory = nullptr;
      ~Memory() { ::operator delete(memory); }
    };
    thread_local Memory spare;
    return spare.memory;
  }
};

rocksdb::MemTableRep::Iterator* CollapsingMemtable::GetIterator(rocksdb::Arena* arena) {
  if (arena == nullptr) return new NodeIterator(this);
  return ArenaIterator::New(this);
}

// For a search that ends before the next one of its thread begins. Its memory belongs to the thread.
class PointIterator final : public NodeIterator {
 public:
  static PointIterator* New(const CollapsingMemtable* table) {
    alignas(PointIterator) thread_local std::array<std::byte, sizeof(PointIterator)> memory{};
    return new (memory.data()) PointIterator(table);
  }
  static void operator delete(void*) noexcept {}

 private:
  using NodeIterator::NodeIterator;
};

// MemTableRep::Get, which all point reads go through and which cannot be overridden with public headers, asks for an
// iterator without an arena, and never deletes it. Nothing else does.
rocksdb::MemTableRep::Iterator* CollapsingMemtable::GetDynamicPrefixIterator(rocksdb::Arena* arena) {
  if (arena != nullptr) return GetIterator(arena);
  return PointIterator::New(this);
}

class CollapsingMemtableFactory final : public rocksdb::MemTableRepFactory {
 public:
  explicit CollapsingMemtableFactory(const ReadHorizon* horizon) : horizon_(horizon) {}

  using MemTableRepFactory::CreateMemTableRep;
  rocksdb::MemTableRep* CreateMemTableRep(const rocksdb::MemTableRep::KeyComparator&, rocksdb::Allocator* allocator,
                                          const rocksdb::SliceTransform*, rocksdb::Logger*) override {
    return new CollapsingMemtable(horizon_, allocator);
  }
  const char* Name() const override { return "ArmatureCollapsingMemtable"; }
  bool CanHandleDuplicatedKey() const override { return true; }

 private:
  const ReadHorizon* const horizon_;
};

}  // namespace

std::shared_ptr<rocksdb::MemTableRepFactory> MakeCollapsingMemtableFactory(const ReadHorizon* horizon) {
  return std::make_shared<CollapsingMemtableFactory>(horizon);
}

}  // namespace armature::store
