#ifndef ARMATURE_DAEMON_AUTH_TABLE_ARN_H_
#define ARMATURE_DAEMON_AUTH_TABLE_ARN_H_

// Names of tables in their long form.

#include <string_view>

namespace armature::daemon {

// ARNs of this daemon's tables: no region, no account.
inline constexpr std::string_view kTableArnPrefix = "arn:aws:dynamodb:local:000000000000:table/";

// The name in `arn:<partition>:dynamodb:<region>:<account>:table/<name>`, also if `/index/...`, `/stream/...` or
// `/backup/...` follow. What is not of that form comes back as it is, which is no name that a table could have unless
// it is one.
std::string_view TableNameOf(std::string_view name_or_arn);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_TABLE_ARN_H_
