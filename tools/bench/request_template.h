#ifndef ARMATURE_TOOLS_BENCH_REQUEST_TEMPLATE_H_
#define ARMATURE_TOOLS_BENCH_REQUEST_TEMPLATE_H_

// Requests of which only keys and numbers change from call to call, as protobuf messages or JSON documents.

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/options.h"

namespace armature::bench {

// Placeholders of the key, of a second key, and of a sort key in a message.
inline constexpr char kKeyPlaceholder[] = "################";
inline constexpr char kSecondPlaceholder[] = "$$$$$$$$$$$$$$$$";
inline constexpr char kSortPlaceholder[] = "@@@@@@@@@@";
inline constexpr size_t kKeyLength = sizeof(kKeyPlaceholder) - 1;
inline constexpr uint64_t kFirstSortKey = 1000000000;  // ten digits, as all sort keys

// A bijection that spreads numbers (the finaliser of splitmix64).
uint64_t Mix(uint64_t x);

// 16 hexadecimal digits. Different numbers give different keys; the keys of successive numbers are far apart.
std::string KeyText(uint64_t number);

// Serialises with maps in key order, so that equal messages have equal bytes.
std::string Serialize(const google::protobuf::Message& message);

// Not thread-safe. Copies are cheap.
class RequestTemplate {
 public:
  RequestTemplate(const google::protobuf::Message& message, Protocol protocol);

  // True if the message has a placeholder for a second key.
  bool has_second() const { return !second_places_.empty(); }

  // The request with KeyText(number) in the first `run` places of the key, KeyText(number + step) in the next `run`
  // ones, and so on, and KeyText(second) in all places of the second key. Valid until the next call.
  std::string_view With(uint64_t number, uint64_t second = 0, uint64_t step = 0, size_t run = 1);
  // The request with KeyText(number) in all places of the key, for a row of a partition: `sort` is added to the first
  // sort key.
  std::string_view WithRow(uint64_t number, uint64_t sort, uint64_t second = 0);

 private:
  std::vector<size_t> PlacesOf(std::string_view placeholder) const;

  std::string bytes_;
  std::vector<size_t> places_;
  std::vector<size_t> second_places_;
  std::vector<size_t> sort_places_;
};

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_REQUEST_TEMPLATE_H_
