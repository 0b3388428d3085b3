#include "daemon/grpc/item_service.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/time/time.h"
#include "daemon/api/group_messages.h"
#include "daemon/api/item_messages.h"
#include "daemon/grpc/byte_buffers.h"
#include "storage/model/wire.h"

namespace armature::daemon {
namespace {

using Reactor = grpc::ServerUnaryReactor;
using Context = grpc::CallbackServerContext;

// Field 1 of every answer holds its item or items.
constexpr uint32_t kAnswerItemField = 1;

engine::RequestContext MakeContext(Context* context) {
  engine::RequestContext made;
  if (context->deadline() != std::chrono::system_clock::time_point::max()) {
    made.deadline = absl::FromChrono(context->deadline());
  }
  made.cancelled = [context] { return context->IsCancelled(); };
  return made;
}

// Writes the items of a page straight into the answer.
class AnswerPage final : public engine::PageWriter {
 public:
  // `limit`: of the request.
  explicit AnswerPage(std::optional<int64_t> limit) : limit_(limit.value_or(kExpectedItemsMax)) {}

  void Add(std::string_view item_bytes) override {
    if (bytes_.empty()) Reserve(item_bytes.size());
    model::AppendBytesField(kAnswerItemField, item_bytes, &bytes_);
  }
  void Clear() override { bytes_.clear(); }
  std::string Take(std::string_view rest) {
    bytes_.append(rest);
    return std::move(bytes_);
  }

 private:
  // Items of a page look alike: room for all of them spares copying the page each time it doubles.
  static constexpr int64_t kExpectedItemsMax = 100;
  static constexpr size_t kReserveBytesMax = 256 << 10;
  static constexpr size_t kFrameBytes = 16;

  void Reserve(size_t first_item_bytes) {
    const auto items = static_cast<size_t>(std::clamp<int64_t>(limit_, 1, kExpectedItemsMax));
    bytes_.reserve(std::min((items + 1) * (first_item_bytes + kFrameBytes), kReserveBytesMax));
  }

  const int64_t limit_;
  std::string bytes_;
};

engine::Callback<engine::GetItemResult> AnswerGet(const Caller& caller, grpc::ByteBuffer* response) {
  return [caller, response](absl::StatusOr<engine::GetItemResult> result) {
    if (!result.ok()) return caller.Finish(result.status());
    std::string rest = SerializeRest(*result);
    *response = result->item.has_value() ? FieldAndRest(kAnswerItemField, result->item->view(), rest)
                                         : TakeBytes(std::move(rest));
    caller.Finish(absl::OkStatus());
  };
}

engine::Callback<engine::WriteResult> AnswerWrite(const Caller& caller, grpc::ByteBuffer* response) {
  return [caller, response](absl::StatusOr<engine::WriteResult> result) {
    if (!result.ok()) return caller.Finish(result.status());
    std::string rest = SerializeRest(*result);
    *response = result->attributes.has_value() ? FieldAndRest(kAnswerItemField, result->attributes->view(), rest)
                                               : TakeBytes(std::move(rest));
    caller.Finish(absl::OkStatus());
  };
}

engine::Callback<engine::ReadResult> AnswerRead(const Caller& caller, grpc::ByteBuffer* response,
                                                std::shared_ptr<AnswerPage> page) {
  return [caller, response, page = std::move(page)](absl::StatusOr<engine::ReadResult> result) {
    if (!result.ok()) return caller.Finish(result.status());
    *response = TakeBytes(page->Take(SerializeRest(*result)));
    caller.Finish(absl::OkStatus());
  };
}

template <class Result>
engine::Callback<Result> AnswerGroup(const Caller& caller, grpc::ByteBuffer* response) {
  return [caller, response](absl::StatusOr<Result> result) {
    if (!result.ok()) return caller.Finish(result.status());
    *response = TakeBytes(Serialize(*result));
    caller.Finish(absl::OkStatus());
  };
}

// Asks for each member of a request; one without members needs nothing but the operation itself.
class TableRights {
 public:
  TableRights(const Caller& caller, std::string_view operation) : caller_(caller), operation_(operation) {}

  void Ask(std::string_view operation, const std::optional<std::string>& table) {
    if (engine_.ok() || !asked_) engine_ = caller_.Allow(operation, table.value_or(""));
    asked_ = true;
  }
  // Runs `run(engine)` if everything is allowed, and otherwise ends the call.
  template <class Run>
  void RunAllowed(Run run) {
    if (!asked_) Ask(operation_, std::nullopt);
    if (!engine_.ok()) return caller_.Finish(engine_.status());
    run(**engine_);
  }

