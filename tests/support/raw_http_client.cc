#include "tests/support/raw_http_client.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "absl/strings/ascii.h"
#include "storage/base/strings.h"

namespace armature::test {
namespace {

constexpr int kPatienceMs = 30'000;
constexpr std::string_view kUnixPrefix = "unix:";

[[noreturn]] void Fail(const std::string& what) { throw std::runtime_error("raw client: " + what); }

void WaitFor(int socket, short events) {
  pollfd waiting = {.fd = socket, .events = events, .revents = 0};
  int ready = 0;
  do {
    ready = poll(&waiting, 1, kPatienceMs);
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) Fail("nothing happens");
}

int ConnectToFile(const std::string& path) {
  sockaddr_un to = {};
  to.sun_family = AF_UNIX;
  if (path.size() >= sizeof(to.sun_path)) Fail("a path too long for a socket: " + path);
  path.copy(to.sun_path, path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) Fail(std::strerror(errno));
  if (connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0) return fd;
  const std::string why = std::strerror(errno);
  close(fd);
  Fail("cannot connect to " + path + ": " + why);
}

int Connect(const std::string& address, int receive_buffer) {
  if (address.starts_with(kUnixPrefix)) return ConnectToFile(address.substr(kUnixPrefix.size()));
  const size_t colon = address.rfind(':');
  const auto port = htons(static_cast<uint16_t>(std::stoi(address.substr(colon + 1))));
  const bool v6 = address.front() == '[';
  const int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) Fail(std::strerror(errno));
  if (receive_buffer > 0) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  int failed = 0;
  if (v6) {
    sockaddr_in6 to = {};
    to.sin6_family = AF_INET6;
    to.sin6_port = port;
    inet_pton(AF_INET6, address.substr(1, colon - 2).c_str(), &to.sin6_addr);
    failed = connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to));
  } else {
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = port;
    inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
    failed = connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to));
  }
  if (failed != 0) {
    const std::string why = std::strerror(errno);
    close(fd);
    Fail("cannot connect to " + address + ": " + why);
  }
  return fd;
}

RawResponse ParseHead(std::string_view head) {
  RawResponse response;
  if (!head.starts_with("HTTP/1.1 ")) Fail("not an answer: " + std::string(head));
  response.status = std::stoi(std::string(head.substr(9, 3)));
  size_t line_end = head.find("\r\n");
  if (line_end > 13) response.reason = head.substr(13, line_end - 13);
  while (line_end + 2 < head.size()) {
    const size_t begin = line_end + 2;
    line_end = head.find("\r\n", begin);
    const std::string_view line = head.substr(begin, line_end - begin);
    const size_t colon = line.find(": ");
    if (colon == std::string_view::npos) Fail("not a header: " + std::string(line));
    const std::string name = absl::AsciiStrToLower(Av(line.substr(0, colon)));
    if (!response.headers.emplace(name, line.substr(colon + 2)).second) Fail("twice: " + name);
  }
  return response;
}

}  // namespace

RawResponse ParseResponse(std::string_view bytes) {
  const size_t head_end = bytes.find("\r\n\r\n");
  if (head_end == std::string_view::npos) Fail("no answer: " + std::string(bytes));
  RawResponse response = ParseHead(bytes.substr(0, head_end + 2));
  response.body = bytes.substr(head_end + 4);
  if (response.body.size() != std::stoul(response.headers.at("content-length"))) {
    Fail("not one answer: " + std::string(bytes));
  }
  return response;
}

RawHttpClient::RawHttpClient(const std::string& address, int receive_buffer)
    : socket_(Connect(address, receive_buffer)) {}

RawHttpClient::~RawHttpClient() { close(socket_); }

void RawHttpClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t sent = SendWhatFits(bytes);
    bytes.remove_prefix(sent);
    if (!bytes.empty()) WaitFor(socket_, POLLOUT);
  }
}

size_t RawHttpClient::SendWhatFits(std::string_view bytes) {
  size_t all = 0;
  while (all < bytes.size()) {
    const ssize_t sent = send(socket_, bytes.data() + all, bytes.size() - all, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (sent < 0) Fail(std::string("cannot send: ") + std::strerror(errno));
    all += static_cast<size_t>(sent);
  }
  return all;
}

void RawHttpClient::EndSending() { shutdown(socket_, SHUT_WR); }

bool RawHttpClient::Fill() {
  WaitFor(socket_, POLLIN);
  std::array<char, 64 << 10> buffer;
  const ssize_t got = recv(socket_, buffer.data(), buffer.size(), 0);
  if (got < 0 && errno != ECONNRESET) Fail(std::string("cannot read: ") + std::strerror(errno));
  if (got <= 0) return false;
  read_.append(buffer.data(), static_cast<size_t>(got));
  return true;
}

RawResponse RawHttpClient::Read(bool has_body) {
  size_t head_end = read_.find("\r\n\r\n");
  while (head_end == std::string::npos) {
    if (!Fill()) Fail("the connection ended before an answer, after: " + read_);
    head_end = read_.find("\r\n\r\n");
  }
  RawResponse response = ParseHead(std::string_view(read_).substr(0, head_end + 2));
  read_.erase(0, head_end + 4);
  if (response.status == 100 || !has_body) return response;
  const size_t size = std::stoul(response.headers.at("content-length"));
  while (read_.size() < size) {
    if (!Fill()) Fail("the connection ended within a body");
  }
  response.body = read_.substr(0, size);
  read_.erase(0, size);
  return response;
}

std::optional<RawResponse> RawHttpClient::ReadOrEnd() {
  if (read_.empty() && !Fill()) return std::nullopt;
  return Read();
}

std::string RawHttpClient::ReadToEnd() {
  while (Fill()) {
  }
  return std::exchange(read_, {});
}

bool HasV6Address(const std::string& name) {
  addrinfo hints = {};
  hints.ai_family = AF_INET6;
  addrinfo* found = nullptr;
  if (getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return false;
  freeaddrinfo(found);
  return true;
}

std::string Post(std::string_view body, std::string_view headers) {
  return Cat("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ", body.size(), "\r\n", headers, "\r\n", body);
}

}  // namespace armature::test
