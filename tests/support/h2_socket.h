#ifndef ARMATURE_TESTS_SUPPORT_H2_SOCKET_H_
#define ARMATURE_TESTS_SUPPORT_H2_SOCKET_H_

// A client of HTTP/2 on a connection to a server.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tests/support/h2_client.h"
#include "tests/support/raw_http_client.h"
#include "tests/support/test_certificates.h"

namespace armature::test {

// Waits for something that needs no further bytes of the caller. Throws std::runtime_error after 30 seconds.
void WaitUntil(const std::function<bool()>& is_so);

// Bytes move only within its calls, on the caller's thread.
//
// Calls block. After 30 seconds without any byte they throw std::runtime_error.
// Thread-safety: thread-compatible.
class H2Socket {
 public:
  struct Tls {
    std::string protocols;                        // ALPN, as on the wire
    const CertificateAndKey* identity = nullptr;  // the client's; null: none
  };
  struct Options {
    daemon::H2Client::Options http = {};
    std::optional<Tls> tls = std::nullopt;
    int receive_buffer = 0;  // as in RawHttpClient
  };

  explicit H2Socket(const std::string& address) : H2Socket(address, Options()) {}
  // Throws std::runtime_error if there is no connection or no handshake.
  H2Socket(const std::string& address, const Options& options);
  ~H2Socket();
  H2Socket(const H2Socket&) = delete;
  H2Socket& operator=(const H2Socket&) = delete;

  daemon::H2Client* operator->() { return &http_; }

  // Sends and receives until `is_done`, which may also look at the server's side. False if the connection ends before.
  bool Await(const std::function<bool()>& is_done);
  // Sends what the client has to send. Receives nothing.
  void Send();
  // Sends what the client has to send, in pieces of `bytes`, each with a call of its own. Receives nothing.
  void SendInPieces(size_t bytes);
  // Sends bytes after those of the client.
  void SendRaw(std::string_view bytes);
  // Waits until the stream is closed, or the connection.
  const daemon::H2Client::Answer& Finish(int32_t stream);
  // Waits until the server has answered a ping: it has then seen all frames before it.
  void RoundTrip();
  void AwaitEnd() {
    while (Await([] { return false; })) continue;
  }

  bool has_ended() const { return has_ended_; }
  // The protocol that the server has chosen by ALPN.
  std::string protocol() const;
  int socket() const { return raw_.socket(); }

 private:
  struct Ssl;

  // True if bytes have moved.
  bool Write();
  bool Read();

  RawHttpClient raw_;
  daemon::H2Client http_;
  std::unique_ptr<Ssl> ssl_;  // null: plain
  std::string unsent_;
  size_t unsent_begin_ = 0;
  bool has_ended_ = false;
};

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_H2_SOCKET_H_
