#ifndef ARMATURE_DAEMON_AUTH_TABLE_ARN_H_
#define ARMATURE_DAEMON_AUTH_TABLE_ARN_H_

// Table names and ARNs.

#include <string_view>

namespace armature::daemon {

// Prefix of this daemon's table ARNs: no region, no account.
inline constexpr std::string_view kTableArnPrefix = "arn:aws:dynamodb:local:000000000000:table/";

// The name in `arn:<partition>:dynamodb:<region>:<account>:table/<name>`, also if `/index/...`, `/stream/...` or
// `/backup/...` follow. Any other text is returned unchanged.
std::string_view TableNameOf(std::string_view name_or_arn);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_TABLE_ARN_H_
