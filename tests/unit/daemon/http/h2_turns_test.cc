// Turns of connections of HTTP/2 during an overload, like those of HTTP/1.1.

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/http/http_server.h"
#include "gtest/gtest.h"
#include "storage/base/monotonic_wait.h"
#include "tests/support/h2_socket.h"
#include "tests/unit/daemon/http/handlers.h"

namespace armature::daemon::h2_turns_test {

using test::H2Socket;

constexpr int64_t kMs = 1'000'000;
constexpr size_t kConnections = 200;

// A connection that always has a request.
struct Client {
  explicit Client(const std::string& address) : socket(address) { Ask(); }

  void Ask() {
    stream = socket->Begin("/", true);
    socket.Send();
  }
  // Takes the bytes that are there.
  void Take() {
    bool has_looked = false;
    socket.Await([&] { return std::exchange(has_looked, true); });
    const H2Client::Answer& answer = socket->answer(stream);
    if (!answer.closed_with.has_value()) return;
    (answer.data == "served" ? served : late) += 1;
    socket->Forget(stream);
    Ask();
  }

  H2Socket socket;
  int32_t stream = 0;
  size_t served = 0;
  size_t late = 0;
};

// One loop, whose handler takes a millisecond for each request, is overloaded by so many.
TEST(H2Turns, AllConnectionsAreServedAndSomeRequestsRefusedDuringAnOverload) {
  std::atomic<size_t> late = 0;
  std::atomic<size_t> crowds = 0;
  InlineHandler handler([&](const HttpRequest& request) {
    const int64_t end_ns = MonotonicNs() + (request.is_late ? 0 : kMs);
    while (MonotonicNs() < end_ns) continue;
    if (request.is_late) ++late;
    return HttpResponse{.headers = {}, .body = request.is_late ? "late" : "served"};
  });
  HttpServerOptions options = {.io_threads = 1};
  options.on_crowd = [&](bool is_crowded) { crowds += is_crowded ? 1 : 0; };
  const auto server = Serve(&handler, options);
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<pollfd> sockets;
  for (size_t i = 0; i < kConnections; ++i) {
    clients.push_back(std::make_unique<Client>(server->address()));
    sockets.push_back({.fd = clients.back()->socket.socket(), .events = POLLIN, .revents = 0});
  }
  const auto is_over = [&] {
    return late > 20 && std::all_of(clients.begin(), clients.end(), [](const auto& it) { return it->served > 0; });
  };
  const int64_t give_up_ns = MonotonicNs() + 60'000 * kMs;
  while (!is_over() && MonotonicNs() < give_up_ns) {
    poll(sockets.data(), sockets.size(), 100);
    for (size_t i = 0; i < kConnections; ++i) {
      if ((sockets[i].revents & POLLIN) != 0) clients[i]->Take();
    }
  }
  EXPECT_TRUE(is_over()) << late << " late";
  EXPECT_EQ(server->connections(), kConnections);
  server->Stop(absl::ZeroDuration());
  EXPECT_EQ(server->late_requests(), late);
  EXPECT_GE(crowds, 1);
}

}  // namespace armature::daemon::h2_turns_test
