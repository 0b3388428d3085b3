#include "engine/watch/table_watch.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "engine/expr/condition_eval.h"
#include "engine/items/constraints.h"
#include "engine/items/item_key.h"
#include "engine/parts.h"
#include "engine/streams/stream_shards.h"
#include "storage/base/api_error.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/base/time_histogram.h"
#include "storage/codec/item_codec.h"
#include "storage/codec/key_codec.h"
#include "storage/codec/stream_codec.h"
#include "storage/model/limits.h"

namespace armature::engine {
namespace {

using model::StreamDescriptor;
using model::StreamView;

// Size of the records of a slot in a page. Small, because each watch whose client does not read holds a page.
constexpr size_t kWatchPageBytes = 64 << 10;
constexpr expr::ExpressionKind kWatchKinds[] = {expr::ExpressionKind::kFilter};
constexpr std::string_view kStreamViewValues[] = {"KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"};

absl::Status CheckWatchShape(const WatchRequest& request) {
  return CheckShape(request.table_name, {}, [&request](model::ConstraintList* constraints) {
    CheckOptionalEnum(request.view, "viewType", kStreamViewValues, constraints);
    if (!request.heartbeat_ms.has_value()) return;
    constraints->CheckMinimum(*request.heartbeat_ms, "heartbeatMs", absl::ToInt64Milliseconds(kWatchHeartbeatMin));
    constraints->CheckMaximum(*request.heartbeat_ms, "heartbeatMs", absl::ToInt64Milliseconds(kWatchHeartbeatMax));
  });
}

absl::StatusOr<StreamDescriptor> EnabledStreamOf(const store::StreamLog& log, const model::TableDescriptor& table) {
  for (StreamDescriptor& stream : log.StreamsOf(table.name)) {
    if (stream.table == table.id && stream.is_enabled()) return std::move(stream);
  }
  return ValidationError(
      Cat("Table ", table.name, " has no stream: enable it with the StreamSpecification of UpdateTable"));
}

absl::StatusOr<StreamView> ViewOf(std::string_view asked, const StreamDescriptor& stream) {
  if (asked.empty()) return stream.view;
  const StreamView view = model::StreamViewOf(asked);
  const bool lacks_new = model::HasNewImages(view) && !model::HasNewImages(stream.view);
  const bool lacks_old = model::HasOldImages(view) && !model::HasOldImages(stream.view);
  if (lacks_new || lacks_old) {
    return ValidationError(Cat("The stream of table ", stream.table_name, " has the view type ",
                               model::StreamViewName(stream.view), ", which does not contain ", asked));
  }
  return view;
}

// The key components of the partition that `wire` names.
absl::StatusOr<std::string> PartitionOf(const std::string& wire, const model::KeySchema& schema) {
  ARM_ASSIGN_OR_RETURN(const codec::CanonicalItem key, codec::CanonicalizeItem(wire, codec::ValueTexts::kCurrent));
  std::string components;
  size_t attributes = 0;
  key.view().ForEach([&attributes](const model::AttributeView&) {
    ++attributes;
    return true;
  });
  if (attributes != schema.partition.size() || !codec::AppendKeyComponents(schema.partition, key.view(), &components)) {
    return ValidationError(kKeyMismatch);
  }
  ARM_RETURN_IF_ERROR(CheckKeyValues(schema, key.view()));
  return components;
}

uint8_t HashOfPartition(const std::string& components) {
  std::string row_key;
  codec::AppendPartitionHash(codec::PartitionHash(components), &row_key);
  return store::StreamHashOf(row_key);
}

// The item that the filter is applied to: the new one, the removed one, or the key if the record has no image.
std::string_view FilteredImage(const codec::StreamRecord& record) {
  if (record.new_image.has_value()) return *record.new_image;
  if (record.old_image.has_value()) return *record.old_image;
  return record.keys.value_or(std::string_view());
}

}  // namespace

absl::Status CheckRights(const WatchRequest& request, RightCheck check) {
  const auto find = [&request](const store::Database& database) -> absl::StatusOr<access::Facts> {
    ReadRequest scan;
    scan.table_name = request.table_name;
    scan.expressions = request.expressions;
    ARM_ASSIGN_OR_RETURN(access::Facts facts, FactsOf(database, /*is_scan=*/true, scan));
    if (!request.key_wire.has_value()) return facts;
    GetItemRequest get;
    get.table_name = request.table_name;
    get.key_wire = request.key_wire;
    ARM_ASSIGN_OR_RETURN(const access::Facts of_key, FactsOf(database, get));
    MergeFacts(of_key, &facts);
    facts[access::ConditionKey::kFullTableScan] = {"false"};
    return facts;
  };
  return check({"Watch", request.table_name.value_or(""), {}, find});
}

absl::StatusOr<TableWatch::Terms> TableWatch::TermsOf(Parts* parts, const WatchRequest& request) {
  ARM_RETURN_IF_ERROR(CheckWatchShape(request));
  Terms terms;
  const absl::Duration heartbeat =
      request.heartbeat_ms.has_value() ? absl::Milliseconds(*request.heartbeat_ms) : kWatchHeartbeat;
  terms.heartbeat_ns = absl::ToInt64Nanoseconds(heartbeat);
  ARM_ASSIGN_OR_RETURN(terms.expressions, BindRequestExpressions(request.expressions, kWatchKinds,
                                                                 ValidationLayer::kCurrent, &parts->parse_cache));
  ARM_ASSIGN_OR_RETURN(const PinnedTable pinned, FindTable(*parts->database, *request.table_name));
  const model::TableDescriptor& table = pinned.table->descriptor;
  ARM_RETURN_IF_ERROR(CheckKeysAreWhole(terms.expressions.get(), table.key, /*index_keys=*/false));
  if (request.key_wire.has_value()) {
    ARM_ASSIGN_OR_RETURN(terms.partition, PartitionOf(*request.key_wire, table.key));
    terms.hash = HashOfPartition(terms.partition);
  }
  ARM_ASSIGN_OR_RETURN(terms.stream, EnabledStreamOf(parts->database->streams(), table));
  ARM_ASSIGN_OR_RETURN(terms.view, ViewOf(request.view, terms.stream));
  return terms;
}

absl::StatusOr<std::shared_ptr<TableWatch>> TableWatch::Open(Parts* parts, const WatchRequest& request) {
  ARM_ASSIGN_OR_RETURN(Terms terms, TermsOf(parts, request));
  ChangeSequence sequence;
  if (request.start == WatchStart::kAfterSequence) {
    const std::optional<ChangeSequence> given = ParseSequenceText(request.after_sequence);
    if (!given.has_value()) return ValidationError("Invalid SequenceNumber");
    sequence = *given;
  }
  ARM_ASSIGN_OR_RETURN(const ChangeSequence position,
                       StartOfWatch(parts->database->streams(), terms.stream, request.start, sequence));
  ARM_ASSIGN_OR_RETURN(WatchPlace place, parts->watches.TakePlace(request.client));
  const StreamId stream = terms.stream.id;
  std::shared_ptr<TableWatch> watch(new TableWatch(parts, std::move(terms), position, std::move(place)));
  parts->watches.Add(stream, watch);
  return watch;
}

TableWatch::TableWatch(Parts* parts, Terms terms, ChangeSequence position, WatchPlace place)
    : parts_(parts),
      terms_(std::move(terms)),
      reader_(&parts->database->streams(), terms_.stream, terms_.hash, position),
      place_(std::move(place)) {}

TableWatch::~TableWatch() { parts_->watches.Remove(terms_.stream.id, this); }

void TableWatch::Next(Callback<WatchPage> done) {
  {
    const absl::MutexLock lock(&mutex_);
    done_ = std::move(done);
    state_ = State::kQueued;
  }
  // A watch that has ended is queued, too, so that no answer comes before the call returns.
  Post();
}

void TableWatch::Cancel(const absl::Status& why) {
  std::optional<Callback<WatchPage>> done;
  {
    const absl::MutexLock lock(&mutex_);
    Close(why);
    // If Run is queued, it answers.
    if (state_ != State::kWaiting) return;
    done.swap(done_);
    state_ = State::kIdle;
  }
  std::move (*done)(why);
}

void TableWatch::Close(const absl::Status& why) {
  if (!closed_.ok()) return;
  closed_ = why;
  place_.reset();
}

void TableWatch::Wake() {
  {
    const absl::MutexLock lock(&mutex_);
    is_woken_ = true;
    if (state_ != State::kWaiting) return;
    state_ = State::kQueued;
  }
  Post();
}

void TableWatch::WakeIfDue(int64_t now_ns) {
  {
    const absl::MutexLock lock(&mutex_);
    if (state_ != State::kWaiting || now_ns < due_ns_) return;
  }
  Wake();
}

void TableWatch::Post() {
  parts_->watches.Post([self = shared_from_this()] { self->Run(); });
}

void TableWatch::Run() {
  bool is_due = false;
  absl::Status closed;
  {
    const absl::MutexLock lock(&mutex_);
    is_woken_ = false;
    is_due = MonotonicNs() >= due_ns_;
    closed = closed_;
  }
  if (!closed.ok()) return Answer(closed);
  bool has_more = false;
  bool has_ended = false;
  absl::StatusOr<WatchPage> page = ReadPage(&has_more, &has_ended);
  if (!page.ok()) return Answer(page.status());
  if (!page->changes.empty() || (is_due && !has_ended)) return Answer(std::move(page));
  if (has_ended) {
    return Answer(ResourceNotFoundError(
        Cat("The stream of table ", terms_.stream.table_name, " has ended, and all its changes were delivered")));
  }
  {
    const absl::MutexLock lock(&mutex_);
    // A watch with more to read is queued again behind the turns of others.
    if (!has_more && !is_woken_ && closed_.ok()) {
      state_ = State::kWaiting;
      return;
    }
  }
  Post();
}

absl::StatusOr<WatchPage> TableWatch::ReadPage(bool* has_more, bool* has_ended) {
  ARM_ASSIGN_OR_RETURN(const WatchReader::Page read, reader_.Read(kWatchPageBytes));
  WatchPage page;
  page.view = terms_.view;
  *has_more = read.has_more;
  *has_ended = read.has_ended;
  size_t bytes = 0;
  for (const WatchReader::Entry& entry : read.entries) {
    ARM_ASSIGN_OR_RETURN(const bool passes, Passes(entry.record));
    if (!passes) continue;
    ARM_ASSIGN_OR_RETURN(ChangeOfItem change, ReadChange(terms_.stream.key, entry.sequence, entry.record, terms_.view));
    // Numbers with large exponents are many times as long in an answer as in the record.
    bytes += change.keys.size() + change.new_image.value_or("").size() + change.old_image.value_or("").size();
    if (bytes > model::kPageMaxBytes && !page.changes.empty()) {
      reader_.GoBackTo(page.changes.back().sequence);
      *has_more = true;
      *has_ended = false;
      break;
    }
    page.changes.push_back(std::move(change));
  }
  page.position = reader_.position();
  return page;
}

absl::StatusOr<bool> TableWatch::Passes(std::string_view record) const {
  if (terms_.partition.empty() && terms_.expressions == nullptr) return true;
  ARM_ASSIGN_OR_RETURN(const codec::StreamRecord parsed, codec::ParseStreamRecord(record));
  ARM_ASSIGN_OR_RETURN(const codec::StoredItemView stored, codec::ParseStoredItem(FilteredImage(parsed)));
  if (!terms_.partition.empty()) {
    std::string components;
    if (!codec::AppendKeyComponents(terms_.stream.key.partition, stored.item, &components)) {
      return DataLossError(Cat("stream of table ", terms_.stream.table_name, ": a record without its key"));
    }
    if (components != terms_.partition) return false;
  }
  if (terms_.expressions == nullptr || !terms_.expressions->bound.filter.has_value()) return true;
  return expr::Evaluate(*terms_.expressions->bound.filter, stored.item);
}

void TableWatch::Answer(absl::StatusOr<WatchPage> page) {
  std::optional<Callback<WatchPage>> done;
  {
    const absl::MutexLock lock(&mutex_);
    // An error ends the watch.
    if (!page.ok()) Close(page.status());
    if (!closed_.ok()) page = closed_;
    due_ns_ = MonotonicNs() + terms_.heartbeat_ns;
    done.swap(done_);
    state_ = State::kIdle;
  }
  if (page.ok()) {
    parts_->watches.CountRecords(page->changes.size());
  } else if (GetApiError(page.status()).has_value() &&
             GetApiError(page.status())->type == ApiErrorType::kTrimmedDataAccess) {
    parts_->watches.CountFellBehind();
  }
  std::move (*done)(std::move(page));
}

}  // namespace armature::engine
