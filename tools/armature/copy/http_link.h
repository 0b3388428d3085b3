#ifndef ARMATURE_TOOLS_ARMATURE_COPY_HTTP_LINK_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_HTTP_LINK_H_

// Requests over HTTP, by libcurl. No other file includes it.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tools/armature/copy/request_signature.h"

namespace armature::cli::copy {

// Bound of an answer, compressed or not. An answer of the protocol has at most 16 MB of items, whose JSON is longer.
inline constexpr size_t kAnswerBytesMax = 32 << 20;

struct LinkOptions {
  std::string url;            // scheme, host and port
  std::string unix_socket{};  // path of a socket to use instead of host and port; empty: none
  std::string ca_file{};      // authorities instead of those of the system; empty: those of the system
  std::string certificate_file{};
  std::string key_file{};
  absl::Duration timeout = absl::Seconds(30);  // of a whole request
  bool compresses = false;                     // asks for answers in gzip
};

struct HttpAnswer {
  int status = 0;
  std::string body;
};

// A connection that is kept between requests. It follows no redirects, and takes proxies from the environment
// (https_proxy, no_proxy). Certificates and names of hosts are verified.
//
// Not thread-safe.
class HttpLink {
 public:
  explicit HttpLink(LinkOptions options);
  ~HttpLink();
  HttpLink(const HttpLink&) = delete;
  HttpLink& operator=(const HttpLink&) = delete;

  // Errors: UNAVAILABLE without an answer, or if the checksum that the server sent (x-amz-crc32) is not that of the
  // body; DEADLINE_EXCEEDED; FAILED_PRECONDITION if the certificates of the server or our own are refused; DATA_LOSS if
  // the answer is longer than kAnswerBytesMax.
  absl::StatusOr<HttpAnswer> Post(const HttpHeaders& headers, std::string_view body);

 private:
  struct Transfer;

  const LinkOptions options_;
  const std::unique_ptr<Transfer> transfer_;
};

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_HTTP_LINK_H_
