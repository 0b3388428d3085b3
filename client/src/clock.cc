#include <memory>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "armature/client/options.h"

namespace armature::client {
namespace {

class RealClock final : public Clock {
 public:
  absl::Time Now() override { return absl::Now(); }
  void SleepFor(absl::Duration duration) override { absl::SleepFor(duration); }
};

}  // namespace

std::shared_ptr<Clock> SystemClock() {
  static const std::shared_ptr<Clock> kClock = std::make_shared<RealClock>();
  return kClock;
}

}  // namespace armature::client
