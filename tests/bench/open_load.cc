#include "tests/bench/open_load.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <time.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace armature::bench {
namespace {

constexpr std::string_view kNumber = "################";
constexpr uint8_t kData = 0;
constexpr uint8_t kHeaders = 1;
constexpr uint8_t kReset = 3;
constexpr uint8_t kSettings = 4;
constexpr uint8_t kPing = 6;
constexpr uint8_t kGoAway = 7;
constexpr uint8_t kWindowUpdate = 8;
constexpr uint8_t kEndStream = 1;
constexpr uint8_t kEndHeaders = 4;
constexpr size_t kFrameHead = 9;
constexpr uint32_t kWindowMax = 0x7fffffff;
constexpr uint64_t kTroubledPart = 100;
// Slices that may be in trouble besides the usual ones: a pause of the machine.
constexpr double kTroubledMore = 2;
constexpr int64_t kSettledAfterNs = 1'000'000'000;
constexpr double kNsPerSecond = 1e9;

[[noreturn]] void Die(std::string_view what) {
  std::cerr << "open_load: " << what << ": " << std::strerror(errno) << std::endl;
  std::exit(1);
}

int64_t NowNs(clockid_t clock = CLOCK_MONOTONIC) {
  timespec now = {};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::string BigEndian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

uint32_t ReadBigEndian(const char* bytes) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

std::string Frame(uint8_t kind, uint8_t flags, uint32_t stream, std::string_view payload) {
  std::string frame = BigEndian(static_cast<uint32_t>(payload.size())).substr(1);
  frame += static_cast<char>(kind);
  frame += static_cast<char>(flags);
  frame += BigEndian(stream);
  frame += payload;
  return frame;
}

// A header that enters no table.
std::string Header(std::string_view name, std::string_view value) {
  std::string header(1, '\0');
  header += static_cast<char>(name.size());
  header += name;
  header += static_cast<char>(value.size());
  header += value;
  return header;
}

}  // namespace

struct OpenLoad::Impl {
  struct Call {
    int64_t due_ns = 0;
    bool has_data = false;
  };
  struct Connection {
    int socket = -1;
    std::string received;
    std::string unsent;
    bool waits_writable = false;
    uint32_t next_stream = 1;
    uint32_t window_used = 0;
    std::deque<Call> waiting;                    // HTTP, in order
    std::unordered_map<uint32_t, Call> streams;  // gRPC
    size_t skip = 0;                             // bytes of a body that are not looked at
  };

  explicit Impl(OpenLoadOptions given) : options(std::move(given)), epoll(epoll_create1(EPOLL_CLOEXEC)) {
    Compose();
    connections.resize(options.connections);
    for (size_t i = 0; i < connections.size(); ++i) Open(&connections[i], i);
    // In turns: a few calls that all use one connection would be served better than those of an overload, since they
    // are read and answered together.
    for (size_t call = 0; call < options.calls_per_connection; ++call) {
      for (size_t i = 0; i < connections.size(); ++i) free.push_back(i);
    }
  }
  ~Impl() {
    for (const Connection& connection : connections) close(connection.socket);
    close(epoll);
  }

  void Compose() {
    if (options.is_grpc) {
      const std::string path = "/armature.api.v1.ItemService/" + options.operation;
      head = Header(":method", "POST") + Header(":scheme", "http") + Header(":path", path) +
             Header(":authority", options.address) + Header("te", "trailers") +
             Header("content-type", "application/grpc");
      message = std::string(1, '\0') + BigEndian(static_cast<uint32_t>(options.request.size())) + options.request;
    } else if (options.operation.empty()) {
      message = options.request;
    } else {
      message =
          "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810." + options.operation +
          "\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: " + std::to_string(options.request.size()) +
          "\r\n\r\n" + options.request;
    }
    for (size_t at = message.find(kNumber); at != std::string::npos; at = message.find(kNumber, at + kNumber.size())) {
      numbers_at.push_back(at);
    }
  }

