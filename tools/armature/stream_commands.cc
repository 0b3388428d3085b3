// Commands for streams: list, describe, read.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/message_json.h"

namespace armature::cli {
namespace {

constexpr absl::Duration kPollStreamEvery = absl::Milliseconds(200);
// A page may be empty though records follow, because it stands for records that are too old.
constexpr int kEmptyRoundsAtEnd = 20;

struct StreamReadOptions {
  std::string table_name;
  std::string stream_arn;
  std::string from = "oldest";
  bool follow = false;
  int64_t limit = 0;  // 0: none
};

absl::Status ListAllStreams(const Session& session, const client::Client& client, api::v1::ListStreamsRequest request) {
  Json streams = Json::array();
  while (true) {
    ARM_ASSIGN_OR_RETURN(const auto page, client.ListStreams(request));
    for (const api::v1::StreamSummary& stream : page.streams()) streams.push_back(MessageToJson(stream));
    if (!page.has_last_evaluated_stream_arn() || request.has_limit()) break;
    request.set_exclusive_start_stream_arn(page.last_evaluated_stream_arn());
  }
  session.PrintAsTable({{"Streams", streams}}, [&] {
    return RecordsTable(streams, {"TableName", "StreamLabel", "StreamArn"});
  });
  return absl::OkStatus();
}

// The description with the shards of all pages.
absl::StatusOr<api::v1::StreamDescription> DescribeWhole(const client::Client& client,
                                                         api::v1::DescribeStreamRequest request) {
  api::v1::StreamDescription all;
  const bool has_limit = request.has_limit();
  while (true) {
    ARM_ASSIGN_OR_RETURN(const auto page, client.DescribeStream(request));
    const api::v1::StreamDescription& part = page.stream_description();
    all.clear_last_evaluated_shard_id();
    all.clear_key_schema();
    all.MergeFrom(part);
    if (!part.has_last_evaluated_shard_id() || has_limit) return all;
    request.set_exclusive_start_shard_id(part.last_evaluated_shard_id());
  }
}

std::string ShardsTable(const Json& stream) {
  Json shards = Json::array();
  for (const Json& shard : stream.value("Shards", Json::array())) {
    const Json range = shard.value("SequenceNumberRange", Json::object());
    shards.push_back({{"ShardId", shard["ShardId"]},
                      {"First", range.value("StartingSequenceNumber", "")},
                      {"Last", range.value("EndingSequenceNumber", "open")},
                      {"ParentShardId", shard.value("ParentShardId", "")}});
  }
  return DetailsTable(stream) + "\n" + RecordsTable(shards, {"ShardId", "First", "Last", "ParentShardId"});
}

absl::Status DescribeOne(const Session& session, const client::Client& client,
                         const api::v1::DescribeStreamRequest& request) {
  ARM_ASSIGN_OR_RETURN(const api::v1::StreamDescription stream, DescribeWhole(client, request));
  const Json json = MessageToJson(stream);
  session.Print({{"StreamDescription", json}}, [&json] { return ShardsTable(json); });
  return absl::OkStatus();
}

// Reads the shards of a stream side by side, each behind its parent, and prints their records as lines of JSON.
class StreamReader {
 public:
  StreamReader(const Session& session, client::Client client, std::string arn, const StreamReadOptions& options)
      : session_(session), client_(std::move(client)), arn_(std::move(arn)), options_(options) {}

  absl::Status Run() {
    ARM_RETURN_IF_ERROR(FindShards(/*are_first=*/true));
    int empty_rounds = 0;
    while (true) {
      bool has_records = false;
      for (size_t turns = shards_.size(); turns > 0; --turns) {
        OpenShard shard = std::move(shards_.front());
        shards_.pop_front();
        ARM_ASSIGN_OR_RETURN(const bool found, ReadPage(&shard));
        has_records = has_records || found;
        if (is_full()) return absl::OkStatus();
        if (!shard.iterator.empty()) shards_.push_back(std::move(shard));
      }
      // Shards that were closed may have children.
      ARM_RETURN_IF_ERROR(FindShards(/*are_first=*/false));
      empty_rounds = has_records ? 0 : empty_rounds + 1;
      if (shards_.empty()) return absl::OkStatus();
      if (empty_rounds < kEmptyRoundsAtEnd) continue;
      if (!options_.follow) return absl::OkStatus();
      absl::SleepFor(kPollStreamEvery);
    }
  }

 private:
  struct OpenShard {
    std::string id;
    std::string iterator;
  };

  bool is_full() const { return options_.limit > 0 && printed_ >= options_.limit; }

