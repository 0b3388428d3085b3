#ifndef ARMATURE_DAEMON_TELEMETRY_REQUEST_FACTS_H_
#define ARMATURE_DAEMON_TELEMETRY_REQUEST_FACTS_H_

// One request as lists and log lines show it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/request_trace.h"

namespace armature::daemon {

// The front end of a request: a call of its own, or (kPipeline) one of many in a Pipeline stream.
enum class Front : uint8_t { kGrpc, kHttp, kPipeline };
inline constexpr size_t kFrontCount = 3;
std::string_view FrontName(Front front);

struct RequestFacts {
  std::string_view operation;  // "other" if the daemon does not know it. Static storage
  Front front = Front::kGrpc;
  std::string table = {};        // name or ARN; empty: none was named yet
  std::string peer = {};         // address of the client
  int64_t begun_ns = 0;          // by the monotonic clock
  int64_t took_ns = 0;           // until now, or until its end
  std::string_view result = {};  // empty while it runs. Static storage
  std::string request_id = {};   // that the client knows; empty: none
  bool is_timed = false;         // its waits are measured
  std::array<int64_t, engine::kWaitCount> waits_ns = {};

  // Takes the table and the waits.
  void Take(const engine::RequestTrace& trace);
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_TELEMETRY_REQUEST_FACTS_H_
