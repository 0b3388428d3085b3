#ifndef ARMATURE_STORAGE_BASE_STRONG_TYPE_H_
#define ARMATURE_STORAGE_BASE_STRONG_TYPE_H_

// Integer types that do not convert to each other.

#include <compare>
#include <cstdint>
#include <utility>

namespace armature {

// Example: using TableId = StrongInt<struct TableIdTag, uint32_t>;
template <class Tag, class T>
class StrongInt {
 public:
  constexpr StrongInt() = default;
  constexpr explicit StrongInt(T value) : value_(value) {}
  constexpr T value() const { return value_; }
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy takes the 0 of a defaulted <=> for a pointer.
  friend constexpr auto operator<=>(StrongInt, StrongInt) = default;
  template <class H>
  friend H AbslHashValue(H h, StrongInt v) {
    return H::combine(std::move(h), v.value_);
  }

 private:
  T value_ = 0;
};

// Tables and indexes get their ids from one counter. An id is never reused.
using TableId = StrongInt<struct TableIdTag, uint32_t>;
using IndexId = StrongInt<struct IndexIdTag, uint32_t>;
// Streams of tables get their ids from the same counter.
using StreamId = StrongInt<struct StreamIdTag, uint32_t>;
// Segments of the stream family are numbered in the order of time, from 1.
using SegmentId = StrongInt<struct SegmentIdTag, uint32_t>;
// Position in the change log. Grows with every change record of the whole database. 0 precedes the first record.
using ChangeSequence = StrongInt<struct ChangeSequenceTag, uint64_t>;

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_STRONG_TYPE_H_
