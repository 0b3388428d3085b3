#ifndef ARMATURE_STORAGE_STORE_WAL_LOG_CHECK_H_
#define ARMATURE_STORAGE_STORE_WAL_LOG_CHECK_H_

// Compares the log files of a database with their register before RocksDB opens them. RocksDB by itself opens a
// database whose write-ahead log lacks files, and either refuses every damaged log or drops what is behind the damage.
// Inside the store only.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/store/files/volume.h"
#include "storage/store/wal/log_register.h"
#include "storage/store/wal/log_scan.h"

namespace armature::store {

// A log file with bytes behind its last good record that hold nothing acknowledged, or nothing synced if the machine
// has stopped: a power cut leaves them.
struct LogTail {
  LogName name;
  uint64_t size = 0;   // of the file
  uint64_t whole = 0;  // where to cut it
  uint64_t lost = 0;   // readable batches behind that place, of all files, that were acknowledged without a sync
};

// A fault of the log: acknowledged data is, or may be, missing.
struct LogFault {
  LogName name;
  std::string text;  // names the file and the offset
  LogScan scan;
  uint64_t synced = 0;  // known to have been synced
  bool is_missing = false;
};

struct LogFindings {
  // False if the register does not know the files: the database is restored, or was last used by a program without the
  // register.
  bool are_registered = false;
  bool has_machine_stopped = false;  // since the database was last open
  std::vector<LogTail> tails;
  std::vector<LogFault> faults;
};

// Compares the log files in `database_path` with their register; changes nothing. Errors: NotFound or DataLoss if
// CURRENT, or the manifest that it names, is missing or CURRENT is damaged; Unavailable.
absl::StatusOr<LogFindings> FindLogFaults(Volume* volume, const std::string& database_path, const LogRegister& logs);

// The manifest that a missing or damaged CURRENT must have named: the only registered one. Errors: NotFound if CURRENT
// is good, or the register has no manifest or several; Unavailable.
absl::StatusOr<LogName> FindLostManifest(Volume* volume, const std::string& database_path);
// The content of a CURRENT that names `manifest`.
std::string CurrentText(LogName manifest);

struct CheckedLogs {
  std::unique_ptr<LogRegister> log_register;  // null: there is no database, or it is damaged as RocksDB reports
  // False if nothing was known of the files: the database is restored, or was last used by another program.
  bool are_whole = false;
  std::vector<LogName> missing;  // to be removed from the register when the database could be opened without them
};

// Opens the register of the database in `database_path`, compares it with the files, and cuts off unfinished writes.
// Without a database there, makes the register of a new one if `may_create`. Errors, with nothing changed: DataLoss if
// acknowledged writes may be missing, unless `accept_losses`, which also replaces a register that cannot be read;
// Unavailable.
absl::StatusOr<CheckedLogs> CheckLogs(Volume* volume, const std::string& database_path, bool may_create,
                                      bool accept_losses);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_WAL_LOG_CHECK_H_
