#include "tools/armature/copy/copy_state.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/time/clock.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/files/compression.h"
#include "storage/files/output_file.h"
#include "tools/armature/session.h"

namespace armature::cli::copy {
namespace {

constexpr int64_t kStateVersion = 1;
constexpr absl::Duration kSaveEvery = absl::Milliseconds(200);
constexpr std::array<const char*, 4> kPhases = {"Items", "Settings", "Follow", "Done"};

Wire ToWire(const StreamState& stream) {
  Wire shards = Wire::object();
  for (const auto& [id, shard] : stream.shards) {
    shards[id] = {
        {"After", shard.after}, {"Parent", shard.parent}, {"Done", shard.is_done}, {"ClearMs", shard.clear_ms}};
  }
  return {
      {"Arn", stream.arn}, {"BeganMs", stream.began_ms}, {"ListedMs", stream.listed_ms}, {"Shards", std::move(shards)}};
}

Wire ToWire(const TableState& table) {
  Wire segments = Wire::array();
  for (const SegmentState& segment : table.segments) {
    segments.push_back({{"Next", segment.next}, {"Done", segment.is_done}});
  }
  Wire made = {{"Source", table.source},         {"Target", table.target},
               {"Made", table.is_made},          {"Phase", kPhases[static_cast<size_t>(table.phase)]},
               {"Items", table.items},           {"Changes", table.changes},
               {"Segments", std::move(segments)}};
  if (table.stream.has_value()) made["Stream"] = ToWire(*table.stream);
  return made;
}

StreamState StreamOf(const Wire& json) {
  StreamState stream{.arn = TextIn(json, "Arn"),
                     .began_ms = NumberIn(json, "BeganMs"),
                     .listed_ms = NumberIn(json, "ListedMs"),
                     .shards = {}};
  const Wire* const shards = Find(json, "Shards");
  if (shards == nullptr || !shards->is_object()) return stream;
  for (const auto& [id, shard] : shards->items()) {
    stream.shards[id] = {.after = TextIn(shard, "After"),
                         .parent = TextIn(shard, "Parent"),
                         .is_done = FlagIn(shard, "Done"),
                         .clear_ms = NumberIn(shard, "ClearMs")};
  }
  return stream;
}

std::optional<TableState> TableOf(const Wire& json) {
  TableState table{.source = TextIn(json, "Source"), .target = TextIn(json, "Target")};
  const auto phase = std::find(kPhases.begin(), kPhases.end(), TextIn(json, "Phase"));
  if (table.source.empty() || table.target.empty() || phase == kPhases.end()) return std::nullopt;
  table.phase = static_cast<Phase>(phase - kPhases.begin());
  table.is_made = FlagIn(json, "Made");
  table.items = NumberIn(json, "Items");
  table.changes = NumberIn(json, "Changes");
  for (const Wire& segment : ListIn(json, "Segments")) {
    const Wire* const next = Find(segment, "Next");
    if (next == nullptr || Find(segment, "Done") == nullptr) return std::nullopt;
    table.segments.push_back({.next = *next, .is_done = FlagIn(segment, "Done")});
  }
  if (table.segments.empty()) return std::nullopt;
  if (const Wire* const stream = Find(json, "Stream"); stream != nullptr) table.stream = StreamOf(*stream);
  return table;
}

// Replaces the file, durably and as a whole. Keys of items may be nobody else's business.
absl::Status ReplaceFile(const std::string& path, std::string_view content) {
  files::OutputOptions options;
  options.mode = S_IRUSR | S_IWUSR;
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<files::OutputFile> file,
                       files::OutputFile::Create(path, files::Compression::kNone, options));
  ARM_RETURN_IF_ERROR(file->Write(content));
  ARM_RETURN_IF_ERROR(file->Finish().status());
  const std::string directory = std::filesystem::path(path).parent_path().string();
  return files::SyncDirectory(directory.empty() ? "." : directory);
}

}  // namespace

Wire ToWire(const CopyState& state) {
  Wire tables = Wire::array();
  for (const TableState& table : state.tables) tables.push_back(ToWire(table));
  return {{"Version", kStateVersion}, {"From", state.from}, {"To", state.to}, {"Hash", state.hash}, {"Tables", tables}};
}

