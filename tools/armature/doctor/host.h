#ifndef ARMATURE_TOOLS_ARMATURE_DOCTOR_HOST_H_
#define ARMATURE_TOOLS_ARMATURE_DOCTOR_HOST_H_

// The machine, as far as `armature doctor` looks at it. Tests have machines of their own.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace armature::cli {

struct FileSystemFacts {
  std::string type;  // "tmpfs"; a number in hexadecimal for one that has no name here
  uint64_t total_bytes = 0;
  uint64_t free_bytes = 0;  // for users
};

struct FileFacts {
  uid_t owner = 0;
  mode_t mode = 0;  // with the type
};

// A process of 0 is one that this user would start.
//
// Thread-safety: owned by one thread.
class Host {
 public:
  virtual ~Host() = default;

  virtual absl::Time Now() const = 0;
  // The name of the program; empty if there is no such process.
  virtual std::string ProgramOf(pid_t process) const = 0;
  // Files that it may have open.
  virtual uint64_t DescriptorLimit(pid_t process) const = 0;
  // Memory of the machine, or of the control group of the process if that has less.
  virtual uint64_t MemoryBytes(pid_t process) const = 0;
  // nullopt: the system does not tell, as in some containers.
  virtual std::optional<bool> IsClockSynchronised() const = 0;
  // The user of a process, of a name; nullopt if there is none.
  virtual std::optional<uid_t> UserOf(pid_t process) const = 0;
  virtual std::optional<uid_t> UserNamed(const std::string& name) const = 0;
  // The file system of a path, or of the nearest directory above it that exists. Errors: Unavailable.
  virtual absl::StatusOr<FileSystemFacts> FileSystemOf(const std::string& path) const = 0;
  // Symbolic links are followed. Errors: NotFound, Unavailable.
  virtual absl::StatusOr<FileFacts> Stat(const std::string& path) const = 0;
  // Errors: NotFound, Unavailable; also for what is larger than 4 MiB.
  virtual absl::StatusOr<std::string> Read(const std::string& path) const = 0;
  // OK if a program could listen at HOST:PORT, an IP address. Errors: Unavailable.
  virtual absl::Status TryListen(const std::string& address) const = 0;
};

std::unique_ptr<Host> ThisHost();

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_DOCTOR_HOST_H_
