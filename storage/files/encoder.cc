#include "storage/files/encoder.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <limits>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::files {
namespace {

constexpr int kWindowBitsOfGzip = 15 + 16;  // the largest window; 16 selects the gzip format
constexpr int kMemoryLevel = 8;             // zlib's default
constexpr size_t kOutputBytes = 64 << 10;

class GzipEncoder final : public Encoder {
 public:
  GzipEncoder() {
    is_good_ = deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWindowBitsOfGzip, kMemoryLevel, 0) == Z_OK;
  }
  ~GzipEncoder() override { deflateEnd(&stream_); }
  GzipEncoder(const GzipEncoder&) = delete;
  GzipEncoder& operator=(const GzipEncoder&) = delete;

  bool is_good() const { return is_good_; }

  absl::Status Encode(std::string_view text, bool is_last, Sink sink) override {
    std::array<char, kOutputBytes> buffer;
    int result = Z_OK;
    do {
      if (stream_.avail_in == 0) {
        const size_t taken = std::min<size_t>(text.size(), std::numeric_limits<uInt>::max());
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib does not modify its input
        stream_.avail_in = static_cast<uInt>(taken);
        text.remove_prefix(taken);
      }
      stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream_.avail_out = kOutputBytes;
      result = deflate(&stream_, is_last && text.empty() ? Z_FINISH : Z_NO_FLUSH);
      if (result == Z_STREAM_ERROR) return absl::InternalError("zlib cannot compress");
      const std::string_view made(buffer.data(), kOutputBytes - stream_.avail_out);
      if (!made.empty()) ARM_RETURN_IF_ERROR(sink(made));
    } while (is_last ? result != Z_STREAM_END : stream_.avail_in > 0 || !text.empty() || stream_.avail_out == 0);
    return absl::OkStatus();
  }

 private:
  z_stream stream_ = {};
  bool is_good_ = false;
};

class ZstdEncoder final : public Encoder {
 public:
  ZstdEncoder() : context_(ZSTD_createCCtx()) {
    if (context_ != nullptr) ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }

  bool is_good() const { return context_ != nullptr; }

  absl::Status Encode(std::string_view text, bool is_last, Sink sink) override {
    std::array<char, kOutputBytes> buffer;
    ZSTD_inBuffer in = {text.data(), text.size(), 0};
    size_t held = 0;
    do {
      ZSTD_outBuffer out = {buffer.data(), buffer.size(), 0};
      held = ZSTD_compressStream2(context_.get(), &out, &in, is_last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(held) != 0) return absl::InternalError(Cat("zstd cannot compress: ", ZSTD_getErrorName(held)));
      if (out.pos > 0) ARM_RETURN_IF_ERROR(sink({buffer.data(), out.pos}));
    } while (is_last ? held != 0 : in.pos < in.size);
    return absl::OkStatus();
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  const std::unique_ptr<ZSTD_CCtx, Free> context_;
};

template <class T>
absl::StatusOr<std::unique_ptr<Encoder>> MakeGoodEncoder() {
  auto encoder = std::make_unique<T>();
  if (!encoder->is_good()) return absl::ResourceExhaustedError("no memory to compress with");
  return encoder;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Encoder>> MakeEncoder(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      break;
    case Compression::kGzip:
      return MakeGoodEncoder<GzipEncoder>();
    case Compression::kZstd:
      return MakeGoodEncoder<ZstdEncoder>();
  }
  return nullptr;
}

}  // namespace armature::files