std::optional<CopyState> StateOf(const Wire& json) {
  if (NumberIn(json, "Version") != kStateVersion || Find(json, "Tables") == nullptr) return std::nullopt;
  CopyState state{.from = TextIn(json, "From"), .to = TextIn(json, "To"), .hash = TextIn(json, "Hash"), .tables = {}};
  for (const Wire& table : ListIn(json, "Tables")) {
    std::optional<TableState> read = TableOf(table);
    if (!read.has_value()) return std::nullopt;
    state.tables.push_back(*std::move(read));
  }
  return state;
}

StateKeeper::StateKeeper(std::string path, CopyState state, bool is_resumed)
    : path_(std::move(path)), is_resumed_(is_resumed), state_(std::move(state)) {}

absl::StatusOr<std::unique_ptr<StateKeeper>> StateKeeper::Open(std::string path, CopyState begin) {
  std::error_code error;
  const bool is_there = std::filesystem::exists(path, error);
  if (is_there) {
    std::ifstream in(path, std::ios::binary);
    if (!in || std::filesystem::is_directory(path, error)) return InputError(Cat("cannot read ", path));
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const absl::StatusOr<Wire> json = ParseWire(text);
    std::optional<CopyState> state = json.ok() ? StateOf(*json) : std::nullopt;
    if (!state.has_value()) return InputError(Cat(path, " is not the state of a copy; remove it to begin anew"));
    if (state->from != begin.from || state->to != begin.to) {
      return InputError(Cat(path, " is the state of a copy from ", state->from, " to ", state->to,
                            "; name another file by --state, or remove it"));
    }
    if (state->hash != begin.hash) {
      return InputError(Cat(path, " is the state of a copy with another --hash, or another key of it"));
    }
    begin = *std::move(state);
  }
  return std::unique_ptr<StateKeeper>(new StateKeeper(std::move(path), std::move(begin), is_there));
}

TableState& StateKeeper::Find(const std::string& source) {
  is_changed_ = true;
  return *std::find_if(state_.tables.begin(), state_.tables.end(),
                       [&source](const TableState& table) { return table.source == source; });
}

std::vector<std::string> StateKeeper::Sources() const {
  const absl::MutexLock lock(&mutex_);
  std::vector<std::string> sources;
  for (const TableState& table : state_.tables) sources.push_back(table.source);
  return sources;
}

std::optional<TableState> StateKeeper::Table(const std::string& source) const {
  const absl::MutexLock lock(&mutex_);
  for (const TableState& table : state_.tables) {
    if (table.source == source) return table;
  }
  return std::nullopt;
}

void StateKeeper::Add(TableState table) {
  const absl::MutexLock lock(&mutex_);
  state_.tables.push_back(std::move(table));
  is_changed_ = true;
}

void StateKeeper::SetSegment(const std::string& source, size_t segment, SegmentState state, int64_t items) {
  const absl::MutexLock lock(&mutex_);
  TableState& table = Find(source);
  table.segments[segment] = std::move(state);
  table.items += items;
}

void StateKeeper::SetPhase(const std::string& source, Phase phase) {
  const absl::MutexLock lock(&mutex_);
  Find(source).phase = phase;
}

void StateKeeper::SetStream(const std::string& source, StreamState stream, int64_t changes) {
  const absl::MutexLock lock(&mutex_);
  TableState& table = Find(source);
  table.stream = std::move(stream);
  table.changes += changes;
}

int64_t StateKeeper::items() const {
  const absl::MutexLock lock(&mutex_);
  int64_t sum = 0;
  for (const TableState& table : state_.tables) sum += table.items;
  return sum;
}

int64_t StateKeeper::changes() const {
  const absl::MutexLock lock(&mutex_);
  int64_t sum = 0;
  for (const TableState& table : state_.tables) sum += table.changes;
  return sum;
}

absl::Status StateKeeper::Save() {
  std::string text;
  {
    const absl::MutexLock lock(&mutex_);
    if (!is_changed_) return absl::OkStatus();
    is_changed_ = false;
    last_saved_ = absl::Now();
    text = WireText(ToWire(state_));
  }
  return AsInputError(ReplaceFile(path_, text + "\n"));
}

absl::Status StateKeeper::SaveSometimes() {
  {
    const absl::MutexLock lock(&mutex_);
    if (absl::Now() - last_saved_ < kSaveEvery) return absl::OkStatus();
  }
  return Save();
}

void StateKeeper::Remove() { std::remove(path_.c_str()); }

}  // namespace armature::cli::copy
