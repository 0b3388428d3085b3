#include "tools/bench/load.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace armature::bench {
namespace {

constexpr std::chrono::seconds kStallMax{30};
constexpr std::chrono::seconds kConnectMax{10};
constexpr std::chrono::milliseconds kLateStart{1};
// A wait for a free slot looks this often whether the program was interrupted.
constexpr absl::Duration kSlotPatience = absl::Milliseconds(100);

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

double ProcessCpuUs() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& t) { return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec); };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

uint64_t Nanoseconds(Clock::duration duration) {
  return static_cast<uint64_t>(
      std::max<int64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count(), 0));
}

Clock::duration Seconds(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// The work of one client thread: its share of the outstanding calls, on connections of its own.
class Worker {
 public:
  Worker(std::unique_ptr<Transport> transport, const CallKind& kind, size_t slots)
      : kind_(kind),
        source_(kind.new_source(std::random_device{}())),
        transport_(std::move(transport)),
        slots_(slots),
        first_lengths_(kind.types.size()) {
    result_.by_type.resize(kind.types.size());
  }

  // Each call begins when another one has ended.
  LoadResult RunClosed(std::optional<Clock::time_point> end) {
    for (size_t i = 0; i < slots_.size() && Start(i, Clock::now()); ++i) ++active_;
    while (active_ > 0) {
      const std::optional<Outcome> outcome = Next();
      if (!outcome.has_value()) continue;
      const Clock::time_point now = Clock::now();
      --active_;
      Finish(*outcome, now);
      if (end.has_value() && now >= *end) stopping_ = true;
      if (result_.failed >= kFailuresMax || Interrupted()) stopping_ = true;
      if (!stopping_ && Start(outcome->slot, now)) ++active_;
    }
    return Result();
  }

  // Calls begin at `begin`, `begin` + `step` and so on until `end`, on a thread of its own: gRPC's queue cannot wait
  // precisely enough.
  LoadResult RunOpen(Clock::time_point begin, Clock::duration step, Clock::time_point end) {
    {
      const absl::MutexLock lock(&mutex_);
      for (size_t i = slots_.size(); i-- > 0;) free_.push_back(i);
    }
    std::thread pacer([&] { Pace(begin, step, end); });
    while (true) {
      {
        const absl::MutexLock lock(&mutex_);
        const auto has_work = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
          return paced_out_ || free_.size() < slots_.size();
        };
        mutex_.Await(absl::Condition(&has_work));
        if (free_.size() == slots_.size()) break;
      }
      const std::optional<Outcome> outcome = Next();
      if (!outcome.has_value()) continue;
      Finish(*outcome, Clock::now());
      const absl::MutexLock lock(&mutex_);
      if (result_.failed >= kFailuresMax) must_end_ = true;
      free_.push_back(outcome->slot);
      if (free_.size() == slots_.size()) last_end_.reset();  // a pause without calls is no gap
    }
    pacer.join();
    return Result();
  }

 private:
  struct Slot {
    Clock::time_point due;
    size_t type = 0;
    uint64_t calls = 0;
  };

  void Pace(Clock::time_point due, Clock::duration step, Clock::time_point end) {
    for (; due < end; due += step) {
      std::this_thread::sleep_until(due);
      const std::optional<size_t> slot = TakeSlot(end);
      if (!slot.has_value()) break;
      if (Clock::now() - due > kLateStart) ++late_starts_;
      if (!Start(*slot, due)) break;
    }
    const absl::MutexLock lock(&mutex_);
    if (due < end && !must_end_ && !Interrupted()) not_started_ = static_cast<uint64_t>((end - due) / step) + 1;
    paced_out_ = true;
  }

  // Waits for a free slot. nullopt: the schedule or the run is over.
  std::optional<size_t> TakeSlot(Clock::time_point end) {
    const absl::MutexLock lock(&mutex_);
    const auto is_free = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return must_end_ || !free_.empty(); };
    while (!mutex_.AwaitWithTimeout(absl::Condition(&is_free), kSlotPatience)) {
      if (Interrupted() || Clock::now() >= end) return std::nullopt;
    }
    if (must_end_ || Interrupted() || free_.empty() || Clock::now() >= end) return std::nullopt;
    const size_t slot = free_.back();
    free_.pop_back();
    return slot;
  }

  bool Start(size_t slot, Clock::time_point due) {
    Request request;
    if (!source_(&request)) {
      stopping_ = true;
      return false;
    }
    request_bytes_ += request.bytes.size();
    slots_[slot].due = due;
    slots_[slot].type = request.type;
    transport_->Start(slot, kind_.types[request.type], request.bytes);
    return true;
  }

  std::optional<Outcome> Next() {
    std::optional<Outcome> outcome = transport_->Next(Clock::now() + kStallMax);
    if (!outcome.has_value()) {
      transport_->CancelAll();
      stopping_ = true;
      const absl::MutexLock lock(&mutex_);
      must_end_ = true;
    }
    return outcome;
  }

  void Finish(const Outcome& outcome, Clock::time_point now) {
    Slot& slot = slots_[outcome.slot];
    const CallType& type = kind_.types[slot.type];
    ++result_.calls;
    ++slot.calls;
    if (last_end_.has_value()) result_.longest_gap_ns = std::max(result_.longest_gap_ns, Nanoseconds(now - *last_end_));
    last_end_ = now;
    if (outcome.error != type.expected_error) {
      return Fail(outcome.error.empty() ? "success instead of " + type.expected_error : outcome.error_text);
    }
    const uint64_t latency_ns = Nanoseconds(now - slot.due);
    result_.latency.Record(latency_ns);
    if (kind_.types.size() > 1) result_.by_type[slot.type].Record(latency_ns);
    if (latency_ns > kStallNs) ++result_.slow;
    result_.response_bytes += outcome.length;
    std::optional<size_t>& first_length = first_lengths_[slot.type];
    if (!first_length.has_value() || type.checks_each) {
      first_length = outcome.length;
      if (type.check == nullptr || !outcome.error.empty()) return;
      if (const std::string wrong = type.check(transport_->Answer(outcome.slot)); !wrong.empty()) {
        Fail("wrong answer: " + wrong);
      }
    } else if (type.answers_of_one_size && outcome.length != *first_length) {
      Fail("wrong answer: " + std::to_string(outcome.length) + " bytes, the first one had " +
           std::to_string(*first_length));
    }
  }

  void Fail(const std::string& what) {
    ++result_.failed;
    if (result_.first_error.empty()) result_.first_error = kind_.name + ": " + what;
  }

  LoadResult Result() {
    for (const Slot& slot : slots_) result_.by_client.push_back(slot.calls);
    result_.request_bytes = request_bytes_;
    result_.late_starts = late_starts_;
    result_.not_started = not_started_;
    return std::move(result_);
  }

  const CallKind& kind_;
  // Used by the thread that starts calls.
  RequestSource source_;
  uint64_t request_bytes_ = 0;
  uint64_t late_starts_ = 0;
  uint64_t not_started_ = 0;

  const std::unique_ptr<Transport> transport_;
  // A slot belongs to the thread that starts calls while it is free, and else to the other one.
  std::vector<Slot> slots_;

  // Used by the thread that waits for answers.
  size_t active_ = 0;
  std::atomic<bool> stopping_ = false;
  std::optional<Clock::time_point> last_end_;
  std::vector<std::optional<size_t>> first_lengths_;
  LoadResult result_;

  absl::Mutex mutex_;
  std::vector<size_t> free_ ABSL_GUARDED_BY(mutex_);
  bool paced_out_ ABSL_GUARDED_BY(mutex_) = false;
  bool must_end_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

