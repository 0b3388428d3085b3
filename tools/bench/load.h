// Keeps a fixed number of raw calls in flight and measures them.
#ifndef ARMATURE_TOOLS_BENCH_LOAD_H_
#define ARMATURE_TOOLS_BENCH_LOAD_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "armature/client/client.h"
#include "tools/bench/histogram.h"

namespace armature::bench {

using Channels = std::vector<std::shared_ptr<grpc::Channel>>;

// `count` connected channels, each with a connection of its own. Throws std::runtime_error if a connection fails.
Channels Connect(const std::string& target, uint32_t count);

// A client of the daemon, and the description that the daemon gives of itself. Throw std::runtime_error on failure.
client::Client ConnectClient(const std::string& target);
admin::v1::GetServerInfoResponse ServerInfo(const client::Client& client);
// `what`: the failed action, for the text of the exception.
void ThrowUnlessOk(const absl::Status& status, const std::string& what);

// Returns the next serialised request. False if there are no more. Called by one thread.
using RequestSource = std::function<bool(grpc::ByteBuffer*)>;

// A thread, or a stream, ends after so many failures.
inline constexpr uint64_t kFailuresMax = 1000;

struct LoadOptions {
  uint32_t outstanding = 1;  // over all channels
  uint32_t threads = 1;      // at most the number of channels, and of outstanding calls
  double seconds = 0;        // 0: until the sources are exhausted
};

struct LoadResult {
  uint64_t calls = 0;  // finished calls, including failed ones
  uint64_t failed = 0;
  std::string first_error;
  uint64_t request_bytes = 0;  // serialised messages, without framing
  uint64_t response_bytes = 0;
  double seconds = 0;        // from the first start to the last end
  double client_cpu_us = 0;  // CPU time of this process
  Histogram latency;
  // Finished calls of each client. A client is one of the outstanding calls: it begins the next call when the last one
  // has ended.
  std::vector<uint64_t> by_client;
};

// The calls of a run, and the expected answers.
struct CallKind {
  std::string name;
  std::string method;  // "/package.Service/Method".
  // Creates the source of one client thread.
  std::function<RequestSource(uint64_t seed)> new_source;
  // Checks the first answer. Returns the mistake, or an empty text.
  std::function<std::string(const grpc::ByteBuffer&)> check;
  // True: every answer must have the length of the first one. This check of all answers costs next to nothing.
  bool answers_of_one_size = false;
  // True: the clients compete for the same rows, and results show how evenly they advance.
  bool shows_fairness = false;
  // Runs something other than calls: replaces all members above except the name. Fills the result except for times and
  // CPU.
  std::function<LoadResult(const LoadOptions&)> run;
};

// Runs `parts` loads at once, each on a thread and with its share of `outstanding`, and adds their counts and
// latencies, but not their times. Parts without a share do not run.
LoadResult RunInParts(size_t parts, size_t outstanding,
                      const std::function<LoadResult(size_t part, size_t share)>& run);

// Runs until the time is over, the sources are exhausted, a thread has kFailuresMax failures or the program is
// interrupted. Then waits for the calls in flight. Calls that do not end within 30 seconds are cancelled and count as
// failed.
LoadResult RunLoad(const Channels& channels, const CallKind& kind, const LoadOptions& options);

// Ends running and later loads early. Safe in a signal handler.
void Interrupt();
bool Interrupted();

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_LOAD_H_
