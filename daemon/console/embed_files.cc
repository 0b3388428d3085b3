// embed_files OUT ROOT FILE...: writes a C++ source with the contents of the files, which are named from ROOT.
//
// A program of the build. The same files give the same source, byte by byte.

#include <xxhash.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr size_t kBytesPerLine = 80;
constexpr int kGzipWindow = 15 + 16;  // the largest window, with the header of gzip

std::string_view ContentTypeOf(std::string_view path) {
  if (path.ends_with(".html")) return "text/html; charset=utf-8";
  if (path.ends_with(".mjs") || path.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (path.ends_with(".css")) return "text/css; charset=utf-8";
  if (path.ends_with(".svg")) return "image/svg+xml";
  return "text/plain; charset=utf-8";
}

// False if the file cannot be read.
bool Read(const std::string& path, std::string* content) {
  std::ifstream in(path, std::ios::binary);
  content->assign(std::istreambuf_iterator<char>(in), {});
  return in.good() || in.eof();
}

// Empty if the result would not be smaller.
std::string Gzip(std::string_view content) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipWindow, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
    return {};
  }
  std::string compressed(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  const int result = deflate(&stream, Z_FINISH);
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  return result == Z_STREAM_END && compressed.size() < content.size() ? compressed : std::string();
}

// The bytes as adjacent string literals, one a line.
std::string Literals(std::string_view bytes) {
  std::string text = "\n    \"";
  size_t in_line = 0;
  for (const char c : bytes) {
    if (++in_line > kBytesPerLine) {
      text += "\"\n    \"";
      in_line = 1;
    }
    const bool is_plain = c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '?';
    if (is_plain) {
      text += c;
      continue;
    }
    // Three octal digits end by themselves, whatever follows.
    const auto byte = static_cast<unsigned char>(c);
    text += '\\';
    for (const int shift : {6, 3, 0}) text += static_cast<char>('0' + ((byte >> shift) & 7));
  }
  return text + "\"";
}

std::string HexOf(uint64_t number) {
  char text[17] = {};
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(number));
  return text;
}

// The row of a file. `number` names its variables.
std::string RowOf(std::string_view path, std::string_view content, size_t number, std::string* variables) {
  const std::string gzip = Gzip(content);
  const std::string id = std::to_string(number);
  *variables += "constexpr char kContent" + id + "[] =" + Literals(content) + ";\n";
  *variables += "constexpr char kGzip" + id + "[] =" + Literals(gzip) + ";\n";
  const auto view = [&id](const std::string& name, size_t size) {
    return "{" + name + id + ", " + std::to_string(size) + "}";
  };
  return "    {\"" + std::string(path) + "\", \"" + std::string(ContentTypeOf(path)) + "\", \"" +
         HexOf(XXH3_64bits(content.data(), content.size())) + "\", " + view("kContent", content.size()) + ", " +
         view("kGzip", gzip.size()) + "},\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: embed_files OUT ROOT FILE...\n");
    return 2;
  }
  std::vector<std::string> paths(argv + 3, argv + argc);
  std::sort(paths.begin(), paths.end());
  std::string variables;
  std::string rows;
  for (size_t i = 0; i < paths.size(); ++i) {
    std::string content;
    if (!Read(std::string(argv[2]) + "/" + paths[i], &content)) {
      std::fprintf(stderr, "embed_files: cannot read %s\n", paths[i].c_str());
      return 1;
    }
    rows += RowOf(paths[i], content, i, &variables);
  }
  std::ofstream out(argv[1], std::ios::binary);
  out << "// Made by embed_files. Do not edit.\n\n#include \"daemon/console/console_files.h\"\n\n"
      << "namespace armature::daemon {\nnamespace {\n\n"
      << variables << "\nconstexpr ConsoleFile kFiles[] = {\n"
      << rows << "};\n\n}  // namespace\n\n"
      << "std::span<const ConsoleFile> ConsoleFiles() { return kFiles; }\n\n}  // namespace armature::daemon\n";
  out.close();
  return out.good() ? 0 : 1;
}
