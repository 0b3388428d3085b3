#ifndef ARMATURE_DAEMON_HTTP_H2_CONNECTION_H_
#define ARMATURE_DAEMON_HTTP_H2_CONNECTION_H_

// One HTTP/2 connection on its loop: its socket, its memory, and the time that its client has.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/http/h2_output.h"
#include "daemon/http/h2_router.h"
#include "daemon/http/h2_session.h"
#include "daemon/http/socket_connection.h"

namespace armature::daemon {

// Thread-safety: owned by its loop's thread. Lifetime: the loop holds it until it is closed.
class H2Connection final : public SocketConnection, private H2Session::Host {
 public:
  // Takes ownership of the socket. `refusal`: what all requests are told; empty: they are served.
  H2Connection(std::shared_ptr<IoLoop> loop, AcceptedSocket accepted, std::unique_ptr<Transport> transport,
               std::string refusal);
  ~H2Connection() override;

  // `first`: what has been read already.
  void Start(std::string_view first);

  void Drain() override;
  void Sweep(int64_t now_ns) override;
  void OnFlush() override;
  // Reads what waited in the socket.
  void TakeTurn(bool is_late) override;

 private:
  std::shared_ptr<StreamHandler> OnRequest(H2Stream* stream, H2Request request) override;
  void OnWork() override;
  void OnBroken(H2Break why) override;
  bool MayWiden(size_t bytes) override;
  int64_t NowNs() const override;

  void OnReady(bool is_writable) override;
  void Release() override;
  void ReadSome();
  void WaitForMore();
  // Sends what the session has to send. False if the connection is closed.
  bool Flush();
  // Writes the output, as much as the system takes.
  Transport::Result WriteSome();
  void SetWriteDeadline(size_t sent);
  void CountHeld();
  void SweepSilence(int64_t now_ns);

  const std::string refusal_;
  std::shared_ptr<H2Peer> peer_;
  H2Output output_;
  H2Session session_;
  HeldMemory share_;  // of what no message counts

  size_t requests_ = 0;     // of this turn
  bool is_over_ = false;    // nothing more is read; the output is sent
  bool is_queued_ = false;  // it waits for its turn
  bool will_flush_ = false;
  bool is_draining_ = false;
  bool has_settings_ = false;      // the client has sent more than the preface
  int64_t write_deadline_ns_ = 0;  // of output that the system does not take; 0: none
  int64_t writing_since_ns_ = 0;   // the same, of the oldest of them
  size_t waiting_bytes_ = 0;       // those that waited then
  const absl::Duration age_max_;
  const int64_t opened_ns_;
  int64_t received_ns_ = 0;
  int64_t idle_since_ns_ = 0;  // without streams
  int64_t asked_ns_ = 0;       // last sign of life that was asked for
  int64_t drained_ns_ = 0;     // begin of the drain
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_H2_CONNECTION_H_
