#include "tests/conformance/case_file.h"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::conformance {
namespace {

constexpr std::string_view kSetupHeading = "## setup";
constexpr std::string_view kCaseHeading = "## case: ";
constexpr std::string_view kPendingMark = "pending: ";
constexpr std::string_view kOnlyMark = "only: ";
constexpr std::string_view kExactArrow = "=> ";
constexpr std::string_view kPartialArrow = "=~ ";
constexpr std::string_view kErrorMembers = "with ";
// Longest text that a repeat may produce: the largest request, with room.
constexpr size_t kRepeatMaxBytes = size_t{32} << 20;

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLetter(char c) { return IsUpper(c) || (c >= 'a' && c <= 'z'); }

absl::StatusOr<Json> ParseText(const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(Cat("not valid JSON: ", error.what()));
  }
}

// Expands <<x*3>>.
absl::StatusOr<std::string> Repeat(std::string_view inner) {
  const size_t star = inner.rfind('*');
  uint32_t count = 0;
  if (star == std::string_view::npos || !absl::SimpleAtoi(Av(inner.substr(star + 1)), &count)) {
    return absl::InvalidArgumentError(Cat("<<", inner, ">> is neither <<text*count>> nor <<from..to|separator|text>>"));
  }
  const std::string_view text = inner.substr(0, star);
  if (text.size() * count > kRepeatMaxBytes) return absl::InvalidArgumentError("a repeat becomes too long");
  std::string all;
  for (uint32_t i = 0; i < count; ++i) all += text;
  return all;
}

// Expands <<1..3|, |v$>>. Nullopt if the text has another form.
std::optional<std::string> Enumerate(std::string_view inner) {
  const size_t first_bar = inner.find('|');
  if (first_bar == std::string_view::npos) return std::nullopt;
  const size_t second_bar = inner.find('|', first_bar + 1);
  const size_t dots = inner.substr(0, first_bar).find("..");
  int from = 0;
  int to = 0;
  if (second_bar == std::string_view::npos || dots == std::string_view::npos ||
      !absl::SimpleAtoi(Av(inner.substr(0, dots)), &from) ||
      !absl::SimpleAtoi(Av(inner.substr(dots + 2, first_bar - dots - 2)), &to)) {
    return std::nullopt;
  }
  const std::string_view separator = inner.substr(first_bar + 1, second_bar - first_bar - 1);
  const std::string_view text = inner.substr(second_bar + 1);
  std::string all;
  for (int i = from; i <= to; ++i) {
    if (i != from) all += separator;
    all += absl::StrReplaceAll(Av(text), {{"$", std::to_string(i)}});
  }
  return all;
}

// Parses "ValidationException: text", "ValidationException ~ part of it" or "ValidationException".
bool ParseError(std::string_view text, Expectation* expectation) {
  size_t end = 0;
  while (end < text.size() && IsLetter(text[end])) ++end;
  if (end == 0 || !IsUpper(text[0])) return false;
  expectation->kind = Expectation::Kind::kError;
  expectation->error_type = std::string(text.substr(0, end));
  const std::string_view rest = text.substr(end);
  if (rest.empty()) return true;
  expectation->text_is_part = rest.starts_with(" ~ ");
  const size_t head = expectation->text_is_part ? 3 : 2;
  if (!expectation->text_is_part && !rest.starts_with(": ")) return false;
  expectation->text = std::string(rest.substr(head));
  return true;
}

// A line with the indented lines that continue it.
struct Entry {
  int line = 0;
  std::string text;
};

class Parser {
 public:
  explicit Parser(std::string path) { file_.path = std::move(path); }

  absl::StatusOr<CaseFile> Parse(std::string_view text) {
    for (const Entry& entry : Entries(text)) {
      if (const absl::Status status = Take(entry); !status.ok()) {
        return absl::InvalidArgumentError(Cat(file_.path, ":", entry.line, ": ", Sv(status.message())));
      }
    }
    for (const Case& one : file_.cases) {
      if (one.steps.empty()) {
        return absl::InvalidArgumentError(Cat(file_.path, ":", one.line, ": the case has no request"));
      }
    }
    return std::move(file_);
  }

 private:
  static std::vector<Entry> Entries(std::string_view text) {
    std::vector<Entry> entries;
    int number = 0;
    bool open = false;  // the previous entry may be continued
    for (const absl::string_view raw : absl::StrSplit(Av(text), '\n')) {
      const std::string_view line = Sv(raw);
      ++number;
      const bool is_comment = line.starts_with("#") && !line.starts_with("##");
      if (line.empty() || is_comment) {
        open = false;
      } else if (open && (line[0] == ' ' || line[0] == '\t')) {
        entries.back().text += Cat("\n", line);
      } else {
        entries.push_back({number, std::string(line)});
        open = true;
      }
    }
    return entries;
  }

  absl::Status Take(const Entry& entry) {
    const std::string_view text = entry.text;
    if (text.starts_with("##")) return TakeHeading(entry);
    if (text.starts_with(kPendingMark) || text.starts_with(kOnlyMark)) return TakeMark(text);
    if (text.starts_with(kExactArrow) || text.starts_with(kPartialArrow)) return TakeExpectation(text);
    if (text.starts_with(kErrorMembers)) return TakeErrorMembers(text.substr(kErrorMembers.size()));
    if (IsUpper(text[0])) return TakeStep(entry);
    return absl::InvalidArgumentError(Cat("neither a heading, a mark, a request nor an expectation: ", text));
  }

