#ifndef ARMATURE_ENGINE_ITEMS_ROW_MUTATION_H_
#define ARMATURE_ENGINE_ITEMS_ROW_MUTATION_H_

// The one write path: lock, read, check, apply, index, commit.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "engine/items/expressions.h"
#include "engine/items/request.h"
#include "engine/parts.h"
#include "storage/codec/item_codec.h"
#include "storage/model/item_view.h"

namespace armature::engine {

// What is particular to one kind of write of one item, by itself or in a batch or transaction. The static checks are
// done when it exists; the rest is const, because it may one day run twice.
//
// Thread-safety: owned by one request; its methods run one after another, on different threads.
class RowMutation {
 public:
  virtual ~RowMutation() = default;

  const WriteRequest& request() const { return request_; }
  // Null if the request has no expressions.
  const RequestExpressions* expressions() const { return expressions_.get(); }

  // The item of a put, or the key of another write, in canonical bytes: has the key attributes, once EncodeKey was OK.
  virtual model::ItemView item_or_key() const = 0;
  // Schema checks against the table; the key of the row.
  virtual absl::StatusOr<std::string> EncodeKey(const store::Table& table) const = 0;
  // The item after the write, or nullopt if there is none. Valid as long as the mutation and `before` are.
  virtual absl::StatusOr<std::optional<codec::CanonicalItem>> Apply(
      const std::optional<model::ItemView>& before) const = 0;
  // Rules of the table for what Apply made, as far as EncodeKey could not judge it yet. `created`: no item was there.
  virtual absl::Status CheckResult(const store::Table&, const codec::CanonicalItem&, bool /*created*/) const {
    return absl::OkStatus();
  }
  // The error about an item that is too large, by itself or with its local index entries.
  virtual std::string_view TooLargeText() const { return "Item size has exceeded the maximum allowed size"; }
  // Whether it puts the whole item; whether it changes the row at all, or judges its condition only.
  virtual bool is_put() const { return false; }
  virtual bool writes() const { return true; }
  // What the answer shows of `item` with UPDATED_OLD (the item before) or UPDATED_NEW (the one after), in canonical
  // bytes; empty for nothing. Asked only of mutations that allow these modes.
  virtual std::string UpdatedPart(const model::ItemView&) const { return {}; }

 protected:
  explicit RowMutation(WriteRequest request) : request_(std::move(request)) {}

  WriteRequest request_;
  std::unique_ptr<RequestExpressions> expressions_;
};

// Checks that all writes share and that need no table: name, item or key (whose member is `item_path`), enumerations,
// parameter styles.
absl::Status CheckWriteRequest(const WriteRequest& request, std::string_view item_path);

// Carries `mutation` through the write path. `done` is called once.
//
// The row's lock is held from before the read until the commit is durable; nothing blocks meanwhile. On error nothing
// was written.
void RunMutation(Parts* parts, RequestContext context, std::unique_ptr<const RowMutation> mutation,
                 Callback<WriteResult> done);

// Factories; errors are those of the static checks. `cache` is used during the call only.
absl::StatusOr<std::unique_ptr<const RowMutation>> MakePutItem(WriteRequest request, expr::ParseCache* cache);
absl::StatusOr<std::unique_ptr<const RowMutation>> MakeUpdateItem(WriteRequest request, expr::ParseCache* cache);
absl::StatusOr<std::unique_ptr<const RowMutation>> MakeDeleteItem(WriteRequest request, expr::ParseCache* cache);
// An action of a transaction: judges the condition on an item that it does not write.
absl::StatusOr<std::unique_ptr<const RowMutation>> MakeConditionCheck(WriteRequest request, expr::ParseCache* cache);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_ROW_MUTATION_H_
