// A serialised request in which only the key changes from call to call.
#ifndef ARMATURE_TOOLS_BENCH_REQUEST_TEMPLATE_H_
#define ARMATURE_TOOLS_BENCH_REQUEST_TEMPLATE_H_

#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <string>
#include <vector>

namespace armature::bench {

// Placeholder of the key in a message.
inline constexpr char kKeyPlaceholder[] = "################";
// Placeholder of a second key.
inline constexpr char kSecondPlaceholder[] = "$$$$$$$$$$$$$$$$";
inline constexpr size_t kKeyLength = sizeof(kKeyPlaceholder) - 1;

// 16 hexadecimal digits. Different numbers give different keys; the keys of successive numbers are far apart.
std::string KeyText(uint64_t number);

// Serialises with maps in key order, so that equal messages have equal bytes.
std::string Serialize(const google::protobuf::Message& message);

grpc::ByteBuffer ToByteBuffer(const std::string& bytes);
bool Parse(const grpc::ByteBuffer& buffer, google::protobuf::Message* message);

// Not thread-safe. Copies are cheap.
class RequestTemplate {
 public:
  explicit RequestTemplate(const google::protobuf::Message& message);

  // True if the message has a placeholder for a second key.
  bool has_second() const { return !second_places_.empty(); }

  // The message with KeyText(number) in all places of the key, and KeyText(second) in all places of the second key.
  grpc::ByteBuffer With(uint64_t number, uint64_t second = 0);
  // The same with KeyText(number), KeyText(number + 1), ... in the places of the key.
  grpc::ByteBuffer WithRun(uint64_t number, uint64_t second);

 private:
  std::string bytes_;
  std::vector<size_t> places_;
  std::vector<size_t> second_places_;
};

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_REQUEST_TEMPLATE_H_
