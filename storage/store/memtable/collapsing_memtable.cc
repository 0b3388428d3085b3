#include "storage/store/memtable/collapsing_memtable.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <random>
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
// A memtable has fingers from this number of rows on, a quarter as many as rows at least.
constexpr size_t kFingersMin = 1024;
constexpr size_t kFingersGrowth = 4;
constexpr size_t kFingersMax = size_t{1} << 20;
// Number of fingers that a search looks at, and of nodes that it passes from there, before it begins at the head.
constexpr size_t kFingersTried = 8;
constexpr int kFingerStepsMax = 8;

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
  // Number of levels in which the node is linked.
  int32_t height;

  const char* entry() const { return reinterpret_cast<const char*>(this) + kEntryOffset; }
  char* entry() { return reinterpret_cast<char*>(this) + kEntryOffset; }
  std::atomic<Node*>& link(int level) { return *(&next0 - level); }
  Node* Next(int level) { return link(level).load(std::memory_order_acquire); }
  void SetNext(int level, Node* node) { link(level).store(node, std::memory_order_release); }

  static constexpr size_t kEntryOffset = sizeof(std::atomic<Node*>) + sizeof(int32_t);
};

Node* NodeOf(char* entry) { return reinterpret_cast<Node*>(entry - Node::kEntryOffset); }

// Nodes near to which a search can begin, by the first bits of their keys. Rows begin with a hash of their partition
// key (codec/key_codec.h), so they are spread evenly, and the next finger in front of a key is about a row away. A
// search from the head compares twenty keys in a memtable of 100,000 rows, none of which is in the processor's cache.
//
// A finger is any linked node of its range, most often the last one, or null: nothing but the time of a search depends
// on it. The writer sets it, and any number of threads read.
class Fingers {
 public:
  // `memory`: of BytesFor(count), aligned as a Fingers. `count`: a power of two.
  static Fingers* New(void* memory, size_t count) { return new (memory) Fingers(count); }
  static size_t BytesFor(size_t count) { return sizeof(Fingers) + count * sizeof(std::atomic<Node*>); }

  size_t count() const { return count_; }
  // Never decreases in the order of keys.
  size_t RangeOf(std::string_view user_key) const {
    uint32_t front = 0;
    std::memcpy(&front, user_key.data(), std::min(sizeof front, user_key.size()));
    return static_cast<size_t>((uint64_t{__builtin_bswap32(front)} * count_) >> 32);
  }
  Node* Get(size_t range) const { return slots()[range].load(std::memory_order_acquire); }
  void Set(size_t range, Node* node) { slots()[range].store(node, std::memory_order_release); }

 private:
  explicit Fingers(size_t count) : count_(count) {
    for (size_t range = 0; range < count; ++range) new (slots() + range) std::atomic<Node*>(nullptr);
  }
  std::atomic<Node*>* slots() { return reinterpret_cast<std::atomic<Node*>*>(this + 1); }
  const std::atomic<Node*>* slots() const { return reinterpret_cast<const std::atomic<Node*>*>(this + 1); }

  const size_t count_;
};

