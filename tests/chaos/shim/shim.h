#ifndef ARMATURE_TESTS_CHAOS_SHIM_SHIM_H_
#define ARMATURE_TESTS_CHAOS_SHIM_SHIM_H_

// State of the shim within one process. The daemon is given by the environment:
//   ARMATURE_CHAOS_CONTROL  file with the Control page
//   ARMATURE_CHAOS_ROOT     directories whose files are watched, separated by colons
//   ARMATURE_CHAOS_JOURNAL  file to which changes of watched files are appended; unset: none
//   ARMATURE_CHAOS_BOOT     file that is read in place of the id of the machine's run; unset: none
//
// Everything here works before constructors of other libraries have run, and allocates no memory.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/chaos/shim/control.h"

namespace armature::chaos {

// A system call without the C library: its functions are replaced by the shim. Returns -errno on errors.
int64_t RawCall(int64_t number, int64_t a = 0, int64_t b = 0, int64_t c = 0, int64_t d = 0, int64_t e = 0,
                int64_t f = 0);
// The result as the C library returns it: sets errno.
int64_t Answer(int64_t result);

// Null until the environment was read, or if it names no control page.
Control* control();

bool IsWatchedPath(const char* path);
// The path under which a watched descriptor was opened; empty for others.
std::string_view PathOf(int fd);
void Watch(int fd, const char* path);
void Forget(int fd);

// The file to open for `path`: another one for the id of the machine's run, if one was given.
const char* Redirected(const char* path);

// Counts a call. True if it fails: errno is set, or `*is_short` if the write is to be short.
bool Fails(Call call, std::string_view path, bool* is_short = nullptr);

// Serialises changes with their records in the journal.
class ChangeLock {
 public:
  ChangeLock();
  ~ChangeLock();
  ChangeLock(const ChangeLock&) = delete;
  ChangeLock& operator=(const ChangeLock&) = delete;
};

// Kinds of records, as tests/chaos/disk_journal.py reads them.
enum class Record : uint8_t {
  kCreate = 1,     // path, file
  kTruncate = 2,   // file, a: length
  kWrite = 3,      // file, a: offset, data
  kSyncBegin = 4,  // file or directory, a: number of the sync
  kSyncEnd = 5,    // file or directory, a: number of the sync; only if it succeeded
  kRename = 6,     // path, data: new path
  kUnlink = 7,     // path
  kMkdir = 8,      // path, file: the directory
  kRmdir = 9,      // path
  kLink = 10,      // path, data: new path
  kBegin = 11,     // a process begins
  kMap = 12,       // file: mapped for shared writing, which the journal does not see
};

bool IsJournaling();
// Appends a record. `file`: inode number. The time of the record is that before the change, see NoteTime.
void Append(Record kind, uint64_t file, int64_t a, std::string_view path, const void* data, size_t size);
// The time of the next record. Called under ChangeLock before the change is made.
void NoteTime();
uint64_t FileOf(int fd);

}  // namespace armature::chaos

#endif  // ARMATURE_TESTS_CHAOS_SHIM_SHIM_H_
