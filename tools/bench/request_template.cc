#include "tools/bench/request_template.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "tools/armature/message_json.h"

namespace armature::bench {
namespace {

void WriteKey(uint64_t number, char* out) {
  const uint64_t mixed = Mix(number);
  for (size_t i = 0; i < kKeyLength; ++i) {
    out[i] = "0123456789abcdef"[(mixed >> (60 - 4 * i)) & 15];
  }
}

std::string Encode(const google::protobuf::Message& message, Protocol protocol) {
  return protocol == Protocol::kGrpc ? Serialize(message) : cli::MessageToJson(message).dump();
}

}  // namespace

uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

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

RequestTemplate::RequestTemplate(const google::protobuf::Message& message, Protocol protocol)
    : bytes_(Encode(message, protocol)),
      places_(PlacesOf(kKeyPlaceholder)),
      second_places_(PlacesOf(kSecondPlaceholder)),
      sort_places_(PlacesOf(kSortPlaceholder)) {}

std::string_view RequestTemplate::With(uint64_t number, uint64_t second, uint64_t step, size_t run) {
  for (const size_t place : second_places_) WriteKey(second, bytes_.data() + place);
  for (size_t i = 0; i < places_.size(); ++i) WriteKey(number + i / run * step, bytes_.data() + places_[i]);
  return bytes_;
}

std::string_view RequestTemplate::WithRow(uint64_t number, uint64_t sort, uint64_t second) {
  const std::string digits = std::to_string(kFirstSortKey + sort);
  for (const size_t place : sort_places_) bytes_.replace(place, digits.size(), digits);
  return With(number, second);
}

std::vector<size_t> RequestTemplate::PlacesOf(std::string_view placeholder) const {
  std::vector<size_t> places;
  for (size_t place = bytes_.find(placeholder); place != std::string::npos;
       place = bytes_.find(placeholder, place + placeholder.size())) {
    places.push_back(place);
  }
  return places;
}

}  // namespace armature::bench
