#include "tests/rados/rados_under_test.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "storage/base/strings.h"
#include "tests/unit/storage/store/files/volume_kinds.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::rados {
namespace {

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

class RadosUnderTest final : public store::VolumeUnderTest {
 public:
  RadosUnderTest() {
    // The contract's test of big files covers several stripes.
    options_.stripe_bytes = uint64_t{1} << 20;
    Mount();
  }
  ~RadosUnderTest() override {
    if (is_full_) RunClusterTool("clear-full");
  }
  RadosUnderTest(const RadosUnderTest&) = delete;
  RadosUnderTest& operator=(const RadosUnderTest&) = delete;

  store::Volume* volume() override { return volume_.get(); }
  std::string root() const override { return "/a/test"; }
  bool Crash() override {
    volume_->Abandon();
    former_.push_back(std::move(volume_));
    Mount();
    return true;
  }
  bool SetFull(bool is_full) override {
    is_full_ = is_full;
    return SetClusterFull(is_full, volume_.get());
  }

 private:
  void Mount() {
    volume_ = MountForTest(options_);
    if (volume_ == nullptr) std::abort();
    static_cast<void>(volume_->MakeDirectories(root()));
  }

  RadosVolumeOptions options_ = NewTestVolume();
  bool is_full_ = false;
  std::vector<std::unique_ptr<RadosVolume>> former_;  // tests hold objects of theirs
  std::unique_ptr<RadosVolume> volume_;
};

}  // namespace

bool SetClusterFull(bool is_full, RadosVolume* volume) {
  if (!RunClusterTool(is_full ? "set-full" : "clear-full")) return false;
  const std::string probe = "/probe";
  const bool is_told =
      store::Eventually([&] { return absl::IsResourceExhausted(volume->WriteDurably(probe, "probe")) == is_full; });
  return volume->Remove(probe).ok() && is_told;
}

RadosVolumeOptions NewTestVolume() {
  static std::atomic<int> last = 0;
  RadosVolumeOptions options;
  options.pool = Environment("ARMATURE_RADOS_POOL");
  options.conf_file = Environment("ARMATURE_RADOS_CONF");
  options.user = Environment("ARMATURE_RADOS_USER");
  options.name_space = Cat("test.", getpid(), ".", ++last);
  options.lease = absl::Seconds(1);
  return options;
}

std::unique_ptr<RadosVolume> MountForTest(const RadosVolumeOptions& options) {
  absl::StatusOr<std::unique_ptr<RadosVolume>> mounted = RadosVolume::Mount(options);
  EXPECT_TRUE(mounted.ok()) << mounted.status();
  return mounted.ok() ? *std::move(mounted) : nullptr;
}

bool RunClusterTool(const std::string& command, const std::string& arguments) {
  const std::string directory = Environment("ARMATURE_RADOS_DIR");
  return std::system(Cat(ARMATURE_RADOS_TOOL, " ", command, " ", directory, " ", arguments).c_str()) == 0;
}

}  // namespace armature::rados

namespace armature::store {

std::vector<VolumeKind> VolumeKinds() {
  return {{"Rados", [] { return std::make_unique<rados::RadosUnderTest>(); }}};
}

}  // namespace armature::store
