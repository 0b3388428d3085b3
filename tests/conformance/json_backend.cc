#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <utility>

#include "daemon/json/json_api.h"
#include "engine/engine.h"
#include "glog/logging.h"
#include "storage/base/strings.h"
#include "tests/conformance/backend.h"
#include "tests/support/daemon_process.h"

namespace armature::conformance {
namespace {

constexpr std::chrono::seconds kPatience{120};

class JsonBackend final : public Backend {
 public:
  JsonBackend() {
    FLAGS_minloglevel = google::GLOG_WARNING;  // tables come and go by the dozen
    store::DatabaseOptions options;
    options.path = (directory_.path() / "data").string();
    options.durability = store::Durability::kOs;
    options.cache_bytes = size_t{16} << 20;
    absl::StatusOr<std::unique_ptr<store::Database>> database = store::Database::Open(options);
    if (!database.ok()) throw std::runtime_error(database.status().ToString());
    database_ = *std::move(database);
    engine_ = std::make_unique<engine::Engine>(database_.get(), engine::EngineOptions());
    api_ = std::make_unique<daemon::JsonApi>(engine_.get());
  }

  // It can say whatever HTTP can.
  std::string_view name() const override { return "http"; }

  Answer Run(const Call& call) override {
    daemon::JsonCall json_call;
    json_call.operation = call.operation;
    json_call.body = std::string(call.request_text);
    json_call.at_least_sequence = call.at_least_sequence;
    auto promise = std::make_shared<std::promise<daemon::JsonAnswer>>();
    api_->Call(std::move(json_call), [promise](daemon::JsonAnswer answer) { promise->set_value(std::move(answer)); });
    std::future<daemon::JsonAnswer> future = promise->get_future();
    if (future.wait_for(kPatience) != std::future_status::ready) throw std::runtime_error("no answer");
    return ToAnswer(future.get());
  }

 private:
  static Answer ToAnswer(const daemon::JsonAnswer& given) {
    Answer answer;
    answer.change_sequence = given.change_sequence;
    if (!given.body.empty()) answer.body = Json::parse(given.body);
    if (given.status == 200) return answer;
    const std::string type = answer.body.at("__type");
    answer.error_type = type.substr(type.find('#') + 1);
    for (const char* const member : {"message", "Message"}) {
      if (answer.body.contains(member)) answer.error_text = answer.body.at(member);
      answer.body.erase(member);
    }
    answer.body.erase("__type");
    return answer;
  }

  test::TemporaryDirectory directory_;
  std::unique_ptr<store::Database> database_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<daemon::JsonApi> api_;
};

}  // namespace

std::unique_ptr<Backend> MakeJsonBackend() { return std::make_unique<JsonBackend>(); }

}  // namespace armature::conformance