// A client that knows the heights can give all rows of a partition the least one, and make them slow to search.
uint64_t SeedOfHeights() {
  static const uint64_t kSecret = [] {
    std::random_device device;
    return uint64_t{device()} << 32 | device();
  }();
  static std::atomic<uint64_t> memtables = 0;
  uint64_t seed = kSecret + 0x9E3779B97F4A7C15 * memtables.fetch_add(1, std::memory_order_relaxed);
  seed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9;
  seed = (seed ^ (seed >> 27)) * 0x94D049BB133111EB;
  return (seed ^ (seed >> 31)) | 1;
}

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
    const Place place = Find(key, 1, nullptr);
    CountComparisons(place.passed);
    return place.found;
  }
  // The last node that is before `key`, or null.
  Node* FindLast(const VersionKey& key) const {
    Node* const before = Find(key, 1, nullptr).before;
    return before == head_ ? nullptr : before;
  }
  Node* Last() const {
    Node* node = head_;
    for (int level = height_.load(std::memory_order_relaxed) - 1; level >= 0; --level) {
      while (Node* const next = node->Next(level)) node = next;
    }
    return node == head_ ? nullptr : node;
  }
  Node* First() const { return head_->Next(0); }

 private:
  // The neighbours of a key.
  struct Place {
    Node* before;
    Node* found;  // the first one that is not before the key, or null
    uint64_t passed;
  };

  char* AllocateAligned(size_t front, size_t bytes);
  Node* NewNode(int height, size_t entry_bytes);
  int RandomHeight();
  // `before`: null, or where to put the nodes in front of the key for `height` levels at least.
  Place Find(const VersionKey& key, int height, Node** before) const;
  // Begins at `at`, which is before the key. Nullopt after `steps_max` nodes.
  std::optional<Place> FindFrom(Node* at, int levels, const VersionKey& key, uint64_t steps_max, Node** before) const;
  // A finger before the key that is linked in `height` levels, or null.
  Node* FingerBefore(const VersionKey& key, int height) const;
  void Link(Node* node);
  // Makes a finger of a linked node, if it is the last one of its range or the first that the writer knows there.
  void SetFinger(const VersionKey& key, Node* node, Node* next);
  void AddFingers();
  // `before` is directly in front of `node`.
  void Unlink(Node* before, Node* node, const VersionKey& key);
  void DropOld();
  // Takes one of `steps` for each version that it drops. False if they are used up: there may be more to drop.
  bool DropOlderThan(Node* node, int* steps);

  const ReadHorizon* const horizon_;
  Node* const head_;
  std::atomic<int> height_ = 1;
  std::atomic<Fingers*> fingers_ = nullptr;
  size_t rows_to_fingers_ = kFingersMin;  // number of new rows until there are more fingers
  uint64_t random_ = SeedOfHeights();
  std::array<Node*, kHeightMax> before_{};  // the nodes in front of the one that is inserted, by level
  std::deque<Node*> overwriting_;           // nodes with an older version behind them, in the order of their writes
  size_t next_drop_ = kOverwrittenMin;
  ReadHorizon::Limits limits_;
};

// `bytes` that are aligned for a Node from `front` on.
char* CollapsingMemtable::AllocateAligned(size_t front, size_t bytes) {
  char* memory = nullptr;
  MemTableRep::Allocate(bytes + alignof(Node) - 1, &memory);
  const uintptr_t address = reinterpret_cast<uintptr_t>(memory) + front;
  return memory + (alignof(Node) - address % alignof(Node)) % alignof(Node);
}

