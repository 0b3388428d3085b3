#include "daemon/api/unary_operation.h"

#include <array>

#include "glog/logging.h"
#include "storage/base/status_macros.h"
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

const engine::Operation* UnaryOperation::FactsOf(const google::protobuf::Descriptor& request) {
  constexpr std::string_view kSuffix = "Request";
  const bool is_admin = request.file()->package() == "armature.admin.v1";
  std::string name = Cat(is_admin ? "admin:" : "", request.name());
  name.resize(name.size() - kSuffix.size());
  const engine::Operation* const facts = engine::FindOperation(name);
  CHECK(facts != nullptr) << name << " is no method of the protos";
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

absl::StatusOr<engine::Engine*> UnaryOperation::Admit(const Caller& caller, engine::RequestTrace* trace,
                                                      Messages* messages) const {
  if (facts_->plane == engine::Plane::kStatement) return caller.ForStatements();
  access::MatchWork work;
  if (!facts_->source.empty()) {
    messages->checked = messages->source;
    ARM_RETURN_IF_ERROR(caller.Allow({name(), messages->source}, &work, trace).status());
  }
  messages->checked = messages->subject;
  return caller.Allow({name(), messages->subject}, &work, trace);
}

void UnaryOperation::Serve(const Caller& caller, const std::shared_ptr<engine::RequestTrace>& trace,
                           OperationContext context, Messages* messages, Finished done) const {
  FindSubject(messages);
  const absl::StatusOr<engine::Engine*> engine = Admit(caller, trace.get(), messages);
  if (!engine.ok()) return std::move(done)(engine.status());
  context.engine = *engine;
  context.allow = [caller, trace, work = std::make_shared<access::MatchWork>()](const engine::NeededRight& right) {
    return caller.Allow(right, work.get(), trace.get()).status();
  };
  context.may_change_policy = [caller](std::string_view arn, const access::ResourcePolicy& policy) {
    return caller.MayChangePolicy(arn, policy);
  };
  context.principal = caller.principal();
  Start(context, *messages, std::move(done));
}

void UnaryOperation::FindSubject(Messages* messages) const {
  messages->subject = TextOf(*messages->request, facts_->subject);
  messages->source = TextOf(*messages->request, facts_->source);
  if (messages->source.empty()) messages->source = TextOf(*messages->request, facts_->other_source);
}

std::span<const UnaryOperation> UnaryOperations() {
  static const auto* const kAll = [] {
    auto* const all = new std::vector<UnaryOperation>;
    AddTableOperations(all);
    AddTransferOperations(all);
    AddStreamOperations(all);
    AddStatementOperations(all);
    return all;
  }();
  return *kAll;
}

const UnaryOperation* FindUnaryOperation(std::string_view name) {
  // By the number of the row in engine::kOperations.
  using Rows = std::array<const UnaryOperation*, engine::kOperations.size()>;
  static const Rows* const kRows = [] {
    auto* const rows = new Rows{};
    for (const UnaryOperation& each : UnaryOperations()) {
      (*rows)[static_cast<size_t>(&each.facts() - engine::kOperations.data())] = &each;
    }
    return rows;
  }();
  const engine::Operation* const found = engine::FindOperation(name);
  return found == nullptr ? nullptr : (*kRows)[static_cast<size_t>(found - engine::kOperations.data())];
}

}  // namespace armature::daemon
