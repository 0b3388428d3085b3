#ifndef ARMATURE_STORAGE_BASE_STANDARD_FILES_H_
#define ARMATURE_STORAGE_BASE_STANDARD_FILES_H_

// The descriptors 0, 1 and 2 of a process.

#include <fcntl.h>

#include <cerrno>

namespace armature {

// Opens /dev/null for each of the three that the caller of the program has closed. Otherwise the first files that the
// process opens, files of the database among them, get their numbers, and what is written to standard output and error
// lands in these files. False if that is impossible. Call it first in main.
inline bool KeepStandardFiles() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // The system gives out the lowest free number, which is this one.
    if (open("/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY) != descriptor) return false;
  }
  return true;
}

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_STANDARD_FILES_H_