  void Open(Connection* connection, size_t index) {
    *connection = Connection();
    const size_t colon = options.address.rfind(':');
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(std::atoi(options.address.c_str() + colon + 1)));
    inet_pton(AF_INET, options.address.substr(0, colon).c_str(), &address.sin_addr);
    connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(connection->socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) Die("connect");
    const int on = 1;
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    epoll_event event = {.events = EPOLLIN, .data = {.u64 = index}};
    epoll_ctl(epoll, EPOLL_CTL_ADD, connection->socket, &event);
    if (!options.is_grpc) return;
    Send(index, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
                    Frame(kSettings, 0, 0, std::string("\0\4", 2) + BigEndian(kWindowMax)) +
                    Frame(kWindowUpdate, 0, 0, BigEndian(kWindowMax - 65535)));
  }

  void Send(size_t index, std::string_view bytes) {
    Connection& connection = connections[index];
    if (connection.unsent.empty()) {
      const ssize_t sent = send(connection.socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
    }
    connection.unsent += bytes;
    Watch(index);
  }

  void Watch(size_t index) {
    Connection& connection = connections[index];
    if (connection.waits_writable == !connection.unsent.empty()) return;
    connection.waits_writable = !connection.unsent.empty();
    epoll_event event = {.events = EPOLLIN | (connection.waits_writable ? uint32_t{EPOLLOUT} : 0U),
                         .data = {.u64 = index}};
    epoll_ctl(epoll, EPOLL_CTL_MOD, connection.socket, &event);
  }

  void Flush(size_t index) {
    Connection& connection = connections[index];
    const ssize_t sent =
        send(connection.socket, connection.unsent.data(), connection.unsent.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) connection.unsent.erase(0, static_cast<size_t>(sent));
    Watch(index);
  }

  // False if no connection is free.
  bool Start(int64_t due_ns) {
    if (free.empty()) return false;
    const size_t index = free.front();
    free.pop_front();
    Connection& connection = connections[index];
    std::array<char, kNumber.size()> digits;
    digits.fill('0');
    std::to_chars(digits.data(), digits.data() + digits.size(), ++numbers);
    for (const size_t at : numbers_at) message.replace(at, digits.size(), digits.data(), digits.size());
    ++under_way;
    if (!options.is_grpc) {
      connection.waiting.push_back({.due_ns = due_ns});
      Send(index, message);
      return true;
    }
    const uint32_t stream = std::exchange(connection.next_stream, connection.next_stream + 2);
    connection.streams[stream] = {.due_ns = due_ns};
    Send(index, Frame(kHeaders, kEndHeaders, stream, head) + Frame(kData, kEndStream, stream, message));
    return true;
  }

  void End(size_t index, const Call& call, bool is_admitted) {
    --under_way;
    free.push_back(index);
    const int64_t latency_ns = now_ns - call.due_ns;
    if (is_admitted) {
      const auto recorded_ns = static_cast<uint64_t>(std::max<int64_t>(latency_ns, 0));
      phase.admitted.Record(recorded_ns);
      if (call.due_ns - begin_ns >= kSettledAfterNs) phase.settled.Record(recorded_ns);
      Slice().admitted.Record(recorded_ns);
    } else {
      ++phase.refused;
      ++Slice().failed;
    }
  }
  LoadPhase::Slice& Slice() {
    const auto number = static_cast<size_t>((now_ns - begin_ns) / LoadPhase::kSliceNs);
    if (number >= phase.slices.size()) phase.slices.resize(number + 1);
    return phase.slices[number];
  }

  void Receive(size_t index) {
    Connection& connection = connections[index];
    const ssize_t got = recv(connection.socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return Reopen(index);
    std::string_view bytes(buffer.data(), static_cast<size_t>(got));
    const size_t skipped = std::min(connection.skip, bytes.size());
    bytes.remove_prefix(skipped);
    connection.skip -= skipped;
    connection.received += bytes;
    if (options.is_grpc) {
      ReadFrames(index);
    } else {
      ReadAnswers(index);
    }
  }

  void ReadAnswers(size_t index) {
    Connection& connection = connections[index];
    while (connection.skip == 0) {
      std::string& received = connection.received;
      if (!connection.waiting.empty() && connection.waiting.front().has_data) {
        // The body has been skipped.
        const Call call = connection.waiting.front();
        connection.waiting.pop_front();
        End(index, call, status == options.status);
        continue;
      }
      const size_t end = received.find("\r\n\r\n");
      if (end == std::string::npos) return;
      const size_t length_at = received.find("Content-Length: ");
      const size_t length = length_at < end ? static_cast<size_t>(std::atoll(received.c_str() + length_at + 16)) : 0;
      const int answer_status = std::atoi(received.c_str() + 9);
      const size_t all = end + 4 + length;
      const bool is_whole = received.size() >= all;
      connection.skip = is_whole ? 0 : all - received.size();
      received.erase(0, std::min(all, received.size()));
      const Call call = connection.waiting.front();
      if (is_whole) {
        connection.waiting.pop_front();
        End(index, call, answer_status == options.status);
      } else {
        connection.waiting.front().has_data = true;
        status = answer_status;
      }
    }
  }

  void ReadFrames(size_t index) {
    Connection& connection = connections[index];
    std::string& received = connection.received;
    size_t at = 0;
    while (connection.skip == 0 && received.size() - at >= kFrameHead) {
      const char* const frame = received.data() + at;
      const uint32_t length = ReadBigEndian(frame) >> 8;
      const auto kind = static_cast<uint8_t>(frame[3]);
      const auto flags = static_cast<uint8_t>(frame[4]);
      const uint32_t stream = ReadBigEndian(frame + 5) & kWindowMax;
      const size_t all = kFrameHead + length;
      const bool is_whole = received.size() - at >= all;
      if (!is_whole && kind != kData) break;
      if (kind == kSettings && (flags & 1) == 0) Send(index, Frame(kSettings, 1, 0, ""));
      if (kind == kPing && (flags & 1) == 0) Send(index, Frame(kPing, 1, 0, {frame + kFrameHead, length}));
      if (kind == kGoAway) return Reopen(index);
      const auto found = connection.streams.find(stream);
      if (kind == kData) {
        if (found != connection.streams.end()) found->second.has_data = true;
        connection.window_used += length;
        if (connection.window_used > (1U << 24)) {
          Send(index, Frame(kWindowUpdate, 0, 0, BigEndian(std::exchange(connection.window_used, 0))));
        }
      }
      if (found != connection.streams.end() && (kind == kReset || (kind == kHeaders && (flags & kEndStream) != 0))) {
        const Call call = found->second;
        connection.streams.erase(found);
        End(index, call, call.has_data);
      }
      if (!is_whole) connection.skip = all - (received.size() - at);
      at += std::min(all, received.size() - at);
    }
    received.erase(0, at);
  }

  void Reopen(size_t index) {
    Connection& connection = connections[index];
    const size_t lost = connection.waiting.size() + connection.streams.size();
    phase.broken += lost;
    under_way -= lost;
    Slice().failed += lost;
    std::erase(free, index);
    close(connection.socket);
    Open(&connection, index);
    free.insert(free.end(), options.calls_per_connection, index);
  }

  void Poll(int timeout_ms) {
    std::array<epoll_event, 256> events;
    const int count = epoll_wait(epoll, events.data(), events.size(), timeout_ms);
    now_ns = NowNs();
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<size_t>(i)];
      if ((event.events & EPOLLOUT) != 0) Flush(event.data.u64);
      if ((event.events & ~EPOLLOUT) != 0) Receive(event.data.u64);
    }
  }

