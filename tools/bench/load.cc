#include "tools/bench/load.h"

#include <grpcpp/generic/generic_stub.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <random>
#include <stdexcept>

namespace armature::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kStallMax{30};
constexpr std::chrono::seconds kConnectMax{10};

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

double ProcessCpuUs() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& t) { return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec); };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

// A call in flight. Its address is the tag of the call.
struct Slot {
  grpc::GenericStub* stub = nullptr;
  std::optional<grpc::ClientContext> context;  // gRPC needs a new one for each call
  std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader;
  grpc::ByteBuffer response;
  grpc::Status status;
  Clock::time_point start;
  uint64_t calls = 0;
};

// The work of one client thread: some of the channels, some of the outstanding calls, and a completion queue of its
// own.
class Worker {
 public:
  Worker(const Channels& channels, const CallKind& kind, size_t slots)
      : kind_(kind), source_(kind.new_source(std::random_device{}())), slots_(slots) {
    for (const auto& channel : channels) stubs_.emplace_back(channel);
    for (size_t i = 0; i < slots_.size(); ++i) slots_[i].stub = &stubs_[i % stubs_.size()];
  }

  LoadResult Run(std::optional<Clock::time_point> end) {
    for (Slot& slot : slots_) {
      if (!Start(&slot)) break;
    }
    while (active_ > 0) {
      void* tag = nullptr;
      bool ok = false;
      const auto patience = std::chrono::system_clock::now() + kStallMax;
      const auto next = queue_.AsyncNext(&tag, &ok, patience);
      if (next == grpc::CompletionQueue::TIMEOUT) {
        for (Slot& slot : slots_) {
          if (slot.reader != nullptr) slot.context->TryCancel();
        }
        stopping_ = true;
        continue;
      }
      if (next == grpc::CompletionQueue::SHUTDOWN) break;
      Slot* slot = static_cast<Slot*>(tag);
      const Clock::time_point now = Clock::now();
      Finish(slot, now);
      if (end.has_value() && now >= *end) stopping_ = true;
      if (result_.failed >= kFailuresMax || Interrupted()) stopping_ = true;
      if (!stopping_) Start(slot);
    }
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
    for (const Slot& slot : slots_) result_.by_client.push_back(slot.calls);
    return std::move(result_);
  }

 private:
  bool Start(Slot* slot) {
    grpc::ByteBuffer request;
    if (!source_(&request)) {
      stopping_ = true;
      return false;
    }
    result_.request_bytes += request.Length();
    slot->context.emplace();
    slot->response.Clear();
    slot->start = Clock::now();
    slot->reader = slot->stub->PrepareUnaryCall(&*slot->context, kind_.method, request, &queue_);
    slot->reader->StartCall();
    slot->reader->Finish(&slot->response, &slot->status, slot);
    ++active_;
    return true;
  }

  void Finish(Slot* slot, Clock::time_point now) {
    --active_;
    slot->reader.reset();
    ++result_.calls;
    ++slot->calls;
    if (!slot->status.ok()) {
      Fail("gRPC code " + std::to_string(slot->status.error_code()) + ": " + slot->status.error_message());
      return;
    }
    const auto elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(now - slot->start);
    result_.latency.Record(static_cast<uint64_t>(elapsed.count()));
    const size_t length = slot->response.Length();
    result_.response_bytes += length;
    if (!first_length_.has_value()) {
      first_length_ = length;
      if (std::string wrong = kind_.check(slot->response); !wrong.empty()) {
        Fail("wrong answer: " + wrong);
      }
    } else if (kind_.answers_of_one_size && length != *first_length_) {
      Fail("wrong answer: " + std::to_string(length) + " bytes, the first one had " + std::to_string(*first_length_));
    }
  }

  void Fail(std::string what) {
    ++result_.failed;
    if (result_.first_error.empty()) result_.first_error = kind_.name + ": " + std::move(what);
  }

  const CallKind& kind_;
  RequestSource source_;
  grpc::CompletionQueue queue_;
  std::vector<grpc::GenericStub> stubs_;
  std::vector<Slot> slots_;
  size_t active_ = 0;
  bool stopping_ = false;
  std::optional<size_t> first_length_;
  LoadResult result_;
};

}  // namespace

LoadResult RunInParts(size_t parts, size_t outstanding,
                      const std::function<LoadResult(size_t part, size_t share)>& run) {
  std::vector<std::future<LoadResult>> running;
  for (size_t part = 0; part < parts; ++part) {
    const size_t share = outstanding / parts + (part < outstanding % parts ? 1 : 0);
    if (share > 0) running.push_back(std::async(std::launch::async, run, part, share));
  }
  LoadResult total;
  for (std::future<LoadResult>& part : running) {
    const LoadResult result = part.get();
    total.calls += result.calls;
    total.failed += result.failed;
    if (total.first_error.empty()) total.first_error = result.first_error;
    total.request_bytes += result.request_bytes;
    total.response_bytes += result.response_bytes;
    total.latency.Merge(result.latency);
    total.by_client.insert(total.by_client.end(), result.by_client.begin(), result.by_client.end());
  }
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

LoadResult RunLoad(const Channels& channels, const CallKind& kind, const LoadOptions& options) {
  const double cpu_before_us = ProcessCpuUs();
  const Clock::time_point begin = Clock::now();
  std::optional<Clock::time_point> end;
  if (options.seconds > 0) {
    end = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
  }
  const auto run_calls = [&](size_t thread, size_t share) {
    Channels own;
    for (size_t i = thread; i < channels.size(); i += options.threads) own.push_back(channels[i]);
    return Worker(own, kind, share).Run(end);
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
