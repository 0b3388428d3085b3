// The lines of `armature top`.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "storage/base/strings.h"
#include "tools/armature/display.h"
#include "tools/armature/top/top_model.h"

namespace armature::cli {
namespace {

using Style = TopLine::Style;

constexpr size_t kStateColumns = 16;  // of the name of a state

std::string RateText(double per_second) {
  if (per_second == 0) return "0";
  const double size = std::fabs(per_second);
  if (size < 10) return absl::StrFormat("%.1f", per_second);
  return WithCommas(std::llround(per_second));
}

std::string CountText(double count) { return WithCommas(std::llround(count)); }

std::string ShownBytes(double bytes) { return ShowBytes(static_cast<uint64_t>(std::max(bytes, 0.0))); }

std::string MsText(double ms) {
  if (ms >= 100) return absl::StrFormat("%.0f", ms);
  return ms >= 10 ? absl::StrFormat("%.1f", ms) : absl::StrFormat("%.2f", ms);
}

std::string ShareText(double share) { return absl::StrFormat("%.0f %%", share * 100); }

// The first `width` characters; all of them if it is 0.
std::string Cut(const std::string& text, size_t width) {
  if (width == 0) return text;
  size_t columns = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) continue;
    if (columns++ == width) return text.substr(0, i);
  }
  return text;
}

std::string WritesText(const admin::v1::GetServerInfoResponse& server) {
  if (!server.writes_refused_reason().empty()) return Cat("REFUSED: ", server.writes_refused_reason());
  if (server.writes_stopped()) return "STOPPED: compaction does not keep up";
  if (server.writes_delayed_to_bytes_per_second() > 0) {
    return Cat("SLOWED to ", ShowBytes(server.writes_delayed_to_bytes_per_second()), "/s");
  }
  return "ok";
}

std::vector<TopLine> SummaryLines(const TopView& view, const std::string& note) {
  const admin::v1::GetServerInfoResponse& server = view.now.server;
  const Metrics& metrics = view.now.metrics;
  std::vector<TopLine> lines;
  const auto add = [&](std::string text, Style style = Style::kPlain) { lines.push_back({std::move(text), style}); };
  const auto memory = static_cast<double>(server.resident_bytes());
  add(Cat("armatured ", server.version(), "  up ", ShowSeconds(server.uptime_ms() / 1000), "  pid ", server.pid(),
          note.empty() ? "" : "  ", note));
  const std::string cpu = view.has_rates ? absl::StrFormat("%.2f cores", view.cpu_cores) : "...";
  add(Cat("cpu     ", cpu, ", memory ", ShownBytes(memory), ", disk ", ShowBytes(server.disk_free_bytes()), " of ",
          ShowBytes(server.disk_total_bytes()), " free, files ", ShowBytes(server.file_bytes())));
  const std::string writes = WritesText(server);
  add(Cat("writes  ", writes, ", ", WithCommas(static_cast<int64_t>(server.commit_queue_units())), " waiting, stalled ",
          ShareText(view.stall_share), ", compaction pending ", ShowBytes(server.compaction_pending_bytes())),
      writes == "ok" ? Style::kPlain : Style::kAlarm);
  for (const std::string& damaged : server.damaged()) add(Cat("DAMAGED ", damaged), Style::kAlarm);
  if (metrics.empty()) {
    add(Cat("No operations, commits and caches: ", view.now.metrics_fault));
    return lines;
  }
  add(Cat("commits ", RateText(view.commits_per_second), "/s of ", RateText(view.writes_per_second), " writes/s, p99 ",
          MsText(view.commit_p99_ms), " ms, log ", ShownBytes(view.log_bytes_per_second), "/s, flushed ",
          ShownBytes(view.flush_bytes_per_second), "/s, compacted ", ShownBytes(view.compaction_read_per_second),
          "/s to ", ShownBytes(view.compaction_written_per_second), "/s"));
  add(Cat("caches  blocks ", ShownBytes(metrics.Sum("armature_store_cache_bytes")), " of ",
          ShownBytes(metrics.Sum("armature_store_cache_max_bytes")), ", hits ",
          view.cache_hit_share.has_value() ? ShareText(*view.cache_hit_share) : "-", ", memtables ",
          ShownBytes(metrics.Sum("armature_store_memtable_bytes")), " of ",
          ShownBytes(metrics.Sum("armature_store_memtable_max_bytes"))));
  add(Cat("clients ", RateText(view.requests_per_second), " requests/s, ",
          CountText(metrics.Sum("armature_requests_in_flight")), " in flight, connections ",
          CountText(metrics.Sum("armature_grpc_connections") + metrics.Sum("armature_http_connections")), ", watches ",
          CountText(metrics.Sum("armature_watches"))));
  return lines;
}

// The lines of a section: a title and its rows. Empty without rows.
std::vector<TopLine> Section(const TextTable& table, size_t rows) {
  std::vector<TopLine> lines;
  if (rows == 0) return lines;
  const std::string text = table.ToString();
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    lines.push_back({std::string(line), lines.empty() ? Style::kTitle : Style::kPlain});
  }
  return lines;
}

