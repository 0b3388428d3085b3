#include "tests/rados/frozen_threads.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/storage/store/store_test_util.h"

namespace armature::rados {
namespace {

constexpr int kFreeze = SIGUSR2;
std::atomic<int> held_by = -1;  // the end of a pipe that is closed when threads may go on
std::atomic<size_t> standing = 0;

void Stand(int) {
  const int saved = errno;
  ++standing;
  pollfd closed = {.fd = held_by, .events = POLLIN, .revents = 0};
  while (poll(&closed, 1, -1) < 0 && errno == EINTR) {
  }
  --standing;
  errno = saved;
}

}  // namespace

std::set<int> ConnectionThreads() {
  std::set<int> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(entry.path() / "comm"), name);
    if (name.starts_with("msgr-worker")) threads.insert(std::stoi(entry.path().filename()));
  }
  return threads;
}

FrozenThreads::FrozenThreads(const std::set<int>& threads) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  held_by = ends[0];
  release_ = ends[1];
  struct sigaction action = {};
  action.sa_handler = Stand;
  action.sa_flags = SA_RESTART;
  EXPECT_EQ(sigaction(kFreeze, &action, nullptr), 0);
  for (const int thread : threads) EXPECT_EQ(syscall(SYS_tgkill, getpid(), thread, kFreeze), 0);
  EXPECT_TRUE(store::Eventually([&] { return standing == threads.size(); })) << standing;
}

FrozenThreads::~FrozenThreads() {
  close(release_);
  EXPECT_TRUE(store::Eventually([] { return standing == 0; })) << standing;
  close(held_by);
}

}  // namespace armature::rados
