#ifndef ARMATURE_DAEMON_HTTP_H2_OUTPUT_H_
#define ARMATURE_DAEMON_HTTP_H2_OUTPUT_H_

// Bytes on their way to a socket.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/http/h2_stream.h"

namespace armature::daemon {

// Frames, and messages between them: large ones stay where they are, small ones are copied.
//
// Thread-safety: thread-compatible.
class H2Output {
 public:
  void Copy(std::string_view bytes);
  // `bytes`: a part of `owner`.
  void Refer(const std::shared_ptr<const OutMessage>& owner, std::string_view bytes);

  size_t size() const { return size_; }
  // Memory that no message counts.
  size_t copied_bytes() const { return copied_.capacity(); }

  // The first pieces, at most as many as `pieces` has room for. Returns their number.
  size_t Gather(std::span<std::string_view> pieces) const;
  // Removes `bytes` from the begin.
  void Advance(size_t bytes);

 private:
  struct Piece {
    std::shared_ptr<const OutMessage> owner;  // null: in copied_
    const char* bytes;                        // of the owner
    size_t begin;                             // offset in copied_
    size_t size;
  };

  void Compact();

  std::vector<Piece> pieces_;
  size_t first_ = 0;    // those before it have been removed
  size_t skipped_ = 0;  // of the first piece
  size_t read_ = 0;     // bytes of copied_ that have been removed
  std::string copied_;
  size_t size_ = 0;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_H2_OUTPUT_H_
