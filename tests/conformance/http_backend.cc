#include <charconv>
#include <string>
#include <utility>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "engine/operations.h"
#include "storage/base/strings.h"
#include "tests/conformance/backend.h"
#include "tests/conformance/transfer_directories.h"
#include "tests/support/daemon_process.h"

namespace armature::conformance {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr std::chrono::seconds kHttpPatience{120};

class HttpBackend final : public Backend {
 public:
  HttpBackend()
      : daemon_({"--durability=os", "--ttl_interval=20ms", Cat("--backup_dir=", backups_.path()),
                 Cat("--export_dir=", transfers_.out()), Cat("--import_dir=", transfers_.in())}),
        stream_(io_) {
    const std::string& address = daemon_.http_address();
    const size_t colon = address.rfind(':');
    stream_.connect(asio::ip::tcp::resolver(io_).resolve(address.substr(0, colon), address.substr(colon + 1)));
  }

  std::string_view name() const override { return "http"; }

  Answer Run(const Call& call) override {
    http::request<http::string_body> request{http::verb::post, "/", 11};
    request.set(http::field::host, daemon_.http_address());
    request.set(http::field::content_type, "application/x-amz-json-1.0");
    const engine::Operation* const operation = engine::FindOperation(call.operation);
    const bool is_on_streams = operation != nullptr && operation->plane == engine::Plane::kStream;
    request.set("X-Amz-Target",
                Cat(is_on_streams ? "DynamoDBStreams_20120810." : "DynamoDB_20120810.", call.operation));
    if (call.at_least_sequence != 0) {
      request.set("x-armature-at-least-sequence", std::to_string(call.at_least_sequence));
    }
    request.body() = call.request_text;
    request.prepare_payload();
    stream_.expires_after(kHttpPatience);
    http::write(stream_, request);
    http::response_parser<http::string_body> parser;
    parser.body_limit(boost::none);
    http::read(stream_, buffer_, parser);
    return Read(parser.release());
  }

 private:
  static Answer Read(const http::response<http::string_body>& response) {
    Answer answer;
    const std::string& text = response.body();
    answer.body = text.empty() ? Json::object() : Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (answer.body.is_discarded()) {
      answer.error_type = "NoJson";
      answer.error_text = text;
      return answer;
    }
    if (response.result() == http::status::ok) {
      const auto sequence = response["x-armature-change-sequence"];
      std::from_chars(sequence.begin(), sequence.end(), answer.change_sequence);
      return answer;
    }
    // "<namespace>#<name>", a text under one of two names, and further members of the error.
    const std::string type = answer.body.value("__type", "");
    answer.error_type = type.substr(type.find('#') + 1);
    for (const char* const member : {"message", "Message"}) {
      if (answer.body.contains(member)) answer.error_text = answer.body[member].get<std::string>();
      answer.body.erase(member);
    }
    answer.body.erase("__type");
    return answer;
  }

  TransferDirectories transfers_;
  test::TempDir backups_;
  test::DaemonProcess daemon_;
  asio::io_context io_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
};

}  // namespace

std::unique_ptr<Backend> MakeHttpBackend() { return std::make_unique<HttpBackend>(); }

}  // namespace armature::conformance
