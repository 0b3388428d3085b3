#include "daemon/grpc/watch_stream.h"

#include <string_view>

#include "armature/api/v1/streams.pb.h"
#include "daemon/api/stream_messages.h"
#include "daemon/grpc/byte_buffers.h"
#include "daemon/grpc/error_map.h"
#include "daemon/net/connection_ledger.h"
#include "engine/engine.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/model/table_name.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kWatchOperation = "Watch";

// The network of the client, because a client has several connections.
std::string NetworkTextOf(std::string_view peer) {
  const std::optional<PeerNetwork> network = NetworkOf(peer);
  return network.has_value() ? std::string(network->begin(), network->end()) : std::string();
}

}  // namespace

void WatchStream::Start() {
  gate_->ledger()->Add(this);
  counted_ = gate_->Count(Front::kGrpc, kWatchOperation);
  if (const absl::Status surplus = gate_->ledger()->CheckCalls(*this); !surplus.ok()) return End(surplus);
  gate_->Identify(*context_, [self = shared_from_this()](absl::StatusOr<Caller> caller) {
    if (!caller.ok()) return self->End(caller.status());
    self->caller_ = *std::move(caller);
    self->Set(CallPhase::kReading);
    self->StartRead(&self->request_bytes_);
  });
}

void WatchStream::OnReadDone(bool ok) {
  Set(CallPhase::kRunning);
  if (!ok) return End(SerializationError("The call has no request"));
  if (const absl::Status fits = gate_->ledger()->Received(*this, request_bytes_.Length()); !fits.ok()) {
    request_bytes_.Clear();
    return End(fits);
  }
  absl::StatusOr<engine::WatchRequest> request = ParseWatch(MessageBytes(request_bytes_).view());
  request_bytes_.Clear();
  if (!request.ok()) return End(request.status());
  request_ = *std::move(request);
  request_.client = NetworkTextOf(peer_);
  if (absl::Status opened = Open(); !opened.ok()) return End(opened);
  AskForPage();
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

absl::Status WatchStream::Open() {
  ARM_RETURN_IF_ERROR(Allow());
  ARM_ASSIGN_OR_RETURN(std::shared_ptr<engine::TableWatch> watch, engine_->OpenWatch(request_));
  const absl::MutexLock lock(&mutex_);
  watch_ = std::move(watch);
  return stopped_;
}

void WatchStream::AskForPage() {
  std::shared_ptr<engine::TableWatch> watch;
  {
    const absl::MutexLock lock(&mutex_);
    watch = watch_;
  }
  watch->Next([self = shared_from_this()](absl::StatusOr<engine::WatchPage> page) {
    if (!page.ok()) return self->End(page.status());
    self->Check(*std::move(page));
  });
}

void WatchStream::Check(engine::WatchPage page) {
  if (gate_->IsCurrent(*caller_)) {
    if (IsPolicyCurrent()) return Send(page);
    if (const absl::Status allowed = Allow(); !allowed.ok()) return End(allowed);
    return Send(page);
  }
  gate_->Identify(*context_, [self = shared_from_this(), held = std::move(page)](absl::StatusOr<Caller> caller) {
    if (!caller.ok()) return self->End(caller.status());
    self->caller_ = *std::move(caller);
    if (const absl::Status allowed = self->Allow(); !allowed.ok()) return self->End(allowed);
    self->Send(held);
  });
}

void WatchStream::Send(const engine::WatchPage& page) {
  sent_ = TakeBytes(ToMessage(page).SerializeAsString());
  share_.Set(sent_.Length());
  Set(CallPhase::kPushing, sent_.Length());
  StartWrite(&sent_);
}

void WatchStream::OnWriteDone(bool ok) {
  sent_.Clear();
  share_.Set(0);
  Set(CallPhase::kRunning);
  if (!ok) return End(CancelledError("The client has gone"));
  AskForPage();
}

void WatchStream::OnCancel() { Stop(CancelledError("The watch was cancelled")); }

void WatchStream::Drain() { Stop(ServiceUnavailableError("The daemon is stopping")); }

void WatchStream::Stop(const absl::Status& why) {
  std::shared_ptr<engine::TableWatch> watch;
  {
    const absl::MutexLock lock(&mutex_);
    if (stopped_.ok()) stopped_ = why;
    watch = watch_;
  }
  // The stream ends with the answer of the engine, at the next page at the latest.
  if (watch != nullptr) watch->Cancel(why);
}

void WatchStream::End(const absl::Status& status) {
  std::shared_ptr<engine::TableWatch> watch;
  {
    const absl::MutexLock lock(&mutex_);
    watch.swap(watch_);
  }
  // Its place is free before the client is informed, because the client may want it.
  if (watch != nullptr) watch->Cancel(status);
  counted_.Finish(status, "");
  gate_->Audit(caller_.has_value() ? &*caller_ : nullptr, {.principal = {},
                                                           .peer = peer_,
                                                           .operation = kWatchOperation,
                                                           .table = request_.table_name.value_or(""),
                                                           .result = status});
  Finish(EndOf(context_, status));
}

void WatchStream::OnDone() {
  // Keeps the stream alive while `ended_` runs.
  const std::shared_ptr<WatchStream> self = shared_from_this();
  gate_->ledger()->Remove(this);
  ended_(this);
}

}  // namespace armature::daemon
