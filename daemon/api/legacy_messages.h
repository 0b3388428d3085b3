#ifndef ARMATURE_DAEMON_API_LEGACY_MESSAGES_H_
#define ARMATURE_DAEMON_API_LEGACY_MESSAGES_H_

// The maps of legacy (pre-expression) parameters, from the wire to the engine.
//
// Their values are passed to the engine in wire form (see wire_split.h), so the entries are read in place and never
// parsed into messages.

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "armature/api/v1/items.pb.h"
#include "engine/items/request.h"
#include "storage/model/wire.h"

namespace armature::daemon {

// Field numbers of an operation's maps; 0: the operation has no such map.
struct LegacyFields {
  uint32_t attribute_updates = 0;
  uint32_t expected = 0;
  uint32_t key_conditions = 0;
  uint32_t query_filter = 0;
  uint32_t scan_filter = 0;

  constexpr bool Contains(uint32_t number) const {
    return number == attribute_updates || number == expected || number == key_conditions || number == query_filter ||
           number == scan_filter;
  }
};

inline constexpr LegacyFields kNoLegacyFields;
inline constexpr LegacyFields kPutLegacyFields{.expected = api::v1::PutItemRequest::kExpectedFieldNumber};
inline constexpr LegacyFields kDeleteLegacyFields{.expected = api::v1::DeleteItemRequest::kExpectedFieldNumber};
inline constexpr LegacyFields kUpdateLegacyFields{
    .attribute_updates = api::v1::UpdateItemRequest::kAttributeUpdatesFieldNumber,
    .expected = api::v1::UpdateItemRequest::kExpectedFieldNumber};
inline constexpr LegacyFields kQueryLegacyFields{.key_conditions = api::v1::QueryRequest::kKeyConditionsFieldNumber,
                                                 .query_filter = api::v1::QueryRequest::kQueryFilterFieldNumber};
inline constexpr LegacyFields kScanLegacyFields{.scan_filter = api::v1::ScanRequest::kScanFilterFieldNumber};

// Fills the maps of `to`. A map without entries is left out, because protobuf cannot tell it from an absent one.
// `fields` are the map entries of a request, each with its number, in order. Among entries with the same name the last
// one counts, as protobuf requires.
//
// Errors: SerializationException for malformed entries. Values are not validated.
absl::Status ReadLegacyMaps(const std::vector<model::WireField>& fields, const LegacyFields& numbers,
                            engine::LegacyParameters* to);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_LEGACY_MESSAGES_H_
