#include "daemon/standby/standby.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_split.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

// Requests are read before they are refused.
constexpr size_t kHeldBytesMax = 64 << 20;
// The daemon serves as soon as the addresses are free.
constexpr absl::Duration kGrace = absl::Milliseconds(100);

// The address of `front` in "grpc=HOST:PORT http=HOST:PORT"; empty if there is none.
std::string AddressOf(std::string_view front, const std::string& service) {
  for (const absl::string_view word : absl::StrSplit(service, ' ')) {
    const std::string_view text = Sv(word);
    if (text.starts_with(front) && text.substr(front.size()).starts_with('=')) {
      return std::string(text.substr(front.size() + 1));
    }
  }
  return {};
}

void SetTarget(TcpRelay* relay, const std::string& address) {
  if (relay == nullptr) return;
  if (const absl::Status set = relay->SetTarget(address); !set.ok()) {
    LOG(WARNING) << "standby: the owner's address is not usable address=" << address << " error=" << set;
  }
}

}  // namespace

Standby::Standby(const std::vector<std::string>& problem_reasons)
    : clients_front_(StandbyFront::For::kClients, problem_reasons),
      operators_front_(StandbyFront::For::kOperators, problem_reasons) {}

absl::StatusOr<std::unique_ptr<Standby>> Standby::Start(const StandbyOptions& options) {
  std::unique_ptr<Standby> standby(new Standby(options.problem_reasons));
  if (options.forwards) {
    if (!options.grpc_listen.empty()) {
      ARM_ASSIGN_OR_RETURN(standby->grpc_relay_, TcpRelay::Start(options.grpc_listen, options.ledger));
    }
    if (!options.http_listen.empty()) {
      ARM_ASSIGN_OR_RETURN(standby->http_relay_, TcpRelay::Start(options.http_listen, options.ledger));
    }
  } else if (!options.http_listen.empty()) {
    HttpServerOptions http;
    http.door.listen = options.http_listen;
    http.door.tls = options.tls;
    http.door.closes_http2 = true;
    http.io_threads = 1;
    http.ledger = options.ledger;
    http.held_bytes_max = kHeldBytesMax;
    ARM_ASSIGN_OR_RETURN(standby->http_, HttpServer::Start(http, &standby->clients_front_));
  }
  if (!options.metrics_listen.empty()) {
    ARM_ASSIGN_OR_RETURN(standby->metrics_,
                         HttpServer::Start(OperatorsOptions(options.metrics_listen), &standby->operators_front_));
  }
  return standby;
}

Standby::~Standby() {
  if (http_ != nullptr) http_->Stop(kGrace);
  if (metrics_ != nullptr) metrics_->Stop(kGrace);
}

void Standby::SetOwner(const std::string& service) {
  if (service == owner_) return;
  owner_ = service;
  LOG(INFO) << "standby: the database is served by owner=" << (service.empty() ? "unknown" : service);
  const std::string http = AddressOf("http", service);
  clients_front_.SetOwner(http);
  SetTarget(http_relay_.get(), http);
  SetTarget(grpc_relay_.get(), AddressOf("grpc", service));
}

void Standby::SetProblems(const std::vector<StandbyProblem>& problems) {
  clients_front_.SetProblems(problems);
  operators_front_.SetProblems(problems);
}

std::string Standby::grpc_address() const { return grpc_relay_ == nullptr ? "" : grpc_relay_->address(); }

std::string Standby::http_address() const {
  if (http_relay_ != nullptr) return http_relay_->address();
  return http_ == nullptr ? "" : http_->address();
}

std::string Standby::metrics_address() const { return metrics_ == nullptr ? "" : metrics_->address(); }

}  // namespace armature::daemon
