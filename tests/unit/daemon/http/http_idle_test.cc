// Memory cost of ten thousand idle connections.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>
#include <thread>

#include "daemon/http/http_server.h"
#include "gtest/gtest.h"
#include "tests/support/raw_http_client.h"
#include "tests/unit/daemon/http/handlers.h"

namespace armature::daemon::http_idle_test {

using test::Post;
using test::RawHttpClient;

constexpr int kConnections = 10'000;
// Descriptors besides those of the connections.
constexpr rlim_t kOtherDescriptors = 200;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kBytesPerConnectionMax = 64 << 10;
#else
constexpr size_t kBytesPerConnectionMax = 2 << 10;
#endif

size_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  size_t all = 0;
  size_t resident = 0;
  statm >> all >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// The clients run in a process of their own, so that their descriptors and memory do not count for the server. After
// fork() in a process with threads, only system calls are safe.
class IdleClients {
 public:
  explicit IdleClients(uint16_t port) {
    if (pipe(to_child_.data()) != 0 || pipe(from_child_.data()) != 0) return;
    pid_ = fork();
    if (pid_ == 0) BeIdle(port);
    close(to_child_[0]);
    close(from_child_[1]);
  }
  ~IdleClients() {
    close(to_child_[1]);
    close(from_child_[0]);
    waitpid(pid_, nullptr, 0);
  }

  // True if all clients have connected.
  bool AwaitConnected() {
    char result = 0;
    return read(from_child_[0], &result, 1) == 1 && result == 'y';
  }

 private:
  [[noreturn]] void BeIdle(uint16_t port) {
    close(to_child_[1]);
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    char result = 'y';
    for (int i = 0; i < kConnections && result == 'y'; ++i) {
      const int fd = socket(AF_INET, SOCK_STREAM, 0);
      if (fd < 0 || connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)) != 0) result = 'n';
    }
    if (write(from_child_[1], &result, 1) == 1) {
      // Blocks until the parent closes its end.
      while (read(to_child_[0], &result, 1) > 0) {
      }
    }
    _exit(0);
  }

  std::array<int, 2> to_child_{};
  std::array<int, 2> from_child_{};
  pid_t pid_ = -1;
};

TEST(HttpIdle, TenThousandConnectionsCostLittleAndDisturbNobody) {
  const uint64_t descriptors = RaiseDescriptorLimit();
  if (descriptors < kConnections + kOtherDescriptors) {
    GTEST_SKIP() << "needs " << kConnections + kOtherDescriptors << " descriptors, allowed are " << descriptors;
  }
  InlineHandler handler;
  const auto server = Serve(&handler);
  RawHttpClient other(server->address());
  other.Send(Post("before"));
  EXPECT_EQ(other.Read().body, "before");

  const size_t before = ResidentBytes();
  const std::string address = server->address();
  IdleClients clients(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  ASSERT_TRUE(clients.AwaitConnected());
  while (server->connections() <= kConnections) std::this_thread::yield();
  other.Send(Post("meanwhile"));
  EXPECT_EQ(other.Read().body, "meanwhile");

  const size_t after = ResidentBytes();
  const size_t each = after > before ? (after - before) / kConnections : 0;
  RecordProperty("bytes_per_connection", static_cast<int>(each));
  EXPECT_LT(each, kBytesPerConnectionMax);
  server->Stop(absl::InfiniteDuration());
}

}  // namespace armature::daemon::http_idle_test
