#ifndef ARMATURE_DAEMON_FLAG_FORMS_H_
#define ARMATURE_DAEMON_FLAG_FORMS_H_

// Values of flags that are neither numbers nor arbitrary texts.

#include <string>
#include <string_view>

#include "daemon/flag_row.h"

namespace armature::daemon {

inline constexpr std::string_view kOff = "off";

bool IsSocketOrOff(std::string_view text);   // HOST:PORT, [IPV6]:PORT, unix:PATH, or off
bool IsAddressOrOff(std::string_view text);  // HOST:PORT, [IPV6]:PORT, or off
bool IsAddressOrEmpty(std::string_view text);
bool IsHostOrEmpty(std::string_view text);
bool IsPathOrEmpty(std::string_view text);  // absolute

// Forms of --durability, --disk_reserve, --index_updates, --index_reads, --http_hosts, --cors_origins, --console,
// --stream_shards, --log_level and --log_format.
extern const Form kDurabilityForm;
extern const Form kDiskReserveForm;
extern const Form kIndexUpdatesForm;
extern const Form kIndexReadsForm;
extern const Form kHttpHostsForm;
extern const Form kCorsOriginsForm;
extern const Form kConsoleForm;
extern const Form kStreamShardsForm;
extern const Form kLogLevelForm;
extern const Form kLogFormatForm;

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_FLAG_FORMS_H_
