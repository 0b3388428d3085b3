#ifndef ARMATURE_STORAGE_BASE_FILE_DESCRIPTOR_H_
#define ARMATURE_STORAGE_BASE_FILE_DESCRIPTOR_H_

// An owned descriptor of an open file or directory.

#include <unistd.h>

#include <utility>

namespace armature {

// Closes the descriptor when it is destroyed. Not thread-safe.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  // -1: none.
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.Release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }

  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }
  // Gives the descriptor away: the caller closes it.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_FILE_DESCRIPTOR_H_
