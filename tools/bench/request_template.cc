#include "tools/bench/request_template.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <grpcpp/support/slice.h>

#include <string_view>

namespace armature::bench {
namespace {

// A bijection (the finaliser of splitmix64).
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

void WriteKey(uint64_t number, char* out) {
  const uint64_t mixed = Mix(number);
  for (size_t i = 0; i < kKeyLength; ++i) {
    out[i] = "0123456789abcdef"[(mixed >> (60 - 4 * i)) & 15];
  }
}

std::vector<size_t> PlacesOf(std::string_view placeholder, std::string_view bytes) {
  std::vector<size_t> places;
  for (size_t place = bytes.find(placeholder); place != std::string_view::npos;
       place = bytes.find(placeholder, place + kKeyLength)) {
    places.push_back(place);
  }
  return places;
}

}  // namespace

std::string KeyText(uint64_t number) {
  std::string text(kKeyLength, '0');
  WriteKey(number, text.data());
  return text;
}

std::string Serialize(const google::protobuf::Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

grpc::ByteBuffer ToByteBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

bool Parse(const grpc::ByteBuffer& buffer, google::protobuf::Message* message) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return false;
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return message->ParseFromString(bytes);
}

RequestTemplate::RequestTemplate(const google::protobuf::Message& message)
    : bytes_(Serialize(message)),
      places_(PlacesOf(kKeyPlaceholder, bytes_)),
      second_places_(PlacesOf(kSecondPlaceholder, bytes_)) {}

grpc::ByteBuffer RequestTemplate::With(uint64_t number, uint64_t second) {
  for (const size_t place : second_places_) WriteKey(second, bytes_.data() + place);
  for (const size_t place : places_) WriteKey(number, bytes_.data() + place);
  return ToByteBuffer(bytes_);
}

grpc::ByteBuffer RequestTemplate::WithRun(uint64_t number, uint64_t second) {
  for (const size_t place : second_places_) WriteKey(second, bytes_.data() + place);
  for (const size_t place : places_) WriteKey(number++, bytes_.data() + place);
  return ToByteBuffer(bytes_);
}

}  // namespace armature::bench
