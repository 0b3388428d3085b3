#include "daemon/api/unary_operation.h"

#include <algorithm>
#include <vector>

#include "armature/api/v1/streams.pb.h"
#include "daemon/api/operation_lists.h"
#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;
using google::protobuf::Message;

// The text of the field with `name`; empty if `name` is empty.
std::string TextOf(const Message& message, std::string_view name) {
  if (name.empty()) return {};
  const auto* const field = message.GetDescriptor()->FindFieldByName(std::string(name));
  CHECK(field != nullptr) << message.GetDescriptor()->name() << " has no field " << name;
  return message.GetReflection()->GetString(message, field);
}

std::vector<UnaryOperation> MakeTableOperations() {
  std::vector<UnaryOperation> operations;
  AddTableOperations(&operations);
  AddSettingOperations(&operations);
  AddBackupOperations(&operations);
  return operations;
}

template <class Request, class Response>
UnaryOperation NotAvailable() {
  std::string name = Request::descriptor()->name();
  name.resize(name.size() - std::string_view("Request").size());
  return {"", UnaryOperation::Run<Request, Response>(
                  [name](const OperationContext&, const Request&, Response*, Finished done) {
                    std::move(done)(UnknownOperationError(Cat(name, " is not available in this version")));
                  })};
}

}  // namespace

const engine::Operation* UnaryOperation::FactsOf(std::string_view prefix, const google::protobuf::Descriptor& request) {
  constexpr std::string_view kSuffix = "Request";
  std::string name = Cat(prefix, request.name());
  name.resize(name.size() - kSuffix.size());
  const engine::Operation* const facts = engine::FindOperation(name);
  CHECK(facts != nullptr) << name << " is not in engine/operations.h";
  return facts;
}

std::shared_ptr<UnaryOperation::Messages> UnaryOperation::NewMessages() const {
  auto messages = std::make_shared<Messages>();
  messages->request.reset(request_.New());
  messages->response.reset(response_.New());
  return messages;
}

void UnaryOperation::FindSubject(Messages* messages) const {
  messages->subject = TextOf(*messages->request, facts_->subject);
  messages->source = TextOf(*messages->request, facts_->source);
}

std::span<const UnaryOperation> TableOperations() {
  static const auto* const kOperations = new std::vector<UnaryOperation>(MakeTableOperations());
  return *kOperations;
}

const UnaryOperation* FindTableOperation(std::string_view name) {
  const std::span<const UnaryOperation> all = TableOperations();
  const auto found =
      std::find_if(all.begin(), all.end(), [name](const UnaryOperation& each) { return each.name() == name; });
  return found == all.end() ? nullptr : &*found;
}

std::span<const UnaryOperation> StreamOperations() {
  static const auto* const kOperations = new std::vector<UnaryOperation>{
      NotAvailable<v1::ListStreamsRequest, v1::ListStreamsResponse>(),
      NotAvailable<v1::DescribeStreamRequest, v1::DescribeStreamResponse>(),
      NotAvailable<v1::GetShardIteratorRequest, v1::GetShardIteratorResponse>(),
      NotAvailable<v1::GetRecordsRequest, v1::GetRecordsResponse>(),
  };
  return *kOperations;
}

}  // namespace armature::daemon
