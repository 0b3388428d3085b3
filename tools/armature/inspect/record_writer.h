#ifndef ARMATURE_TOOLS_ARMATURE_INSPECT_RECORD_WRITER_H_
#define ARMATURE_TOOLS_ARMATURE_INSPECT_RECORD_WRITER_H_

// An answer with any number of records, printed while they are read.

#include <cstddef>
#include <string>
#include <vector>

#include "tools/armature/json_text.h"
#include "tools/armature/session.h"

namespace armature::cli {

// Prints records while they are read. In JSON: one object, whose list has one record on each line. As a table: the
// header is repeated after some hundreds of rows, with the column widths of the following rows. Thread-safety:
// thread-compatible.
class RecordWriter {
 public:
  // `head`: members before the list. `list`: the name of the list.
  RecordWriter(const Session& session, const Json& head, const std::string& list, std::vector<std::string> columns);

  // `cells` is called only for a table.
  template <class Cells>
  void Add(const Json& record, Cells cells) {
    if (is_json_) {
      AddJson(record);
    } else {
      AddCells(cells());
    }
  }

  // `problems`: problems of the whole answer. `more`: members about the records beyond the limit; may be empty.
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

// The problems as lines after a table. Empty without problems.
std::string ProblemLines(const std::vector<std::string>& problems);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_INSPECT_RECORD_WRITER_H_
