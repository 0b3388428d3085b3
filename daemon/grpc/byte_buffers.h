#ifndef ARMATURE_DAEMON_GRPC_BYTE_BUFFERS_H_
#define ARMATURE_DAEMON_GRPC_BYTE_BUFFERS_H_

// Raw gRPC messages to and from contiguous bytes, with few copies.

#include <string>
#include <string_view>

#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"

namespace armature::daemon {

// The bytes of a message, without a copy if it has one slice. Lifetime: owns the bytes.
class MessageBytes {
 public:
  explicit MessageBytes(const grpc::ByteBuffer& buffer);
  std::string_view view() const { return {reinterpret_cast<const char*>(slice_.begin()), slice_.size()}; }

 private:
  grpc::Slice slice_;
};

// A message with one slice that takes over `bytes` without copying.
grpc::ByteBuffer TakeBytes(std::string bytes);

// A message of the length-delimited field `number` with `payload`, followed by `rest`.
grpc::ByteBuffer FieldAndRest(uint32_t number, std::string_view payload, std::string_view rest);

// `message` prefixed with `head`. Its slices are shared, not copied.
grpc::ByteBuffer WithHead(const std::string& head, const grpc::ByteBuffer& message);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_BYTE_BUFFERS_H_
