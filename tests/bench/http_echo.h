#ifndef ARMATURE_TESTS_BENCH_HTTP_ECHO_H_
#define ARMATURE_TESTS_BENCH_HTTP_ECHO_H_

// The floor: what Beast's own server costs, without anything of ours.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace armature::bench {

// Serves on a free port of 127.0.0.1, which it tells `ready`, and never returns. Reads each request whole with
// http::async_read and answers with http::async_write what stands in `answer`: a head and a body that it sends as its
// own.
[[noreturn]] void ServeWithBeast(const std::string& answer, size_t threads, const std::function<void(uint16_t)>& ready);

}  // namespace armature::bench

#endif  // ARMATURE_TESTS_BENCH_HTTP_ECHO_H_
