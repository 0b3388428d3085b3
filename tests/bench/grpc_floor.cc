// Cost of an operation on items over gRPC without a database: the daemon's shell of a call, its way to end calls, and
// RocksDB with the daemon's settings, with nothing of the data model between them. Requests are not parsed: a put
// writes the bytes of its request as one row, or as --rows rows of equal size together, under new keys. One thread
// writes what waits as one batch, synced, and ends the calls. It is the lower bound of `put`, `batch`, `transact` and
// `pipeline`. With --lookups, calls also do what the data model needs of the engine: each item is looked up before it
// is written, and a transaction looks up its token and writes two rows for it. With --reads, puts are parsed and stored
// under their keys, and `get`, `query` and `scan` copy stored rows into their answers, with none of the data model
// either: the lower bound of these.
//
//   grpc_floor --directory=DIR                          prints its address, and serves until SIGTERM
//   armature-bench --target=ADDRESS --workload=put
//
// armature-bench takes it for a daemon, so "times echo" is the floor of that column. DIR is created and must not exist:
// choose one on the disk to measure.

#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "armature/admin/v1/admin.pb.h"
#include "armature/api/v1/tables.pb.h"
#include "daemon/grpc/byte_buffers.h"
#include "daemon/grpc/call_ledger.h"
#include "daemon/grpc/guarded_call.h"
#include "daemon/grpc/unary_service.h"
#include "daemon/net/memory_budget.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/impl/service_type.h"
#include "rocksdb/db.h"
#include "rocksdb/write_batch.h"
#include "storage/base/lock_checks.h"
#include "storage/base/time_histogram.h"
#include "storage/store/options.h"
#include "storage/store/rocks_options.h"
#include "tests/bench/floor_pipeline.h"
#include "tests/bench/floor_rows.h"

ABSL_FLAG(std::string, directory, "", "Where to put the database; removed at the end.");
ABSL_FLAG(int, cache_mb, 256, "Size of the block cache.");
ABSL_FLAG(std::string, listen, "127.0.0.1:0", "Address of the server.");
ABSL_FLAG(int, rows, 1, "Rows that a put writes.");
ABSL_FLAG(bool, lookups, false, "Look up items before they are written, and keep the tokens of transactions.");
ABSL_FLAG(bool, reads, false, "Serve get, query and scan, and only puts of rows for them.");

namespace armature::bench {
namespace {

constexpr size_t kKeyBytes = 32;
constexpr size_t kBudgetBytes = size_t{1} << 30;

void Check(const rocksdb::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "grpc_floor: %s\n", status.ToString().c_str());
  std::exit(1);
}

// Writes what waits as one batch, again and again, on a thread of its own.
class Writer {
 public:
  using Done = std::function<void()>;

  explicit Writer(rocksdb::DB* db) : db_(db), thread_([this] { Loop(); }) {}
  ~Writer() {
    {
      const absl::MutexLock lock(&mutex_);
      is_stopped_ = true;
    }
    thread_.join();
  }

  // New keys, spread evenly. May be called by any thread.
  std::vector<std::string> NewKeys(size_t count) {
    std::vector<std::string> keys;
    for (size_t i = 0; i < count; ++i) {
      const std::string number = std::to_string(next_key_++ * 0x9E3779B97F4A7C15);
      keys.push_back(std::string(kKeyBytes - number.size(), '0') + number);
    }
    return keys;
  }

  // Calls `done` when the rows are durable: the first `parts` keys have parts of `bytes`, the others are empty.
  void Write(std::vector<std::string> keys, size_t parts, std::string bytes, Done done) {
    const absl::MutexLock lock(&mutex_);
    waiting_.push_back({std::move(keys), parts, std::move(bytes), std::move(done)});
  }

 private:
  struct Waiting {
    std::vector<std::string> keys;
    size_t parts = 1;
    std::string bytes;
    Done done;
  };

  void Loop() {
    std::vector<Waiting> group;
    rocksdb::WriteOptions options;
    options.sync = true;
    while (true) {
      {
        const auto has_work = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return is_stopped_ || !waiting_.empty(); };
        const absl::MutexLock lock(&mutex_, absl::Condition(&has_work));
        if (waiting_.empty()) return;
        group.clear();
        group.swap(waiting_);
      }
      rocksdb::WriteBatch batch;
      for (const Waiting& each : group) Append(each, &batch);
      Check(db_->Write(options, &batch));
      for (const Waiting& each : group) each.done();
    }
  }

