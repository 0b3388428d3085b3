#include "daemon/server.h"

#include <utility>

#include "absl/time/clock.h"
#include "daemon/admin/admin_service.h"
#include "daemon/grpc/item_service.h"
#include "daemon/grpc/table_service.h"
#include "daemon/http/engine_operations.h"
#include "daemon/http/http_server.h"
#include "daemon/http/json_front.h"
#include "glog/logging.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"
#include "storage/base/status_macros.h"

namespace armature::daemon {
namespace {

// The API's limit of a request, and room for what surrounds the items.
constexpr int kRequestMaxBytes = (16 << 20) + (64 << 10);
// Calls beyond it wait in the client: answers that a client does not read must not pile up without bound.
constexpr int kCallsPerConnectionMax = 1024;

}  // namespace

// In order of construction; destroyed in reverse.
struct Server::Parts {
  std::unique_ptr<store::Database> database;
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<ItemService> items;
  std::unique_ptr<TableService> tables;
  std::unique_ptr<AdminService> admin;
  std::unique_ptr<grpc::Server> grpc;
  std::string address;
  std::unique_ptr<EngineOperations> operations;
  std::unique_ptr<JsonFront> json;
  std::unique_ptr<HttpServer> http;
  std::string http_address;
};

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Server::~Server() { Stop(absl::ZeroDuration()); }

const std::string& Server::grpc_address() const { return parts_->address; }
const std::string& Server::http_address() const { return parts_->http_address; }

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Config& config) {
  auto parts = std::make_unique<Parts>();
  ARM_ASSIGN_OR_RETURN(parts->database, store::Database::Open(config.database));
  parts->engine = std::make_unique<engine::Engine>(parts->database.get(), config.engine);
  parts->items = std::make_unique<ItemService>(parts->engine.get());
  parts->tables = std::make_unique<TableService>(parts->engine.get());
  parts->admin = std::make_unique<AdminService>(parts->engine.get(), config.database.path);

  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(config.grpc_listen, grpc::InsecureServerCredentials(), &port);
  // Another process on the same port must be an error, not a second listener.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(kRequestMaxBytes);
  builder.SetMaxSendMessageSize(-1);
  // The size of a message is checked after it is inflated, so a small one could take all memory.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kCallsPerConnectionMax);
  builder.RegisterService(parts->items.get());
  builder.RegisterService(parts->tables.get());
  builder.RegisterService(parts->admin.get());
  parts->grpc = builder.BuildAndStart();
  if (parts->grpc == nullptr) {
    return UnavailableError(Cat("cannot listen on ", config.grpc_listen, ": the address is in use or not ours"));
  }
  parts->address = config.grpc_listen;
  if (!config.grpc_listen.starts_with("unix:")) {
    parts->address = Cat(config.grpc_listen.substr(0, config.grpc_listen.rfind(':')), ":", port);
  }
  if (!config.http_listen.empty()) {
    parts->operations = std::make_unique<EngineOperations>(parts->engine.get());
    parts->json = std::make_unique<JsonFront>(parts->operations.get(), JsonFrontOptions());
    HttpServerOptions options;
    options.listen = config.http_listen;
    ARM_ASSIGN_OR_RETURN(parts->http, HttpServer::Start(options, parts->json.get()));
    parts->http_address = parts->http->address();
  }
  LOG(INFO) << "server: serving grpc=" << parts->address << " http=" << parts->http_address;
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

void Server::Stop(absl::Duration grace) {
  if (parts_ == nullptr || parts_->grpc == nullptr) return;
  LOG(INFO) << "server: stopping";
  parts_->engine->EndWaits();
  if (parts_->http != nullptr) parts_->http->Stop(grace);
  parts_->grpc->Shutdown(absl::ToChronoTime(absl::Now() + grace));
  parts_->grpc->Wait();
  parts_->engine.reset();
  parts_->database.reset();
  parts_->grpc.reset();
  LOG(INFO) << "server: stopped";
}

}  // namespace armature::daemon
