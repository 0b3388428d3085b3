#include "tools/bench/fsync_floor.h"

#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>

#include "tools/bench/transport.h"

namespace armature::bench {

Histogram MeasureFsync(const std::string& directory, double seconds) {
  std::string path = directory + "/armature_bench_fsync_XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) throw std::runtime_error("cannot create a file in " + directory);
  unlink(path.c_str());
  const std::string block(4096, 'x');
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  Histogram histogram;
  bool ok = true;
  while (ok && Clock::now() < end) {
    const Clock::time_point begin = Clock::now();
    ok = write(file, block.data(), block.size()) == static_cast<ssize_t>(block.size()) && fdatasync(file) == 0;
    const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin);
    histogram.Record(static_cast<uint64_t>(took.count()));
  }
  close(file);
  if (!ok) throw std::runtime_error("cannot write to a file in " + directory);
  return histogram;
}

}  // namespace armature::bench