  void Append(const Waiting& write, rocksdb::WriteBatch* batch) {
    const size_t part = write.bytes.size() / write.parts;
    for (size_t row = 0; row < write.keys.size(); ++row) {
      const rocksdb::Slice value(write.bytes.data() + row * part, row < write.parts ? part : 0);
      Check(batch->Put(write.keys[row], value));
    }
  }

  rocksdb::DB* const db_;
  absl::Mutex mutex_;
  std::vector<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  bool is_stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<uint64_t> next_key_ = 1;
  std::thread thread_;  // last: it uses the members above
};

// No client here is slow or cancels.
class NoTable final : public daemon::ConnectionTable {
 public:
  std::optional<daemon::TransferCounts> Transferred(const std::string&) const override { return std::nullopt; }
  void Break(const std::string&) override {}
  bool Bar(const std::string&) override { return false; }
  void LookAtAll(LookAt) override {}
  size_t connections() const override { return 0; }
  void Hasten() override {}
  std::optional<int64_t> SinceReceivedMs(const std::string&) const override { return std::nullopt; }
  uint64_t UnreadBytes(uint64_t) const override { return 0; }
};

// Methods by their paths, each served by a GuardedCall as in the daemon.
class FloorService final : public grpc::Service {
 public:
  // Ends the call now or later.
  using Serve = std::function<void(daemon::GuardedCall* call, const grpc::ByteBuffer& request)>;

  explicit FloorService(daemon::CallLedger* ledger) : ledger_(ledger) {}

  void Add(std::string path, Serve serve) {
    const auto number = static_cast<int>(paths_.size());
    paths_.push_back(std::move(path));
    AddMethod(new grpc::internal::RpcServiceMethod(paths_.back().c_str(), grpc::internal::RpcMethod::CLIENT_STREAMING,
                                                   nullptr));
    MarkMethodRawCallback(number,
                          new daemon::GuardedHandler([this, serve = std::move(serve)](daemon::OpenedCall* opened) {
                            auto* const call = new daemon::GuardedCall(ledger_, opened);
                            call->ReadRequest([call, serve](const grpc::Status& read) {
                              if (!read.ok()) return call->End(read);
                              call->Begin();
                              serve(call, call->TakeRequest());
                            });
                          }));
  }

  // A method that answers with a message.
  template <class Request, class Response>
  void AddMessage(std::string path, std::function<Response(const Request&)> answer) {
    Add(std::move(path), [answer = std::move(answer)](daemon::GuardedCall* call, const grpc::ByteBuffer& bytes) {
      Request request;
      if (!request.ParseFromString(std::string(daemon::MessageBytes(bytes).view()))) {
        return call->End(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "unreadable"));
      }
      const grpc::Slice slice(answer(request).SerializeAsString());
      *call->response() = grpc::ByteBuffer(&slice, 1);
      End(call);
    });
  }

  void AddPipeline(const char* path, const FloorPipeline::Write& write) {
    const auto number = static_cast<int>(paths_.size());
    paths_.emplace_back(path);
    AddMethod(new grpc::internal::RpcServiceMethod(paths_.back().c_str(), grpc::internal::RpcMethod::BIDI_STREAMING,
                                                   nullptr));
    using Handler = grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>;
    MarkMethodRawCallback(number, new Handler([this, write](grpc::CallbackServerContext*) {
                            return pipelines_.Open([write](daemon::StreamSet<FloorPipeline>::Ended ended) {
                              return std::make_shared<FloorPipeline>(write, std::move(ended));
                            });
                          }));
  }

  static void End(daemon::GuardedCall* call) {
    static_cast<void>(call->HoldResponse(/*may_refuse=*/false));
    call->End(grpc::Status::OK);
  }

 private:
  daemon::CallLedger* const ledger_;
  std::deque<std::string> paths_;  // gRPC keeps pointers to them
  daemon::StreamSet<FloorPipeline> pipelines_;
};

admin::v1::GetServerInfoResponse ServerInfo() {
  admin::v1::GetServerInfoResponse info;
  rusage use = {};
  getrusage(RUSAGE_SELF, &use);
  info.set_version("grpc_floor");
  info.set_cpu_user_us(use.ru_utime.tv_sec * 1'000'000 + use.ru_utime.tv_usec);
  info.set_cpu_system_us(use.ru_stime.tv_sec * 1'000'000 + use.ru_stime.tv_usec);
  return info;
}

