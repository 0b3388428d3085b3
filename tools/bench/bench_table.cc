#include "tools/bench/bench_table.h"

#include <iostream>
#include <random>
#include <stdexcept>
#include <utility>

#include "absl/time/clock.h"
#include "armature/client/wait.h"
#include "tools/bench/request_template.h"
#include "tools/bench/workload.h"

namespace armature::bench {
namespace {

constexpr absl::Duration kActiveMax = absl::Seconds(60);

void ThrowUnlessOk(const absl::Status& status, const std::string& what) {
  if (!status.ok()) throw std::runtime_error(what + ": " + status.ToString());
}

}  // namespace

client::Client ConnectClient(const std::string& target) {
  absl::StatusOr<client::Client> client = client::Connect(target);
  ThrowUnlessOk(client.status(), target);
  return *std::move(client);
}

admin::v1::GetServerInfoResponse ServerInfo(const client::Client& client) {
  absl::StatusOr<admin::v1::GetServerInfoResponse> response = client.GetServerInfo({});
  ThrowUnlessOk(response.status(), "GetServerInfo");
  return *std::move(response);
}

BenchTable::BenchTable(client::Client client, const Options& options)
    : client_(std::move(client)), name_("armature_bench_" + KeyText(std::random_device{}())) {
  ThrowUnlessOk(client_.CreateTable(TableSchema(options, name_)).status(), "CreateTable");
  ThrowUnlessOk(client::WaitForTable(client_, name_, absl::Now() + kActiveMax), "wait for the table");
}

BenchTable::~BenchTable() {
  api::v1::DeleteTableRequest request;
  request.set_table_name(name_);
  const absl::Status status = client_.DeleteTable(request).status();
  if (!status.ok()) std::cerr << "armature-bench: table " << name_ << " is not deleted: " << status << "\n";
}

}  // namespace armature::bench
