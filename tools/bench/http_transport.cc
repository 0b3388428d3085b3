#include <boost/asio/connect.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <deque>
#include <stdexcept>
#include <utility>

#include "tools/bench/transport.h"

namespace armature::bench {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

// "ValidationException" of an error's document.
std::string ErrorNameIn(const std::string& body) {
  const size_t member = body.find("\"__type\"");
  const size_t begin = body.find('#', member);
  const size_t end = body.find('"', begin);
  if (member == std::string::npos || end == std::string::npos) return "";
  return body.substr(begin + 1, end - begin - 1);
}

class HttpTransport final : public Transport {
 public:
  HttpTransport(const std::string& address, size_t slots) {
    const size_t colon = address.rfind(':');
    if (colon == std::string::npos) throw std::runtime_error(address + " is not HOST:PORT");
    error_code ec;
    tcp::resolver resolver(loop_);
    const auto found = resolver.resolve(address.substr(0, colon), address.substr(colon + 1), ec);
    if (ec) throw std::runtime_error("cannot find " + address + ": " + ec.message());
    for (size_t i = 0; i < slots; ++i) {
      connections_.push_back(std::make_unique<Connection>(loop_));
      Connection& connection = *connections_.back();
      asio::connect(connection.socket, found, ec);
      if (ec) throw std::runtime_error("cannot connect to " + address + ": " + ec.message());
      connection.socket.set_option(tcp::no_delay(true), ec);
      connection.request.method(http::verb::post);
      connection.request.target("/");
      connection.request.set(http::field::host, address);
      connection.request.set(http::field::content_type, "application/x-amz-json-1.0");
    }
  }

  void Start(size_t slot, const CallType& type, std::string_view request) override {
    Connection& connection = *connections_[slot];
    connection.request.set("X-Amz-Target", "DynamoDB_20120810." + type.operation);
    connection.request.body().assign(request);
    connection.request.prepare_payload();
    // The loop may run on another thread, and it alone touches the socket.
    asio::post(loop_, [this, slot] { Write(slot); });
  }

  std::optional<Outcome> Next(Clock::time_point give_up) override {
    while (ended_.empty()) {
      if (loop_.run_one_until(give_up) == 0) return std::nullopt;
    }
    Outcome outcome = std::move(ended_.front());
    ended_.pop_front();
    return outcome;
  }

  std::string Answer(size_t slot) const override { return connections_[slot]->answer->get().body(); }

  void CancelAll() override {
    error_code ignored;
    for (const auto& connection : connections_) connection->socket.close(ignored);
  }

 private:
  struct Connection {
    explicit Connection(asio::io_context& loop) : socket(loop) {}
    tcp::socket socket;
    http::request<http::string_body> request;
    boost::beast::flat_buffer buffer;
    std::optional<http::response_parser<http::string_body>> answer;
  };

  void Write(size_t slot) {
    Connection& connection = *connections_[slot];
    http::async_write(connection.socket, connection.request, [this, slot](error_code ec, size_t) {
      if (ec) return End(slot, ec);
      Connection& written = *connections_[slot];
      written.answer.emplace();
      written.answer->body_limit(boost::none);
      http::async_read(written.socket, written.buffer, *written.answer,
                       [this, slot](error_code read, size_t) { End(slot, read); });
    });
  }

  void End(size_t slot, error_code ec) {
    Outcome outcome;
    outcome.slot = slot;
    if (ec) {
      outcome.error = outcome.error_text = "HTTP connection: " + ec.message();
    } else {
      const auto& answer = connections_[slot]->answer->get();
      outcome.length = answer.body().size();
      if (answer.result_int() != 200) {
        outcome.error = ErrorNameIn(answer.body());
        outcome.error_text = "HTTP status " + std::to_string(answer.result_int()) + ": " + answer.body();
        if (outcome.error.empty()) outcome.error = outcome.error_text;
      }
    }
    ended_.push_back(std::move(outcome));
  }

  asio::io_context loop_;
  // Otherwise the loop ends whenever nothing is under way.
  const asio::executor_work_guard<asio::io_context::executor_type> guard_ = asio::make_work_guard(loop_);
  std::vector<std::unique_ptr<Connection>> connections_;
  std::deque<Outcome> ended_;
};

}  // namespace

std::unique_ptr<Transport> OverHttp(const std::string& address, size_t slots) {
  return std::make_unique<HttpTransport>(address, slots);
}

}  // namespace armature::bench
