#include "daemon/grpc/byte_buffers.h"

#include <cstring>
#include <utility>
#include <vector>

#include "storage/model/wire.h"

namespace armature::daemon {

MessageBytes::MessageBytes(const grpc::ByteBuffer& buffer) {
  if (buffer.TrySingleSlice(&slice_).ok()) return;
  // A message in several slices is copied. An empty message has no slice.
  if (!buffer.DumpToSingleSlice(&slice_).ok()) slice_ = grpc::Slice();
}

grpc::ByteBuffer TakeBytes(std::string bytes) {
  auto* const owned = new std::string(std::move(bytes));  // freed by the slice
  const grpc::Slice slice(
      owned->data(), owned->size(), [](void* data) { delete static_cast<std::string*>(data); }, owned);
  return grpc::ByteBuffer(&slice, 1);
}

grpc::ByteBuffer FieldAndRest(uint32_t number, std::string_view payload, std::string_view rest) {
  std::string head(1, static_cast<char>(model::WireTag(number, model::WireType::kBytes)));
  model::AppendVarint(payload.size(), &head);
  const grpc::Slice slice(head.size() + payload.size() + rest.size());
  auto* out = const_cast<uint8_t*>(slice.begin());  // not shared until the buffer is returned
  for (const std::string_view part : {std::string_view(head), payload, rest}) {
    if (!part.empty()) std::memcpy(out, part.data(), part.size());
    out += part.size();
  }
  return grpc::ByteBuffer(&slice, 1);
}

grpc::ByteBuffer WithHead(const std::string& head, const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> pieces;
  // Fails only for an empty message, which has no slices.
  if (!message.Dump(&pieces).ok()) pieces.clear();
  pieces.emplace(pieces.begin(), head);
  return grpc::ByteBuffer(pieces.data(), pieces.size());
}

}  // namespace armature::daemon
