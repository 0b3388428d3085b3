#ifndef ARMATURE_STORAGE_RADOS_VOLUME_FACTS_H_
#define ARMATURE_STORAGE_RADOS_VOLUME_FACTS_H_

// State of volumes in Ceph RADOS, for operators. Without librados: programs that were built without it have these
// types.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
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
  uint64_t lost_objects = 0;  // that were missing or too short when they were looked for after the start
  TableCopiesCounters copies = {};
  TimeHistogram::Counts log_syncs = {};  // until all replicas had the bytes
};

// Something for which a process that waits for a volume could not take it over, or not serve it afterwards.
struct TakeoverProblem {
  std::string reason;  // one of kTakeoverReasons, for programs
  std::string text;    // one line, for operators

  bool operator==(const TakeoverProblem&) const = default;
};
inline constexpr std::string_view kTakeoverReasons[] = {"address",   // an address to listen on is not free
                                                        "clock",     // the wall clock differs from the owner's
                                                        "cluster",   // the cluster does not answer
                                                        "damage",    // the volume is damaged
                                                        "lease",     // the lease is another one than the owner's
                                                        "place",     // the volume holds something else
                                                        "rights",    // the user may not block the former owner
                                                        "version"};  // a newer version has written the volume

// Knowledge of a process that waits for a volume.
struct VolumeWait {
  std::string service;           // where this process can reach it, as in OwnerRecord::service; empty while unknown
  bool is_same_machine = false;  // the owner runs on this one
  std::vector<TakeoverProblem> problems;
};

// A volume, as a process that does not own it sees it.
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
