#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_replace.h"
#include "armature/api/v1/service.grpc.pb.h"
#include "armature/client/errors.h"
#include "daemon/grpc/error_map.h"
#include "engine/operations.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/impl/client_unary_call.h"
#include "storage/base/strings.h"
#include "tests/conformance/backend.h"
#include "tests/conformance/request_message.h"
#include "tests/conformance/transfer_directories.h"
#include "tests/support/daemon_process.h"
#include "tools/armature/message_json.h"

namespace armature::conformance {
namespace {

namespace v1 = ::armature::api::v1;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr std::chrono::seconds kGrpcPatience{120};

Answer ErrorAnswer(const grpc::Status& status) {
  Answer answer;
  const auto detail = client::ErrorDetailOf(client::MakeCallStatus(static_cast<absl::StatusCode>(status.error_code()),
                                                                   status.error_message(), status.error_details()));
  if (!detail.has_value()) {
    answer.error_type = "NoErrorDetail";
    answer.error_text = status.error_message();
    return answer;
  }
  answer.error_type = detail->exception();
  // The hint is of gRPC only.
  answer.error_text = absl::StrReplaceAll(detail->message(), {{Av(daemon::kTypeHint), ""}});
  if (detail->has_item()) answer.body["Item"] = cli::MessageToJson(detail->item());
  for (const v1::CancellationReason& each : detail->cancellation_reasons()) {
    Json reason = {{"Code", each.code()}};
    if (each.has_message()) reason["Message"] = each.message();
    if (each.has_item()) reason["Item"] = cli::MessageToJson(each.item());
    answer.body["CancellationReasons"].push_back(std::move(reason));
  }
  for (const v1::ThrottlingReason& each : detail->throttling_reasons()) {
    answer.body[ReasonsMember(answer.error_type)].push_back({{"reason", each.reason()}, {"resource", each.resource()}});
  }
  return answer;
}

// The field with `name`, or null.
const FieldDescriptor* FindField(const Message& message, const char* name) {
  return message.GetDescriptor()->FindFieldByName(name);
}

class GrpcBackend final : public Backend {
 public:
  GrpcBackend()
      : daemon_({"--durability=os", "--ttl_interval=20ms", Cat("--backup_dir=", backups_.path()),
                 Cat("--export_dir=", transfers_.out()), Cat("--import_dir=", transfers_.in())}) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    channel_ = grpc::CreateCustomChannel(daemon_.address(), grpc::InsecureChannelCredentials(), arguments);
  }

  std::string_view name() const override { return "grpc"; }

  Answer Run(const Call& call) override {
    const engine::Operation* const operation = engine::FindOperation(call.operation);
    if (operation != nullptr) return Send(std::string(operation->path), call);
    Answer answer;
    answer.error_type = "UnknownOperationException";
    answer.error_text = Cat(call.operation, " is not known to this backend");
    return answer;
  }

 private:
  Answer Send(const std::string& path, const Call& call) {
    // Descriptors name "/package.Service/Method" as "package.Service.Method".
    std::string method_name = path.substr(1);
    method_name[method_name.find('/')] = '.';
    const auto& method = *google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(method_name);
    auto& factory = *google::protobuf::MessageFactory::generated_factory();
    const std::unique_ptr<Message> request(factory.GetPrototype(method.input_type())->New());
    const std::unique_ptr<Message> response(factory.GetPrototype(method.output_type())->New());
    Answer answer;
    if (const absl::Status said = ToRequestMessage(call.request, request.get()); !said.ok()) {
      answer.inexpressible = std::string(said.message());
      return answer;
    }
    if (const auto* const field = FindField(*request, "at_least_sequence"); field != nullptr) {
      request->GetReflection()->SetUInt64(request.get(), field, call.at_least_sequence);
    }
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kGrpcPatience);
    using Lite = google::protobuf::MessageLite;
    const grpc::internal::RpcMethod rpc(path.c_str(), grpc::internal::RpcMethod::NORMAL_RPC);
    const grpc::Status status =
        grpc::internal::BlockingUnaryCall<Lite, Lite>(channel_.get(), rpc, &context, *request, response.get());
    if (!status.ok()) return ErrorAnswer(status);
    if (const auto* const field = FindField(*response, "change_sequence"); field != nullptr) {
      answer.change_sequence = response->GetReflection()->GetUInt64(*response, field);
    }
    answer.body = cli::MessageToJson(*response);
    answer.body.erase("ChangeSequence");
    AddEmptyLists(call.operation, call.request, &answer.body);
    return answer;
  }

  TransferDirectories transfers_;
  test::TempDir backups_;
  test::DaemonProcess daemon_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace

std::unique_ptr<Backend> MakeGrpcBackend() { return std::make_unique<GrpcBackend>(); }

}  // namespace armature::conformance
