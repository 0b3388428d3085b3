#ifndef ARMATURE_TOOLS_ARMATURE_TOP_TOP_MODEL_H_
#define ARMATURE_TOOLS_ARMATURE_TOP_TOP_MODEL_H_

// The numbers of `armature top`: rates from two samples of a daemon, and their picture as lines of text. Knows neither
// daemon nor terminal.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "armature/admin/v1/admin.pb.h"
#include "tools/armature/top/metrics_text.h"

namespace armature::cli {

// A table at the time of a sample.
struct TableSample {
  std::string name;
  int64_t items = 0;
  int64_t bytes = 0;
  bool has_units = false;  // contributor insights count its keys
  double read_units_per_second = 0;
  double write_units_per_second = 0;
  std::string hottest_key{};  // "customer_id=C1"; empty: none
  double hottest_share = 0;
};

struct TopSample {
  absl::Time time;
  admin::v1::GetServerInfoResponse server;
  std::vector<admin::v1::IndexStatus> indexes;
  std::vector<TableSample> tables;
  std::vector<admin::v1::RequestStatus> running;  // the longest first; without streams
  Metrics metrics;                                // empty: not known
  std::string metrics_fault;                      // the reason
};

struct OperationRow {
  std::string name;
  double per_second = 0;
  double errors_per_second = 0;
  double mean_ms = 0;
  double p99_ms = 0;
};

struct TableRow {
  TableSample now;
  double items_per_second = 0;  // negative if it shrinks
};

// The difference of two samples. Rates are 0 in the first one.
struct TopView {
  TopSample now;
  bool has_rates = false;  // there is a sample before, of the same process
  double cpu_cores = 0;    // processors in use
  double requests_per_second = 0;
  double commits_per_second = 0;
  double writes_per_second = 0;  // write units in the commits
  double commit_p99_ms = 0;
  double log_bytes_per_second = 0;
  double flush_bytes_per_second = 0;
  double compaction_read_per_second = 0;
  double compaction_written_per_second = 0;
  double stall_share = 0;                 // of the time
  std::optional<double> cache_hit_share;  // of the block reads between the samples
  std::vector<OperationRow> operations;   // those with requests between the samples
  std::vector<admin::v1::IndexStatus> indexes;
  std::vector<TableRow> tables;
};

// `before`: null if there is none.
TopView CompareSamples(const TopSample* before, const TopSample& now);

// The share `share` (0.99) of a histogram's values is at most the result, interpolated within a bucket as Prometheus
// does it. `bounds` ascend, the last one may be infinite; `counts` has the values in each bucket alone. 0 without
// values.
double Quantile(double share, const std::vector<double>& bounds, const std::vector<double>& counts);

enum class TopSort { kRate, kLatency, kName };

// Sorts operations, tables and indexes: by rate (of a table: changes, of an index: backlog), latency (of a table: size,
// of an index: lag), or name.
void Sort(TopSort sort, TopView* view);

struct TopLine {
  enum class Style { kPlain, kTitle, kAlarm };
  std::string text;
  Style style = Style::kPlain;
};

struct TopPicture {
  size_t width = 0;   // columns; 0: as wide as needed
  size_t height = 0;  // lines; 0: as many as needed
  std::string note;   // at the end of the first line, such as "paused"
};

// The view as lines, none of them wider or more than the picture holds. Rows that do not fit are left out, each section
// in its share.
std::vector<TopLine> Draw(const TopView& view, const TopPicture& picture);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_TOP_TOP_MODEL_H_
