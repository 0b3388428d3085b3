// Keeps calls in flight, or starts them by a schedule, and measures them.
#ifndef ARMATURE_TOOLS_BENCH_LOAD_H_
#define ARMATURE_TOOLS_BENCH_LOAD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "armature/client/client.h"
#include "tools/bench/histogram.h"
#include "tools/bench/transport.h"

namespace armature::bench {

// `count` connected channels, each with a connection of its own. Throws std::runtime_error if a connection fails.
Channels Connect(const std::string& target, uint32_t count);

// A client of the daemon, and the description that the daemon gives of itself. Throw std::runtime_error on failure.
client::Client ConnectClient(const std::string& target);
admin::v1::GetServerInfoResponse ServerInfo(const client::Client& client);
// `what`: the failed action, for the text of the exception.
void ThrowUnlessOk(const absl::Status& status, const std::string& what);

struct Request {
  size_t type = 0;         // index into CallKind::types
  std::string_view bytes;  // valid until the source is called again
};

// Returns the next request. False if there are no more. Called by one thread.
using RequestSource = std::function<bool(Request*)>;

// A thread, or a stream, ends after so many failures.
inline constexpr uint64_t kFailuresMax = 1000;

struct LoadOptions {
  uint32_t outstanding = 1;  // over all connections
  uint32_t threads = 1;      // at most the number of outstanding calls, and over gRPC of channels
  double seconds = 0;        // 0: until the sources are exhausted
  double rate = 0;           // calls a second; 0: each call begins when another has ended
};

struct LoadResult {
  uint64_t calls = 0;  // finished calls, including failed ones
  uint64_t failed = 0;
  std::string first_error;
  uint64_t request_bytes = 0;  // messages or bodies, without framing
  uint64_t response_bytes = 0;
  double seconds = 0;        // from the first start to the last end
  double client_cpu_us = 0;  // CPU time of this process
  Histogram latency;
  std::vector<Histogram> by_type;  // parallel to CallKind::types
  // Finished calls of each client. A client is one of the outstanding calls: it begins the next call when the last one
  // has ended.
  std::vector<uint64_t> by_client;
  uint64_t slow = 0;            // calls that took longer than kStallNs
  uint64_t longest_gap_ns = 0;  // between two ends of calls of one thread, while calls were under way
  // Open loop: calls that were started more than a millisecond after their time, which their latency includes, and
  // calls that were not started before the end of the schedule.
  uint64_t late_starts = 0;
  uint64_t not_started = 0;

  void Add(const LoadResult& part);
};
inline constexpr uint64_t kStallNs = 100'000'000;

// The calls of a workload.
struct CallKind {
  std::string name;
  std::vector<CallType> types;
  // Creates the source of one client thread.
  std::function<RequestSource(uint64_t seed)> new_source;
  // True: the clients compete for the same rows, and results show how evenly they advance.
  bool shows_fairness = false;
  // Runs something other than calls: replaces types and new_source. Fills the result except for times and CPU.
  std::function<LoadResult(const LoadOptions&)> run;
};

// Runs `parts` loads at once, each on a thread and with its share of `outstanding`, and adds their results, except for
// times and CPU. Parts without a share do not run.
LoadResult RunInParts(size_t parts, size_t outstanding,
                      const std::function<LoadResult(size_t part, size_t share)>& run);

// Makes the transport of a client thread, one of `options.threads`. Called on that thread.
using NewTransport = std::function<std::unique_ptr<Transport>(size_t thread, size_t slots)>;
NewTransport TransportFor(const Options& options, const Channels& channels);

// Runs until the time is over, the sources are exhausted, a thread has kFailuresMax failures or the program is
// interrupted. Then waits for the calls in flight. Calls that do not end within 30 seconds are cancelled and count as
// failed.
//
// With a rate, calls have times at even distances. A latency is measured from that time, also if the call began later
// because all `outstanding` calls were under way: so the wait that a client would have had counts.
LoadResult RunLoad(const NewTransport& transport, const CallKind& kind, const LoadOptions& options);

// Ends running and later loads early. Safe in a signal handler.
void Interrupt();
bool Interrupted();

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_LOAD_H_