admin::v1::EchoResponse Echo(const admin::v1::EchoRequest& request) {
  admin::v1::EchoResponse response;
  response.set_payload(request.response_bytes() == 0 ? request.payload() : std::string(request.response_bytes(), 'x'));
  return response;
}

void AddTableMethods(FloorService* service) {
  using api::v1::CreateTableRequest;
  using api::v1::CreateTableResponse;
  using api::v1::DeleteTableRequest;
  using api::v1::DeleteTableResponse;
  using api::v1::DescribeTableRequest;
  using api::v1::DescribeTableResponse;
  const std::string tables = "/armature.api.v1.TableService/";
  service->AddMessage<CreateTableRequest, CreateTableResponse>(
      tables + "CreateTable", [](const CreateTableRequest&) { return CreateTableResponse(); });
  service->AddMessage<DeleteTableRequest, DeleteTableResponse>(
      tables + "DeleteTable", [](const DeleteTableRequest&) { return DeleteTableResponse(); });
  service->AddMessage<DescribeTableRequest, DescribeTableResponse>(
      tables + "DescribeTable", [](const DescribeTableRequest& request) {
        DescribeTableResponse response;
        response.mutable_table()->set_table_name(request.table_name());
        response.mutable_table()->set_table_status(api::v1::TABLE_STATUS_ACTIVE);
        return response;
      });
}

struct WriteOperation {
  const char* name;
  size_t rows;
  size_t looked_up;
  size_t empty_rows;
};

void LookUp(rocksdb::DB* db, const std::string& key) {
  rocksdb::PinnableSlice value;
  const rocksdb::Status status = db->Get(rocksdb::ReadOptions(), db->DefaultColumnFamily(), key, &value);
  if (!status.IsNotFound()) Check(status);
}

void AddWrites(rocksdb::DB* db, Writer* writer, FloorService* service) {
  const auto rows = static_cast<size_t>(absl::GetFlag(FLAGS_rows));
  const WriteOperation bare[] = {
      {"PutItem", rows, 0, 0}, {"BatchWriteItem", 25, 0, 0}, {"TransactWriteItems", 4, 0, 0}};
  const WriteOperation model[] = {
      {"PutItem", rows, 1, 0}, {"BatchWriteItem", 25, 25, 0}, {"TransactWriteItems", 4, 5, 2}};
  for (const WriteOperation& each : absl::GetFlag(FLAGS_lookups) ? model : bare) {
    service->Add(std::string("/armature.api.v1.ItemService/") + each.name,
                 [db, writer, each](daemon::GuardedCall* call, const grpc::ByteBuffer& request) {
                   std::vector<std::string> keys = writer->NewKeys(each.rows + each.empty_rows);
                   for (size_t i = 0; i < each.looked_up; ++i) LookUp(db, keys[i]);
                   std::string bytes(daemon::MessageBytes(request).view());
                   writer->Write(std::move(keys), each.rows, std::move(bytes), [call] {
                     *call->response() = daemon::TakeBytes({});
                     FloorService::End(call);
                   });
                 });
  }
  const size_t looked_up = absl::GetFlag(FLAGS_lookups) ? 1 : 0;
  service->AddPipeline("/armature.api.v1.ItemService/Pipeline",
                       [db, writer, looked_up](std::string bytes, std::function<void()> done) {
                         std::vector<std::string> keys = writer->NewKeys(1);
                         if (looked_up > 0) LookUp(db, keys[0]);
                         writer->Write(std::move(keys), 1, std::move(bytes), std::move(done));
                       });
}

