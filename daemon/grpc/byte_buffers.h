#ifndef ARMATURE_DAEMON_GRPC_BYTE_BUFFERS_H_
#define ARMATURE_DAEMON_GRPC_BYTE_BUFFERS_H_

// Raw messages of gRPC to and from contiguous bytes, with as few copies as can be.

#include <string>
#include <string_view>

#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"

namespace armature::daemon {

// The bytes of a message, without copying if it came in one piece. Lifetime: holds what it shows.
class MessageBytes {
 public:
  explicit MessageBytes(const grpc::ByteBuffer& buffer);
  std::string_view view() const { return {reinterpret_cast<const char*>(slice_.begin()), slice_.size()}; }

 private:
  grpc::Slice slice_;
};

// A message of one piece that takes over `bytes` without copying.
grpc::ByteBuffer TakeBytes(std::string bytes);

// A message that consists of the length-delimited field `number` holding `payload`, and `rest` after it.
grpc::ByteBuffer FieldAndRest(uint32_t number, std::string_view payload, std::string_view rest);

// `message` with `head` before it; its pieces are shared, not copied.
grpc::ByteBuffer WithHead(const std::string& head, const grpc::ByteBuffer& message);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_BYTE_BUFFERS_H_
