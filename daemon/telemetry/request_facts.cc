#include "daemon/telemetry/request_facts.h"

namespace armature::daemon {

std::string_view FrontName(Front front) {
  constexpr std::array<std::string_view, kFrontCount> kNames = {"grpc", "http", "pipeline"};
  return kNames[static_cast<size_t>(front)];
}

void RequestFacts::Take(const engine::RequestTrace& trace) {
  table = trace.table();
  is_timed = trace.is_timed();
  for (size_t i = 0; i < engine::kWaitCount; ++i) waits_ns[i] = trace.wait_ns(static_cast<engine::WaitFor>(i));
}

}  // namespace armature::daemon
