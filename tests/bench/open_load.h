#ifndef ARMATURE_TESTS_BENCH_OPEN_LOAD_H_
#define ARMATURE_TESTS_BENCH_OPEN_LOAD_H_

// The load of overload_bench and http_bench: one request, repeated on many connections of HTTP or gRPC, by a schedule
// that knows nothing of answers (open loop), or as fast as answers come (closed loop). It parses as little of the
// answers as possible, because it shares the machine with the server.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/bench/histogram.h"

namespace armature::bench {

struct OpenLoadOptions {
  std::string address;  // HOST:PORT with a numeric host
  bool is_grpc = false;
  std::string operation;  // "GetItem"; HTTP: empty if `request` is complete, head and body
  // Body of the request, or the protobuf message. Sixteen # are replaced by a different number each time.
  std::string request;
  int status = 200;  // of an answer over HTTP that is admitted; others are refused
  size_t connections = 64;
  size_t calls_per_connection = 1;  // at once; HTTP: 1
};

struct LoadPhase {
  double seconds = 0;     // from the first to the last arrival
  uint64_t arrivals = 0;  // requests due
  uint64_t unsent = 0;    // for which no connection was free
  uint64_t refused = 0;   // answered by an error
  uint64_t broken = 0;    // whose connection ended
  double client_cpu = 0;  // cores that this thread used
  Histogram admitted;     // latencies from the scheduled time
  Histogram settled;      // of those that were due after the first second
  // By the time of the answers, from the first to the last arrival of an open loop.
  static constexpr int64_t kSliceNs = 100'000'000;
  struct Slice {
    Histogram admitted;
    uint64_t failed = 0;  // refused, broken or not sent

    // True if more than one request in a hundred failed or took longer than `slow_ns`, or none ended.
    bool IsTroubled(uint64_t slow_ns) const;
  };
  std::vector<Slice> slices;

  // Part of the slices that are in trouble.
  double TroubledPart(uint64_t slow_ns) const;
  // Seconds after the start from which on no larger part of the slices than `usual` is in trouble, but for two of them.
  double RecoveredAfter(uint64_t slow_ns, double usual) const;

  double admitted_per_second() const { return seconds > 0 ? static_cast<double>(admitted.count()) / seconds : 0; }
};

// Thread-safety: owned by one thread. Errors: anything unexpected ends the process with a line on stderr.
class OpenLoad {
 public:
  explicit OpenLoad(OpenLoadOptions options);
  ~OpenLoad();
  OpenLoad(const OpenLoad&) = delete;
  OpenLoad& operator=(const OpenLoad&) = delete;

  // `calls` at once, each begun when the one before has its answer. `sleeps`: waits for answers, which leaves the
  // processor to the server; else looks for them without a pause.
  LoadPhase Closed(size_t calls, double seconds, bool sleeps = false);
  // Arrivals at even distances, then waits for the answers, at most `drain_seconds`.
  LoadPhase Open(double per_second, double seconds, double drain_seconds);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace armature::bench

#endif  // ARMATURE_TESTS_BENCH_OPEN_LOAD_H_
