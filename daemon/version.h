#ifndef ARMATURE_DAEMON_VERSION_H_
#define ARMATURE_DAEMON_VERSION_H_

namespace armature::daemon {

// Of the daemon; the format of the data directory has a number of its own.
inline constexpr char kVersion[] = "0.1.0";

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_VERSION_H_
