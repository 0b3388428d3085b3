#ifndef ARMATURE_TESTS_RADOS_RADOS_UNDER_TEST_H_
#define ARMATURE_TESTS_RADOS_RADOS_UNDER_TEST_H_

// Volumes in the cluster that tests/rados/with_cluster.py has started.

#include <memory>
#include <string>

#include "storage/rados/rados_volume.h"

namespace armature::rados {

// A namespace that no other test uses, with a short lease.
RadosVolumeOptions NewTestVolume();
// Mounts it. A test failure and null if that is refused.
std::unique_ptr<RadosVolume> MountForTest(const RadosVolumeOptions& options);
// Runs tools/rados-dev COMMAND DIR ARGUMENTS. False if it fails.
bool RunClusterTool(const std::string& command, const std::string& arguments = "");
// Lets the cluster be full, or not any more, and waits until it and `volume` know. False if they do not learn it.
bool SetClusterFull(bool is_full, RadosVolume* volume);

}  // namespace armature::rados

#endif  // ARMATURE_TESTS_RADOS_RADOS_UNDER_TEST_H_
