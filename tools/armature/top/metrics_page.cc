#include "tools/armature/top/metrics_page.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr uint64_t kPageBytesMax = 64 << 20;
constexpr int kHttp11 = 11;

// One exchange, from the name of the host to the answer.
class Exchange {
 public:
  // `address`: the name of the server for the request.
  Exchange(const std::string& address, std::string host, std::string port)
      : host_(std::move(host)), port_(std::move(port)) {
    request_.method(http::verb::get);
    request_.target("/metrics");
    request_.version(kHttp11);
    request_.set(http::field::host, address);
    request_.set(http::field::connection, "close");
    answer_.body_limit(kPageBytesMax);
  }

  absl::StatusOr<std::string> Run(absl::Duration patience) {
    resolver_.async_resolve(host_, port_, [this](error_code ec, const tcp::resolver::results_type& found) {
      if (Failed("cannot find the host", ec)) return;
      asio::async_connect(socket_, found, [this](error_code connected, const tcp::endpoint&) {
        if (!Failed("cannot connect", connected)) Send();
      });
    });
    loop_.run_for(absl::ToChronoNanoseconds(patience));
    if (!is_done_) return absl::UnavailableError("no answer in time");
    if (!error_.empty()) return absl::UnavailableError(error_);
    if (answer_.get().result() != http::status::ok) {
      return absl::UnavailableError(Cat("it has no metrics page: status ", answer_.get().result_int()));
    }
    return std::move(answer_.get().body());
  }

 private:
  void Send() {
    http::async_write(socket_, request_, [this](error_code ec, size_t) {
      if (Failed("cannot ask", ec)) return;
      http::async_read(socket_, buffer_, answer_, [this](error_code read, size_t) {
        if (!Failed("cannot read the answer", read)) is_done_ = true;
      });
    });
  }

  bool Failed(const char* what, error_code ec) {
    if (!ec) return false;
    is_done_ = true;
    error_ = Cat(what, ": ", ec.message());
    return true;
  }

  const std::string host_;
  const std::string port_;
  asio::io_context loop_;
  tcp::resolver resolver_{loop_};
  tcp::socket socket_{loop_};
  http::request<http::empty_body> request_;
  boost::beast::flat_buffer buffer_;
  http::response_parser<http::string_body> answer_;
  bool is_done_ = false;
  std::string error_;
};

}  // namespace

absl::StatusOr<std::string> ReadMetricsPage(const std::string& address, absl::Duration patience) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return absl::UnavailableError("it is not HOST:PORT");
  std::string host = address.substr(0, colon);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return Exchange(address, std::move(host), address.substr(colon + 1)).Run(patience);
}

}  // namespace armature::cli
