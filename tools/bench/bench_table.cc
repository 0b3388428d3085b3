#include "tools/bench/bench_table.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <random>
#include <stdexcept>
#include <thread>

#include "armature/admin/v1/admin.grpc.pb.h"
#include "armature/api/v1/service.grpc.pb.h"
#include "tools/bench/request_template.h"
#include "tools/bench/workload.h"

namespace armature::bench {
namespace {

constexpr std::chrono::seconds kCallMax{30};
constexpr std::chrono::seconds kActiveMax{60};
constexpr std::chrono::milliseconds kPollEvery{20};

void SetDeadline(grpc::ClientContext* context) { context->set_deadline(std::chrono::system_clock::now() + kCallMax); }

void ThrowUnlessOk(const grpc::Status& status, const std::string& what) {
  if (status.ok()) return;
  throw std::runtime_error(what + ": gRPC code " + std::to_string(status.error_code()) + ": " + status.error_message());
}

bool IsActive(const api::v1::TableDescription& table) {
  const auto& indexes = table.global_secondary_indexes();
  return table.table_status() == api::v1::TABLE_STATUS_ACTIVE &&
         std::all_of(indexes.begin(), indexes.end(),
                     [](const auto& index) { return index.index_status() == api::v1::INDEX_STATUS_ACTIVE; });
}

}  // namespace

admin::v1::GetServerInfoResponse ServerInfo(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::ClientContext context;
  SetDeadline(&context);
  admin::v1::GetServerInfoResponse response;
  const auto stub = admin::v1::AdminService::NewStub(channel);
  ThrowUnlessOk(stub->GetServerInfo(&context, {}, &response), "GetServerInfo");
  return response;
}

BenchTable::BenchTable(std::shared_ptr<grpc::Channel> channel, const Options& options)
    : channel_(std::move(channel)), name_("armature_bench_" + KeyText(std::random_device{}())) {
  grpc::ClientContext context;
  SetDeadline(&context);
  api::v1::CreateTableResponse response;
  const auto stub = api::v1::TableService::NewStub(channel_);
  ThrowUnlessOk(stub->CreateTable(&context, TableSchema(options, name_), &response), "CreateTable");
  WaitUntilActive();
}

void BenchTable::WaitUntilActive() {
  const auto stub = api::v1::TableService::NewStub(channel_);
  const auto give_up = std::chrono::steady_clock::now() + kActiveMax;
  api::v1::DescribeTableRequest request;
  request.set_table_name(name_);
  while (true) {
    grpc::ClientContext context;
    SetDeadline(&context);
    api::v1::DescribeTableResponse response;
    ThrowUnlessOk(stub->DescribeTable(&context, request, &response), "DescribeTable");
    if (IsActive(response.table())) return;
    if (std::chrono::steady_clock::now() > give_up) {
      throw std::runtime_error(name_ + " does not become ACTIVE");
    }
    std::this_thread::sleep_for(kPollEvery);
  }
}

BenchTable::~BenchTable() {
  grpc::ClientContext context;
  SetDeadline(&context);
  api::v1::DeleteTableRequest request;
  request.set_table_name(name_);
  api::v1::DeleteTableResponse response;
  const grpc::Status status = api::v1::TableService::NewStub(channel_)->DeleteTable(&context, request, &response);
  if (!status.ok()) {
    std::cerr << "armature-bench: table " << name_ << " stays: " << status.error_message() << "\n";
  }
}

}  // namespace armature::bench
