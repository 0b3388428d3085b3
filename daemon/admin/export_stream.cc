#include "daemon/admin/export_stream.h"

#include <string_view>

#include "absl/time/clock.h"
#include "armature/admin/v1/admin.pb.h"
#include "daemon/api/table_messages.h"
#include "daemon/grpc/error_map.h"
#include "storage/base/api_error.h"
#include "storage/model/wire.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::admin::v1;

constexpr std::string_view kOperation = "admin:ExportTable";

std::string HeadOf(const engine::TableExport& opened) {
  v1::ExportTableResponse response;
  Fill(opened.table(), response.mutable_head()->mutable_table());
  response.mutable_head()->set_change_sequence(opened.change_sequence());
  response.mutable_head()->set_export_time_ms(opened.table().time_ms);
  return response.SerializeAsString();
}

}  // namespace

// Writes the items directly into the message.
class ExportStream::Page final : public engine::PageWriter {
 public:
  void Add(std::string_view item_bytes) override {
    model::AppendBytesField(v1::ExportTableResponse::kItemsFieldNumber, item_bytes, &bytes_);
  }
  void Clear() override { bytes_.clear(); }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

void ExportStream::Start() {
  call_->set_handler(shared_from_this());
  counted_ = gate_->Count(Front::kGrpc, kOperation, *call_);
  gate_->Identify(call_, [self = shared_from_this()](absl::StatusOr<Caller> caller) {
    if (self->is_over_) return;
    if (!caller.ok()) return self->End(caller.status());
    self->caller_ = *std::move(caller);
    self->call_->Read(/*is_owed=*/true);
  });
}

void ExportStream::OnMessage(InMessage message) {
  if (is_over_) return;
  has_request_ = true;
  v1::ExportTableRequest request;
  const bool is_read = request.ParseFromString(message.bytes);
  table_name_ = request.table_name();
  counted_.set_table(table_name_);
  const absl::StatusOr<engine::Engine*> engine = caller_->Allow({kOperation, table_name_});
  if (!engine.ok()) return End(engine.status());
  if (!is_read) return End(SerializationError("The request is no ExportTableRequest"));
  is_reading_ = true;
  (*engine)->OpenExport(
      table_name_, [self = shared_from_this()](absl::StatusOr<std::shared_ptr<engine::TableExport>> opened) {
        self->call_->Post([self, opened = std::move(opened)]() mutable { self->Opened(std::move(opened)); });
      });
}

void ExportStream::OnReadEnd() {
  if (!is_over_ && !has_request_) End(SerializationError("The request is no ExportTableRequest"));
}

void ExportStream::Send(std::string bytes) {
  OutMessage message{.head = {}, .bytes = std::move(bytes), .memory = HeldMemory(call_->memory())};
  message.memory.Set(message.size());
  call_->Write(std::move(message));
}

void ExportStream::Opened(absl::StatusOr<std::shared_ptr<engine::TableExport>> opened) {
  is_reading_ = false;
  if (!opened.ok()) return End(opened.status());
  export_ = *std::move(opened);
  if (!stopped_.ok()) return End(stopped_);
  Send(HeadOf(*export_));
}

void ExportStream::OnSent(uint32_t /*weight*/) {
  if (is_over_) return;
  has_more_ ? ReadPage() : End(absl::OkStatus());
}

void ExportStream::ReadPage() {
  is_reading_ = true;
  auto page = std::make_shared<Page>();
  Page* const out = page.get();
  export_->ReadPage(out, [self = shared_from_this(), page = std::move(page)](absl::StatusOr<bool> has_more) {
    self->call_->Post([self, has_more = std::move(has_more), bytes = page->Take()]() mutable {
      self->PageRead(has_more, std::move(bytes));
    });
  });
}

void ExportStream::PageRead(const absl::StatusOr<bool>& has_more, std::string page) {
  is_reading_ = false;
  if (!has_more.ok()) return End(has_more.status());
  if (!stopped_.ok()) return End(stopped_);
  has_more_ = *has_more;
  Send(std::move(page));
}

void ExportStream::OnCancel() { Stop(CancelledError("The export was cancelled")); }

void ExportStream::Drain() {
  call_->Post([self = shared_from_this()] { self->Stop(ServiceUnavailableError("The daemon is stopping")); });
}

void ExportStream::Stop(const absl::Status& why) {
  if (is_over_ || !stopped_.ok()) return;
  stopped_ = why;
  if (!is_reading_) End(why);
}

void ExportStream::End(const absl::Status& status) {
  is_over_ = true;
  // Released before the client is informed, because the client may want the place.
  export_ = nullptr;
  counted_.Finish(status, "");
  gate_->Audit(
      caller_.has_value() ? &*caller_ : nullptr,
      {.principal = {}, .peer = call_->peer().text, .operation = kOperation, .table = table_name_, .result = status});
  call_->Finish(ToRpcStatus(status));
}

}  // namespace armature::daemon
