#include "tests/chaos/shim/shim.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace armature::chaos {
namespace {

constexpr int kDescriptors = 1 << 16;
constexpr size_t kPathBytes = 160;

struct State {
  Control* control = nullptr;
  int journal = -1;
  std::string_view roots;
  const char* boot = nullptr;
  uint64_t time_ns = 0;
};
State state;
char paths[kDescriptors][kPathBytes];
pthread_mutex_t change_mutex = PTHREAD_MUTEX_INITIALIZER;

struct RecordHead {
  uint32_t size;  // of the whole record
  uint8_t kind;
  uint8_t unused;
  uint16_t path_size;
  uint64_t time_ns;
  uint64_t file;
  int64_t a;
};
static_assert(sizeof(RecordHead) == 32);

int OpenRaw(const char* path, int flags) {
  return static_cast<int>(RawCall(SYS_openat, AT_FDCWD, reinterpret_cast<int64_t>(path), flags | O_CLOEXEC, 0600));
}

__attribute__((constructor)) void ReadEnvironment() {
  const char* const page = std::getenv("ARMATURE_CHAOS_CONTROL");
  const char* const roots = std::getenv("ARMATURE_CHAOS_ROOT");
  const char* const journal = std::getenv("ARMATURE_CHAOS_JOURNAL");
  if (page == nullptr || roots == nullptr) return;
  const int fd = OpenRaw(page, O_RDWR);
  if (fd < 0) std::abort();
  const int64_t mapped = RawCall(SYS_mmap, 0, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped < 0) std::abort();
  state.roots = roots;
  state.boot = std::getenv("ARMATURE_CHAOS_BOOT");
  if (journal != nullptr) {
    state.journal = OpenRaw(journal, O_WRONLY | O_APPEND | O_CREAT);
    if (state.journal < 0) std::abort();
  }
  state.control = reinterpret_cast<Control*>(mapped);  // NOLINT(performance-no-int-to-ptr)
  NoteTime();
  if (IsJournaling()) Append(Record::kBegin, 0, 0, "", nullptr, 0);
}

}  // namespace

int64_t RawCall(int64_t number, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f) {
  int64_t result = 0;
  register int64_t r10 __asm__("r10") = d;
  register int64_t r8 __asm__("r8") = e;
  register int64_t r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

int64_t Answer(int64_t result) {
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}

Control* control() { return state.control; }

bool IsWatchedPath(const char* path) {
  if (state.control == nullptr || path == nullptr) return false;
  const std::string_view given = path;
  std::string_view rest = state.roots;
  while (!rest.empty()) {
    const std::string_view root = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), root.size() + 1));
    if (given.starts_with(root) && (given.size() == root.size() || given[root.size()] == '/')) return true;
  }
  return false;
}

std::string_view PathOf(int fd) { return fd < 0 || fd >= kDescriptors ? std::string_view() : paths[fd]; }

void Watch(int fd, const char* path) {
  if (fd < 0 || fd >= kDescriptors || std::strlen(path) >= kPathBytes) std::abort();
  std::strcpy(paths[fd], path);
}

void Forget(int fd) {
  if (fd >= 0 && fd < kDescriptors) paths[fd][0] = '\0';
}

const char* Redirected(const char* path) {
  if (state.boot == nullptr || path == nullptr) return path;
  return std::strcmp(path, "/proc/sys/kernel/random/boot_id") == 0 ? state.boot : path;
}

bool Fails(Call call, std::string_view path, bool* is_short) {
  Control* const page = state.control;
  const auto kind = static_cast<int32_t>(call);
  page->seen[kind].fetch_add(1);
  if (page->kind.load() != kind || path.find(page->path_part) == std::string_view::npos) return false;
  const int64_t left = page->countdown.fetch_sub(1) - 1;
  if (left > 0 || left < -page->more.load()) return false;
  const int error = page->error.load();
  if (error == 0 && is_short == nullptr) return false;
  page->fired.fetch_add(1);
  if (error == 0) {
    *is_short = true;
  } else {
    errno = error;
  }
  return true;
}

ChangeLock::ChangeLock() { pthread_mutex_lock(&change_mutex); }
ChangeLock::~ChangeLock() { pthread_mutex_unlock(&change_mutex); }

bool IsJournaling() { return state.journal >= 0; }

void NoteTime() {
  timespec now = {};
  RawCall(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<int64_t>(&now));
  state.time_ns = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void Append(Record kind, uint64_t file, int64_t a, std::string_view path, const void* data, size_t size) {
  RecordHead head = {};
  head.size = static_cast<uint32_t>(sizeof head + path.size() + size);
  head.kind = static_cast<uint8_t>(kind);
  head.path_size = static_cast<uint16_t>(path.size());
  head.time_ns = state.time_ns;
  head.file = file;
  head.a = a;
  const iovec parts[] = {
      {&head, sizeof head}, {const_cast<char*>(path.data()), path.size()}, {const_cast<void*>(data), size}};
  const int64_t written = RawCall(SYS_writev, state.journal, reinterpret_cast<int64_t>(parts), 3);
  if (written != static_cast<int64_t>(head.size)) std::abort();
}

uint64_t FileOf(int fd) {
  struct stat status = {};
  return RawCall(SYS_fstat, fd, reinterpret_cast<int64_t>(&status)) == 0 ? status.st_ino : 0;
}

}  // namespace armature::chaos