std::vector<TopLine> OperationLines(const TopView& view) {
  TextTable table({"OPERATION", "PER SECOND", "ERRORS", "MEAN MS", "P99 MS"});
  for (const OperationRow& row : view.operations) {
    table.AddRow(
        {row.name, RateText(row.per_second), RateText(row.errors_per_second), MsText(row.mean_ms), MsText(row.p99_ms)});
  }
  return Section(table, view.operations.size());
}

std::string StateText(const admin::v1::IndexStatus& index) {
  constexpr std::string_view kPrefix = "INDEX_STATE_";
  if (index.stalled()) return "STALLED";
  const std::string name = admin::v1::IndexState_Name(index.state());
  const std::string state = name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
  if (!index.has_build() || index.build().items_total() <= 0) return Cut(state, kStateColumns);
  // The total is an estimate.
  const double share =
      static_cast<double>(index.build().items_read()) / static_cast<double>(index.build().items_total());
  return Cat(Cut(state, kStateColumns), " ", ShareText(std::clamp(share, 0.0, 1.0)));
}

std::vector<TopLine> IndexLines(const TopView& view) {
  TextTable table({"INDEX", "OF TABLE", "STATE", "ITEMS", "WAITING", "LAG MS"});
  std::vector<bool> alarms;
  for (const admin::v1::IndexStatus& index : view.indexes) {
    if (index.kind() != admin::v1::INDEX_KIND_GLOBAL) continue;  // a local one never lags
    table.AddRow({index.index_name(), index.table_name(), StateText(index), WithCommas(index.item_count()),
                  WithCommas(static_cast<int64_t>(index.backlog_records())), WithCommas(index.backlog_age_ms())});
    alarms.push_back(index.stalled());
  }
  std::vector<TopLine> lines = Section(table, alarms.size());
  for (size_t i = 0; i < alarms.size() && i + 1 < lines.size(); ++i) {
    if (alarms[i]) lines[i + 1].style = Style::kAlarm;
  }
  return lines;
}

std::vector<TopLine> TableRowLines(const TopView& view) {
  TextTable table({"TABLE", "ITEMS", "SIZE", "ITEMS/S", "READ UNITS/S", "WRITE UNITS/S", "HOTTEST KEY"});
  for (const TableRow& row : view.tables) {
    const TableSample& now = row.now;
    const std::string key = now.hottest_key.empty() ? "" : Cat(now.hottest_key, " ", ShareText(now.hottest_share));
    table.AddRow({now.name, WithCommas(now.items), ShowBytes(static_cast<uint64_t>(now.bytes)),
                  RateText(row.items_per_second), now.has_units ? RateText(now.read_units_per_second) : "-",
                  now.has_units ? RateText(now.write_units_per_second) : "-", key});
  }
  return Section(table, view.tables.size());
}

std::vector<TopLine> RunningLines(const TopView& view) {
  constexpr double kUsPerMs = 1000;
  TextTable table({"RUNNING", "MS", "TABLE", "CLIENT"});
  for (const admin::v1::RequestStatus& each : view.now.running) {
    table.AddRow(
        {each.operation(), MsText(static_cast<double>(each.duration_us()) / kUsPerMs), each.table_name(), each.peer()});
  }
  return Section(table, view.now.running.size());
}

// The number of lines that each section gets of `room`: small ones all they need, the others the same.
template <size_t kCount>
std::array<size_t, kCount> Shares(size_t room, const std::array<std::vector<TopLine>, kCount>& sections) {
  std::array<size_t, kCount> shares{};
  while (room > 0) {
    bool has_grown = false;
    for (size_t i = 0; i < kCount && room > 0; ++i) {
      if (shares[i] >= sections[i].size()) continue;
      ++shares[i];
      --room;
      has_grown = true;
    }
    if (!has_grown) break;
  }
  return shares;
}

}  // namespace

std::vector<TopLine> Draw(const TopView& view, const TopPicture& picture) {
  std::vector<TopLine> lines = SummaryLines(view, picture.note);
  const std::array<std::vector<TopLine>, 4> sections = {OperationLines(view), RunningLines(view), IndexLines(view),
                                                        TableRowLines(view)};
  size_t room = SIZE_MAX;
  if (picture.height > 0) {
    // Each section that is shown has an empty line before it.
    size_t gaps = 0;
    for (const auto& section : sections) gaps += section.empty() ? 0 : 1;
    const size_t used = lines.size() + gaps;
    room = picture.height > used ? picture.height - used : 0;
  }
  const auto shares = Shares(room, sections);
  for (size_t i = 0; i < sections.size(); ++i) {
    if (shares[i] < 2) continue;  // a title alone says nothing
    lines.push_back({});
    lines.insert(lines.end(), sections[i].begin(), sections[i].begin() + static_cast<std::ptrdiff_t>(shares[i]));
  }
  if (picture.height > 0 && lines.size() > picture.height) lines.resize(picture.height);
  for (TopLine& line : lines) line.text = Cut(line.text, picture.width);
  return lines;
}

}  // namespace armature::cli
