#ifndef ARMATURE_TOOLS_BENCH_TRANSPORT_H_
#define ARMATURE_TOOLS_BENCH_TRANSPORT_H_

// Sends requests and receives answers, over gRPC or HTTP.

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/options.h"

namespace armature::bench {

using Clock = std::chrono::steady_clock;
using Channels = std::vector<std::shared_ptr<grpc::Channel>>;

// A kind of call within a workload, and its expected answers.
struct CallType {
  std::string service = "armature.api.v1.ItemService";
  std::string operation;  // "PutItem"
  // Checks the first answer of each client thread, or each answer. Returns the mistake, or an empty text.
  std::function<std::string(const std::string& answer)> check = nullptr;
  bool checks_each = false;
  // True: every answer must have the length of the first one. This check of all answers costs next to nothing.
  bool answers_of_one_size = false;
  // Name of the exception that must be the answer; empty: success.
  std::string expected_error = {};
};

struct Outcome {
  size_t slot = 0;
  std::string error;       // name of an exception, or a code of gRPC or HTTP; empty: success
  std::string error_text;  // for people
  size_t length = 0;       // bytes of the answer's message or body
};

// A number of slots, each with at most one call under way.
//
// Thread-safety: Start, by one thread, and all other functions, by one thread, may run at once, if no slot is used by
// both.
class Transport {
 public:
  virtual ~Transport() = default;
  // Starts a call. `type` must live until its outcome; `request` is copied.
  virtual void Start(size_t slot, const CallType& type, std::string_view request) = 0;
  // Waits for the outcome of a call, at most until `give_up`. nullopt: none has ended.
  virtual std::optional<Outcome> Next(Clock::time_point give_up) = 0;
  // The answer of a successful call, until the slot is used again.
  virtual std::string Answer(size_t slot) const = 0;
  // Ends all calls; their outcomes are errors.
  virtual void CancelAll() = 0;
};

// Calls over some of the channels, taken in turns.
std::unique_ptr<Transport> OverGrpc(const Channels& channels, size_t slots);
// Each slot has a connection of its own to `address`, HOST:PORT. Throws std::runtime_error if one fails.
std::unique_ptr<Transport> OverHttp(const std::string& address, size_t slots);

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_TRANSPORT_H_
