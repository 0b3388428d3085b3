// Keeps a fixed number of raw calls under way and measures them.
#ifndef ARMATURE_TOOLS_BENCH_LOAD_H_
#define ARMATURE_TOOLS_BENCH_LOAD_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/bench/histogram.h"

namespace armature::bench {

using Channels = std::vector<std::shared_ptr<grpc::Channel>>;

// `count` channels, each with a connection of its own, all connected. Throws std::runtime_error if
// one cannot be made.
Channels Connect(const std::string& target, uint32_t count);

// Gives the next serialised request; false if there are no more. Called by one thread.
using RequestSource = std::function<bool(grpc::ByteBuffer*)>;

struct LoadOptions;
struct LoadResult;

// What a run calls, and what it expects.
struct CallKind {
  std::string name;
  std::string method;  // "/package.Service/Method".
  // Makes the source of one client thread.
  std::function<RequestSource(uint64_t seed)> new_source;
  // Looks at the first answer; returns what is wrong with it, empty if nothing.
  std::function<std::string(const grpc::ByteBuffer&)> check;
  // Whether every answer must be as long as the first: a check of all answers that costs next to
  // nothing.
  bool answers_of_one_size = false;
  // For what is not made of calls: a run of it, in place of all of the above but the name. Fills the result except for
  // times and CPU.
  std::function<LoadResult(const LoadOptions&)> run;
};

// A thread, or a stream, that saw so many failures starts nothing more.
inline constexpr uint64_t kFailuresMax = 1000;

struct LoadOptions {
  uint32_t outstanding = 1;  // Over all channels.
  uint32_t threads = 1;      // At most as many as channels and as outstanding calls.
  double seconds = 0;        // 0: until the sources are exhausted.
};

struct LoadResult {
  uint64_t calls = 0;  // All that ended, failed ones included.
  uint64_t failed = 0;
  std::string first_error;
  uint64_t request_bytes = 0;  // Serialised messages, without framing.
  uint64_t response_bytes = 0;
  double seconds = 0;        // From the first start to the last end.
  double client_cpu_us = 0;  // Of this process.
  Histogram latency;
};

// Adds numbers, but neither times nor CPU.
void MergeInto(LoadResult* total, const LoadResult& part);

// Runs until the time is over, the sources are exhausted, a thread saw kFailuresMax or the program
// was interrupted, and then waits for the calls under way. Calls that do not end within 30 seconds
// are cancelled and count as failed.
LoadResult RunLoad(const Channels& channels, const CallKind& kind, const LoadOptions& options);

// Makes running and later loads end early. Safe in a signal handler.
void Interrupt();
bool Interrupted();

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_LOAD_H_
