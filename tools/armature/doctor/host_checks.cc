#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "storage/base/strings.h"
#include "tools/armature/display.h"
#include "tools/armature/doctor/checks.h"

namespace armature::cli {
namespace {

// As the daemon needs them (daemon/config.cc).
constexpr uint64_t kDescriptorsNeeded = 1024;
constexpr uint64_t kDescriptorsPerFamily = 4;

// Kinds of file systems that are no place for a database.
struct BadFileSystem {
  std::string_view type;
  FindingState state;
  std::string_view why;
};
constexpr std::string_view kIsMemory = "it is memory: all tables are gone after a restart of the machine";
constexpr std::string_view kIsRemote = "locks and fsync of remote file systems do not promise what a database needs";
constexpr BadFileSystem kBadFileSystems[] = {
    {"tmpfs", FindingState::kFail, kIsMemory},
    {"ramfs", FindingState::kFail, kIsMemory},
    {"overlay", FindingState::kWarn, "it is that of a container: the tables are gone with the container"},
    {"nfs", FindingState::kFail, kIsRemote},
    {"cifs", FindingState::kFail, kIsRemote},
    {"smb2", FindingState::kFail, kIsRemote},
    {"ceph", FindingState::kWarn, "it is remote; --store keeps a database in Ceph without a file system"},
    {"9p", FindingState::kWarn, kIsRemote},
    {"fuse", FindingState::kWarn, "a program in user space answers: fsync is what it makes of it"},
};

Finding CheckFileSystem(const std::string& path, const FileSystemFacts& facts) {
  const auto* const bad = std::find_if(std::begin(kBadFileSystems), std::end(kBadFileSystems),
                                       [&facts](const BadFileSystem& each) { return each.type == facts.type; });
  const std::string text = Cat(path, " is on ", facts.type);
  if (bad == std::end(kBadFileSystems)) return Fine("file system", text);
  return {"file system", bad->state, Cat(text, ": ", bad->why),
          "put --data_dir on a local disk (ext4, XFS), or on a volume"};
}

Finding CheckSpace(const Patient& patient, const FileSystemFacts& facts) {
  constexpr uint64_t kPartToSpare = 20;
  const uint64_t reserve = DiskReserveBytes(patient.settings.disk_reserve, facts.total_bytes);
  const std::string text = Cat(ShowBytes(facts.free_bytes), " of ", ShowBytes(facts.total_bytes),
                               " are free, writes stop below ", ShowBytes(reserve));
  constexpr char kRemedy[] = "free space or enlarge the disk";
  if (facts.free_bytes < reserve) return {"disk", FindingState::kFail, text, kRemedy};
  const bool is_near = facts.free_bytes < reserve + facts.total_bytes / kPartToSpare;
  return is_near ? Finding{"disk", FindingState::kWarn, text, kRemedy} : Fine("disk", text);
}

Finding CheckOwner(const Patient& patient, const FileFacts& file) {
  const std::string& path = patient.settings.data_dir;
  if (!S_ISDIR(file.mode)) {
    return {"data directory", FindingState::kFail, Cat(path, " is no directory"), "name another one with --data_dir"};
  }
  if (patient.user.has_value() && file.owner != *patient.user) {
    return {"data directory", FindingState::kFail,
            Cat(path, " belongs to user ", file.owner, ", and the daemon runs as user ", *patient.user),
            Cat("chown -R ", *patient.user, " ", path)};
  }
  if ((file.mode & (S_IRWXG | S_IRWXO)) != 0) {
    return {"data directory", FindingState::kWarn,
            Cat("other users may access ", path, absl::StrFormat(" (mode %04o)", file.mode & 07777)),
            Cat("chmod 700 ", path)};
  }
  return Fine("data directory", Cat(path, " belongs to the daemon alone"));
}

}  // namespace

std::optional<uid_t> FindDaemonUser(const Patient& patient, bool is_packaged) {
  constexpr char kPackagedUser[] = "armature";
  if (patient.process != 0) return patient.host.UserOf(patient.process);
  const std::optional<uid_t> packaged = patient.host.UserNamed(kPackagedUser);
  if (is_packaged && packaged.has_value()) return packaged;
  const absl::StatusOr<FileFacts> data = patient.host.Stat(patient.settings.data_dir);
  return data.ok() ? std::optional(data->owner) : packaged;
}

Findings CheckDescriptors(const Patient& patient) {
  const uint64_t limit = patient.host.DescriptorLimit(patient.process);
  const uint64_t wanted = kDescriptorsNeeded + kDescriptorsPerFamily * patient.settings.column_families_max;
  const std::string text =
      Cat(limit, " files may be open ", patient.process == 0 ? "(a daemon started from this shell)" : "in the daemon");
  constexpr char kRemedy[] = "raise LimitNOFILE= of the unit, or ulimit -n";
  if (limit < kDescriptorsNeeded) {
    return {{"open files", FindingState::kFail, Cat(text, ": the daemon does not start below ", kDescriptorsNeeded),
             kRemedy}};
  }
  if (limit < wanted) {
    return {{"open files", FindingState::kWarn,
             Cat(text, "; ", patient.settings.column_families_max, " tables and indexes may need ", wanted), kRemedy}};
  }
  return {Fine("open files", text)};
}

Findings CheckData(const Patient& patient) {
  const std::string& path = patient.settings.data_dir;
  if (path.empty()) return {};
  Findings findings;
  const absl::StatusOr<FileSystemFacts> facts = patient.host.FileSystemOf(path);
  if (!facts.ok()) {
    return {{"file system", FindingState::kWarn, std::string(facts.status().message()),
             "run this as the user of the daemon, or as root"}};
  }
  findings.push_back(CheckFileSystem(path, *facts));
  findings.push_back(CheckSpace(patient, *facts));
  const absl::StatusOr<FileFacts> file = patient.host.Stat(path);
  if (file.ok()) {
    findings.push_back(CheckOwner(patient, *file));
  } else if (absl::IsNotFound(file.status())) {
    findings.push_back(Fine("data directory", Cat(path, " does not exist: the first start makes it")));
  }
  return findings;
}

Findings CheckMemory(const Patient& patient) {
  const DaemonSettings& settings = patient.settings;
  const uint64_t memory = patient.host.MemoryBytes(patient.process);
  const uint64_t budgets = settings.cache_bytes + settings.memtables_bytes + settings.request_memory_bytes;
  if (budgets == 0) return {Fine("memory", Cat(ShowBytes(memory), "; the daemon sizes its budgets by it"))};
  const std::string text =
      Cat("cache, memtables and requests may take ", ShowBytes(budgets), " of ", ShowBytes(memory));
  constexpr char kRemedy[] = "lower --cache_mb, --memtables_mb or --request_memory_mb, or leave them out";
  if (budgets > memory) return {{"memory", FindingState::kFail, text, kRemedy}};
  // Requests in progress and the allocator take half as much again (docs/operate/sizing.md).
  if (budgets + budgets / 2 > memory) {
    return {{"memory", FindingState::kWarn, Cat(text, ", and requests half as much again"), kRemedy}};
  }
  return {Fine("memory", text)};
}

Findings CheckClock(const Patient& patient) {
  const std::optional<bool> is_synchronised = patient.host.IsClockSynchronised();
  constexpr char kLookOutside[] = "look at the machine outside of the container: timedatectl";
  if (!is_synchronised.has_value()) return {{"clock", FindingState::kWarn, "the system does not tell", kLookOutside}};
  if (*is_synchronised) return {Fine("clock", "synchronised")};
  return {{"clock", FindingState::kWarn,
           "not synchronised: items expire, signatures are valid and certificates end by it",
           "run chrony or systemd-timesyncd; in a container, look at the machine"}};
}

Findings CheckPorts(const Patient& patient) {
  // A daemon that runs has them.
  if (patient.process != 0) return {};
  Findings findings;
  for (const std::string& address : patient.settings.listen) {
    const absl::Status free = patient.host.TryListen(address);
    // A daemon that wants TLS or an access key has not said who it is, so this is no failure.
    findings.push_back(free.ok() ? Fine("port", Cat(address, " is free"))
                                 : Finding{"port", FindingState::kWarn, std::string(free.message()),
                                           "if that is not the daemon itself (ss -ltnp; it answers with --tls-ca and "
                                           "--access-key), end that program or name another address"});
  }
  return findings;
}

}  // namespace armature::cli
