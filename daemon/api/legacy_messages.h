#ifndef ARMATURE_DAEMON_API_LEGACY_MESSAGES_H_
#define ARMATURE_DAEMON_API_LEGACY_MESSAGES_H_

// The maps of the parameters from before expressions, from the wire to the engine.
//
// They hold values, which the engine reads as they stand on the wire (see wire_split.h), so their entries are read in
// place too, and never become messages.

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "armature/api/v1/items.pb.h"
#include "engine/items/request.h"
#include "storage/model/wire.h"

namespace armature::daemon {

// The numbers of an operation's maps; 0: it has no such map.
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

// Fills the maps of `to`; one without entries cannot be told from an absent one, and is left out. `fields` are the map
// entries of a request, each with its number, in their order; of two with one name the last counts, as the protocol
// demands.
//
// Errors: SerializationException for entries that are not well-formed. Values are not looked into.
absl::Status ReadLegacyMaps(const std::vector<model::WireField>& fields, const LegacyFields& numbers,
                            engine::LegacyParameters* to);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_LEGACY_MESSAGES_H_
