#ifndef ARMATURE_TOOLS_BENCH_ANSWER_CHECK_H_
#define ARMATURE_TOOLS_BENCH_ANSWER_CHECK_H_

// Checks of answers, which are protobuf messages or JSON documents.

#include <functional>
#include <string>
#include <utility>

#include "armature/api/v1/items.pb.h"
#include "tools/armature/message_json.h"
#include "tools/bench/options.h"

namespace armature::bench {

// A check that parses the answer as a Response. `check` returns what is wrong with it, or an empty string.
template <class Response>
std::function<std::string(const std::string&)> CheckOf(Protocol protocol,
                                                       std::function<std::string(const Response&)> check) {
  return [protocol, check = std::move(check)](const std::string& answer) -> std::string {
    Response response;
    if (protocol == Protocol::kGrpc) {
      if (!response.ParseFromString(answer)) return "not a " + Response::descriptor()->name();
    } else {
      const auto json = cli::ParseJson(answer);
      const absl::Status read = json.ok() ? cli::MessageFromJson(*json, "", &response) : json.status();
      if (!read.ok()) return "not a " + Response::descriptor()->name() + ": " + read.ToString();
    }
    return check(response);
  };
}

// The check of PutItemResponse and UpdateItemResponse.
template <class Response>
std::string HasNoAttributes(const Response& response) {
  return response.has_attributes() ? "attributes that were not asked for" : "";
}

// True if `item` is the item that BenchItem makes for its key.
bool IsWhole(const api::v1::Item& item, const Options& options, uint64_t sort_offset);

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_ANSWER_CHECK_H_
