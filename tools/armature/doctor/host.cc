#include "tools/armature/doctor/host.h"

#include <fcntl.h>
#include <netdb.h>
#include <pwd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

constexpr size_t kReadBytesMax = size_t{4} << 20;

struct FileSystemName {
  uint64_t magic;  // of statfs(2)
  std::string_view name;
};
constexpr FileSystemName kFileSystemNames[] = {
    {0x01021994, "tmpfs"}, {0x858458f6, "ramfs"}, {0x794c7630, "overlay"}, {0x6969, "nfs"},     {0xff534d42, "cifs"},
    {0xfe534d42, "smb2"},  {0x65735546, "fuse"},  {0x01021997, "9p"},      {0xef53, "ext4"},    {0x58465342, "xfs"},
    {0x9123683e, "btrfs"}, {0x2fc12fc1, "zfs"},   {0x00c36400, "ceph"},    {0xf2f52010, "f2fs"}};

absl::Status PathError(std::string_view what) {
  const std::string text = Cat(what, ": ", std::strerror(errno));
  return errno == ENOENT || errno == ENOTDIR ? absl::NotFoundError(text) : absl::UnavailableError(text);
}

// The content of a regular file, which may be one of /proc. Streams of the library throw if a read fails.
absl::StatusOr<std::string> ReadRegular(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe must not be waited for
  if (file < 0) return PathError(path);
  const absl::Cleanup close_file = [file] { close(file); };
  struct stat facts {};
  if (fstat(file, &facts) != 0) return PathError(path);
  if (!S_ISREG(facts.st_mode)) return absl::UnavailableError(Cat(path, ": is not a file"));
  std::string text;
  std::array<char, 4096> piece;
  while (true) {
    const ssize_t got = read(file, piece.data(), piece.size());
    if (got < 0) return PathError(path);
    if (got == 0) return text;
    text.append(piece.data(), static_cast<size_t>(got));
    if (text.size() > kReadBytesMax) return absl::UnavailableError(Cat(path, ": is too large"));
  }
}

// The file /proc/PROCESS/NAME, "self" for 0; empty if it cannot be read.
std::string ProcText(pid_t process, std::string_view name) {
  return ReadRegular(Cat("/proc/", process == 0 ? "self" : std::to_string(process), "/", name)).value_or("");
}

// The least memory.max of a control group (version 2) and those above it.
uint64_t GroupMemory(pid_t process) {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  const std::string text = ProcText(process, "cgroup");
  const size_t begin = text.find("0::/");
  if (begin == std::string::npos) return least;
  std::filesystem::path group = text.substr(begin + 3, text.find('\n', begin) - begin - 3);
  for (;; group = group.parent_path()) {
    std::ifstream file("/sys/fs/cgroup" + (group / "memory.max").string());
    uint64_t bytes = 0;
    if (file >> bytes) least = std::min(least, bytes);
    if (group == group.parent_path()) return least;
  }
}

class RealHost final : public Host {
 public:
  absl::Time Now() const override { return absl::Now(); }

  std::string ProgramOf(pid_t process) const override {
    std::string name = ProcText(process, "comm");
    if (!name.empty()) name.pop_back();  // the line end
    return name;
  }

  uint64_t DescriptorLimit(pid_t process) const override {
    rlimit limit = {};
    if (prlimit(process, RLIMIT_NOFILE, nullptr, &limit) != 0) getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_max;  // the daemon raises its soft limit to the hard one
  }

  uint64_t MemoryBytes(pid_t process) const override {
    const auto pages = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES));
    return std::min(pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)), GroupMemory(process));
  }

  std::optional<bool> IsClockSynchronised() const override {
    timex state = {};  // changes nothing
    const int clock = adjtimex(&state);
    if (clock < 0) return std::nullopt;
    return clock != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
  }

  std::optional<uid_t> UserOf(pid_t process) const override {
    struct stat file {};
    if (stat(Cat("/proc/", process).c_str(), &file) != 0) return std::nullopt;
    return file.st_uid;
  }

  std::optional<uid_t> UserNamed(const std::string& name) const override {
    const passwd* const user = getpwnam(name.c_str());
    if (user == nullptr) return std::nullopt;
    return user->pw_uid;
  }

  absl::StatusOr<FileSystemFacts> FileSystemOf(const std::string& path) const override {
    struct statfs facts {};
    std::filesystem::path existing = path;
    while (statfs(existing.c_str(), &facts) != 0) {
      if (errno != ENOENT || existing == existing.parent_path()) return PathError(path);
      existing = existing.parent_path();
      if (existing.empty()) existing = ".";
    }
    const auto magic = static_cast<uint64_t>(facts.f_type) & 0xffffffffU;
    const auto* const known = std::find_if(std::begin(kFileSystemNames), std::end(kFileSystemNames),
                                           [magic](const FileSystemName& each) { return each.magic == magic; });
    const auto block = static_cast<uint64_t>(facts.f_bsize);
    return FileSystemFacts{
        .type = known == std::end(kFileSystemNames) ? absl::StrFormat("%#x", magic) : std::string(known->name),
        .total_bytes = facts.f_blocks * block,
        .free_bytes = facts.f_bavail * block};
  }

  absl::StatusOr<FileFacts> Stat(const std::string& path) const override {
    struct stat file {};
    if (stat(path.c_str(), &file) != 0) return PathError(path);
    return FileFacts{.owner = file.st_uid, .mode = file.st_mode};
  }

  absl::StatusOr<std::string> Read(const std::string& path) const override { return ReadRegular(path); }

  absl::Status TryListen(const std::string& address) const override {
    const size_t colon = address.rfind(':');
    if (colon == std::string::npos) return absl::UnavailableError(Cat(address, ": has no port"));
    std::string name = address.substr(0, colon);
    if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE;
    addrinfo* found = nullptr;
    if (const int error = getaddrinfo(name.c_str(), address.c_str() + colon + 1, &hints, &found); error != 0) {
      return absl::UnavailableError(Cat(address, ": ", gai_strerror(error)));
    }
    const absl::Cleanup free_it = [found] { freeaddrinfo(found); };
    const int socket_fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_fd < 0) return PathError(address);
    const absl::Cleanup close_it = [socket_fd] { close(socket_fd); };
    const int on = 1;  // as the daemon does: connections of a former one do not matter
    setsockopt(socket_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(socket_fd, found->ai_addr, found->ai_addrlen) != 0 || listen(socket_fd, 1) != 0) {
      return absl::UnavailableError(Cat(address, ": ", std::strerror(errno)));
    }
    return absl::OkStatus();
  }
};

}  // namespace

std::unique_ptr<Host> ThisHost() { return std::make_unique<RealHost>(); }

}  // namespace armature::cli
