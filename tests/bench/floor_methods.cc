#include "tests/bench/floor_methods.h"

#include <sys/resource.h>

#include <optional>
#include <string_view>
#include <utility>

#include "armature/admin/v1/admin.pb.h"
#include "armature/api/v1/tables.pb.h"
#include "rocksdb/write_batch.h"
#include "tests/bench/floor_rows.h"

namespace armature::bench {
namespace {

const std::string kItems = "/armature.api.v1.ItemService/";

// Adds a method that answers with a message.
template <class Request, class Response>
void AddMessage(std::string path, std::function<Response(const Request&)> answer, FloorMethods* methods) {
  methods->unary.push_back({std::move(path), [answer = std::move(answer)](std::string bytes, FloorReply reply) {
                              Request request;
                              if (!request.ParseFromString(bytes)) return std::move(reply)(std::nullopt);
                              std::move(reply)(answer(request).SerializeAsString());
                            }});
}

admin::v1::GetServerInfoResponse ServerInfo(const std::string& name) {
  admin::v1::GetServerInfoResponse info;
  rusage use = {};
  getrusage(RUSAGE_SELF, &use);
  info.set_version(name);
  info.set_cpu_user_us(use.ru_utime.tv_sec * 1'000'000 + use.ru_utime.tv_usec);
  info.set_cpu_system_us(use.ru_stime.tv_sec * 1'000'000 + use.ru_stime.tv_usec);
  return info;
}

admin::v1::EchoResponse Echo(const admin::v1::EchoRequest& request) {
  admin::v1::EchoResponse response;
  response.set_payload(request.response_bytes() == 0 ? request.payload() : std::string(request.response_bytes(), 'x'));
  return response;
}

void AddAdminMethods(const std::string& name, FloorMethods* methods) {
  using admin::v1::GetServerInfoRequest;
  using admin::v1::GetServerInfoResponse;
  const std::string path = "/armature.admin.v1.AdminService/";
  AddMessage<GetServerInfoRequest, GetServerInfoResponse>(
      path + "GetServerInfo", [name](const GetServerInfoRequest&) { return ServerInfo(name); }, methods);
  AddMessage<admin::v1::EchoRequest, admin::v1::EchoResponse>(path + "Echo", Echo, methods);
}

void AddTableMethods(FloorMethods* methods) {
  using api::v1::CreateTableRequest;
  using api::v1::CreateTableResponse;
  using api::v1::DeleteTableRequest;
  using api::v1::DeleteTableResponse;
  using api::v1::DescribeTableRequest;
  using api::v1::DescribeTableResponse;
  const std::string path = "/armature.api.v1.TableService/";
  AddMessage<CreateTableRequest, CreateTableResponse>(
      path + "CreateTable", [](const CreateTableRequest&) { return CreateTableResponse(); }, methods);
  AddMessage<DeleteTableRequest, DeleteTableResponse>(
      path + "DeleteTable", [](const DeleteTableRequest&) { return DeleteTableResponse(); }, methods);
  AddMessage<DescribeTableRequest, DescribeTableResponse>(
      path + "DescribeTable",
      [](const DescribeTableRequest& request) {
        DescribeTableResponse response;
        response.mutable_table()->set_table_name(request.table_name());
        response.mutable_table()->set_table_status(api::v1::TABLE_STATUS_ACTIVE);
        return response;
      },
      methods);
}

struct WriteOperation {
  const char* name;
  size_t rows;
  size_t looked_up;
  size_t empty_rows;
};

void AddWrites(const FloorOptions& options, rocksdb::DB* db, FloorWriter* writer, FloorMethods* methods) {
  const WriteOperation bare[] = {
      {"PutItem", options.rows, 0, 0}, {"BatchWriteItem", 25, 0, 0}, {"TransactWriteItems", 4, 0, 0}};
  const WriteOperation model[] = {
      {"PutItem", options.rows, 1, 0}, {"BatchWriteItem", 25, 25, 0}, {"TransactWriteItems", 4, 5, 2}};
  for (const WriteOperation& each : options.has_lookups ? model : bare) {
    methods->unary.push_back({kItems + each.name, [db, writer, each](std::string request, FloorReply reply) {
                                std::vector<std::string> keys = writer->NewKeys(each.rows + each.empty_rows);
                                for (size_t i = 0; i < each.looked_up; ++i) LookUp(db, keys[i]);
                                writer->Write(std::move(keys), each.rows, std::move(request), std::move(reply));
                              }});
  }
  methods->pipeline = [db, writer, looks_up = options.has_lookups](std::string request, FloorReply reply) {
    std::vector<std::string> keys = writer->NewKeys(1);
    if (looks_up) LookUp(db, keys[0]);
    writer->Write(std::move(keys), 1, std::move(request), std::move(reply));
  };
}

void AddReads(rocksdb::DB* db, FloorWriter* writer, FloorMethods* methods) {
  methods->unary.push_back({kItems + "PutItem", [writer](const std::string& request, FloorReply reply) {
                              std::optional<FloorRow> row = RowOfPut(request);
                              if (!row.has_value()) return std::move(reply)(std::nullopt);
                              writer->Write({std::move(row->key)}, 1, std::move(row->value), std::move(reply));
                            }});
  // Only loads items, and may wait for the disk here.
  methods->unary.push_back({kItems + "BatchWriteItem", [db](const std::string& request, FloorReply reply) {
                              const std::optional<std::vector<FloorRow>> rows = RowsOfBatch(request);
                              if (!rows.has_value()) return std::move(reply)(std::nullopt);
                              rocksdb::WriteBatch batch;
                              for (const FloorRow& row : *rows) CheckFloor(batch.Put(row.key, row.value));
                              CheckFloor(db->Write(rocksdb::WriteOptions(), &batch));
                              std::move(reply)(std::string());
                            }});
  const std::pair<const char*, std::string (*)(rocksdb::DB*, std::string_view)> operations[] = {
      {"GetItem", AnswerGet}, {"Query", AnswerQuery}, {"Scan", AnswerScan}};
  for (const auto& [name, answer] : operations) {
    methods->unary.push_back({kItems + name, [db, answer = answer](const std::string& request, FloorReply reply) {
                                std::move(reply)(answer(db, request));
                              }});
  }
}

}  // namespace

FloorMethods MakeFloorMethods(const FloorOptions& options, rocksdb::DB* db, FloorWriter* writer) {
  FloorMethods methods;
  AddAdminMethods(options.name, &methods);
  AddTableMethods(&methods);
  options.is_for_reads ? AddReads(db, writer, &methods) : AddWrites(options, db, writer, &methods);
  return methods;
}

}  // namespace armature::bench
