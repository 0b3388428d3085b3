#include "daemon/grpc/listener_credentials.h"

#include <utility>

#include "glog/logging.h"
#include "grpc/grpc.h"
#include "grpc/slice.h"

namespace armature::daemon {
namespace {

std::string_view ViewOf(const grpc_slice& slice) {
  return {reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)), GRPC_SLICE_LENGTH(slice)};
}

// The value of the metadata `name`. If it is repeated, an empty value, which authenticates nobody.
std::optional<std::string_view> FindMetadata(const grpc_metadata* metadata, size_t count, std::string_view name) {
  std::optional<std::string_view> found;
  for (size_t i = 0; i < count; ++i) {
    if (ViewOf(metadata[i].key) != name) continue;
    found = found.has_value() ? std::string_view() : ViewOf(metadata[i].value);
  }
  return found;
}

void AppendNames(const grpc_auth_context* context, const char* property, std::vector<std::string_view>* names) {
  grpc_auth_property_iterator iterator = grpc_auth_context_find_properties_by_name(context, property);
  while (const grpc_auth_property* const each = grpc_auth_property_iterator_next(&iterator)) {
    names->emplace_back(each->value, each->value_length);
  }
}

// The names live as long as the context.
std::vector<std::string_view> CertificateNames(const grpc_auth_context* context) {
  std::vector<std::string_view> names;
  AppendNames(context, GRPC_X509_SAN_PROPERTY_NAME, &names);
  if (names.empty()) AppendNames(context, GRPC_X509_CN_PROPERTY_NAME, &names);
  return names;
}

// Called by gRPC for each call, before the call is handed to a service.
void FilterCall(void* state, grpc_auth_context* context, const grpc_metadata* metadata, size_t count,
                grpc_process_auth_metadata_done_cb done, void* call) {
  const auto& filter = *static_cast<const CallFilter*>(state);
  const std::string_view method = FindMetadata(metadata, count, ":path").value_or("");
  if (filter.passed_methods.contains(method)) return done(call, nullptr, 0, nullptr, 0, GRPC_STATUS_OK, nullptr);
  // The caller's address is unknown here, so all callers share one failure count.
  const CallerIdentity caller{.authorization = FindMetadata(metadata, count, "authorization"),
                              .certificate_names = CertificateNames(context),
                              .peer = "grpc"};
  filter.authenticator->AuthenticateCall(caller, [done, call](const Authenticator::Result& result) {
    if (result.ok()) return done(call, nullptr, 0, nullptr, 0, GRPC_STATUS_OK, nullptr);
    const std::string text(result.status().message());
    done(call, nullptr, 0, nullptr, 0, GRPC_STATUS_UNAUTHENTICATED, text.c_str());
  });
}

}  // namespace

std::shared_ptr<ListenerCredentials> ListenerCredentials::Make(const TlsKeeper* tls, CallFilter filter) {
  return std::shared_ptr<ListenerCredentials>(new ListenerCredentials(tls, std::move(filter)));
}

ListenerCredentials::ListenerCredentials(const TlsKeeper* tls, CallFilter filter) : tls_(tls) {
  if (tls == nullptr) {
    credentials_ = grpc_insecure_server_credentials_create();
  } else {
    // A client without a certificate may use an access key. A client with an invalid certificate gets no connection.
    const auto request =
        tls->asks_clients() ? GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
    constexpr auto kFetch = [](void* self, grpc_ssl_server_certificate_config** config) {
      return static_cast<ListenerCredentials*>(self)->NextCertificate(config);
    };
    credentials_ = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(request, kFetch, this));
  }
  if (filter.authenticator == nullptr) return;
  auto* const state = new CallFilter(std::move(filter));  // freed by gRPC, with `destroy`
  grpc_server_credentials_set_auth_metadata_processor(
      credentials_,
      {.process = FilterCall, .destroy = [](void* data) { delete static_cast<CallFilter*>(data); }, .state = state});
}

ListenerCredentials::~ListenerCredentials() { grpc_server_credentials_release(credentials_); }

void ListenerCredentials::SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) {
  LOG(FATAL) << "a listener has its filter from the start";
}

int ListenerCredentials::AddPortToServer(const std::string& address, grpc_server* server) {
  return grpc_server_add_http2_port(server, address.c_str(), credentials_);
}

grpc_ssl_certificate_config_reload_status ListenerCredentials::NextCertificate(
    grpc_ssl_server_certificate_config** config) {
  uint64_t version = 0;
  const std::shared_ptr<const TlsIdentity> identity = tls_->Current(&version);
  if (version == tls_version_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
  const grpc_ssl_pem_key_cert_pair pair{identity->key_pem.c_str(), identity->certificate_pem.c_str()};
  // With a certificate fetcher gRPC requires a list of client authorities even if it requests no client certificates
  // (it aborts otherwise). The server's own certificate stands in then: it admits no one, because no client is asked.
  const std::string& client_roots = tls_->asks_clients() ? identity->client_ca_pem : identity->certificate_pem;
  *config = grpc_ssl_server_certificate_config_create(client_roots.c_str(), &pair, 1);
  tls_version_ = version;
  return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

}  // namespace armature::daemon
