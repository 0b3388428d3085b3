#include "tests/unit/storage/store/files/volume_kinds.h"

#include <sys/resource.h>

#include <csignal>
#include <utility>

#include "tests/support/temp_dir.h"
#include "tests/unit/storage/store/files/memory_volume.h"

namespace armature::store {
namespace {

class LocalUnderTest final : public VolumeUnderTest {
 public:
  LocalUnderTest() { getrlimit(RLIMIT_FSIZE, &before_); }
  ~LocalUnderTest() override { setrlimit(RLIMIT_FSIZE, &before_); }
  LocalUnderTest(const LocalUnderTest&) = delete;
  LocalUnderTest& operator=(const LocalUnderTest&) = delete;

  Volume* volume() override { return LocalVolume(); }
  std::string root() const override { return dir_.path(); }
  // A file cannot grow, which counts as a shortage of space.
  bool SetFull(bool is_full) override {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = before_;
    if (is_full) limit.rlim_cur = 1;
    return setrlimit(RLIMIT_FSIZE, &limit) == 0;
  }

 private:
  const test::TempDir dir_;
  rlimit before_ = {};
};

class MemoryUnderTest final : public VolumeUnderTest {
 public:
  MemoryUnderTest() {
    // The directory is durable.
    static_cast<void>(volume_->MakeDirectories(root()));
  }

  Volume* volume() override { return volume_.get(); }
  std::string root() const override { return "/a/test"; }
  bool Crash() override {
    disk_.Crash();
    volume_ = disk_.Mount();
    return true;
  }
  bool SetFull(bool is_full) override {
    disk_.SetSize(is_full ? 1 : uint64_t{1} << 30);
    return true;
  }

 private:
  MemoryDisk disk_;
  std::unique_ptr<Volume> volume_ = disk_.Mount();
};

}  // namespace

std::vector<VolumeKind> VolumeKinds() {
  return {{"Local", [] { return std::make_unique<LocalUnderTest>(); }},
          {"Memory", [] { return std::make_unique<MemoryUnderTest>(); }}};
}

}  // namespace armature::store
