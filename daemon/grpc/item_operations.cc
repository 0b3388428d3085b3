#include "daemon/grpc/item_operations.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "daemon/api/group_messages.h"
#include "daemon/api/item_messages.h"
#include "daemon/grpc/byte_buffers.h"
#include "storage/model/wire.h"

namespace armature::daemon {
namespace {

// Field 1 of every answer holds the item or items.
constexpr uint32_t kAnswerItemField = 1;

// Writes the items of a page directly into the answer.
class AnswerPage final : public engine::PageWriter {
 public:
  // `limit`: the limit of the request.
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
  // Items of a page have similar sizes. Reserving room for all avoids copies when the buffer grows.
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

void Fail(ItemAnswer answer, const absl::Status& status) { std::move(answer)(status, grpc::ByteBuffer()); }

// A response with at most one item.
grpc::ByteBuffer ItemAndRest(const std::optional<std::string_view>& item, std::string rest) {
  return item.has_value() ? FieldAndRest(kAnswerItemField, *item, rest) : TakeBytes(std::move(rest));
}

engine::Callback<engine::GetItemResult> AnswerGet(ItemAnswer answer) {
  return [answer = std::move(answer)](absl::StatusOr<engine::GetItemResult> result) mutable {
    if (!result.ok()) return Fail(std::move(answer), result.status());
    std::optional<std::string_view> item;
    if (result->item.has_value()) item = result->item->view();
    std::move(answer)(absl::OkStatus(), ItemAndRest(item, SerializeRest(*result)));
  };
}

engine::Callback<engine::WriteResult> AnswerWrite(ItemAnswer answer) {
  return [answer = std::move(answer)](absl::StatusOr<engine::WriteResult> result) mutable {
    if (!result.ok()) return Fail(std::move(answer), result.status());
    std::optional<std::string_view> item;
    if (result->attributes.has_value()) item = result->attributes->view();
    std::move(answer)(absl::OkStatus(), ItemAndRest(item, SerializeRest(*result)));
  };
}

engine::Callback<engine::ReadResult> AnswerRead(ItemAnswer answer, std::shared_ptr<AnswerPage> page) {
  return [answer = std::move(answer), page = std::move(page)](absl::StatusOr<engine::ReadResult> result) mutable {
    if (!result.ok()) return Fail(std::move(answer), result.status());
    std::move(answer)(absl::OkStatus(), TakeBytes(page->Take(SerializeRest(*result))));
  };
}

template <class Result>
engine::Callback<Result> AnswerGroup(ItemAnswer answer) {
  return [answer = std::move(answer)](absl::StatusOr<Result> result) mutable {
    if (!result.ok()) return Fail(std::move(answer), result.status());
    std::move(answer)(absl::OkStatus(), TakeBytes(Serialize(*result)));
  };
}

// The engine, if the caller is authorised. Errors: AccessDeniedException.
absl::StatusOr<engine::Engine*> Allow(const ItemCall& call, std::string_view operation,
                                      const std::optional<std::string>& table) {
  const std::string_view name = table.has_value() ? std::string_view(*table) : std::string_view();
  if (call.context.trace != nullptr) call.context.trace->set_table(name);
  return call.caller.Allow(operation, name);
}

// Calls `run(engine, call, request)` with the parsed request, if the caller is authorised.
template <class Request, class Run>
void RunAllowed(ItemCall call, std::string_view operation, absl::StatusOr<Request> parsed, Run run) {
  if (!parsed.ok()) return Fail(std::move(call.answer), parsed.status());
  const absl::StatusOr<engine::Engine*> engine = Allow(call, operation, parsed->table_name);
  if (!engine.ok()) return Fail(std::move(call.answer), engine.status());
  run(**engine, std::move(call), *std::move(parsed));
}

// Authorises each member of a request. A request without members needs the permission for the operation itself.
class TableRights {
 public:
  TableRights(const ItemCall& call, std::string_view operation) : call_(call), operation_(operation) {}

  void Ask(std::string_view operation, const std::optional<std::string>& table) {
    if (engine_.ok() || !asked_) engine_ = Allow(call_, operation, table);
    asked_ = true;
  }
  // The engine, if all members are authorised. Errors: AccessDeniedException.
  absl::StatusOr<engine::Engine*> Engine() {
    if (!asked_) Ask(operation_, std::nullopt);
    return engine_;
  }

