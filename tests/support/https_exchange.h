#ifndef ARMATURE_TESTS_SUPPORT_HTTPS_EXCHANGE_H_
#define ARMATURE_TESTS_SUPPORT_HTTPS_EXCHANGE_H_

// One HTTP request over TLS, sent unchanged, and its answer.

#include <memory>
#include <string>

#include "daemon/http/http_message.h"
#include "tests/support/raw_http_client.h"

namespace armature::test {

// The constructor sends the request, so that several requests can wait for their answers at once.
//
// Thread-safety: thread-compatible.
// Errors: std::runtime_error after a timeout of 30 seconds, or if the server's certificate is not valid.
class HttpsExchange {
 public:
  // `address`: as in RawHttpClient. `ca_file`: the authority of the server's certificate. Content-Length and Connection
  // are added to the request's headers.
  HttpsExchange(const std::string& address, const std::string& ca_file, const daemon::HttpRequest& request);
  ~HttpsExchange();
  HttpsExchange(HttpsExchange&&) noexcept;
  HttpsExchange& operator=(HttpsExchange&&) = delete;

  RawResponse Read();

 private:
  struct Tls;
  std::unique_ptr<Tls> tls_;
};

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_HTTPS_EXCHANGE_H_