  // Adds the shards that are not known yet and whose parents were read to their ends.
  absl::Status FindShards(bool are_first) {
    if (!are_first && ended_ == looked_after_) return absl::OkStatus();
    looked_after_ = ended_;
    api::v1::DescribeStreamRequest request;
    request.set_stream_arn(arn_);
    ARM_ASSIGN_OR_RETURN(const api::v1::StreamDescription stream, DescribeWhole(client_, request));
    const bool is_latest = are_first && options_.from == "now";
    for (const api::v1::Shard& shard : stream.shards()) {
      const bool is_closed = shard.sequence_number_range().has_ending_sequence_number();
      // From now on, there is nothing to read in closed shards.
      if (is_latest && is_closed) {
        known_.insert(shard.shard_id());
        ended_shards_.insert(shard.shard_id());
        continue;
      }
      const bool waits = shard.has_parent_shard_id() && known_.contains(shard.parent_shard_id()) &&
                         !ended_shards_.contains(shard.parent_shard_id());
      if (waits || !known_.insert(shard.shard_id()).second) continue;
      api::v1::GetShardIteratorRequest get;
      get.set_stream_arn(arn_);
      get.set_shard_id(shard.shard_id());
      get.set_shard_iterator_type(is_latest ? api::v1::SHARD_ITERATOR_TYPE_LATEST
                                            : api::v1::SHARD_ITERATOR_TYPE_TRIM_HORIZON);
      ARM_ASSIGN_OR_RETURN(const auto iterator, client_.GetShardIterator(get));
      shards_.push_back({shard.shard_id(), iterator.shard_iterator()});
    }
    return absl::OkStatus();
  }

  // Returns true if there were records. Clears the iterator of a shard that was read to its end.
  absl::StatusOr<bool> ReadPage(OpenShard* shard) {
    api::v1::GetRecordsRequest request;
    request.set_shard_iterator(shard->iterator);
    ARM_ASSIGN_OR_RETURN(const auto page, client_.GetRecords(request));
    for (const api::v1::ChangeRecord& record : page.records()) {
      if (is_full()) break;
      session_.PrintText(CompactJson(MessageToJson(record)) + "\n");
      ++printed_;
    }
    if (!page.records().empty()) session_.Flush();
    shard->iterator = page.next_shard_iterator();
    if (shard->iterator.empty()) {
      ++ended_;
      ended_shards_.insert(shard->id);
    }
    return !page.records().empty();
  }

  const Session& session_;
  const client::Client client_;
  const std::string arn_;
  const StreamReadOptions& options_;
  std::deque<OpenShard> shards_;
  std::set<std::string> known_;
  std::set<std::string> ended_shards_;
  size_t ended_ = 0;
  size_t looked_after_ = 0;  // value of ended_ when shards were last looked for
  int64_t printed_ = 0;
};

absl::Status ReadStream(const Session& session, const StreamReadOptions& options) {
  if (options.table_name.empty() == options.stream_arn.empty()) {
    return UsageError("name either --table-name or --stream-arn");
  }
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  std::string arn = options.stream_arn;
  if (arn.empty()) {
    ARM_ASSIGN_OR_RETURN(const api::v1::TableDescription table, DescribeTable(client, options.table_name));
    arn = table.latest_stream_arn();
    if (arn.empty()) return UsageError(Cat("table ", options.table_name, " has never had a stream"));
  }
  return StreamReader(session, client, arn, options).Run();
}

}  // namespace

void AddStreamCommands(CLI::App& app, Action* action) {
  CLI::App& group = *app.add_subcommand("stream", "List, describe and read the streams of tables");
  group.require_subcommand(1);
  AddRequestCommand<api::v1::ListStreamsRequest>(
      group, action,
      {"list",
       "List the streams of all tables, or of one",
       {{"--table-name", "Name or ARN of the table"}, {"--limit", "At most this many, without further pages"}},
       "Examples:\n  armature stream list\n  armature stream list --table-name Orders\n"},
      ListAllStreams);
  AddRequestCommand<api::v1::DescribeStreamRequest>(
      group, action,
      {"describe",
       "Show a stream with its shards",
       {{"--stream-arn", "ARN of the stream, as stream list shows it", Presence::kRequired},
        {"--limit", "At most this many shards"}},
       "Examples:\n  armature stream describe --stream-arn "
       "arn:aws:dynamodb:local:000000000000:table/Orders/stream/...\n"},
      DescribeOne);
  CLI::App& read = *group.add_subcommand("read", "Print the records of a stream, one JSON document on each line");
  StreamReadOptions& options = SetAction(read, action, ReadStream);
  read.add_option("--table-name", options.table_name, "The latest stream of this table")->type_name("TEXT");
  read.add_option("--stream-arn", options.stream_arn, "This stream")->type_name("TEXT");
  read.add_option("--from", options.from, "oldest: from the oldest record that is kept; now: later ones only")
      ->check(CLI::IsMember({"oldest", "now"}))
      ->capture_default_str();
  read.add_flag("--follow", options.follow, "Wait for further records, until the command is ended or the stream ends");
  read.add_option("--limit", options.limit, "End after this many records")
      ->check(CLI::Range(int64_t{1}, INT64_MAX))
      ->type_name("NUMBER");
  read.footer(R"(Records of an item are in the order of its changes.

Examples:
  armature stream read --table-name Orders
  armature stream read --table-name Orders --from now --follow
)");
}

}  // namespace armature::cli
