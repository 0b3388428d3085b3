#include "tools/armature/sql/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "absl/time/clock.h"

namespace armature::cli {
namespace {

constexpr int64_t kWaitMsMax = 60'000;
constexpr int kEndedByInterrupt = 130;  // as shells report it

std::atomic<int> write_end = -1;
std::atomic<bool> is_noted = false;
std::atomic<const char*> printed_notice = nullptr;

void Note(int /*signal*/) {
  const int error = errno;
  if (is_noted.exchange(true)) _exit(kEndedByInterrupt);
  // A terminal that takes no text is no reason to end.
  if (const char* const text = printed_notice.load(); text != nullptr && write(STDERR_FILENO, text, strlen(text)) < 0) {
  }
  const char byte = 0;
  if (const int file = write_end.load(); file >= 0 && write(file, &byte, 1) < 0) _exit(kEndedByInterrupt);
  errno = error;
}

void Handle(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt(const char* notice) : notice_(notice) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0) {
    read_end_ = ends[0];
    write_end.store(ends[1]);
  }
  is_noted.store(false);
  set_is_quiet(false);
  Handle(Note);
}

Interrupt::~Interrupt() {
  Handle(SIG_DFL);
  printed_notice.store(nullptr);
  if (read_end_ >= 0) close(read_end_);
  if (const int file = write_end.exchange(-1); file >= 0) close(file);
}

void Interrupt::set_is_quiet(bool is_quiet) { printed_notice.store(is_quiet ? nullptr : notice_); }

bool Interrupt::is_pending() const { return is_noted.load(); }

bool Interrupt::Take() {
  char byte = 0;
  while (read(read_end_, &byte, 1) > 0) {
  }
  return is_noted.exchange(false);
}

void Interrupt::Wait(absl::Duration time) const {
  const absl::Time end = absl::Now() + time;
  while (!is_pending()) {
    const int64_t left = absl::ToInt64Milliseconds(end - absl::Now());
    if (left <= 0) return;
    pollfd file = {read_end_, POLLIN, 0};
    poll(&file, 1, static_cast<int>(std::min<int64_t>(left, kWaitMsMax)));
  }
}

}  // namespace armature::cli
