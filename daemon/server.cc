#include "daemon/server.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "daemon/admin/index_operations.h"
#include "daemon/admin/request_list.h"
#include "daemon/auth/audit_log.h"
#include "daemon/auth/authenticator.h"
#include "daemon/console/console_front.h"
#include "daemon/grpc/call_gate.h"
#include "daemon/grpc/error_map.h"
#include "daemon/grpc/rpc_services.h"
#include "daemon/grpc/unknown_method.h"
#include "daemon/http/hint_front.h"
#include "daemon/http/http_server.h"
#include "daemon/http/site_rules.h"
#include "daemon/http/transport.h"
#include "daemon/item_files/json_item_files.h"
#include "daemon/json_front/json_front.h"
#include "daemon/live_settings.h"
#include "daemon/metrics/activity_log.h"
#include "daemon/metrics/metrics_front.h"
#include "daemon/net/coarse_clock.h"
#include "daemon/net/connection_ledger.h"
#include "daemon/net/listening_socket.h"
#include "daemon/net/memory_budget.h"
#include "daemon/net/wrong_door.h"
#include "daemon/readiness_check.h"
#include "daemon/rpc/health_service.h"
#include "daemon/rpc/reflection_service.h"
#include "daemon/rpc/rpc_front.h"
#include "daemon/settings_page.h"
#include "daemon/standby/standby.h"
#include "daemon/telemetry/request_stats.h"
#include "glog/logging.h"
#include "storage/archive/shipper.h"
#include "storage/base/api_error.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/status_macros.h"
#include "storage/base/thread_pool.h"
#include "storage/place/backup_places.h"

