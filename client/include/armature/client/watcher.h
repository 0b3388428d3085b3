#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_WATCHER_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_WATCHER_H_

// The changes of a table as they are made.

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "armature/api/v1/streams.pb.h"
#include "armature/client/connection.h"
#include "armature/client/options.h"

namespace armature::client {

struct WatchOptions {
  // How long the watcher tries to reach a daemon that it has lost, or does not reach at first.
  absl::Duration reconnect_for = absl::InfiniteDuration();
  Metadata metadata = {};
};

struct WatchCall;

// The watch of Client::Watch:
//
//   api::v1::WatchRequest request;
//   request.set_table_name("orders");
//   request.set_start(api::v1::WATCH_START_OLDEST);
//   const auto watcher = client.Watch(request);
//   api::v1::WatchResponse response;
//   while ((status = watcher->Next(&response)).ok()) {
//     for (const api::v1::ChangeRecord& record : response.records()) Handle(record);
//     Store(response.position());
//   }
//
// When the connection is lost, or the daemon is restarted, it watches again behind the last response that Next has
// returned: no change is lost and none delivered twice. A program that is restarted gives the position that it has
// stored as after_sequence_number; it gets changes again that it had handled, but whose position it had not stored.
//
// Thread-safety: Next is called by one thread at a time; Cancel is thread-safe. Lifetime: independent of the client.
class Watcher {
 public:
  Watcher(std::shared_ptr<Connection> connection, std::shared_ptr<const ClientOptions> client_options,
          api::v1::WatchRequest request, WatchOptions options);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Blocks until the next response arrives: changes, or a heartbeat without any. The first one comes as soon as the
  // daemon watches.
  //
  // Errors: those of WatchRequest, in streams.proto; UNAVAILABLE if the daemon was not reached for
  // WatchOptions::reconnect_for; CANCELLED after Cancel. The watch has ended then.
  absl::Status Next(api::v1::WatchResponse* response);

  // Ends the watch: the current call of Next and all later ones return CANCELLED.
  void Cancel();

 private:
  absl::Status Connect();
  absl::Status NextOfCall(api::v1::WatchResponse* response);
  // True if another attempt may succeed.
  bool MayReconnect(const absl::Status& status) const;
  // False if the watch was cancelled meanwhile.
  bool Pause(absl::Duration duration);
  bool is_cancelled();
  void Drop();

  const std::shared_ptr<Connection> connection_;
  const std::shared_ptr<const ClientOptions> client_options_;
  const WatchOptions options_;
  api::v1::WatchRequest request_;  // continues behind the last response
  bool has_watched_ = false;
  absl::Mutex mutex_;
  std::unique_ptr<WatchCall> call_ ABSL_GUARDED_BY(mutex_);  // replaced by Next only
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_WATCHER_H_
