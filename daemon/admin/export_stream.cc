#include "daemon/admin/export_stream.h"

#include <string_view>

#include "absl/time/clock.h"
#include "armature/admin/v1/admin.pb.h"
#include "daemon/api/table_messages.h"
#include "daemon/grpc/byte_buffers.h"
#include "daemon/grpc/error_map.h"
#include "storage/base/api_error.h"
#include "storage/model/wire.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::admin::v1;

constexpr std::string_view kOperation = "admin:ExportTable";

grpc::ByteBuffer HeadOf(const engine::TableExport& opened) {
  v1::ExportTableResponse response;
  Fill(opened.table(), response.mutable_head()->mutable_table());
  response.mutable_head()->set_change_sequence(opened.change_sequence());
  response.mutable_head()->set_export_time_ms(opened.table().time_ms);
  return TakeBytes(response.SerializeAsString());
}

}  // namespace

// Writes the items directly into the message.
class ExportStream::Page final : public engine::PageWriter {
 public:
  void Add(std::string_view item_bytes) override {
    model::AppendBytesField(v1::ExportTableResponse::kItemsFieldNumber, item_bytes, &bytes_);
  }
  void Clear() override { bytes_.clear(); }
  grpc::ByteBuffer Take() { return TakeBytes(std::move(bytes_)); }

 private:
  std::string bytes_;
};

void ExportStream::Start() {
  gate_->ledger()->Add(this);
  counted_ = gate_->Count(Front::kGrpc, kOperation);
  if (const absl::Status surplus = gate_->ledger()->CheckCalls(*this); !surplus.ok()) return End(surplus);
  gate_->Identify(*context_, [self = shared_from_this()](absl::StatusOr<Caller> caller) {
    if (!caller.ok()) return self->End(caller.status());
    self->caller_ = *std::move(caller);
    self->Set(CallPhase::kReading);
    self->StartRead(&self->request_);
  });
}

void ExportStream::OnReadDone(bool ok) {
  Set(CallPhase::kRunning);
  if (ok) {
    if (const absl::Status fits = gate_->ledger()->Received(*this, request_.Length()); !fits.ok()) {
      request_.Clear();
      return End(fits);
    }
  }
  v1::ExportTableRequest request;
  const MessageBytes message(request_);
  const bool is_read = ok && request.ParseFromArray(message.view().data(), static_cast<int>(message.view().size()));
  request_.Clear();
  table_name_ = request.table_name();
  const absl::StatusOr<engine::Engine*> engine = caller_->Allow(kOperation, table_name_);
  if (!engine.ok()) return End(engine.status());
  if (!is_read) return End(SerializationError("The request is no ExportTableRequest"));
  (*engine)->OpenExport(table_name_,
                        [self = shared_from_this()](absl::StatusOr<std::shared_ptr<engine::TableExport>> opened) {
                          self->Opened(std::move(opened));
                        });
}

void ExportStream::Send(const grpc::ByteBuffer& message) {
  sent_ = message;  // shares the bytes
  share_.Set(sent_.Length());
  StartWrite(&sent_);
}

void ExportStream::Opened(absl::StatusOr<std::shared_ptr<engine::TableExport>> opened) {
  if (!opened.ok()) return End(opened.status());
  export_ = *std::move(opened);
  Send(HeadOf(*export_));
}

void ExportStream::OnWriteDone(bool ok) {
  if (!ok) return End(CancelledError("The client has gone"));
  if (!has_more_) return End(absl::OkStatus());
  if (absl::Status stop = CheckGoesOn(); !stop.ok()) return End(stop);
  ReadPage();
}

void ExportStream::ReadPage() {
  auto page = std::make_shared<Page>();
  Page* const out = page.get();
  export_->ReadPage(out, [self = shared_from_this(), page = std::move(page)](absl::StatusOr<bool> has_more) {
    if (!has_more.ok()) return self->End(has_more.status());
    if (absl::Status stop = self->CheckGoesOn(); !stop.ok()) return self->End(stop);
    self->has_more_ = *has_more;
    self->Send(page->Take());
  });
}

absl::Status ExportStream::CheckGoesOn() const {
  if (is_cancelled_.load()) return CancelledError("The export was cancelled");
  if (is_draining_.load()) return ServiceUnavailableError("The daemon is stopping");
  return absl::OkStatus();
}

void ExportStream::End(const absl::Status& status) {
  // Released before the client is informed, because the client may want the place.
  export_ = nullptr;
  counted_.Finish(status, "");
  const std::string peer = context_->peer();
  gate_->Audit(caller_.has_value() ? &*caller_ : nullptr,
               {.principal = {}, .peer = peer, .operation = kOperation, .table = table_name_, .result = status});
  Finish(EndOf(context_, status));
}

void ExportStream::OnDone() {
  // Keeps the stream alive while `ended_` runs.
  const std::shared_ptr<ExportStream> self = shared_from_this();
  gate_->ledger()->Remove(this);
  ended_(this);
}

}  // namespace armature::daemon
