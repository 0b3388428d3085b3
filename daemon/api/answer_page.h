#ifndef ARMATURE_DAEMON_API_ANSWER_PAGE_H_
#define ARMATURE_DAEMON_API_ANSWER_PAGE_H_

// The encoded answer to a query or scan.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/api/message_parts.h"
#include "engine/items/request.h"
#include "storage/base/held_memory.h"
#include "storage/model/wire.h"

namespace armature::daemon {

// Field 1 of every answer holds the item or items.
inline constexpr uint32_t kAnswerItemField = 1;

// Writes the items of a page directly into the answer, an armature.api.v1.QueryResponse or ScanResponse.
//
// Thread-safety: thread-compatible.
class AnswerPage final : public engine::PageWriter {
 public:
  // `limit`: the limit of the request. `memory`: of the answer.
  explicit AnswerPage(std::optional<int64_t> limit, const MemorySource& memory = {}) : limit_(limit), memory_(memory) {}

  void Add(std::string_view item_bytes) override {
    // Room for another item is room for the rest of the answer.
    const size_t framed_bytes = item_bytes.size() + kFrameBytes;
    if (bytes_.size() + framed_bytes > bytes_.capacity()) Grow(framed_bytes);
    if (is_refused_) return;
    model::AppendBytesField(kAnswerItemField, item_bytes, &bytes_);
  }
  void Clear() override { bytes_.clear(); }

  // True if there was no memory for the page.
  bool is_refused() const { return is_refused_; }
  // The answer: the items and `rest`. Call it once, at the end.
  std::string Take(std::string_view rest) {
    bytes_.append(rest);
    return std::move(bytes_);
  }
  // The memory that was taken for the answer.
  HeldMemory TakeMemory() { return std::move(memory_); }

 private:
  static constexpr size_t kFrameBytes = 16;

  void Grow(size_t bytes) {
    const size_t wanted = bytes_.empty() ? PageReserve(limit_, bytes) + bytes : 2 * bytes_.capacity() + bytes;
    is_refused_ = is_refused_ || !memory_.Cover(wanted);
    if (!is_refused_) bytes_.reserve(wanted);
  }

  const std::optional<int64_t> limit_;
  std::string bytes_;
  HeldMemory memory_;
  bool is_refused_ = false;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_ANSWER_PAGE_H_
