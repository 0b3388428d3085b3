#ifndef ARMATURE_TESTS_SUPPORT_RAW_HTTP_CLIENT_H_
#define ARMATURE_TESTS_SUPPORT_RAW_HTTP_CLIENT_H_

// One connection to an HTTP server, byte by byte: for requests that no library would send.

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

// The one answer in all that came over a connection; throws if it is not complete, or more came.
RawResponse ParseResponse(std::string_view bytes);

// Blocks; what does not happen within 30 seconds throws std::runtime_error.
//
// Thread-safety: thread-compatible.
class RawHttpClient {
 public:
  // `address`: "127.0.0.1:PORT" or "[::1]:PORT". `receive_buffer`: bytes the system keeps for a client that does not
  // read, 0 for its default.
  explicit RawHttpClient(const std::string& address, int receive_buffer = 0);
  ~RawHttpClient();
  RawHttpClient(const RawHttpClient&) = delete;
  RawHttpClient& operator=(const RawHttpClient&) = delete;

  // Throws if the server has reset the connection.
  void Send(std::string_view bytes);
  // As much as the server takes without being read from, at most `bytes`; tells how much.
  size_t SendWhatFits(std::string_view bytes);
  // No more will be sent.
  void EndSending();

  // The next answer; throws if the connection ends before it is complete. `has_body`: false for answers to HEAD.
  RawResponse Read(bool has_body = true);
  // The next answer, or nothing if the connection ends before its first byte.
  std::optional<RawResponse> ReadOrEnd();
  // Waits for the end and tells what came before it. A reset counts as an end.
  std::string ReadToEnd();

  int socket() const { return socket_; }

 private:
  bool Fill();

  int socket_ = -1;
  std::string read_;
};

// "POST / HTTP/1.1" with Host and Content-Length. `headers`: complete lines.
std::string Post(std::string_view body, std::string_view headers = "");

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_RAW_HTTP_CLIENT_H_
