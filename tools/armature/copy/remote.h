#ifndef ARMATURE_TOOLS_ARMATURE_COPY_REMOTE_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_REMOTE_H_

// Calls of the original protocol to one side of a copy.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tools/armature/copy/endpoint.h"
#include "tools/armature/copy/http_link.h"
#include "tools/armature/copy/stop_signal.h"
#include "tools/armature/copy/wire_json.h"

namespace armature::cli::copy {

// The pause after the attempt of this number, counted from 1.
absl::Duration PauseAfter(int attempts);

// Thread-safe. Lifetime: `stop` outlives it.
class Remote {
 public:
  // `patience`: the longest time that a call is repeated for.
  Remote(Endpoint endpoint, absl::Duration patience, const StopSignal* stop);

  // Sends the operation until it succeeds, or is refused for a lasting reason. Repeats it with growing pauses after
  // throttling, errors of the server and of the network. It must therefore be one that may be repeated. Errors: those
  // of the server, with the name of the exception (client::ErrorName) and the side in front of the message;
  // UnreachableError after the patience; DATA_LOSS for an answer that is not one of the protocol; those of the stop
  // signal.
  absl::StatusOr<Wire> Call(std::string_view operation, const Wire& request);
  absl::StatusOr<Wire> CallText(std::string_view operation, std::string_view request);

  // The same for an operation on streams.
  absl::StatusOr<Wire> CallStreams(std::string_view operation, const Wire& request);

  const std::string& name() const { return endpoint_.name; }
  // The address, for people and for the state file.
  std::string address() const;
  absl::Duration patience() const { return patience_; }

 private:
  struct Door {
    const char* target_prefix;
    LinkOptions link;
    std::string host;
    absl::Mutex mutex;
    std::vector<std::unique_ptr<HttpLink>> idle ABSL_GUARDED_BY(mutex);
  };

  absl::StatusOr<Wire> CallAt(Door* door, std::string_view operation, std::string_view body);
  // One attempt. *is_transient: the error may pass.
  absl::StatusOr<Wire> TryCall(Door* door, std::string_view operation, std::string_view body, bool* is_transient);

  const Endpoint endpoint_;
  const absl::Duration patience_;
  const StopSignal& stop_;
  Door tables_;
  Door streams_;
};

// The error of an answer with a status other than 200. *is_transient as above.
absl::Status ErrorOfAnswer(const HttpAnswer& answer, bool* is_transient);

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_REMOTE_H_
