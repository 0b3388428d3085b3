// Writes rows to a database in RADOS until it is killed, refused or told to end, and prints each row that was
// acknowledged: row_writer NAMESPACE FIRST_KEY_PREFIX [unfenced]. The cluster is named by the variables of
// tests/rados/with_cluster.py.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "storage/base/strings.h"
#include "storage/rados/rados_volume.h"
#include "tests/rados/rados_database.h"
#include "tests/rados/rados_under_test.h"

int main(int argc, char** argv) {
  using armature::Cat;
  using armature::rados::IsRowWritten;
  if (argc < 3) return 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  armature::rados::RadosVolumeOptions options = armature::rados::NewTestVolume();
  options.name_space = argv[1];
  if (argc > 3) options.fence = armature::rados::RadosVolumeOptions::Fence::kNone;
  const auto volume = armature::rados::MountForTest(options);
  if (volume == nullptr) return 1;
  const auto database = armature::rados::OpenTestDatabase(volume.get());
  if (database == nullptr) return 1;
  std::printf("open\n");
  for (int i = 0;; ++i) {
    if (volume->IsOwnerForCertain()) std::printf("certain\n");
    const std::string key = Cat(argv[2], i);
    if (!IsRowWritten(database.get(), key)) break;
    std::printf("ack %s\n", key.c_str());
  }
  std::printf("refused\n");
  std::fflush(stdout);
  // An orderly end would write.
  _exit(3);
}
