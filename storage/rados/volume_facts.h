#ifndef ARMATURE_STORAGE_RADOS_VOLUME_FACTS_H_
#define ARMATURE_STORAGE_RADOS_VOLUME_FACTS_H_

// State of volumes in Ceph RADOS, for operators. Without librados: programs that were built without it have these
// types.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "storage/base/time_histogram.h"
#include "storage/rados/owner_record.h"

namespace armature::rados {

// Copies of table files on the local disk.
struct TableCopiesCounters {
  uint64_t bytes = 0;
  uint64_t bytes_max = 0;  // 0: no copies
  uint64_t files = 0;
  uint64_t hits = 0;     // reads that a copy answered
  uint64_t misses = 0;   // reads that went to the cluster
  uint64_t damaged = 0;  // copies that were removed because of their checksum
};

// State of this process as the owner of a volume.
struct VolumeStats {
  uint64_t epoch = 0;       // number of owners so far
  double lease_left_s = 0;  // for which no other process can be the owner
  // Sums over all files: without the two objects of the volume itself, and without those that a crash has left.
  uint64_t file_bytes = 0;
  uint64_t objects = 0;
  TableCopiesCounters copies = {};
  TimeHistogram::Counts log_syncs = {};  // until all replicas had the bytes
};

// A volume, as a process sees it that does not own it.
struct VolumeStatus {
  std::string id;      // of the volume; never another volume's
  uint64_t epoch = 0;  // number of owners so far
  uint64_t stripe_bytes = 0;
  OwnerRecord owner;   // empty after an orderly end
  std::string holder;  // of the lease, in words; empty: nobody, and the owner is gone or cut off
};

// Result of a comparison of a volume's names with its objects.
struct VolumeCheck {
  uint64_t files = 0;
  uint64_t file_bytes = 0;
  uint64_t objects = 0;
  // Objects that belong to no file: left by a process that died while it made or removed a file.
  uint64_t orphans = 0;
  uint64_t orphan_bytes = 0;
  // One line each: files whose objects are missing, or end too early. At most kProblemsMax.
  static constexpr size_t kProblemsMax = 1000;
  std::vector<std::string> problems;
};

}  // namespace armature::rados

#endif  // ARMATURE_STORAGE_RADOS_VOLUME_FACTS_H_
