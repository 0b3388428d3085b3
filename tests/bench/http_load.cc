#include "tests/bench/http_load.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "absl/strings/match.h"
#include "storage/base/strings.h"

namespace armature::bench {
namespace {

constexpr int kEventsMax = 64;
constexpr std::string_view kNumberPlaceholder = "################";

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "http_bench: %s\n", what.c_str());
  std::exit(1);
}

int Connect(const std::string& address) {
  const size_t colon = address.rfind(':');
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  if (colon == std::string::npos || inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr) != 1) {
    Die(Cat("'", address, "' is not an address; write 127.0.0.1:PORT"));
  }
  to.sin_port = htons(static_cast<uint16_t>(std::strtoul(address.c_str() + colon + 1, nullptr, 10)));
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)) != 0) {
    Die(Cat("cannot connect to ", address, ": ", std::strerror(errno)));
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

// Length of the answer that begins `received`; 0 if its head is not complete.
size_t AnswerSize(std::string_view received) {
  const size_t head_end = received.find("\r\n\r\n");
  if (head_end == std::string_view::npos) return 0;
  constexpr std::string_view kName = "\r\ncontent-length: ";
  for (size_t line = received.find("\r\n"); line < head_end; line = received.find("\r\n", line + 2)) {
    if (!absl::EqualsIgnoreCase(Av(received.substr(line, kName.size())), Av(kName))) continue;
    return head_end + 4 + std::strtoul(received.data() + line + kName.size(), nullptr, 10);
  }
  Die("an answer without Content-Length");
}

}  // namespace

HttpLoad::HttpLoad(const std::string& address, std::string request, size_t connections)
    : request_(std::move(request)), epoll_(epoll_create1(EPOLL_CLOEXEC)), connections_(connections) {
  for (size_t at = request_.find(kNumberPlaceholder); at != std::string::npos;
       at = request_.find(kNumberPlaceholder, at + 1)) {
    places_.push_back(at);
  }
  for (size_t i = 0; i < connections; ++i) {
    connections_[i].socket = Connect(address);
    epoll_event event = {.events = EPOLLIN, .data = {.u64 = i}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, connections_[i].socket, &event);
  }
}

HttpLoad::~HttpLoad() {
  for (const Connection& connection : connections_) close(connection.socket);
  close(epoll_);
}

// A different key for each request. Consecutive keys are far apart.
void HttpLoad::Number() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const uint64_t key = ++sent_ * 0x9e3779b97f4a7c15;
  for (const size_t place : places_) {
    for (size_t i = 0; i < kNumberPlaceholder.size(); ++i) request_[place + i] = kDigits[(key >> (4 * i)) & 15];
  }
}

void HttpLoad::Send(const Connection& connection) {
  Number();
  std::string_view rest = request_;
  while (!rest.empty()) {
    const ssize_t sent = send(connection.socket, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0) Die(Cat("cannot send: ", std::strerror(errno)));
    rest.remove_prefix(static_cast<size_t>(sent));
  }
}

// True if the answer is complete.
bool HttpLoad::Receive(Connection* connection, int status) const {
  std::array<char, 64 << 10> buffer;
  const ssize_t got = recv(connection->socket, buffer.data(), buffer.size(), 0);
  if (got <= 0) Die("the server ended a connection");
  connection->received.append(buffer.data(), static_cast<size_t>(got));
  const size_t size = AnswerSize(connection->received);
  if (size == 0 || connection->received.size() < size) return false;
  if (connection->received.size() > size || std::atoi(connection->received.c_str() + 9) != status) {
    Die(Cat("not the answer that was expected: ", connection->received));
  }
  connection->received.clear();
  return true;
}

void HttpLoad::Run(size_t requests, int status) {
  size_t sent = 0;
  size_t answered = 0;
  for (const Connection& connection : connections_) {
    if (sent == requests) break;
    Send(connection);
    ++sent;
  }
  std::array<epoll_event, kEventsMax> events;
  while (answered < sent) {
    const int ready = epoll_wait(epoll_, events.data(), kEventsMax, -1);
    for (int i = 0; i < ready; ++i) {
      Connection& connection = connections_[events[static_cast<size_t>(i)].data.u64];
      if (!Receive(&connection, status)) continue;
      ++answered;
      if (sent == requests) continue;
      Send(connection);
      ++sent;
    }
  }
}

std::string Exchange(const std::string& address, const std::string& request) {
  const int fd = Connect(address);
  if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
    Die("cannot send");
  std::string received;
  std::array<char, 64 << 10> buffer;
  size_t size = 0;
  while (size == 0 || received.size() < size) {
    const ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
    if (got <= 0) Die("the server ended a connection");
    received.append(buffer.data(), static_cast<size_t>(got));
    size = AnswerSize(received);
  }
  close(fd);
  return received;
}

int64_t CpuNanoseconds(pid_t pid) {
  clockid_t clock = 0;
  timespec used = {};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) Die("cannot see that process");
  return int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

}  // namespace armature::bench