namespace armature::daemon {
namespace {

// No client may use up the memory of requests and answers: it takes so many to do it.
constexpr size_t kClientsAtLeast = 2;
// Long requests that wait for a thread. Their bytes are bounded by the memory budget.
constexpr size_t kLongRequestsMax = 256;

// Time for backups under way to end in order.
constexpr absl::Duration kBackupEndTime = absl::Seconds(5);
constexpr absl::Duration kStandbyPoll = absl::Seconds(1);
constexpr absl::Duration kAddressCheckPause = absl::Seconds(5);

// For server reflection.
constexpr auto kServiceNames = std::to_array<std::string_view>(
    {"armature.api.v1.ItemService", "armature.api.v1.TableService", "armature.api.v1.StreamService",
     "armature.api.v1.StatementService", "armature.admin.v1.AdminService", "grpc.health.v1.Health",
     "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"});

SiteRules SitesOf(const Config& config, const std::string& listen, bool is_tls, bool checks_host) {
  SiteRulesOptions options{.listen = listen,
                           .hosts = config.http_hosts,
                           .origins = config.cors_origins,
                           .is_tls = is_tls,
                           .checks_host = checks_host};
  if (std::string own = OwnHostName(); !own.empty()) options.hosts.push_back(std::move(own));
  // The port of gRPC serves HTTP, too.
  if (const auto other = SplitAddress(config.grpc_listen); other.ok()) options.hosts.push_back(other->host);
  return SiteRules(std::move(options));
}

// `is_grpc`: its clients may have certificates, and get HTTP/2; those of HTTP sign their requests.
absl::StatusOr<std::shared_ptr<const TlsContext>> ContextOf(const TlsIdentity& identity, bool is_grpc) {
  return TlsContext::Make({.certificate_pem = identity.certificate_pem,
                           .key_pem = identity.key_pem,
                           .client_ca_pem = is_grpc ? identity.client_ca_pem : std::string(),
                           .prefers_h2 = is_grpc});
}

// How calls end for which there is no memory, or with too many others on their connection.
RpcLimits CallLimits() {
  RpcLimits limits;
  limits.too_many = [] {
    constexpr int64_t kRetryAfterMs = 100;
    return ToRpcStatus(ThrottlingError("A connection may have 100 calls at once", kRetryAfterMs));
  };
  limits.no_memory = [] { return ToRpcStatus(NoMemoryForAnswerError()); };
  limits.stalled = [] { return ToRpcStatus(ServiceUnavailableError("The request did not arrive in time")); };
  return limits;
}

// HOST:PORT for clients on other machines: a listener on all addresses has no name of its own.
std::string Advertised(const std::string& host, const std::string& listening) {
  const absl::StatusOr<HostAndPort> own = SplitAddress(listening);
  if (!own.ok()) return {};  // off, or a Unix socket
  std::string name = host.empty() ? own->host : host;
  if (name == "0.0.0.0" || name == "::") name = OwnHostName();
  return name.find(':') == std::string::npos ? Cat(name, ":", own->port) : Cat("[", name, "]:", own->port);
}

// See place::Place::Announce.
std::string ServiceText(const std::string& host, const std::string& grpc, const std::string& http) {
  std::string text;
  if (const std::string address = Advertised(host, grpc); !address.empty()) text = Cat("grpc=", address);
  if (const std::string address = Advertised(host, http); !address.empty()) {
    text += Cat(text.empty() ? "" : " ", "http=", address);
  }
  return text;
}

}  // namespace

// Members are in order of construction, and destroyed in reverse order.
struct Server::Impl {
  TlsFiles tls_files;
  CertificateExpiry certificates;
  PresentConfig settings;
  std::unique_ptr<RequestStats> requests;
  std::unique_ptr<ConnectionLedger> connections;  // of the gRPC and the HTTP front, like the next one
  std::unique_ptr<MemoryBudget> memory;
  std::unique_ptr<LongRequests> long_requests;
  // After the budget: refusals that it holds back hold calls with messages.
  std::unique_ptr<Authenticator> authenticator;  // null: no authentication, all operations are permitted
  std::unique_ptr<AuditLog> audit;
  std::unique_ptr<TlsContextKeeper> http_tls;  // null: without TLS, like the next one
  std::unique_ptr<TlsContextKeeper> grpc_tls;
  bool has_waited = false;
  int64_t next_address_check_ns = 0;
  std::string address_problem;       // as FindAddressProblem found it last
  int64_t next_standby_ns = 0;       // earliest next attempt to start the standby
  absl::Status standby_start;        // result of the last one
  std::unique_ptr<Standby> standby;  // until this daemon serves; null: it did not have to wait
  std::unique_ptr<place::Place> place;
  std::unique_ptr<place::SharedBackupPlaces> backup_places;
  std::unique_ptr<store::Database> database;
  std::unique_ptr<archive::Shipper> archive;  // null: no archive
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<ReadinessCheck> readiness;
  std::unique_ptr<RpcFront> rpc;
  std::unique_ptr<CallGate> gate;
  std::unique_ptr<RpcServices> services;
  std::unique_ptr<HealthService> health;
  std::unique_ptr<ReflectionService> reflection;
  Doors doors;
  std::unique_ptr<JsonApi> operations;
  std::unique_ptr<JsonFront> json;
  std::unique_ptr<HintFront> no_json;     // in place of `json`
  std::unique_ptr<ConsoleFront> console;  // before `json`; null: off
  std::unique_ptr<HttpServer> fronts;     // both
  std::unique_ptr<ActivityLog> activity;  // for `console`
  std::string address;
  std::string http_address;
  std::unique_ptr<MetricsFront> metrics_front;
  std::unique_ptr<HttpServer> metrics;
  std::string metrics_address;