  void BeginPhase() {
    phase = LoadPhase();
    begin_ns = now_ns = NowNs();
    begin_cpu_ns = NowNs(CLOCK_THREAD_CPUTIME_ID);
  }
  void EndArrivals() {
    phase.seconds = static_cast<double>(now_ns - begin_ns) / kNsPerSecond;
    phase.client_cpu =
        static_cast<double>(NowNs(CLOCK_THREAD_CPUTIME_ID) - begin_cpu_ns) / kNsPerSecond / phase.seconds;
  }
  void Drain(double seconds) {
    const int64_t give_up_ns = now_ns + static_cast<int64_t>(seconds * kNsPerSecond);
    while (under_way > 0 && now_ns < give_up_ns) Poll(10);
  }

  OpenLoadOptions options;
  const int epoll;
  std::string head;
  std::string message;
  std::vector<size_t> numbers_at;
  uint64_t numbers = 0;
  std::vector<Connection> connections;
  std::deque<size_t> free;  // a connection as often as it takes calls
  size_t under_way = 0;
  int status = 0;
  std::array<char, 256 << 10> buffer;

  LoadPhase phase;
  int64_t begin_ns = 0;
  int64_t begin_cpu_ns = 0;
  int64_t now_ns = 0;
};

double LoadPhase::RecoveredAfter(uint64_t slow_ns, double usual) const {
  // From here on the rest of the slices is as good as usual.
  size_t from = slices.size();
  size_t troubled = 0;
  for (size_t i = slices.size(); i-- > 0;) {
    if (slices[i].IsTroubled(slow_ns)) ++troubled;
    if (static_cast<double>(troubled) <= usual * static_cast<double>(slices.size() - i) + kTroubledMore) from = i;
  }
  return static_cast<double>(from) * static_cast<double>(kSliceNs) / kNsPerSecond;
}

