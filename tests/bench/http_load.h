#ifndef ARMATURE_TESTS_BENCH_HTTP_LOAD_H_
#define ARMATURE_TESTS_BENCH_HTTP_LOAD_H_

// Load on an HTTP server by repeating one request, and the server's CPU time. Sixteen # in a request are replaced by a
// different number each time.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace armature::bench {

// Persistent connections, each with one request in flight.
//
// Thread-safety: owned by one thread. Errors: anything unexpected ends the process with a line on stderr.
class HttpLoad {
 public:
  // `request`: the complete request. `address`: "127.0.0.1:PORT".
  HttpLoad(const std::string& address, std::string request, size_t connections);
  ~HttpLoad();
  HttpLoad(const HttpLoad&) = delete;
  HttpLoad& operator=(const HttpLoad&) = delete;

  // Sends `requests` and waits for all answers, which must have `status`.
  void Run(size_t requests, int status = 200);

 private:
  struct Connection {
    int socket = -1;
    std::string received;
  };

  void Number();
  void Send(const Connection& connection);
  bool Receive(Connection* connection, int status) const;

  std::string request_;
  std::vector<size_t> places_;  // positions of the number
  uint64_t sent_ = 0;
  int epoll_ = -1;
  std::vector<Connection> connections_;
};

// Sends one request on a new connection. Returns the whole answer.
std::string Exchange(const std::string& address, const std::string& request);

// CPU time of all threads of process `pid`, in nanoseconds.
int64_t CpuNanoseconds(pid_t pid);

}  // namespace armature::bench

#endif  // ARMATURE_TESTS_BENCH_HTTP_LOAD_H_
