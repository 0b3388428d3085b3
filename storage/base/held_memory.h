#ifndef ARMATURE_STORAGE_BASE_HELD_MEMORY_H_
#define ARMATURE_STORAGE_BASE_HELD_MEMORY_H_

// Memory of requests and answers, counted for the client.
//
// A small request may have a large answer, and the daemon keeps the answer while its client does not read it. So
// whoever makes a part of an answer takes the memory for it first, and does not make it if there is none. The count
// goes with the answer until it is sent.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"

namespace armature {

// Clients count by their networks. All clients on Unix sockets, which have none, count as one.
using MemoryClient = std::array<uint8_t, 8>;

// Lends memory, up to a bound in all and a bound for each client. Thread-safety: thread-safe.
class MemoryLender {
 public:
  virtual ~MemoryLender() = default;
  // False, with nothing taken, if there is no room.
  virtual bool TryTake(const MemoryClient& client, size_t bytes) = 0;
  // Takes memory that is used in any case.
  virtual void Take(const MemoryClient& client, size_t bytes) = 0;
  virtual void Return(const MemoryClient& client, size_t bytes) = 0;
};

// Where the memory for a request and its answer comes from. Without a lender there is no bound. The lender outlives the
// request and its answer.
struct MemorySource {
  MemoryLender* lender = nullptr;
  MemoryClient client = {};
};

// The memory of one request or answer, or of a part of one. Returned by the destructor.
//
// Small amounts are not counted, so that an ordinary request touches no shared counter.
// Thread-safety: thread-compatible.
class HeldMemory {
 public:
  static constexpr size_t kFreeBytes = 8 << 10;
  static bool Counts(size_t bytes) { return bytes > kFreeBytes; }

  HeldMemory() = default;
  explicit HeldMemory(const MemorySource& source) : source_(source) {}
  HeldMemory(HeldMemory&& other) noexcept
      : source_(std::exchange(other.source_, {})), counted_(std::exchange(other.counted_, 0)) {}
  HeldMemory& operator=(HeldMemory&& other) noexcept {
    std::swap(source_, other.source_);
    std::swap(counted_, other.counted_);
    return *this;
  }
  ~HeldMemory() { Set(0); }

  // Counts `bytes` instead of what was counted. False, with nothing changed, if there is no room for more.
  bool TrySet(size_t bytes) {
    if (!Counts(bytes)) bytes = 0;
    if (bytes > counted_ && source_.lender != nullptr && !source_.lender->TryTake(source_.client, bytes - counted_)) {
      return false;
    }
    if (bytes < counted_) return Set(bytes), true;
    counted_ = bytes;
    return true;
  }
  // Counts at least `bytes`. False, with nothing changed, if there is no room for more.
  bool Cover(size_t bytes) { return bytes <= counted_ || TrySet(bytes); }
  // Counts `bytes` even if there is no room: they are used already.
  void Set(size_t bytes) {
    if (!Counts(bytes)) bytes = 0;
    if (source_.lender != nullptr && bytes > counted_) source_.lender->Take(source_.client, bytes - counted_);
    if (source_.lender != nullptr && bytes < counted_) source_.lender->Return(source_.client, counted_ - bytes);
    counted_ = bytes;
  }
  size_t counted() const { return counted_; }
  bool is_counted() const { return counted_ > 0; }
  const MemorySource& source() const { return source_; }

 private:
  MemorySource source_;
  size_t counted_ = 0;
};

// The error of an answer for which there is no memory: ServiceUnavailable.
absl::Status NoMemoryForAnswerError();

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_HELD_MEMORY_H_