Node* CollapsingMemtable::NewNode(int height, size_t entry_bytes) {
  const size_t links = static_cast<size_t>(height - 1) * sizeof(std::atomic<Node*>);
  Node* const node = reinterpret_cast<Node*>(AllocateAligned(links, links + Node::kEntryOffset + entry_bytes) + links);
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

Node* CollapsingMemtable::FingerBefore(const VersionKey& key, int height) const {
  const Fingers* const fingers = fingers_.load(std::memory_order_acquire);
  if (fingers == nullptr) return nullptr;
  const size_t range = fingers->RangeOf(key.user_key);
  // Rows of one partition are often written in their order.
  Node* const own = fingers->Get(range);
  if (own != nullptr && own->height >= height && IsBefore(KeyOf(own->entry()), key)) return own;
  for (size_t back = 1; back <= std::min(kFingersTried, range); ++back) {
    Node* const finger = fingers->Get(range - back);
    if (finger != nullptr && finger->height >= height) return finger;
  }
  return nullptr;
}

std::optional<CollapsingMemtable::Place> CollapsingMemtable::FindFrom(Node* at, int levels, const VersionKey& key,
                                                                      uint64_t steps_max, Node** before) const {
  Node* found = nullptr;
  uint64_t passed = 0;
  for (int level = levels - 1; level >= 0; --level) {
    Node* next = at->Next(level);
    // A node that was found not to be before the key is met again in the levels below.
    while (next != nullptr && next != found && IsBefore(KeyOf(next->entry()), key)) {
      if (passed == steps_max) return std::nullopt;
      at = next;
      next = at->Next(level);
      if (next != nullptr) __builtin_prefetch(next);
      ++passed;
    }
    found = next;
    if (before != nullptr) before[level] = at;
  }
  return Place{at, found, passed};
}

CollapsingMemtable::Place CollapsingMemtable::Find(const VersionKey& key, int height, Node** before) const {
  if (Node* const finger = FingerBefore(key, height); finger != nullptr) {
    const std::optional<Place> near = FindFrom(finger, finger->height, key, kFingerStepsMax, before);
    if (near.has_value()) return *near;
  }
  const int levels = std::max(height_.load(std::memory_order_relaxed), height);
  return *FindFrom(head_, levels, key, std::numeric_limits<uint64_t>::max(), before);
}

bool CollapsingMemtable::InsertKey(rocksdb::KeyHandle handle) {
  Node* const node = NodeOf(static_cast<char*>(handle));
  const VersionKey key = KeyOf(node->entry());
  Node* const found = Find(key, node->height, before_.data()).found;
  bool has_older = false;
  if (found != nullptr) {
    const VersionKey older = KeyOf(found->entry());
    has_older = older.user_key == key.user_key;
    if (has_older && older.trailer == key.trailer) return false;
  }
  Link(node);
  SetFinger(key, node, found);
  if (has_older) {
    overwriting_.push_back(node);
    if (overwriting_.size() >= next_drop_) DropOld();
  } else if (--rows_to_fingers_ == 0) {
    AddFingers();
  }
  return true;
}

void CollapsingMemtable::SetFinger(const VersionKey& key, Node* node, Node* next) {
  Fingers* const fingers = fingers_.load(std::memory_order_relaxed);
  if (fingers == nullptr) return;
  const size_t range = fingers->RangeOf(key.user_key);
  const bool is_last = next == nullptr || fingers->RangeOf(KeyOf(next->entry()).user_key) != range;
  if (is_last || fingers->Get(range) == nullptr) fingers->Set(range, node);
}

// The earlier ones stay in memory for the searches that use them.
void CollapsingMemtable::AddFingers() {
  const Fingers* const earlier = fingers_.load(std::memory_order_relaxed);
  const size_t count = earlier == nullptr ? kFingersMin : earlier->count() * kFingersGrowth;
  Fingers* const fingers = Fingers::New(AllocateAligned(0, Fingers::BytesFor(count)), count);
  for (size_t range = 0; earlier != nullptr && range < earlier->count(); ++range) {
    if (Node* const ahead = earlier->Get(std::min(range + kFingersTried, earlier->count() - 1)); ahead != nullptr) {
      __builtin_prefetch(ahead->entry());
    }
    Node* const finger = earlier->Get(range);
    if (finger != nullptr) fingers->Set(fingers->RangeOf(KeyOf(finger->entry()).user_key), finger);
  }
  fingers_.store(fingers, std::memory_order_release);
  rows_to_fingers_ = count < kFingersMax ? count * (kFingersGrowth - 1) : std::numeric_limits<size_t>::max();
}

void CollapsingMemtable::Link(Node* node) {
  for (int level = 0; level < node->height; ++level) {
    node->link(level).store(before_[static_cast<size_t>(level)]->Next(level), std::memory_order_relaxed);
  }
  for (int level = 0; level < node->height; ++level) before_[static_cast<size_t>(level)]->SetNext(level, node);
  if (node->height > height_.load(std::memory_order_relaxed)) height_.store(node->height, std::memory_order_relaxed);
}

// In the levels that both have, `before` is directly in front of `node` as well. The others are searched from the top.
// A search that begins at the node, since it had the finger already, sees all that was linked until now.
void CollapsingMemtable::Unlink(Node* before, Node* node, const VersionKey& key) {
  const int shared = std::min(before->height, node->height);
  for (int level = 0; level < shared; ++level) before->SetNext(level, node->Next(level));
  Fingers* const fingers = fingers_.load(std::memory_order_relaxed);
  if (fingers != nullptr) {
    const size_t range = fingers->RangeOf(key.user_key);
    if (fingers->Get(range) == node) fingers->Set(range, before);
  }
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
    node_ = table_->FindLast(key);
  }
  void Seek(const rocksdb::Slice& internal_key, const char*) override {
    node_ = table_->FindFirst(Split(internal_key.data(), internal_key.size()));
  }
  void SeekForPrev(const rocksdb::Slice& internal_key, const char*) override {
    const VersionKey key = Split(internal_key.data(), internal_key.size());
    node_ = table_->FindFirst(key);
    if (node_ == nullptr || IsBefore(key, KeyOf(node_->entry()))) node_ = table_->FindLast(key);
  }
  void SeekToFirst() override { node_ = table_->First(); }
  void SeekToLast() override { node_ = table_->Last(); }

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
