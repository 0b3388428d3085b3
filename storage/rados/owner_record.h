#ifndef ARMATURE_STORAGE_RADOS_OWNER_RECORD_H_
#define ARMATURE_STORAGE_RADOS_OWNER_RECORD_H_

// The process that owns a volume, as it is noted in the cluster.
//
//   owner := (name "=" value line)*                client, service, host, since, lease_ms; others are skipped
//   line := "\n"

#include <cstdint>
#include <string>
#include <string_view>

namespace armature::rados {

struct OwnerRecord {
  std::string client;     // address of its Ceph client, as the cluster blocks it; empty: nobody owns the volume
  std::string service;    // where it serves, "grpc=HOST:PORT http=HOST:PORT"; empty: not yet, or it does not serve
  std::string host;       // name of its machine
  uint64_t since_s = 0;   // Unix time at which it became the owner
  uint64_t lease_ms = 0;  // its lease; 0: unknown, of a version that did not note it

  bool operator==(const OwnerRecord&) const = default;
};

// The addresses of the owner's service that `host` can reach: on another machine all but those of its loopback.
std::string ServiceFor(const OwnerRecord& owner, std::string_view host);

// Lines NAME=VALUE. Unknown names are skipped, for later versions. Line ends in values become blanks.
std::string EncodeOwner(const OwnerRecord& owner);
OwnerRecord DecodeOwner(std::string_view text);

}  // namespace armature::rados

#endif  // ARMATURE_STORAGE_RADOS_OWNER_RECORD_H_