 private:
  const Caller& caller_;
  const std::string_view operation_;
  bool asked_ = false;
  absl::StatusOr<engine::Engine*> engine_ = nullptr;
};

template <class Request, class Run>
void RunBatch(const Caller& caller, std::string_view operation, absl::StatusOr<Request> parsed, Run run) {
  if (!parsed.ok()) return caller.Finish(parsed.status());
  TableRights rights(caller, operation);
  for (const auto& table : parsed->tables) rights.Ask(operation, table.table_name);
  rights.RunAllowed([&](engine::Engine& engine) { run(engine, *std::move(parsed)); });
}

}  // namespace

Reactor* ItemService::GetItem(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return gate_->Admit(context, [context, request, response](const Caller& caller) {
    RunAllowed(caller, "GetItem", ParseGetItem(MessageBytes(*request).view()),
               [&](engine::Engine& engine, engine::GetItemRequest parsed) {
                 engine.GetItem(MakeContext(context), std::move(parsed), AnswerGet(caller, response));
               });
  });
}

Reactor* ItemService::PutItem(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return gate_->Admit(context, [context, request, response](const Caller& caller) {
    RunAllowed(caller, "PutItem", ParsePutItem(MessageBytes(*request).view()),
               [&](engine::Engine& engine, engine::WriteRequest parsed) {
                 engine.PutItem(MakeContext(context), std::move(parsed), AnswerWrite(caller, response));
               });
  });
}

Reactor* ItemService::UpdateItem(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return gate_->Admit(context, [context, request, response](const Caller& caller) {
    RunAllowed(caller, "UpdateItem", ParseUpdateItem(MessageBytes(*request).view()),
               [&](engine::Engine& engine, engine::WriteRequest parsed) {
                 engine.UpdateItem(MakeContext(context), std::move(parsed), AnswerWrite(caller, response));
               });
  });
}

Reactor* ItemService::DeleteItem(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return gate_->Admit(context, [context, request, response](const Caller& caller) {
    RunAllowed(caller, "DeleteItem", ParseDeleteItem(MessageBytes(*request).view()),
               [&](engine::Engine& engine, engine::WriteRequest parsed) {
                 engine.DeleteItem(MakeContext(context), std::move(parsed), AnswerWrite(caller, response));
               });
  });
}

Reactor* ItemService::Query(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return gate_->Admit(context, [context, request, response](const Caller& caller) {
    RunAllowed(caller, "Query", ParseQuery(MessageBytes(*request).view()),
               [&](engine::Engine& engine, engine::ReadRequest parsed) {
                 auto page = std::make_shared<AnswerPage>(parsed.limit);
                 engine.Query(MakeContext(context), std::move(parsed), page.get(), AnswerRead(caller, response, page));
               });
  });
}

Reactor* ItemService::Scan(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return gate_->Admit(context, [context, request, response](const Caller& caller) {
    RunAllowed(caller, "Scan", ParseScan(MessageBytes(*request).view()),
               [&](engine::Engine& engine, engine::ReadRequest parsed) {
                 auto page = std::make_shared<AnswerPage>(parsed.limit);
                 engine.Scan(MakeContext(context), std::move(parsed), page.get(), AnswerRead(caller, response, page));
               });
  });
}

Reactor* ItemService::BatchGetItem(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return gate_->Admit(context, [context, request, response](const Caller& caller) {
    RunBatch(caller, "BatchGetItem", ParseBatchGetItem(MessageBytes(*request).view()),
             [&](engine::Engine& engine, engine::BatchGetRequest parsed) {
               engine.BatchGetItem(MakeContext(context), std::move(parsed),
                                   AnswerGroup<engine::BatchGetResult>(caller, response));
             });
  });
}

Reactor* ItemService::BatchWriteItem(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return gate_->Admit(context, [context, request, response](const Caller& caller) {
    RunBatch(caller, "BatchWriteItem", ParseBatchWriteItem(MessageBytes(*request).view()),
             [&](engine::Engine& engine, engine::BatchWriteRequest parsed) {
               engine.BatchWriteItem(MakeContext(context), std::move(parsed),
                                     AnswerGroup<engine::BatchWriteResult>(caller, response));
             });
  });
}

Reactor* ItemService::TransactGetItems(Context* context, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
  return gate_->Admit(context, [context, request, response](const Caller& caller) {
    auto parsed = ParseTransactGetItems(MessageBytes(*request).view());
    if (!parsed.ok()) return caller.Finish(parsed.status());
    TableRights rights(caller, "TransactGetItems");
    for (const engine::TransactGet& get : parsed->gets) rights.Ask(engine::kTransactGetOperation, get.get.table_name);
    rights.RunAllowed([&](engine::Engine& engine) {
      engine.TransactGetItems(MakeContext(context), *std::move(parsed),
                              AnswerGroup<engine::TransactGetResult>(caller, response));
    });
  });
}

Reactor* ItemService::TransactWriteItems(Context* context, const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) {
  return gate_->Admit(context, [context, request, response](const Caller& caller) {
    auto parsed = ParseTransactWriteItems(MessageBytes(*request).view());
    if (!parsed.ok()) return caller.Finish(parsed.status());
    TableRights rights(caller, "TransactWriteItems");
    for (const engine::TransactAction& action : parsed->actions) {
      rights.Ask(engine::SingleOperation(action.kind), action.write.table_name);
    }
    rights.RunAllowed([&](engine::Engine& engine) {
      engine.TransactWriteItems(MakeContext(context), *std::move(parsed),
                                AnswerGroup<engine::TransactWriteResult>(caller, response));
    });
  });
}

}  // namespace armature::daemon