void LoadResult::Add(const LoadResult& part) {
  calls += part.calls;
  failed += part.failed;
  if (first_error.empty()) first_error = part.first_error;
  request_bytes += part.request_bytes;
  response_bytes += part.response_bytes;
  latency.Merge(part.latency);
  by_type.resize(std::max(by_type.size(), part.by_type.size()));
  for (size_t i = 0; i < part.by_type.size(); ++i) by_type[i].Merge(part.by_type[i]);
  by_client.insert(by_client.end(), part.by_client.begin(), part.by_client.end());
  slow += part.slow;
  longest_gap_ns = std::max(longest_gap_ns, part.longest_gap_ns);
  late_starts += part.late_starts;
  not_started += part.not_started;
}

LoadResult RunInParts(size_t parts, size_t outstanding,
                      const std::function<LoadResult(size_t part, size_t share)>& run) {
  std::vector<std::future<LoadResult>> running;
  for (size_t part = 0; part < parts; ++part) {
    const size_t share = outstanding / parts + (part < outstanding % parts ? 1 : 0);
    if (share > 0) running.push_back(std::async(std::launch::async, run, part, share));
  }
  LoadResult total;
  for (std::future<LoadResult>& part : running) total.Add(part.get());
  return total;
}

Channels Connect(const std::string& target, uint32_t count) {
  Channels channels;
  for (uint32_t i = 0; i < count; ++i) {
    grpc::ChannelArguments args;
    args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // otherwise channels share one connection
    args.SetInt("armature.bench.channel", static_cast<int>(i));
    args.SetMaxReceiveMessageSize(-1);
    channels.push_back(grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), args));
  }
  for (const auto& channel : channels) {
    if (!channel->WaitForConnected(std::chrono::system_clock::now() + kConnectMax)) {
      throw std::runtime_error("cannot connect to " + target);
    }
  }
  return channels;
}

