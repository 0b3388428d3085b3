#ifndef ARMATURE_STORAGE_STORE_FILES_DESCRIPTOR_H_
#define ARMATURE_STORAGE_STORE_FILES_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace armature::store {

// An open file descriptor of a volume on this machine, or -1. Closed by the destructor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;

  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_FILES_DESCRIPTOR_H_
