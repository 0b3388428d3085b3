#include "daemon/machine_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temp_dir.h"

namespace armature::daemon::machine_memory_test {

constexpr uint64_t kMiB = uint64_t{1} << 20;

class MachineMemoryTest : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = dir_.path("root") + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  static uint64_t Machine() {
    return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  }
  uint64_t Usable() { return UsableMemory(dir_.path("root")); }

  test::TempDir dir_;
};

TEST_F(MachineMemoryTest, WithoutGroupsItIsTheMachines) { EXPECT_EQ(Usable(), Machine()); }

TEST_F(MachineMemoryTest, TheLeastLimitOfTheGroupsAboveCounts) {
  Write("/proc/self/cgroup", "0::/system.slice/armatured.service\n");
  Write("/sys/fs/cgroup/system.slice/armatured.service/memory.max", "max\n");
  EXPECT_EQ(Usable(), Machine());
  Write("/sys/fs/cgroup/system.slice/memory.max", "134217728\n");
  EXPECT_EQ(Usable(), 128 * kMiB);
  Write("/sys/fs/cgroup/system.slice/armatured.service/memory.max", "67108864\n");
  EXPECT_EQ(Usable(), 64 * kMiB);
}

TEST_F(MachineMemoryTest, AContainerSeesItsLimitInTheRootOfTheMount) {
  Write("/proc/self/cgroup", "0::/\n");
  Write("/sys/fs/cgroup/memory.max", "100663296\n");
  EXPECT_EQ(Usable(), 96 * kMiB);
  Write("/proc/self/cgroup", "0::/docker/0123\n");
  EXPECT_EQ(Usable(), 96 * kMiB);
}

TEST_F(MachineMemoryTest, GroupsOfVersionOne) {
  Write("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a/b\n");
  Write("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(Usable(), Machine());
  Write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "67108864\n");
  EXPECT_EQ(Usable(), 64 * kMiB);
}

TEST_F(MachineMemoryTest, ALimitAboveTheMachinesMemoryDoesNotCount) {
  Write("/proc/self/cgroup", "0::/a\n");
  Write("/sys/fs/cgroup/a/memory.max", "9999999999999999\n");
  EXPECT_EQ(Usable(), Machine());
}

TEST_F(MachineMemoryTest, DamagedFilesSetNoLimit) {
  Write("/proc/self/cgroup", "::\nx\n0:memory\n0::relative\n");
  EXPECT_EQ(Usable(), Machine());
}

TEST(MachineMemory, ThisMachineHasSome) { EXPECT_GT(UsableMemory(), 16 * kMiB); }

}  // namespace armature::daemon::machine_memory_test