client::Client ConnectClient(const std::string& target) {
  absl::StatusOr<client::Client> client = client::Connect(target);
  ThrowUnlessOk(client.status(), target);
  return *std::move(client);
}

admin::v1::GetServerInfoResponse ServerInfo(const client::Client& client) {
  absl::StatusOr<admin::v1::GetServerInfoResponse> response = client.GetServerInfo({});
  ThrowUnlessOk(response.status(), "GetServerInfo");
  return *std::move(response);
}

void ThrowUnlessOk(const absl::Status& status, const std::string& what) {
  if (!status.ok()) throw std::runtime_error(what + ": " + status.ToString());
}

NewTransport TransportFor(const Options& options, const Channels& channels) {
  if (options.wire() == Protocol::kHttp) {
    return [address = options.http_target](size_t, size_t slots) { return OverHttp(address, slots); };
  }
  return [channels, threads = options.client_threads](size_t thread, size_t slots) {
    Channels own;
    for (size_t i = thread; i < channels.size(); i += threads) own.push_back(channels[i]);
    return OverGrpc(own, slots);
  };
}

LoadResult RunLoad(const NewTransport& transport, const CallKind& kind, const LoadOptions& options) {
  const double cpu_before_us = ProcessCpuUs();
  const Clock::time_point begin = Clock::now();
  std::optional<Clock::time_point> end;
  if (options.seconds > 0) end = begin + Seconds(options.seconds);
  const auto run_calls = [&](size_t thread, size_t share) {
    Worker worker(transport(thread, share), kind, share);
    if (options.rate <= 0) return worker.RunClosed(end);
    // The threads take the times of the schedule in turns.
    const double threads = std::min(options.threads, options.outstanding);
    const Clock::time_point first = Clock::now() + Seconds(static_cast<double>(thread) / options.rate);
    return worker.RunOpen(first, Seconds(threads / options.rate), first + Seconds(options.seconds));
  };
  LoadResult total =
      kind.run != nullptr ? kind.run(options) : RunInParts(options.threads, options.outstanding, run_calls);
  total.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  total.client_cpu_us = ProcessCpuUs() - cpu_before_us;
  return total;
}

void Interrupt() { interrupted.store(true, std::memory_order_relaxed); }
bool Interrupted() { return interrupted.load(std::memory_order_relaxed); }

}  // namespace armature::bench
