#include "storage/store/wal/log_batch.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "storage/base/strings.h"

namespace armature::store::log_batch_test {

// A record of the log with notes, and without writes.
std::string RecordWith(std::string_view first_note, std::string_view second_note) {
  std::string record("\x07\0\0\0\0\0\0\0\0\0\0\0", 12);
  for (const std::string_view note : {first_note, second_note}) {
    // The tag of a note, and its size, which is below 128.
    record += Cat("\x03", std::string(1, static_cast<char>(note.size())), note);
  }
  return record;
}

// Batches that are written to the log at once become one, with the notes of all, in no order of times.
TEST(LogBatchTest, HasTheLatestOfItsTimes) {
  const std::string early = EncodeTimeMark(1'700'000'000'000);
  const std::string late = EncodeTimeMark(1'700'000'000'250);
  for (const std::string& record : {RecordWith(early, late), RecordWith(late, early)}) {
    const absl::StatusOr<LogBatch> batch = ParseLogBatch(record);
    ASSERT_TRUE(batch.ok()) << batch.status();
    EXPECT_EQ(batch->sequence, 7u);
    EXPECT_EQ(batch->time_ms, 1'700'000'000'250);
  }
}

}  // namespace armature::store::log_batch_test
