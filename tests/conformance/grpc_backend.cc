#include <chrono>
#include <functional>
#include <map>
#include <utility>

#include "armature/api/v1/service.grpc.pb.h"
#include "armature/client/errors.h"
#include "grpcpp/grpcpp.h"
#include "storage/base/strings.h"
#include "tests/conformance/backend.h"
#include "tests/conformance/request_message.h"
#include "tests/support/daemon_process.h"
#include "tools/armature/attribute_json.h"
#include "tools/armature/message_json.h"

namespace armature::conformance {
namespace {

namespace v1 = ::armature::api::v1;

constexpr std::chrono::seconds kPatience{120};

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
  answer.error_text = detail->message();
  if (detail->has_item()) answer.body["Item"] = cli::ItemToJson(detail->item());
  for (const v1::CancellationReason& each : detail->cancellation_reasons()) {
    Json reason = {{"Code", each.code()}};
    if (each.has_message()) reason["Message"] = each.message();
    if (each.has_item()) reason["Item"] = cli::ItemToJson(each.item());
    answer.body["CancellationReasons"].push_back(std::move(reason));
  }
  for (const v1::ThrottlingReason& each : detail->throttling_reasons()) {
    answer.body[ReasonsMember(answer.error_type)].push_back({{"reason", each.reason()}, {"resource", each.resource()}});
  }
  return answer;
}

class GrpcBackend final : public Backend {
 public:
  GrpcBackend() : daemon_({"--durability=os", Cat("--backup_dir=", backups_.path())}) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    const auto channel = grpc::CreateCustomChannel(daemon_.address(), grpc::InsecureChannelCredentials(), arguments);
    items_ = v1::ItemService::NewStub(channel);
    tables_ = v1::TableService::NewStub(channel);
    streams_ = v1::StreamService::NewStub(channel);
    using Items = v1::ItemService::Stub;
    using Tables = v1::TableService::Stub;
    using Streams = v1::StreamService::Stub;
    Add("GetItem", items_.get(), &Items::GetItem);
    Add("PutItem", items_.get(), &Items::PutItem);
    Add("UpdateItem", items_.get(), &Items::UpdateItem);
    Add("DeleteItem", items_.get(), &Items::DeleteItem);
    Add("Query", items_.get(), &Items::Query);
    Add("Scan", items_.get(), &Items::Scan);
    Add("BatchGetItem", items_.get(), &Items::BatchGetItem);
    Add("BatchWriteItem", items_.get(), &Items::BatchWriteItem);
    Add("TransactGetItems", items_.get(), &Items::TransactGetItems);
    Add("TransactWriteItems", items_.get(), &Items::TransactWriteItems);
    Add("CreateTable", tables_.get(), &Tables::CreateTable);
    Add("DescribeTable", tables_.get(), &Tables::DescribeTable);
    Add("ListTables", tables_.get(), &Tables::ListTables);
    Add("DeleteTable", tables_.get(), &Tables::DeleteTable);
    Add("UpdateTable", tables_.get(), &Tables::UpdateTable);
    Add("UpdateTimeToLive", tables_.get(), &Tables::UpdateTimeToLive);
    Add("DescribeTimeToLive", tables_.get(), &Tables::DescribeTimeToLive);
    Add("TagResource", tables_.get(), &Tables::TagResource);
    Add("UntagResource", tables_.get(), &Tables::UntagResource);
    Add("ListTagsOfResource", tables_.get(), &Tables::ListTagsOfResource);
    Add("DescribeLimits", tables_.get(), &Tables::DescribeLimits);
    Add("DescribeEndpoints", tables_.get(), &Tables::DescribeEndpoints);
    Add("DescribeContinuousBackups", tables_.get(), &Tables::DescribeContinuousBackups);
    Add("UpdateContinuousBackups", tables_.get(), &Tables::UpdateContinuousBackups);
    Add("CreateBackup", tables_.get(), &Tables::CreateBackup);
    Add("DescribeBackup", tables_.get(), &Tables::DescribeBackup);
    Add("ListBackups", tables_.get(), &Tables::ListBackups);
    Add("DeleteBackup", tables_.get(), &Tables::DeleteBackup);
    Add("RestoreTableFromBackup", tables_.get(), &Tables::RestoreTableFromBackup);
    Add("ListStreams", streams_.get(), &Streams::ListStreams);
    Add("DescribeStream", streams_.get(), &Streams::DescribeStream);
    Add("GetShardIterator", streams_.get(), &Streams::GetShardIterator);
    Add("GetRecords", streams_.get(), &Streams::GetRecords);
  }

  std::string_view name() const override { return "grpc"; }

  Answer Run(const Call& call) override {
    const auto found = operations_.find(call.operation);
    if (found != operations_.end()) return found->second(call);
    Answer answer;
    answer.error_type = "UnknownOperationException";
    answer.error_text = Cat(call.operation, " is not known to this backend");
    return answer;
  }

 private:
  template <class Stub, class Request, class Response>
  void Add(const char* name, Stub* stub,
           grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*)) {
    operations_.emplace(name, [stub, method](const Call& call) {
      Answer answer;
      Request request;
      if (const absl::Status said = ToRequestMessage(call.request, &request); !said.ok()) {
        answer.inexpressible = std::string(said.message());
        return answer;
      }
      if constexpr (requires { request.set_at_least_sequence(1); }) {
        request.set_at_least_sequence(call.at_least_sequence);
      }
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + kPatience);
      Response response;
      const grpc::Status status = (stub->*method)(&context, request, &response);
      if (!status.ok()) return ErrorAnswer(status);
      if constexpr (requires { response.change_sequence(); }) answer.change_sequence = response.change_sequence();
      answer.body = cli::MessageToJson(response);
      answer.body.erase("ChangeSequence");
      AddEmptyLists(call.operation, call.request, &answer.body);
      return answer;
    });
  }

  test::TempDir backups_;
  test::DaemonProcess daemon_;
  std::unique_ptr<v1::ItemService::Stub> items_;
  std::unique_ptr<v1::TableService::Stub> tables_;
  std::unique_ptr<v1::StreamService::Stub> streams_;
  std::map<std::string, std::function<Answer(const Call&)>, std::less<>> operations_;
};

}  // namespace

std::unique_ptr<Backend> MakeGrpcBackend() { return std::make_unique<GrpcBackend>(); }

}  // namespace armature::conformance
