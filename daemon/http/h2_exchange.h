#ifndef ARMATURE_DAEMON_HTTP_H2_EXCHANGE_H_
#define ARMATURE_DAEMON_HTTP_H2_EXCHANGE_H_

// A request of plain HTTP on a stream of HTTP/2, and its answer.

#include <memory>
#include <string>
#include <string_view>

#include "daemon/http/h2_router.h"
#include "daemon/http/h2_stream.h"
#include "daemon/http/http_message.h"
#include "daemon/http/io_loop.h"
#include "daemon/http/loop_guest.h"

namespace armature::daemon {

// Thread-safety: belongs to the loop's thread, but for the answer.
class H2Exchange final : public StreamHandler, public LoopGuest, public std::enable_shared_from_this<H2Exchange> {
 public:
  // Handles the request as the server's handler of HTTP/1.1 does.
  static std::shared_ptr<StreamHandler> Open(H2Stream* stream, const H2Request& request,
                                             const std::shared_ptr<const H2Peer>& peer,
                                             const std::shared_ptr<IoLoop>& loop);
  // Answers with a hint, gRPC's clients with the status UNIMPLEMENTED.
  static std::shared_ptr<StreamHandler> Refuse(H2Stream* stream, const H2Request& request, std::string_view hint);
  // True if the request's content type is gRPC's.
  static bool IsGrpc(const H2Request& request);

  H2Exchange(H2Stream* stream, const std::shared_ptr<const H2Peer>& peer, std::shared_ptr<IoLoop> loop);
  ~H2Exchange() override;

  void OnData(std::string_view bytes) override;
  void OnEnd() override;
  void OnShed() override;
  void OnStalled() override;
  void OnClosed() override { stream_ = nullptr; }
  void OnPosted() override;

 private:
  void Handle(bool is_late);
  void ExpectBody(const std::string* length);
  void Answer(HttpResponse response);
  void RefuseWith(unsigned status);

  H2Stream* stream_;  // null once it has ended
  const std::shared_ptr<const H2Peer> peer_;
  const std::shared_ptr<IoLoop> loop_;
  HttpRequest request_;
  HeldMemory body_memory_;
  HttpResponse answer_;  // on its way from another thread
  bool is_head_ = false;
  bool is_answered_ = false;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_H2_EXCHANGE_H_
