#ifndef ARMATURE_DAEMON_VERSION_H_
#define ARMATURE_DAEMON_VERSION_H_

namespace armature::daemon {

// The daemon's version. The data directory's format has its own number.
inline constexpr char kVersion[] = "0.1.0";

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_VERSION_H_
