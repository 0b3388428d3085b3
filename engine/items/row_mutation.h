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
#include "engine/items/item_key.h"
#include "engine/items/request.h"
#include "engine/parts.h"
#include "storage/codec/item_codec.h"
#include "storage/model/item_view.h"

namespace armature::engine {

// The text for an item that is too large.
inline constexpr std::string_view kItemTooLarge = "Item size has exceeded the maximum allowed size";

// The part of a single-item write that is specific to its kind (put, update, delete, condition check), alone or in a
// batch or transaction. MakeMutation does the static checks. All methods are const, because a write may run twice
// one day.
//
// Thread-safety: owned by one request. Its methods run one after another, on different threads.
class RowMutation {
 public:
  RowMutation(WriteKind kind, WriteRequest&& request) : kind_(kind), request_(std::move(request)) {}
  virtual ~RowMutation() = default;

  // is_put: the whole item is replaced. writes: false if only the condition is checked.
  bool is_put() const { return kind_ == WriteKind::kPut; }
  bool writes() const { return kind_ != WriteKind::kConditionCheck; }
  // True for the deletion of an item that has expired: nobody asked for it.
  virtual bool is_expiry() const { return false; }
  const WriteRequest& request() const { return request_; }
  // The whole request again, for a mutation whose static checks failed. They may have taken the item.
  WriteRequest TakeRequest() && {
    if (!given_.bytes.empty()) request_.item_wire = std::move(given_.bytes);
    return std::move(request_);
  }
  // Null if the request has no expressions.
  const RequestExpressions* expressions() const { return expressions_.get(); }

  // The item of a put, or the key of another write, in canonical bytes. Has the key attributes if EncodeKey returned
  // OK.
  model::ItemView item_or_key() const { return given_.view(); }
  // Checks that no attribute that is a key of the table or of an index is given as an empty string or binary. Needs
  // nothing but the request. Errors: ValidationException.
  virtual absl::Status CheckGivenKeys(const store::Table& table) const {
    return CheckNoEmptyKeys(table, item_or_key());
  }
  // Checks the key attributes against the schema of the table and returns the row key.
  virtual absl::StatusOr<std::string> EncodeKey(const store::Table& table) const = 0;
  // Checks the other attributes that the schema concerns: keys of indexes, and the targets of an update. EncodeKey
  // returned OK.
  virtual absl::Status CheckSchema(const store::Table& /*table*/) const { return absl::OkStatus(); }
  // The item after the write, or null if there is none: `made` if Apply wrote it there, or an item of this mutation.
  virtual absl::StatusOr<const codec::CanonicalItem*> Apply(const std::optional<model::ItemView>& before,
                                                            codec::CanonicalItem* made) const = 0;
  // Checks the result of Apply against rules of the table that CheckSchema could not check. `created`: no item existed
  // before.
  virtual absl::Status CheckResult(const store::Table&, const codec::CanonicalItem&, bool /*created*/) const {
    return absl::OkStatus();
  }
  // Error text for an item that is too large, alone or with its local index entries.
  virtual std::string_view TooLargeText() const { return kItemTooLarge; }
  // The attributes of `item` to return, in canonical bytes, for UPDATED_OLD (`item` before the write) and UPDATED_NEW
  // (`item` after it). Empty: none. Called only for mutations that allow these modes.
  virtual std::string UpdatedPart(const model::ItemView&) const { return {}; }

 protected:
  const WriteKind kind_;
  WriteRequest request_;
  codec::CanonicalItem given_;  // the item of a put, or the key of another write
  std::unique_ptr<RequestExpressions> expressions_;
};

// Runs `mutation` through the write path. `done` is called once.
//
// The row lock is held from before the read until the commit is durable, or queued if others wait for the row
// (row_commit.h). The answer is given when the commit is durable, in each case. No thread blocks meanwhile. On error
// nothing was written.
void RunMutation(Parts* parts, RequestContext context, std::unique_ptr<const RowMutation> mutation,
                 Callback<WriteResult> done);

// The layer of the operation that does such a write alone.
constexpr ValidationLayer LayerOf(WriteKind kind) {
  if (kind == WriteKind::kPut) return LayerOf(ItemOperation::kPutItem);
  return LayerOf(kind == WriteKind::kUpdate ? ItemOperation::kUpdateItem : ItemOperation::kDeleteItem);
}

// Makes a mutation after the static checks, whose errors it returns as `layer` words them. `request` is moved from in
// each case; it is large, so it is moved once. `cache` is used during the call only.
absl::StatusOr<std::unique_ptr<const RowMutation>> MakeMutation(WriteKind kind, WriteRequest&& request,
                                                                ValidationLayer layer, expr::ParseCache* cache);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_ROW_MUTATION_H_
