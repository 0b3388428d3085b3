#include "daemon/api/unary_operation.h"

#include "glog/logging.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

using google::protobuf::Message;

// The text of the field with `name`, which may lead into member messages; empty if `name` is empty.
std::string TextOf(const Message& message, std::string_view name) {
  if (name.empty()) return {};
  const size_t dot = name.find('.');
  const auto* const field = message.GetDescriptor()->FindFieldByName(std::string(name.substr(0, dot)));
  CHECK(field != nullptr) << message.GetDescriptor()->name() << " has no field " << name;
  if (dot != std::string_view::npos) {
    return TextOf(message.GetReflection()->GetMessage(message, field), name.substr(dot + 1));
  }
  return message.GetReflection()->GetString(message, field);
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

uint64_t ChangeSequenceOf(const google::protobuf::Message& response) {
  const google::protobuf::FieldDescriptor* const field = response.GetDescriptor()->FindFieldByName("change_sequence");
  return field == nullptr ? 0 : response.GetReflection()->GetUInt64(response, field);
}

uint64_t TakeChangeSequence(google::protobuf::Message* response) {
  const uint64_t sequence = ChangeSequenceOf(*response);
  if (sequence != 0) {
    response->GetReflection()->ClearField(response, response->GetDescriptor()->FindFieldByName("change_sequence"));
  }
  return sequence;
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
  if (messages->source.empty()) messages->source = TextOf(*messages->request, facts_->other_source);
}

}  // namespace armature::daemon
