#ifndef ARMATURE_TESTS_SUPPORT_RAW_HTTP_CLIENT_H_
#define ARMATURE_TESTS_SUPPORT_RAW_HTTP_CLIENT_H_

// One connection to an HTTP server, byte by byte, for requests that HTTP libraries do not send.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace armature::test {

struct RawResponse {
  int status = 0;
  std::string reason;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// The only answer in the bytes of a connection. Throws if it is incomplete, or more follows.
RawResponse ParseResponse(std::string_view bytes);

// Calls block. After a timeout of 30 seconds they throw std::runtime_error.
//
// Thread-safety: thread-compatible.
class RawHttpClient {
 public:
  // `address`: "127.0.0.1:PORT", "[::1]:PORT" or "unix:PATH". `receive_buffer`: size of the system's receive buffer of
  // a TCP connection, 0 for the default.
  explicit RawHttpClient(const std::string& address, int receive_buffer = 0);
  ~RawHttpClient();
  RawHttpClient(const RawHttpClient&) = delete;
  RawHttpClient& operator=(const RawHttpClient&) = delete;

  // Throws if the server has reset the connection.
  void Send(std::string_view bytes);
  // Sends at most `bytes`, until the server takes no more because its answers are not read. Returns the number sent.
  size_t SendWhatFits(std::string_view bytes);
  // Shuts down the sending side.
  void EndSending();

  // The next answer. Throws if the connection ends before it is complete. `has_body` is false for answers to HEAD.
  RawResponse Read(bool has_body = true);
  // The next answer; nullopt if the connection ends before its first byte.
  std::optional<RawResponse> ReadOrEnd();
  // Waits for the end of the connection. Returns the bytes before it. A reset counts as an end.
  std::string ReadToEnd();

  int socket() const { return socket_; }

 private:
  bool Fill();

  int socket_ = -1;
  std::string read_;
};

// True if the system knows an IPv6 address of this name.
bool HasV6Address(const std::string& name);

// A "POST / HTTP/1.1" request with Host and Content-Length. `headers`: complete lines.
std::string Post(std::string_view body, std::string_view headers = "");

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_RAW_HTTP_CLIENT_H_