void AddReads(rocksdb::DB* db, Writer* writer, FloorService* service) {
  const std::string items = "/armature.api.v1.ItemService/";
  service->Add(items + "PutItem", [writer](daemon::GuardedCall* call, const grpc::ByteBuffer& request) {
    std::optional<FloorRow> row = RowOfPut(daemon::MessageBytes(request).view());
    if (!row.has_value()) return call->End(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "unreadable"));
    writer->Write({std::move(row->key)}, 1, std::move(row->value), [call] {
      *call->response() = daemon::TakeBytes({});
      FloorService::End(call);
    });
  });
  // Only loads items, and may wait for the disk here.
  service->Add(items + "BatchWriteItem", [db](daemon::GuardedCall* call, const grpc::ByteBuffer& request) {
    const std::optional<std::vector<FloorRow>> rows = RowsOfBatch(daemon::MessageBytes(request).view());
    if (!rows.has_value()) return call->End(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "unreadable"));
    rocksdb::WriteBatch batch;
    for (const FloorRow& row : *rows) Check(batch.Put(row.key, row.value));
    Check(db->Write(rocksdb::WriteOptions(), &batch));
    *call->response() = daemon::TakeBytes({});
    FloorService::End(call);
  });
  const std::pair<const char*, grpc::ByteBuffer (*)(rocksdb::DB*, std::string_view)> operations[] = {
      {"GetItem", AnswerGet}, {"Query", AnswerQuery}, {"Scan", AnswerScan}};
  for (const auto& [name, answer] : operations) {
    service->Add(items + name, [db, answer = answer](daemon::GuardedCall* call, const grpc::ByteBuffer& request) {
      *call->response() = answer(db, daemon::MessageBytes(request).view());
      FloorService::End(call);
    });
  }
}

std::unique_ptr<rocksdb::DB> OpenDatabase(const std::string& directory) {
  store::DatabaseOptions options;
  options.cache_bytes = static_cast<size_t>(absl::GetFlag(FLAGS_cache_mb)) << 20;
  rocksdb::Options engine(store::MakeDbOptions(options),
                          store::MakeTableFamilyOptions(options, rocksdb::NewLRUCache(options.cache_bytes)));
  engine.create_if_missing = true;
  rocksdb::DB* opened = nullptr;
  Check(rocksdb::DB::Open(engine, directory, &opened));
  return std::unique_ptr<rocksdb::DB>(opened);
}

void Serve(const sigset_t& signals) {
  const std::string directory = absl::GetFlag(FLAGS_directory);
  const std::unique_ptr<rocksdb::DB> db = OpenDatabase(directory);
  daemon::MemoryBudget budget(kBudgetBytes, kBudgetBytes);
  daemon::CallLedger ledger(&budget, {});
  FloorService service(&ledger);
  Writer writer(db.get());
  service.AddMessage<admin::v1::GetServerInfoRequest, admin::v1::GetServerInfoResponse>(
      "/armature.admin.v1.AdminService/GetServerInfo",
      [](const admin::v1::GetServerInfoRequest&) { return ServerInfo(); });
  service.AddMessage<admin::v1::EchoRequest, admin::v1::EchoResponse>("/armature.admin.v1.AdminService/Echo", Echo);
  AddTableMethods(&service);
  absl::GetFlag(FLAGS_reads) ? AddReads(db.get(), &writer, &service) : AddWrites(db.get(), &writer, &service);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(absl::GetFlag(FLAGS_listen), grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) Check(rocksdb::Status::IOError("cannot listen"));
  const std::string address = absl::GetFlag(FLAGS_listen);
  std::cout << address.substr(0, address.rfind(':') + 1) << port << std::endl;
  NoTable table;
  const timespec interval = {.tv_sec = 0, .tv_nsec = absl::ToInt64Nanoseconds(daemon::CallLedger::kInterval)};
  while (sigtimedwait(&signals, nullptr, &interval) < 0) ledger.Sweep(MonotonicNs(), &table);
  server->Shutdown(std::chrono::system_clock::now());
}

int Main() {
  const std::string directory = absl::GetFlag(FLAGS_directory);
  if (directory.empty() || std::filesystem::exists(directory) || absl::GetFlag(FLAGS_rows) < 1 ||
      absl::GetFlag(FLAGS_cache_mb) < 1) {
    std::fprintf(
        stderr, "grpc_floor: --directory must name one that does not exist, and --rows and --cache_mb be at least 1\n");
    return 2;
  }
  // Before the first thread, so that all have them blocked.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  Serve(signals);
  std::filesystem::remove_all(directory);
  return 0;
}

}  // namespace
}  // namespace armature::bench

int main(int argc, char** argv) {
  armature::SkipLockChecks();
  absl::SetProgramUsageMessage("Floor of operations on items over gRPC; see the head of the source.");
  absl::ParseCommandLine(argc, argv);
  return armature::bench::Main();
}
