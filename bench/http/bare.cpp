// bare: the least that a server of HTTP/1.1 can do on epoll: accept, recv, look for the ends of requests, send as many
// answers. The yardstick of bench/http; it trusts its client, and an answer that does not fit ends the connection.
//
// bare PORT ANSWER_FILE [deferred]
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace {

constexpr int kEvents = 512;
constexpr std::size_t kBuffer = 64 << 10;
constexpr std::string_view kEnd = "\r\n\r\n";
constexpr std::string_view kLast = "Connection: close";

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(2);
}

int listen_on(const char* port, bool deferred) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int one = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (deferred) ::setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &one, sizeof one);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
  if (::bind(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0 || ::listen(fd, 4096) != 0) fail("bare: listen");
  return fd;
}

class Server {
 public:
  Server(int listener, std::string answer)
      : listener_(listener), epoll_(::epoll_create1(EPOLL_CLOEXEC)), answer_(std::move(answer)) {
    watch(listener_);
  }

  [[noreturn]] void run() {
    for (;;) {
      const int count = ::epoll_wait(epoll_, events_, kEvents, -1);
      for (int i = 0; i < count; ++i) events_[i].data.fd == listener_ ? accept_all() : serve(events_[i].data.fd);
    }
  }

 private:
  void watch(int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) fail("bare: epoll_ctl");
  }

  void accept_all() {
    for (int fd; (fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) watch(fd);
  }

  void serve(int fd) {
    const ssize_t size = ::recv(fd, buffer_, kBuffer, 0);
    if (size < 0 && errno == EAGAIN) return;
    const std::string_view text(buffer_, size > 0 ? static_cast<std::size_t>(size) : 0);
    std::size_t answers = 0;
    for (std::size_t at = text.find(kEnd); at != text.npos; at = text.find(kEnd, at + kEnd.size())) ++answers;
    while (all_.size() < answers * answer_.size()) all_ += answer_;
    const std::size_t bytes = answers * answer_.size();
    const bool sent = bytes == 0 || ::send(fd, all_.data(), bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
    if (size <= 0 || !sent || (answers == 1 && text.find(kLast) != text.npos)) ::close(fd);
  }

  const int listener_;
  const int epoll_;
  const std::string answer_;
  std::string all_;  // as many answers as were ever sent at once
  epoll_event events_[kEvents];
  char buffer_[kBuffer];
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fputs("usage: bare PORT ANSWER_FILE [deferred]\n", stderr), 2;
  std::ifstream file(argv[2], std::ios::binary);
  if (!file) fail("bare: ANSWER_FILE");
  static Server server(listen_on(argv[1], argc > 3), {std::istreambuf_iterator<char>(file), {}});
  server.run();
}
