#ifndef ARMATURE_TOOLS_ARMATURE_INSPECT_RECORD_WRITER_H_
#define ARMATURE_TOOLS_ARMATURE_INSPECT_RECORD_WRITER_H_

// An answer with any number of records, printed while they are read.

#include <cstddef>
#include <string>
#include <vector>

#include "tools/armature/json_text.h"
#include "tools/armature/session.h"

namespace armature::cli {

// As JSON: one object, whose list has a record on each line. As a table: the same columns again after some hundreds of
// rows, whose widths are those of the rows below them. Thread-safety: thread-compatible.
class RecordWriter {
 public:
  // `head`: members before the list, which is called `list`.
  RecordWriter(const Session& session, const Json& head, const std::string& list, std::vector<std::string> columns);

  // `cells` are made only for a table.
  template <class Cells>
  void Add(const Json& record, Cells cells) {
    if (is_json_) {
      AddJson(record);
    } else {
      AddCells(cells());
    }
  }

  // `problems`: of the whole. `more`: members that tell of the records that were not asked for; empty if there are
  // none.
  void Finish(const std::vector<std::string>& problems, const Json& more = Json::object());

 private:
  void AddJson(const Json& record);
  void AddCells(std::vector<std::string> cells);
  void PrintTable();

  const Session& session_;
  const bool is_json_;
  const std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;  // not printed yet
  bool is_first_ = true;
};

// For the end of a table: a line for each. Empty without problems.
std::string ProblemLines(const std::vector<std::string>& problems);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_INSPECT_RECORD_WRITER_H_
