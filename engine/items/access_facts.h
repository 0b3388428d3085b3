#ifndef ARMATURE_ENGINE_ITEMS_ACCESS_FACTS_H_
#define ARMATURE_ENGINE_ITEMS_ACCESS_FACTS_H_

// The rights that a request needs, and the facts of it on which the conditions of policies depend.
//
// A right is asked for before the request is executed, and its facts are determined by the catalog at that time. Facts
// of a request that is invalid, or whose table is missing, are an error; then no condition permits it.

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/access/facts.h"
#include "engine/items/request.h"
#include "storage/model/item_view.h"
#include "storage/store/database.h"

namespace armature::engine {

// Determines the facts of a right. Cost: that of the checks of a request before its rows are read.
using FactsMaker = absl::FunctionRef<absl::StatusOr<access::Facts>(const store::Database&)>;

absl::StatusOr<access::Facts> NoFactsOf(const store::Database& database);

// A right that a request needs. Lifetime: used during a call only.
struct NeededRight {
  std::string_view operation;
  std::string_view table;  // name or ARN, as sent; empty: none
  std::string_view index = {};
  FactsMaker facts = NoFactsOf;
};

using RightCheck = absl::FunctionRef<absl::Status(const NeededRight&)>;

// Call `check` for each right that `request` needs, until one is refused. Batches and transactions need a right for
// each element, or without elements the right to the operation itself. A missing name is empty. Elements beyond the
// greatest number that a request may have are not checked: the engine refuses the request.
absl::Status CheckRights(std::string_view operation, const GetItemRequest& request, RightCheck check);
absl::Status CheckRights(std::string_view operation, const WriteRequest& request, RightCheck check);
absl::Status CheckRights(std::string_view operation, const ReadRequest& request, RightCheck check);
absl::Status CheckRights(std::string_view operation, const BatchGetRequest& request, RightCheck check);
absl::Status CheckRights(std::string_view operation, const BatchWriteRequest& request, RightCheck check);
absl::Status CheckRights(std::string_view operation, const TransactGetRequest& request, RightCheck check);
absl::Status CheckRights(std::string_view operation, const TransactWriteRequest& request, RightCheck check);

// The facts of one request. `is_scan`: of Scan, else of Query.
absl::StatusOr<access::Facts> FactsOf(const store::Database& database, const GetItemRequest& request);
absl::StatusOr<access::Facts> FactsOf(const store::Database& database, WriteKind kind, const WriteRequest& request);
absl::StatusOr<access::Facts> FactsOf(const store::Database& database, bool is_scan, const ReadRequest& request);

// A value of the leading key as policies write it: a string itself, a number in plain decimals, a binary in base64.
std::string LeadingKeyText(const model::ValueView& value);

// Adds the values of `from` to those of `to`, each once.
void MergeFacts(const access::Facts& from, access::Facts* to);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_ACCESS_FACTS_H_
