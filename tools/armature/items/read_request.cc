#include "tools/armature/items/read_request.h"

#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/condition_text.h"
#include "tools/armature/items/item_argument.h"
#include "tools/armature/items/key_terms.h"

namespace armature::cli {
namespace {

// Sets everything but the key condition. `filter`: that of the terms.
template <class Request>
absl::Status FillRead(const Session& session, const ReadRequest& read, std::string filter, ExpressionWriter* writer,
                      Request* request) {
  request->set_table_name(read.target.table);
  if (!read.target.index.empty()) request->set_index_name(read.target.index);
  request->set_consistent_read(read.is_consistent);
  if (!read.where.empty()) {
    ARM_ASSIGN_OR_RETURN(const std::string where,
                         ExplainFault(session, "--where", read.where, writer->Condition(read.where)));
    filter = filter.empty() ? where : Cat(filter, " AND (", where, ")");
  }
  if (!filter.empty()) request->set_filter_expression(filter);
  if (!read.select.empty()) {
    ARM_ASSIGN_OR_RETURN(const std::string paths,
                         ExplainFault(session, "--select", read.select, writer->Paths(read.select)));
    request->set_projection_expression(paths);
  }
  writer->SetPlaceholders(request);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<api::v1::QueryRequest> MakeQuery(const Session& session, const TargetKeys& keys,
                                                const ReadRequest& read) {
  ExpressionWriter writer;
  ARM_ASSIGN_OR_RETURN(const ReadExpressions terms, QueryTerms(keys, read.terms, &writer));
  api::v1::QueryRequest request;
  request.set_key_condition_expression(terms.key);
  if (read.is_reversed) request.set_scan_index_forward(false);
  ARM_RETURN_IF_ERROR(FillRead(session, read, terms.filter, &writer, &request));
  return request;
}

absl::StatusOr<api::v1::ScanRequest> MakeScan(const Session& session, const TargetKeys& keys, const ReadRequest& read) {
  ExpressionWriter writer;
  ARM_ASSIGN_OR_RETURN(const ReadExpressions terms, ScanTerms(keys, read.terms, &writer));
  api::v1::ScanRequest request;
  ARM_RETURN_IF_ERROR(FillRead(session, read, terms.filter, &writer, &request));
  return request;
}

absl::StatusOr<std::vector<std::string>> SelectedAttributes(const Session& session, const ReadRequest& read) {
  std::vector<std::string> attributes;
  if (read.select.empty()) return attributes;
  ExpressionWriter writer;
  ARM_RETURN_IF_ERROR(ExplainFault(session, "--select", read.select, writer.Paths(read.select, &attributes)).status());
  return attributes;
}

}  // namespace armature::cli
