#include "tests/support/operation_client.h"

#include <chrono>
#include <memory>
#include <ostream>
#include <stdexcept>

#include "absl/strings/escaping.h"
#include "absl/time/clock.h"
#include "armature/api/v1/service.grpc.pb.h"
#include "armature/client/errors.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/impl/client_unary_call.h"
#include "storage/base/strings.h"
#include "tests/support/https_exchange.h"
#include "tests/support/request_signer.h"
#include "tools/armature/json_text.h"
#include "tools/armature/message_json.h"

namespace armature::test {
namespace {

using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

constexpr std::chrono::seconds kCallMax{30};

// The method of any service of the API.
const MethodDescriptor& MethodOf(std::string_view operation) {
  const auto* const file =
      google::protobuf::DescriptorPool::generated_pool()->FindFileByName("armature/api/v1/service.proto");
  for (int i = 0; file != nullptr && i < file->service_count(); ++i) {
    const MethodDescriptor* const found = file->service(i)->FindMethodByName(std::string(operation));
    if (found != nullptr) return *found;
  }
  throw std::runtime_error(Cat("no method ", operation));
}

std::unique_ptr<Message> NewMessage(const google::protobuf::Descriptor* type) {
  return std::unique_ptr<Message>(google::protobuf::MessageFactory::generated_factory()->GetPrototype(type)->New());
}

cli::Json Parsed(std::string_view document) {
  absl::StatusOr<cli::Json> json = cli::ParseJson(document);
  if (!json.ok()) throw std::runtime_error(Cat(document, ": ", Sv(json.status().message())));
  return *std::move(json);
}

}  // namespace

std::string ToString(Protocol protocol) { return protocol == Protocol::kGrpc ? "Grpc" : "Http"; }

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << outcome.code << " " << outcome.exception << " " << outcome.message << " " << outcome.body;
}

Outcome OperationClient::Call(std::string_view key_id, std::string_view operation, std::string_view document) const {
  return protocol_ == Protocol::kGrpc ? CallGrpc(key_id, operation, document) : CallHttp(key_id, operation, document);
}

Outcome OperationClient::CallGrpc(std::string_view key_id, std::string_view operation,
                                  std::string_view document) const {
  const MethodDescriptor& method = MethodOf(operation);
  const std::unique_ptr<Message> request = NewMessage(method.input_type());
  const std::unique_ptr<Message> response = NewMessage(method.output_type());
  const absl::Status read = cli::MessageFromJson(Parsed(document), "", request.get());
  if (!read.ok()) throw std::runtime_error(Cat(operation, ": ", Sv(read.message())));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallMax);
  if (!key_id.empty()) {
    const std::string pair = Cat(key_id, ":", SecurityFiles::kRootSecret);
    context.AddMetadata("authorization", Cat("Basic ", Sv(absl::Base64Escape(pair))));
  }
  const auto channel = grpc::CreateChannel(daemon_.address(), grpc::SslCredentials({files_.Read("ca.pem"), "", ""}));
  const std::string path = Cat("/", method.service()->full_name(), "/", method.name());
  using Lite = google::protobuf::MessageLite;
  const grpc::internal::RpcMethod rpc(path.c_str(), grpc::internal::RpcMethod::NORMAL_RPC);
  const grpc::Status status =
      grpc::internal::BlockingUnaryCall<Lite, Lite>(channel.get(), rpc, &context, *request, response.get());
  Outcome outcome;
  outcome.code = status.error_code();
  outcome.is_ok = status.ok();
  if (status.ok()) {
    outcome.body = cli::CompactJson(cli::MessageToJson(*response));
    return outcome;
  }
  const absl::Status error = client::MakeCallStatus(static_cast<absl::StatusCode>(status.error_code()),
                                                    status.error_message(), status.error_details());
  outcome.exception = client::ErrorName(error);
  outcome.message = std::string(error.message());
  return outcome;
}

Outcome OperationClient::CallHttp(std::string_view key_id, std::string_view operation,
                                  std::string_view document) const {
  daemon::HttpRequest request = JsonRequest(std::string(operation), std::string(document));
  if (!key_id.empty()) {
    Signer{.key_id = std::string(key_id), .secret = SecurityFiles::kRootSecret}.Sign(absl::Now(), &request);
  }
  const RawResponse answer = HttpsExchange(daemon_.http_address(), files_.Path("ca.pem"), request).Read();
  Outcome outcome;
  outcome.code = answer.status;
  outcome.is_ok = answer.status == 200;
  outcome.body = answer.body;
  if (outcome.is_ok) return outcome;
  const cli::Json error = Parsed(answer.body);
  const std::string type = error.value("__type", "");
  outcome.exception = type.substr(type.find('#') + 1);
  outcome.message = error.value("message", error.value("Message", ""));
  return outcome;
}

}  // namespace armature::test
