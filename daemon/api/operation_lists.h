#ifndef ARMATURE_DAEMON_API_OPERATION_LISTS_H_
#define ARMATURE_DAEMON_API_OPERATION_LISTS_H_

// Operations on tables by topic. A new operation joins the list of its topic.

#include <vector>

#include "daemon/api/unary_operation.h"

namespace armature::daemon {

void AddTableOperations(std::vector<UnaryOperation>* to);
void AddSettingOperations(std::vector<UnaryOperation>* to);  // tags, time to live, continuous backups, limits
void AddBackupOperations(std::vector<UnaryOperation>* to);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_OPERATION_LISTS_H_
