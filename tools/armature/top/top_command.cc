// The command top: what a daemon does, once or on a full screen.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/top/top_model.h"
#include "tools/armature/top/top_sampler.h"
#include "tools/armature/top/top_screen.h"

namespace armature::cli {
namespace {

constexpr double kIntervalMin = 0.1;
constexpr double kIntervalMax = 3600;
constexpr absl::Duration kPatienceMax = absl::Seconds(2);

struct TopOptions {
  bool once = false;
  double interval = 1;
  std::string metrics;
  std::string sort = "rate";
};

// The documented port of the metrics, on the host of the endpoint.
MetricsAddress AddressOf(const Session& session, const TopOptions& options) {
  constexpr char kPort[] = ":7702";
  if (!options.metrics.empty()) return {options.metrics, false};
  const std::string& endpoint = session.endpoint();
  const size_t colon = endpoint.rfind(':');
  if (endpoint.starts_with("unix:") || colon == std::string::npos) return {Cat("127.0.0.1", kPort), true};
  return {Cat(endpoint.substr(0, colon), kPort), true};
}

constexpr std::array<std::pair<std::string_view, TopSort>, 3> kSorts = {
    {{"rate", TopSort::kRate}, {"latency", TopSort::kLatency}, {"name", TopSort::kName}}};

size_t SortOf(const std::string& name) {
  const auto found = std::find_if(kSorts.begin(), kSorts.end(), [&](const auto& each) { return each.first == name; });
  return static_cast<size_t>(found - kSorts.begin());
}

absl::Status PrintOnce(const Session& session, const TopOptions& options, TopSampler& sampler) {
  ARM_ASSIGN_OR_RETURN(const TopSample before, sampler.Take());
  absl::SleepFor(absl::Seconds(options.interval));
  ARM_ASSIGN_OR_RETURN(const TopSample now, sampler.Take());
  TopView view = CompareSamples(&before, now);
  Sort(kSorts[SortOf(options.sort)].second, &view);
  for (const TopLine& line : Draw(view, {})) session.PrintText(Cat(line.text, "\n"));
  return absl::OkStatus();
}

// The full screen, until the user quits.
class Display {
 public:
  Display(const Session& session, const TopOptions& options, TopSampler& sampler, TopScreen& screen)
      : session_(session),
        interval_(absl::Seconds(options.interval)),
        sort_(SortOf(options.sort)),
        sampler_(sampler),
        screen_(screen) {}

  void Run() {
    while (true) {
      const absl::Time now = absl::Now();
      if (!is_paused_ && now >= next_) {
        Sample();
        next_ = absl::Now() + interval_;
      }
      Show();
      const int key = screen_.Key(is_paused_ ? interval_ : std::max(next_ - absl::Now(), absl::ZeroDuration()));
      if (key == 'q') return;
      if (key == 'p') is_paused_ = !is_paused_;
      if (key == 's') sort_ = (sort_ + 1) % kSorts.size();
    }
  }

 private:
  // Keeps the last numbers if the daemon does not answer. A daemon that was started again begins with new rates.
  void Sample() {
    absl::StatusOr<TopSample> sample = sampler_.Take();
    if (!sample.ok()) {
      fault_ = ErrorLine(sample.status(), session_.endpoint());
      return;
    }
    fault_.clear();
    view_ = CompareSamples(before_.has_value() ? &*before_ : nullptr, *sample);
    before_ = *std::move(sample);
  }

  void Show() {
    std::vector<TopLine> lines;
    TopPicture picture{.width = screen_.width(), .height = screen_.height(), .note = ""};
    if (!fault_.empty()) {
      lines.push_back({fault_.substr(0, picture.width), TopLine::Style::kAlarm});
      --picture.height;
    }
    picture.note = Cat("[s]ort: ", kSorts[sort_].first, "  [p]ause", is_paused_ ? ": PAUSED" : "", "  [q]uit");
    if (view_.has_value() && picture.height > 0) {
      Sort(kSorts[sort_].second, &*view_);
      const std::vector<TopLine> drawn = Draw(*view_, picture);
      lines.insert(lines.end(), drawn.begin(), drawn.end());
    }
    screen_.Show(lines);
  }

  const Session& session_;
  const absl::Duration interval_;
  size_t sort_;
  TopSampler& sampler_;
  TopScreen& screen_;
  bool is_paused_ = false;
  absl::Time next_ = absl::InfinitePast();
  std::optional<TopSample> before_;
  std::optional<TopView> view_;
  std::string fault_;
};

absl::Status Top(const Session& session, const TopOptions& options) {
  if (!options.once && (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0)) {
    return UsageError("top needs a terminal; --once prints one frame");
  }
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  const absl::Duration patience = options.once ? session.patience() : std::min(session.patience(), kPatienceMax);
  TopSampler sampler(client, AddressOf(session, options), patience);
  if (options.once) return PrintOnce(session, options, sampler);
  // A daemon that is not there at the start is an error; one that goes away later is waited for.
  ARM_RETURN_IF_ERROR(sampler.Take().status());
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<TopScreen> screen, TopScreen::Open());
  Display(session, options, sampler, *screen).Run();
  return absl::OkStatus();
}

}  // namespace

void AddTopCommand(CLI::App& app, Action* action) {
  CLI::App& top = *app.add_subcommand("top", "Show operations, indexes and hot tables of the daemon on a full screen");
  TopOptions& options = SetAction(top, action, Top);
  top.add_flag("--once", options.once, "Print one frame as text and end");
  top.add_option("--interval", options.interval, "Seconds between two frames")
      ->check(CLI::Range(kIntervalMin, kIntervalMax))
      ->capture_default_str()
      ->type_name("SECONDS");
  top.add_option("--metrics", options.metrics,
                 "The daemon's --metrics_listen, for operations, commits and caches; default: port 7702 of its host")
      ->envname("ARMATURE_METRICS")
      ->type_name("HOST:PORT");
  top.add_option("--sort", options.sort, "First order of the rows")
      ->check(CLI::IsMember({"rate", "latency", "name"}))
      ->capture_default_str();
  top.footer(
      "Keys: s changes the order, p pauses, q quits. Rates are those between two frames; P99 is interpolated in the\n"
      "buckets of a histogram. Units and the hottest key of a table are those of the last minute, and only of tables "
      "with\n"
      "armature hot-keys --enable. Of more than 100 tables without metrics, the first ones are shown.\n\n"
      "Examples:\n  armature top\n  armature top --metrics 127.0.0.1:7702 --interval 5\n  armature top --once\n");
}

}  // namespace armature::cli
