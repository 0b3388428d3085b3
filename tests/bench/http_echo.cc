#include "tests/bench/http_echo.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

namespace armature::bench {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
// Without the type erasure of the default executor, which would add cost to the lower bound.
using Socket = asio::basic_stream_socket<tcp, asio::io_context::executor_type>;
using Response = http::response<http::string_body>;

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Socket socket, const Response* answer) : socket_(std::move(socket)), answer_(answer) {}

  void Read() {
    parser_.emplace();
    http::async_read(socket_, buffer_, *parser_, [self = shared_from_this()](error_code ec, size_t) {
      if (!ec) self->Write();
    });
  }

 private:
  void Write() {
    response_ = *answer_;
    response_.keep_alive(parser_->get().keep_alive());
    http::async_write(socket_, response_, [self = shared_from_this()](error_code ec, size_t) {
      if (!ec) self->Read();
    });
  }

  Socket socket_;
  const Response* const answer_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  Response response_;
};

// Each thread has an io_context of its own; the first one accepts for all.
class Echo {
 public:
  Echo(const std::string& answer, size_t threads) {
    error_code ec;
    http::response_parser<http::string_body> parser;
    parser.eager(true);
    parser.body_limit(boost::none);
    parser.put(asio::buffer(answer), ec);
    if (ec) std::abort();
    answer_ = parser.release();
    for (size_t i = 0; i < threads; ++i) loops_.push_back(std::make_unique<asio::io_context>(1));
    acceptor_.emplace(*loops_[0]);
    acceptor_->open(tcp::v4(), ec);
    acceptor_->bind(tcp::endpoint(asio::ip::address_v4::loopback(), 0), ec);
    acceptor_->listen(asio::socket_base::max_listen_connections, ec);
    if (ec) std::abort();
  }

  uint16_t port() const {
    error_code ec;
    return acceptor_->local_endpoint(ec).port();
  }

  void Run() {
    Accept();
    std::vector<std::thread> threads;
    std::vector<asio::executor_work_guard<asio::io_context::executor_type>> guards;
    for (const auto& loop : loops_) guards.emplace_back(loop->get_executor());
    for (size_t i = 1; i < loops_.size(); ++i) threads.emplace_back([loop = loops_[i].get()] { loop->run(); });
    loops_[0]->run();
  }

 private:
  void Accept() {
    asio::io_context& loop = *loops_[next_++ % loops_.size()];
    accepted_.emplace(loop.get_executor());
    acceptor_->async_accept(*accepted_, [this, &loop](error_code ec) {
      if (ec) std::abort();
      accepted_->set_option(tcp::no_delay(true), ec);
      const auto session = std::make_shared<Session>(std::move(*accepted_), &answer_);
      asio::post(loop, [session] { session->Read(); });
      Accept();
    });
  }

  Response answer_;
  std::vector<std::unique_ptr<asio::io_context>> loops_;
  std::optional<asio::basic_socket_acceptor<tcp, asio::io_context::executor_type>> acceptor_;
  std::optional<Socket> accepted_;
  size_t next_ = 0;
};

}  // namespace

void ServeWithBeast(const std::string& answer, size_t threads, const std::function<void(uint16_t)>& ready) {
  Echo echo(answer, threads);
  ready(echo.port());
  echo.Run();
  std::abort();
}

std::string AnswerOf(const std::string& address, const std::string& request) {
  asio::io_context loop;
  tcp::socket socket(loop);
  const auto port = static_cast<uint16_t>(std::atoi(address.c_str() + address.rfind(':') + 1));
  error_code ec;
  socket.connect(tcp::endpoint(asio::ip::address_v4::loopback(), port), ec);
  boost::beast::flat_buffer buffer;
  Response answer;
  if (!ec) asio::write(socket, asio::buffer(request), ec);
  if (!ec) http::read(socket, buffer, answer, ec);
  if (ec) {
    std::fprintf(stderr, "http_bench: no answer from %s: %s\n", address.c_str(), ec.message().c_str());
    std::exit(1);
  }
  return (std::ostringstream() << answer).str();
}

}  // namespace armature::bench