double LoadPhase::TroubledPart(uint64_t slow_ns) const {
  const auto troubled = std::ranges::count_if(slices, [&](const Slice& slice) { return slice.IsTroubled(slow_ns); });
  return slices.empty() ? 0 : static_cast<double>(troubled) / static_cast<double>(slices.size());
}

bool LoadPhase::Slice::IsTroubled(uint64_t slow_ns) const {
  const uint64_t requests = admitted.count() + failed;
  return requests == 0 || failed * kTroubledPart > requests ||
         (admitted.count() > 0 && admitted.QuantileNs(0.99) > slow_ns);
}

OpenLoad::OpenLoad(OpenLoadOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
OpenLoad::~OpenLoad() = default;

LoadPhase OpenLoad::Closed(size_t calls, double seconds, bool sleeps) {
  Impl& load = *impl_;
  load.BeginPhase();
  const int64_t end_ns = load.begin_ns + static_cast<int64_t>(seconds * kNsPerSecond);
  while (load.now_ns < end_ns) {
    while (load.under_way < calls && load.Start(load.now_ns)) ++load.phase.arrivals;
    // Without a wait, as in an open loop: answers are seen as soon, which is a higher peak.
    load.Poll(sleeps ? 1 : 0);
  }
  load.EndArrivals();
  LoadPhase ended = load.phase;
  load.Drain(10);
  return ended;
}

LoadPhase OpenLoad::Open(double per_second, double seconds, double drain_seconds) {
  Impl& load = *impl_;
  load.BeginPhase();
  const double step_ns = kNsPerSecond / per_second;
  const auto arrivals = static_cast<uint64_t>(per_second * seconds);
  constexpr uint64_t kPerPoll = 64;
  while (load.phase.arrivals < arrivals) {
    for (uint64_t i = 0; i < kPerPoll && load.phase.arrivals < arrivals; ++i) {
      const int64_t due_ns = load.begin_ns + static_cast<int64_t>(static_cast<double>(load.phase.arrivals) * step_ns);
      if (due_ns > load.now_ns) break;
      ++load.phase.arrivals;
      if (load.Start(due_ns)) continue;
      ++load.phase.unsent;
      ++load.Slice().failed;
      // Nothing will be free before answers arrive: all that is due goes unsent.
      const auto due =
          std::min(arrivals, static_cast<uint64_t>(static_cast<double>(load.now_ns - load.begin_ns) / step_ns));
      if (due > load.phase.arrivals) {
        const uint64_t more = due - std::exchange(load.phase.arrivals, due);
        load.phase.unsent += more;
        load.Slice().failed += more;
      }
    }
    const double next_ns = static_cast<double>(load.begin_ns) + static_cast<double>(load.phase.arrivals) * step_ns;
    load.Poll(next_ns - static_cast<double>(load.now_ns) > 2e6 ? 1 : 0);
  }
  load.EndArrivals();
  load.Drain(drain_seconds);
  load.phase.slices.resize(static_cast<size_t>(load.phase.seconds * kNsPerSecond / LoadPhase::kSliceNs));
  return load.phase;
}

}  // namespace armature::bench