  absl::Status TakeHeading(const Entry& entry) {
    const std::string_view text = entry.text;
    steps_ = nullptr;
    if (text == kSetupHeading) {
      if (!file_.cases.empty() || !file_.setup.empty()) {
        return absl::InvalidArgumentError("the setup stands once, before all cases");
      }
      steps_ = &file_.setup;
      return absl::OkStatus();
    }
    if (!text.starts_with(kCaseHeading)) {
      return absl::InvalidArgumentError(Cat("a heading is \"", kSetupHeading, "\" or \"", kCaseHeading, "name\""));
    }
    Case next = defaults_;
    next.name = std::string(text.substr(kCaseHeading.size()));
    next.line = entry.line;
    if (!names_.insert(next.name).second) return absl::InvalidArgumentError("another case has this name");
    file_.cases.push_back(std::move(next));
    steps_ = &file_.cases.back().steps;
    return absl::OkStatus();
  }

  absl::Status TakeMark(std::string_view text) {
    // A mark above all headings applies to each case of the file.
    if (steps_ == &file_.setup) return absl::InvalidArgumentError("a mark stands at the top of the file or of a case");
    Case* const marked = file_.cases.empty() ? &defaults_ : &file_.cases.back();
    if (!marked->steps.empty()) return absl::InvalidArgumentError("a mark stands before the requests of its case");
    if (text.starts_with(kPendingMark)) {
      marked->pending = std::string(text.substr(kPendingMark.size()));
      return absl::OkStatus();
    }
    marked->only.clear();
    for (const absl::string_view name : absl::StrSplit(Av(text.substr(kOnlyMark.size())), ", ")) {
      if (name != "engine" && name != "grpc" && name != "http") {
        return absl::InvalidArgumentError(Cat("no such backend: ", Sv(name)));
      }
      marked->only.emplace_back(name);
    }
    return absl::OkStatus();
  }

  absl::Status TakeStep(const Entry& entry) {
    if (steps_ == nullptr) return absl::InvalidArgumentError("a request stands in the setup or in a case");
    const std::string_view text = entry.text;
    const size_t blank = text.find_first_of(" \n");
    Step step;
    step.line = entry.line;
    step.operation = std::string(text.substr(0, blank));
    const std::string_view rest = blank == std::string_view::npos ? "" : text.substr(blank + 1);
    if (rest.empty()) return absl::InvalidArgumentError("a request is an operation and a JSON object");
    ARM_ASSIGN_OR_RETURN(step.request_text, ExpandRepeats(rest));
    ARM_ASSIGN_OR_RETURN(step.request, ParseText(step.request_text));
    steps_->push_back(std::move(step));
    expectation_taken_ = false;
    return absl::OkStatus();
  }

  absl::Status TakeExpectation(std::string_view text) {
    if (steps_ == nullptr || steps_->empty()) return absl::InvalidArgumentError("an expectation without a request");
    if (expectation_taken_) return absl::InvalidArgumentError("the request has an expectation already");
    expectation_taken_ = true;
    Expectation& expectation = steps_->back().expectation;
    const bool exact = text.starts_with(kExactArrow);
    ARM_ASSIGN_OR_RETURN(const std::string wanted, ExpandRepeats(text.substr(kExactArrow.size())));
    if (wanted.starts_with("{")) {
      expectation.kind = exact ? Expectation::Kind::kExact : Expectation::Kind::kPartial;
      ARM_ASSIGN_OR_RETURN(expectation.answer, ParseText(wanted));
      return absl::OkStatus();
    }
    if (!exact || wanted.find('\n') != std::string::npos || !ParseError(wanted, &expectation)) {
      return absl::InvalidArgumentError("what is expected is a JSON object or \"SomeException: text\" on one line");
    }
    return absl::OkStatus();
  }

  absl::Status TakeErrorMembers(std::string_view text) {
    if (steps_ == nullptr || steps_->empty() || steps_->back().expectation.kind != Expectation::Kind::kError) {
      return absl::InvalidArgumentError("\"with\" follows the error that carries these members");
    }
    ARM_ASSIGN_OR_RETURN(const std::string members, ExpandRepeats(text));
    ARM_ASSIGN_OR_RETURN(steps_->back().expectation.error_members, ParseText(members));
    return absl::OkStatus();
  }

  CaseFile file_;
  Case defaults_;
  std::vector<Step>* steps_ = nullptr;  // receives the next request
  bool expectation_taken_ = false;
  std::set<std::string> names_;
};

}  // namespace

absl::StatusOr<std::string> ExpandRepeats(std::string_view text) {
  std::string out;
  while (true) {
    const size_t begin = text.find("<<");
    const size_t end = begin == std::string_view::npos ? begin : text.find(">>", begin);
    if (end == std::string_view::npos) break;
    out += text.substr(0, begin);
    const std::string_view inner = text.substr(begin + 2, end - begin - 2);
    if (std::optional<std::string> list = Enumerate(inner); list.has_value()) {
      out += *list;
    } else {
      ARM_ASSIGN_OR_RETURN(const std::string repeated, Repeat(inner));
      out += repeated;
    }
    text.remove_prefix(end + 2);
  }
  out += text;
  return out;
}

absl::StatusOr<CaseFile> ParseCaseFile(std::string path, std::string_view text) {
  return Parser(std::move(path)).Parse(text);
}

absl::StatusOr<CaseFile> ReadCaseFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) return absl::NotFoundError(Cat("cannot read ", path));
  return ParseCaseFile(path, text);
}

}  // namespace armature::conformance
