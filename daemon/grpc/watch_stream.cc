#include "daemon/grpc/watch_stream.h"

#include <string>
#include <string_view>

#include "armature/api/v1/streams.pb.h"
#include "daemon/api/stream_messages.h"
#include "daemon/grpc/error_map.h"
#include "engine/engine.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/model/table_name.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kWatchOperation = "Watch";

// The network of the client, because a client has several connections.
std::string NetworkTextOf(const H2Peer& peer) {
  return peer.network.has_value() ? std::string(peer.network->begin(), peer.network->end()) : std::string();
}

}  // namespace

void WatchStream::Start() {
  call_->set_handler(shared_from_this());
  call_->SetPatient();
  counted_ = gate_->Count(Front::kGrpc, kWatchOperation, *call_);
  gate_->Identify(call_, [self = shared_from_this()](absl::StatusOr<Caller> caller) {
    if (self->is_over_) return;
    if (!caller.ok()) return self->End(caller.status());
    self->caller_ = *std::move(caller);
    self->call_->Read(/*is_owed=*/true);
  });
}

void WatchStream::OnMessage(InMessage message) {
  if (is_over_) return;
  has_request_ = true;
  if (const absl::Status opened = Open(message); !opened.ok()) return End(opened);
  AskForPage();
}

void WatchStream::OnReadEnd() {
  if (!is_over_ && !has_request_) End(SerializationError("The call has no request"));
}

absl::Status WatchStream::Allow() {
  // Before the check, so that a change meanwhile leads to another one.
  if (engine_ != nullptr) policy_ = engine_->FindResourcePolicy(request_.table_name.value_or(""));
  absl::StatusOr<engine::Engine*> engine = absl::InternalError("no right was asked for");
  ARM_RETURN_IF_ERROR(engine::CheckRights(request_, [&](const engine::NeededRight& right) {
    engine = caller_->Allow(right);
    return engine.status();
  }));
  engine_ = *engine;
  return absl::OkStatus();
}

bool WatchStream::IsPolicyCurrent() const {
  const std::string table = request_.table_name.value_or("");
  const std::shared_ptr<const access::ResourcePolicy> policy = engine_->FindResourcePolicy(table);
  return policy == policy_ ||
         (policy == nullptr && engine_->database()->catalog()->Hold(model::LocalTableName(table)) == nullptr);
}

absl::Status WatchStream::Open(const InMessage& message) {
  ARM_ASSIGN_OR_RETURN(request_, ParseWatch(message.bytes));
  request_.client = NetworkTextOf(call_->peer());
  counted_.set_table(request_.table_name.value_or(""));
  ARM_RETURN_IF_ERROR(Allow());
  ARM_ASSIGN_OR_RETURN(watch_, engine_->OpenWatch(request_));
  return absl::OkStatus();
}

void WatchStream::AskForPage() {
  watch_->Next([self = shared_from_this()](absl::StatusOr<engine::WatchPage> page) {
    if (!page.ok()) return self->EndLater(page.status());
    self->Check(*std::move(page));
  });
}

void WatchStream::Check(engine::WatchPage page) {
  if (gate_->IsCurrent(*caller_)) {
    if (!IsPolicyCurrent()) {
      if (const absl::Status allowed = Allow(); !allowed.ok()) return EndLater(allowed);
    }
    return Send(page);
  }
  call_->Post([self = shared_from_this(), held = std::move(page)]() mutable {
    self->gate_->Identify(self->call_, [self, held = std::move(held)](absl::StatusOr<Caller> caller) {
      if (self->is_over_) return;
      if (!caller.ok()) return self->End(caller.status());
      self->caller_ = *std::move(caller);
      if (const absl::Status allowed = self->Allow(); !allowed.ok()) return self->End(allowed);
      self->Send(held);
    });
  });
}

void WatchStream::Send(const engine::WatchPage& page) {
  OutMessage message{.head = {}, .bytes = ToMessage(page).SerializeAsString(), .memory = HeldMemory(call_->memory())};
  message.memory.Set(message.size());
  call_->Write(std::move(message));
}

void WatchStream::OnSent(uint32_t /*weight*/) {
  if (!is_over_) AskForPage();
}

void WatchStream::OnCancel() {
  if (!is_over_) End(CancelledError("The watch was cancelled"));
}

void WatchStream::Drain() { EndLater(ServiceUnavailableError("The daemon is stopping")); }

void WatchStream::EndLater(const absl::Status& status) {
  call_->Post([self = shared_from_this(), status] {
    if (!self->is_over_) self->End(status);
  });
}

void WatchStream::End(const absl::Status& status) {
  is_over_ = true;
  // Its place is free before the client is informed, because the client may want it.
  if (const std::shared_ptr<engine::TableWatch> watch = std::move(watch_); watch != nullptr) watch->Cancel(status);
  counted_.Finish(status, "");
  gate_->Audit(caller_.has_value() ? &*caller_ : nullptr, {.principal = {},
                                                           .peer = call_->peer().text,
                                                           .operation = kWatchOperation,
                                                           .table = request_.table_name.value_or(""),
                                                           .result = status});
  call_->Finish(ToRpcStatus(status));
}

}  // namespace armature::daemon
