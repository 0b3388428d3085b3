#ifndef ARMATURE_TESTS_SUPPORT_HTTPS_EXCHANGE_H_
#define ARMATURE_TESTS_SUPPORT_HTTPS_EXCHANGE_H_

// One HTTP request over TLS, as it stands, and its answer.

#include <memory>
#include <string>

#include "daemon/http/http_message.h"
#include "tests/support/raw_http_client.h"

namespace armature::test {

// The request is on its way when the object is made; so many of them can wait for their answers at once.
//
// Thread-safety: thread-compatible.
// Errors: std::runtime_error for what does not happen within 30 seconds, and if the server's certificate is not good.
class HttpsExchange {
 public:
  // `address`: as RawHttpClient. `ca_file`: who vouches for the server. Content-Length and Connection are added to the
  // headers of the request.
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
