// A serialised message in which only a key changes from call to call.
#ifndef ARMATURE_TOOLS_BENCH_REQUEST_TEMPLATE_H_
#define ARMATURE_TOOLS_BENCH_REQUEST_TEMPLATE_H_

#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <string>
#include <vector>

namespace armature::bench {

// Stands in a message where the key is to be put.
inline constexpr char kKeyPlaceholder[] = "################";
// Stands where a second key is to be put.
inline constexpr char kSecondPlaceholder[] = "$$$$$$$$$$$$$$$$";
inline constexpr size_t kKeyLength = sizeof(kKeyPlaceholder) - 1;

// 16 hexadecimal digits; different numbers give different keys, and neighbours lie far apart.
std::string KeyText(uint64_t number);

// Serialises, with maps in order of their keys, so that equal messages have equal bytes.
std::string Serialize(const google::protobuf::Message& message);

grpc::ByteBuffer ToByteBuffer(const std::string& bytes);
bool Parse(const grpc::ByteBuffer& buffer, google::protobuf::Message* message);

// Not thread-safe; copies are cheap.
class RequestTemplate {
 public:
  explicit RequestTemplate(const google::protobuf::Message& message);

  // The message with KeyText(number) in all places.
  grpc::ByteBuffer With(uint64_t number);
  // And with KeyText(second) in all places of the second key.
  grpc::ByteBuffer With(uint64_t number, uint64_t second);
  // With KeyText(number), KeyText(number + 1), ... in the places, and KeyText(second) as above.
  grpc::ByteBuffer WithRun(uint64_t number, uint64_t second);

 private:
  std::string bytes_;
  std::vector<size_t> places_;
  std::vector<size_t> second_places_;
};

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_REQUEST_TEMPLATE_H_