  // Tells the engine of crowds at the fronts.
  void NoteCrowd(bool crowded) { crowded ? engine->CrowdBegins() : engine->CrowdEnds(); }
  absl::Status StartSecurity(const Config& config);
  // Called again and again while another process owns the database's place.
  void Wait(const Config& config, const rados::VolumeWait& wait, const OnStandby& on_standby);
  // The reason for which this daemon could not listen if the database were its own; empty: none.
  static std::string FindAddressProblem(const Config& config, const rados::VolumeWait& wait);
  // Waits until this process owns it.
  absl::Status TakePlace(const Config& config, const OnStandby& on_standby);
  absl::Status StartStandby(const Config& config);
  absl::Status OpenEngine(const Config& config);
  absl::Status StartFronts(const Config& config);
  // Hints for clients that come to `door` and speak something else.
  std::function<std::string(Speech)> HintsAt(Doors::Door door) const;
  // The function for TLS of a door; null without TLS.
  static std::function<std::shared_ptr<const TlsContext>()> TlsOf(const TlsContextKeeper* keeper);
  void MakeServices(const Config& config);
  void MakeJson(const Config& config);
  // The handler of the requests of HTTP.
  HttpHandler* Handler() const;
  // Serves both protocols on the ports of both.
  absl::Status StartServing(const Config& config);
  ConsoleSources SourcesOfConsole(const Config& config);
  // Once all front ends serve.
  MetricsSources SourcesOfMetrics();
  absl::Status StartMetrics(const Config& config);
  // A cluster that does not answer must not hold up the end of a backup in it for long.
  void EndEngine();
  absl::Status ReadTls();
  void Reload();
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() { Stop(absl::ZeroDuration()); }

const std::string& Server::grpc_address() const { return impl_->address; }
const std::string& Server::http_address() const { return impl_->http_address; }
const std::string& Server::metrics_address() const { return impl_->metrics_address; }

absl::Status Server::Impl::StartSecurity(const Config& config) {
  if (config.tls.enabled()) {
    tls_files = config.tls;
    http_tls = std::make_unique<TlsContextKeeper>();
    grpc_tls = std::make_unique<TlsContextKeeper>();
    ARM_RETURN_IF_ERROR(ReadTls());
  }
  if (!config.credentials_file.empty()) {
    AuthenticatorOptions options;
    options.credentials_file = config.credentials_file;
    ARM_ASSIGN_OR_RETURN(authenticator, Authenticator::Start(std::move(options)));
  }
  if (!config.audit_log.empty()) {
    ARM_ASSIGN_OR_RETURN(audit, AuditLog::Open(config.audit_log));
  }
  return absl::OkStatus();
}

void Server::Impl::MakeServices(const Config& config) {
  services = std::make_unique<RpcServices>(gate.get(), rpc.get(), config.place, requests.get());
  rpc->set_unknown(UnknownMethod(gate.get()));
  health = std::make_unique<HealthService>(rpc.get());
  reflection = std::make_unique<ReflectionService>(
      rpc.get(), std::vector<std::string>(kServiceNames.begin(), kServiceNames.end()),
      [this](const std::shared_ptr<RpcCall>& call, ReflectionService::Allowed done) {
        gate->Identify(call, [done = std::move(done)](const absl::StatusOr<Caller>& caller) mutable {
          std::move(done)(caller.status());
        });
      });
}

void Server::Impl::MakeJson(const Config& config) {
  if (config.http_listen.empty()) {
    no_json = std::make_unique<HintFront>([this] { return doors.Hint(Doors::Door::kGrpc, Speech::kHttp1); });
    return;
  }
  JsonFrontOptions front;
  front.stats = requests.get();
  front.budget = memory.get();
  front.long_requests = long_requests.get();
  front.resource_weight = [this] { return engine->PolicyWeightMax(); };
  if (authenticator != nullptr) {
    front.authenticate = [checker = authenticator.get()](const HttpRequest& request, absl::Duration* hold) {
      return checker->AuthenticateRequest(request, absl::Now(), hold);
    };
  }
  front.readiness = [this] { return readiness->Now(); };
  front.sites = SitesOf(config, config.http_listen, config.tls.enabled(), /*checks_host=*/authenticator == nullptr);
  front.way_to_grpc = [this] { return doors.WayTo(Doors::Door::kGrpc); };
  operations = std::make_unique<JsonApi>(engine.get(), audit.get());
  json = std::make_unique<JsonFront>(operations.get(), front);
  if (config.console == ConsoleMode::kOff) return;
  console = std::make_unique<ConsoleFront>(json.get(),
                                           ConsoleOptions{.is_read_only = config.console == ConsoleMode::kReadOnly,
                                                          .authenticate = front.authenticate,
                                                          .sites = front.sites,
                                                          .audit = audit.get()});
}

HttpHandler* Server::Impl::Handler() const {
  if (json == nullptr) return no_json.get();
  return console == nullptr ? static_cast<HttpHandler*>(json.get()) : console.get();
}

absl::Status Server::Impl::StartServing(const Config& config) {
  MakeJson(config);
  const bool is_socket = config.grpc_listen.starts_with(kUnixPrefix);
  const HttpDoor grpc_door{.listen = config.grpc_listen,
                           .tls = is_socket ? nullptr : TlsOf(grpc_tls.get()),
                           .router = config.grpc_listen.empty() ? nullptr : rpc.get(),
                           .wrong_door = HintsAt(Doors::Door::kGrpc)};
  // Secrets of gRPC's clients must not come in clear; those of HTTP's do not come at all.
  const bool takes_calls = grpc_door.router != nullptr && (authenticator == nullptr || http_tls != nullptr);
  const HttpDoor http_door{.listen = config.http_listen,
                           .tls = TlsOf(http_tls.get()),
                           .router = takes_calls ? grpc_door.router : nullptr,
                           .wrong_door = HintsAt(Doors::Door::kHttp)};
  HttpServerOptions options;
  const bool has_one_door = config.is_one_port || config.http_listen.empty();
  options.door = has_one_door ? grpc_door : http_door;
  if (!config.grpc_listen.empty()) MakeServices(config);
  options.io_threads = config.http_threads;
  options.h2_age_max = config.connection_age_max;
  options.ledger = connections.get();
  options.budget = memory.get();
  options.on_crowd = [this](bool crowded) { NoteCrowd(crowded); };
  options.is_held_up = [this] { return engine->HoldsWritesBack(); };
  ARM_ASSIGN_OR_RETURN(fronts, HttpServer::Start(options, Handler()));
  (has_one_door ? address : http_address) = fronts->address();
  if (config.is_one_port) http_address = address;
  if (!has_one_door && !config.grpc_listen.empty()) {
    ARM_ASSIGN_OR_RETURN(address, fronts->Open(grpc_door));
  }
  const bool has_tls = http_tls != nullptr;
  const auto takes = [](bool both) { return both ? Doors::Takes::kBoth : Doors::Takes::kOwn; };
  if (!address.empty()) doors.Open(Doors::Door::kGrpc, address, has_tls && !is_socket, takes(json != nullptr));
  if (!http_address.empty()) doors.Open(Doors::Door::kHttp, http_address, has_tls, takes(takes_calls));
  LOG(INFO) << "server: serving grpc=" << address << " http=" << http_address << " tls=" << has_tls
            << " credentials=" << (authenticator != nullptr) << " console=" << (console != nullptr);
  if (console != nullptr) {
    activity = std::make_unique<ActivityLog>(requests.get(),
                                             [sources = SourcesOfMetrics()] { return ReadActivityLevels(sources); });
    activity->Start();
    console->SetSources(SourcesOfConsole(config));
  }
  return absl::OkStatus();
}

ConsoleSources Server::Impl::SourcesOfConsole(const Config& config) {
  const std::string service = ServiceText(config.advertised_host, address, http_address);
  settings.Use(config);
  return {
      .metrics = [sources = SourcesOfMetrics(),
                  start = absl::Now()] { return MetricsText(sources, start, TableMetrics::kOfTrouble); },
      .history = [this] { return activity->Json(); },
      .requests = [this] { return RequestListsJson(*requests); },
      .settings = [this, service] { return SettingsJson(*settings.Get(), *place, service); },
      .policy = [this](std::string_view table) { return engine->FindResourcePolicy(table); },
      .indexes = [this](TableQuestion question,
                        JsonReply reply) { IndexStatusJson(engine.get(), question.table, std::move(reply)); },
      .violations =
          [this](TableQuestion question, JsonReply reply) {
            IndexViolationsJson(engine.get(), {question.table, question.index, question.position}, std::move(reply));
          },
  };
}

MetricsSources Server::Impl::SourcesOfMetrics() {
  return {.engine = engine.get(),
          .place = place.get(),
          .backup_places = backup_places.get(),
          .archive = archive.get(),
          .requests = requests.get(),
          .fronts = fronts.get(),
          .rpc = rpc.get(),
          .gate = gate.get(),
          .connections = connections.get(),
          .memory = memory.get(),
          .long_requests = long_requests.get(),
          .audit = audit.get(),
          .certificates = &certificates,
          .readiness = [this] { return readiness->Now(); }};
}

absl::Status Server::Impl::StartMetrics(const Config& config) {
  metrics_front = std::make_unique<MetricsFront>(
      SourcesOfMetrics(),
      // On other addresses than loopback the scraper may use any name.
      SitesOf(config, config.metrics_listen, /*is_tls=*/false, /*checks_host=*/IsLoopback(config.metrics_listen)));
  HttpServerOptions options = OperatorsOptions(config.metrics_listen);
  options.door.wrong_door = HintsAt(Doors::Door::kOperators);
  ARM_ASSIGN_OR_RETURN(metrics, HttpServer::Start(options, metrics_front.get()));
  metrics_address = metrics->address();
  doors.Open(Doors::Door::kOperators, metrics_address, /*has_tls=*/false);
  LOG(INFO) << "server: serving metrics=" << metrics_address;
  return absl::OkStatus();
}

std::function<std::string(Speech)> Server::Impl::HintsAt(Doors::Door door) const {
  return [this, door](Speech speech) { return doors.Hint(door, speech); };
}

std::function<std::shared_ptr<const TlsContext>()> Server::Impl::TlsOf(const TlsContextKeeper* keeper) {
  if (keeper == nullptr) return nullptr;
  return [keeper] { return keeper->Current(); };
}

absl::Status Server::Impl::StartStandby(const Config& config) {
  StandbyOptions options;
  // Clients of this machine have no use for a daemon that does not serve.
  if (!config.grpc_listen.starts_with(kUnixPrefix)) options.grpc_listen = config.grpc_listen;
  options.http_listen = config.http_listen;
  // A port for both is relayed once, to the owner's port for gRPC, which takes both.
  if (config.is_one_port) (config.forwards ? options.http_listen : options.grpc_listen).clear();
  options.metrics_listen = config.metrics_listen;
  options.forwards = config.forwards;
  options.tls = TlsOf(http_tls.get());
  options.ledger = connections.get();
  for (const std::string_view reason : rados::kTakeoverReasons) options.problem_reasons.emplace_back(reason);
  ARM_ASSIGN_OR_RETURN(standby, Standby::Start(options));
  return absl::OkStatus();
}

std::string Server::Impl::FindAddressProblem(const Config& config, const rados::VolumeWait& wait) {
  // The owner on the same machine may have it, and a relay listens there.
  if (config.grpc_listen.empty() || config.forwards || wait.is_same_machine) return {};
  return std::string(Sv(CheckFree(config.grpc_listen).message()));
}

void Server::Impl::Wait(const Config& config, const rados::VolumeWait& wait, const OnStandby& on_standby) {
  const bool is_first = !std::exchange(has_waited, true);
  if (is_first && on_standby != nullptr) on_standby(nullptr);
  if (standby == nullptr && MonotonicNs() >= next_standby_ns) {
    // Tried again: another process may give an address free. The database may be ours before.
    next_standby_ns = MonotonicAfter(kStandbyPoll);
    const absl::Status started = StartStandby(config);
    if (!started.ok() && started != standby_start)
      LOG(WARNING) << "server: the standby does not answer yet: " << started;
    standby_start = started;
    if (started.ok() && on_standby != nullptr) on_standby(standby.get());
  }
  if (MonotonicNs() >= next_address_check_ns) {
    next_address_check_ns = MonotonicAfter(kAddressCheckPause);
    std::string problem = FindAddressProblem(config, wait);
    if (!problem.empty() && problem != address_problem) LOG(WARNING) << "server: a takeover would fail: " << problem;
    address_problem = std::move(problem);
  }
  if (standby == nullptr) return;
  standby->SetOwner(wait.service);
  std::vector<StandbyProblem> problems;
  for (const rados::TakeoverProblem& each : wait.problems) problems.push_back({each.reason, each.text});
  if (!address_problem.empty()) problems.push_back({"address", address_problem});
  standby->SetProblems(problems);
}

absl::Status Server::Impl::TakePlace(const Config& config, const OnStandby& on_standby) {
  place::PlaceOptions options = config.place_options;
  // Called within OpenPlace only.
  options.checks_takeover = true;
  options.scans_objects = true;
  options.on_waiting = [this, &config, &on_standby](const rados::VolumeWait& wait) { Wait(config, wait, on_standby); };
  options.is_cancelled = [this, &config] {
    if (config.takes_reload != nullptr && config.takes_reload()) Reload();
    return config.place_options.is_cancelled != nullptr && config.place_options.is_cancelled();
  };
  ARM_ASSIGN_OR_RETURN(place, place::OpenPlace(config.place, options));
  // The standby ends when this daemon serves.
  if (standby != nullptr) standby->SetOwner("");
  return absl::OkStatus();
}

absl::Status Server::Impl::OpenEngine(const Config& config) {
  store::DatabaseOptions database_options = config.database;
  database_options.volume = place->volume();
  database_options.path = place->data_dir();
  ARM_ASSIGN_OR_RETURN(database, store::Database::Open(database_options));
  if (!config.archive.directory.empty()) {
    archive = std::make_unique<archive::Shipper>(database.get(), config.archive);
    archive->Start();
  }
  engine::EngineOptions engine_options = config.engine;
  engine_options.transfer.files = std::make_shared<JsonItemFiles>();
  backup_places = std::make_unique<place::SharedBackupPlaces>(config.place, config.backup_places);
  engine_options.backup.places = backup_places.get();
  engine_options.archive = archive.get();
  engine = std::make_unique<engine::Engine>(database.get(), engine_options);
  readiness = std::make_unique<ReadinessCheck>(engine.get(), place.get());
  rpc = std::make_unique<RpcFront>(CallLimits());
  gate = std::make_unique<CallGate>(engine.get(), authenticator.get(), audit.get(), memory.get(), requests.get(),
                                    long_requests.get());
  return absl::OkStatus();
}

absl::Status Server::Impl::StartFronts(const Config& config) {
  Config own = config;
  if (standby != nullptr) {
    // Its ports, also those that the system chose.
    const std::pair<std::string, std::string*> ports[] = {{standby->grpc_address(), &own.grpc_listen},
                                                          {standby->http_address(), &own.http_listen},
                                                          {standby->metrics_address(), &own.metrics_listen}};
    for (const auto& [listening, listen] : ports) {
      if (!listening.empty()) *listen = listening;
    }
    if (own.is_one_port) own.http_listen = own.grpc_listen = config.forwards ? own.grpc_listen : own.http_listen;
    standby.reset();
  }
  ARM_RETURN_IF_ERROR(StartServing(own));
  // Last, because /readyz must be true only when the other front ends serve.
  if (!own.metrics_listen.empty()) ARM_RETURN_IF_ERROR(StartMetrics(own));
  const std::string service = ServiceText(own.advertised_host, address, http_address);
  if (const absl::Status announced = place->Announce(service); !announced.ok()) {
    LOG(WARNING) << "server: daemons that wait do not know where this one serves: " << announced;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Config& config, const OnStandby& on_standby,
                                                      const std::function<void()>& on_owned) {
  // From here on an error stops the front ends that serve already before the engine ends.
  std::unique_ptr<Server> server(new Server(std::make_unique<Impl>()));
  Impl* const impl = server->impl_.get();
  const uint64_t descriptors = RaiseDescriptorLimit();
  ARM_RETURN_IF_ERROR(CheckDescriptorLimit(descriptors, config));
  ARM_RETURN_IF_ERROR(impl->StartSecurity(config));
  impl->requests = std::make_unique<RequestStats>(config.slow_request_ms * kNsPerMs);
  impl->connections = std::make_unique<ConnectionLedger>(WithinDescriptors(config.connections, descriptors));
  impl->memory =
      std::make_unique<MemoryBudget>(config.request_memory_bytes, config.request_memory_bytes / kClientsAtLeast);
  impl->long_requests =
      std::make_unique<LongRequests>(std::clamp<size_t>(UsableProcessors() / 2, 1, 4), kLongRequestsMax);
  ARM_RETURN_IF_ERROR(impl->TakePlace(config, on_standby));
  if (on_owned != nullptr) on_owned();
  ARM_RETURN_IF_ERROR(impl->OpenEngine(config));
  ARM_RETURN_IF_ERROR(impl->StartFronts(config));
  return server;
}

// Both doors take the new certificate, or neither does. Errors are logged.
absl::Status Server::Impl::ReadTls() {
  const auto fail = [](const absl::Status& status) {
    LOG(ERROR) << "server: the certificate is not read: " << Sv(status.message());
    return status;
  };
  const absl::StatusOr<TlsIdentity> identity = LoadTlsIdentity(tls_files);
  if (!identity.ok()) return fail(identity.status());
  absl::StatusOr<std::shared_ptr<const TlsContext>> for_http = ContextOf(*identity, /*is_grpc=*/false);
  if (!for_http.ok()) return fail(for_http.status());
  absl::StatusOr<std::shared_ptr<const TlsContext>> for_grpc = ContextOf(*identity, /*is_grpc=*/true);
  if (!for_grpc.ok()) return fail(for_grpc.status());
  http_tls->Use(*std::move(for_http));
  grpc_tls->Use(*std::move(for_grpc));
  certificates.certificate_s = identity->certificate_expiry_s;
  certificates.client_ca_s = identity->client_ca_expiry_s;
  LOG(INFO) << "server: certificate read path=" << tls_files.certificate;
  return absl::OkStatus();
}

void Server::Impl::Reload() {
  // Each Reload logs its own outcome.
  if (http_tls != nullptr) ReadTls().IgnoreError();
  if (authenticator != nullptr) authenticator->Reload().IgnoreError();
  if (audit != nullptr) audit->Reopen();
}

void Server::Impl::EndEngine() {
  StopSignal ended;
  ThreadPool watch("arm-backup-end", 1, 1);
  watch.RunAdmitted([this, &ended] {
    if (!ended.WaitFor(kBackupEndTime)) backup_places->Abandon();
  });
  engine.reset();
  ended.Stop();
}

void Server::Reload() { impl_->Reload(); }

void Server::ChangeSettings(const Config& config) {
  impl_->settings.Use(config);
  ApplyLiveSettings(config, RaiseDescriptorLimit(),
                    {.requests = impl_->requests.get(),
                     .connections = impl_->connections.get(),
                     .database = impl_->database.get(),
                     .archive = impl_->archive.get(),
                     .engine = impl_->engine.get()});
}

void Server::Stop(absl::Duration grace) {
  if (impl_ == nullptr || impl_->engine == nullptr) return;
  LOG(INFO) << "server: stopping";
  impl_->readiness->SetStopping();
  impl_->engine->EndWaits();
  if (impl_->fronts != nullptr) {
    // Connections learn that the daemon stops while streams end, because `grace` is the total time.
    ThreadPool drain("arm-drain", 1, 1);
    drain.RunAdmitted([this, grace] { impl_->fronts->Stop(grace); });
    if (impl_->services != nullptr) {
      impl_->services->Drain();
      impl_->health->Drain();
    }
  }
  if (impl_->json != nullptr) impl_->json->Stop();
  if (impl_->console != nullptr) impl_->console->Stop();
  if (impl_->activity != nullptr) impl_->activity->Stop();
  if (impl_->long_requests != nullptr) impl_->long_requests->Stop();
  // Stops after the other front ends, so that /readyz answers until they have drained.
  if (impl_->metrics != nullptr) impl_->metrics->Stop(absl::ZeroDuration());
  impl_->EndEngine();
  // The last writes are archived, too.
  impl_->archive.reset();
  impl_->database.reset();
  impl_->place.reset();
  LOG(INFO) << "server: stopped";
}

}  // namespace armature::daemon
