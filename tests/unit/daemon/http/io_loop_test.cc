#include "daemon/http/io_loop.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/http/server_state.h"
#include "gtest/gtest.h"
#include "tests/support/raw_http_client.h"
#include "tests/unit/daemon/http/handlers.h"

namespace armature::daemon::io_loop_test {

// Such an answer would never be delivered. Keeping it would make loop and connection own each other.
TEST(IoLoop, AnAnswerAfterItsEndKeepsNothingAlive) {
  HoldingHandler handler;
  const auto state = std::make_shared<ServerState>(HttpServerOptions(), &handler);
  auto loop = std::make_shared<IoLoop>(state);
  std::thread thread([&loop] { loop->Run(); });
  std::array<int, 2> ends = {};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
  ASSERT_TRUE(state->ledger->TryAdd(ends[0], std::nullopt));
  state->connections.Add();
  loop->Adopt({.socket = ends[0], .peer = "test", .network = std::nullopt, .door = std::make_shared<HttpDoor>()});
  const std::string request = test::Post("x");
  ASSERT_EQ(write(ends[1], request.data(), request.size()), static_cast<ssize_t>(request.size()));
  std::vector<HoldingHandler::Held> held = handler.Take(1);

  loop->Abort();
  thread.join();
  close(ends[1]);
  EXPECT_EQ(state->connections.value(), 0u);
  const std::weak_ptr<IoLoop> gone = loop;
  loop.reset();
  EXPECT_FALSE(gone.expired()) << "the request under way needs it";
  std::move(held[0].done)({.headers = {}, .body = "late"});
  EXPECT_TRUE(gone.expired());
}

}  // namespace armature::daemon::io_loop_test