 private:
  const ItemCall& call_;
  const std::string_view operation_;
  bool asked_ = false;
  absl::StatusOr<engine::Engine*> engine_ = nullptr;
};

// Runs a batch or transaction. `ask(request, rights)` authorises its members.
template <class Request, class Ask, class Run>
void RunGroup(ItemCall call, std::string_view operation, absl::StatusOr<Request> parsed, Ask ask, Run run) {
  if (!parsed.ok()) return Fail(std::move(call.answer), parsed.status());
  TableRights rights(call, operation);
  ask(*parsed, rights);
  const absl::StatusOr<engine::Engine*> engine = rights.Engine();
  if (!engine.ok()) return Fail(std::move(call.answer), engine.status());
  run(**engine, std::move(call), *std::move(parsed));
}

}  // namespace

void GetItem(ItemCall call, std::string_view request) {
  RunAllowed(std::move(call), "GetItem", ParseGetItem(request),
             [](engine::Engine& engine, ItemCall allowed, engine::GetItemRequest parsed) {
               engine.GetItem(allowed.context, std::move(parsed), AnswerGet(std::move(allowed.answer)));
             });
}

void PutItem(ItemCall call, std::string_view request) {
  RunAllowed(std::move(call), "PutItem", ParsePutItem(request),
             [](engine::Engine& engine, ItemCall allowed, engine::WriteRequest parsed) {
               engine.PutItem(std::move(allowed.context), std::move(parsed), AnswerWrite(std::move(allowed.answer)));
             });
}

void UpdateItem(ItemCall call, std::string_view request) {
  RunAllowed(std::move(call), "UpdateItem", ParseUpdateItem(request),
             [](engine::Engine& engine, ItemCall allowed, engine::WriteRequest parsed) {
               engine.UpdateItem(std::move(allowed.context), std::move(parsed), AnswerWrite(std::move(allowed.answer)));
             });
}

void DeleteItem(ItemCall call, std::string_view request) {
  RunAllowed(std::move(call), "DeleteItem", ParseDeleteItem(request),
             [](engine::Engine& engine, ItemCall allowed, engine::WriteRequest parsed) {
               engine.DeleteItem(std::move(allowed.context), std::move(parsed), AnswerWrite(std::move(allowed.answer)));
             });
}

void Query(ItemCall call, std::string_view request) {
  RunAllowed(std::move(call), "Query", ParseQuery(request),
             [](engine::Engine& engine, ItemCall allowed, engine::ReadRequest parsed) {
               auto page = std::make_shared<AnswerPage>(parsed.limit);
               engine.Query(std::move(allowed.context), std::move(parsed), page.get(),
                            AnswerRead(std::move(allowed.answer), page));
             });
}

void Scan(ItemCall call, std::string_view request) {
  RunAllowed(std::move(call), "Scan", ParseScan(request),
             [](engine::Engine& engine, ItemCall allowed, engine::ReadRequest parsed) {
               auto page = std::make_shared<AnswerPage>(parsed.limit);
               engine.Scan(std::move(allowed.context), std::move(parsed), page.get(),
                           AnswerRead(std::move(allowed.answer), page));
             });
}

void BatchGetItem(ItemCall call, std::string_view request) {
  RunGroup(
      std::move(call), "BatchGetItem", ParseBatchGetItem(request),
      [](const engine::BatchGetRequest& parsed, TableRights& rights) {
        for (const auto& table : parsed.tables) rights.Ask("BatchGetItem", table.table_name);
      },
      [](engine::Engine& engine, ItemCall allowed, engine::BatchGetRequest parsed) {
        engine.BatchGetItem(std::move(allowed.context), std::move(parsed),
                            AnswerGroup<engine::BatchGetResult>(std::move(allowed.answer)));
      });
}

void BatchWriteItem(ItemCall call, std::string_view request) {
  RunGroup(
      std::move(call), "BatchWriteItem", ParseBatchWriteItem(request),
      [](const engine::BatchWriteRequest& parsed, TableRights& rights) {
        for (const auto& table : parsed.tables) rights.Ask("BatchWriteItem", table.table_name);
      },
      [](engine::Engine& engine, ItemCall allowed, engine::BatchWriteRequest parsed) {
        engine.BatchWriteItem(std::move(allowed.context), std::move(parsed),
                              AnswerGroup<engine::BatchWriteResult>(std::move(allowed.answer)));
      });
}

void TransactGetItems(ItemCall call, std::string_view request) {
  RunGroup(
      std::move(call), "TransactGetItems", ParseTransactGetItems(request),
      [](const engine::TransactGetRequest& parsed, TableRights& rights) {
        for (const auto& get : parsed.gets) rights.Ask(engine::kTransactGetOperation, get.get.table_name);
      },
      [](engine::Engine& engine, ItemCall allowed, engine::TransactGetRequest parsed) {
        engine.TransactGetItems(std::move(allowed.context), std::move(parsed),
                                AnswerGroup<engine::TransactGetResult>(std::move(allowed.answer)));
      });
}

void TransactWriteItems(ItemCall call, std::string_view request) {
  RunGroup(
      std::move(call), "TransactWriteItems", ParseTransactWriteItems(request),
      [](const engine::TransactWriteRequest& parsed, TableRights& rights) {
        for (const auto& action : parsed.actions) {
          rights.Ask(engine::SingleOperation(action.kind), action.write.table_name);
        }
      },
      [](engine::Engine& engine, ItemCall allowed, engine::TransactWriteRequest parsed) {
        engine.TransactWriteItems(std::move(allowed.context), std::move(parsed),
                                  AnswerGroup<engine::TransactWriteResult>(std::move(allowed.answer)));
      });
}

}  // namespace armature::daemon
