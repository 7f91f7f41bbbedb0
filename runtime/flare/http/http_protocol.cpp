#include "flare/http/http_protocol.h"

#include <utility>

#include "flare/base/network_error.h"
#include "flare/http/http_connection.h"
#include "flare/kernel/system_kernel.h"

namespace flare::inline FLARE_ABI {

HttpProtocol::HttpProtocol(const HttpConfig& config, HttpHandler handler, WorkerStats& stats, const StopCell& stop)
    : config_(config), handler_(std::move(handler)), stats_(stats), stop_(stop) {
  bind_peer();
}

HttpProtocol::HttpProtocol(const HttpConfig& config, HttpResponse response, WorkerStats& stats, const StopCell& stop)
    : config_(config), static_(std::in_place, std::move(response)), stats_(stats), stop_(stop) {
  bind_peer();
}

void HttpProtocol::bind_peer() {
  request_.peer = [this]() -> SocketAddress {
    if (!current_peer_) {
      sockaddr_storage storage{};
      const Status status = SystemKernel::peer_address(current_fd_, &storage);
      if (!status.ok()) throw NetworkError(status.error, "HttpRequest::peer");
      current_peer_ = SocketAddress::from_sockaddr(storage);
    }
    return *current_peer_;
  };
}

void HttpProtocol::set_current(int fd) {
  current_fd_ = fd;
  current_peer_.reset();
}

std::unique_ptr<Connection> HttpProtocol::open() {
  return std::make_unique<HttpConnection>(*this);
}

}  // namespace flare::inline FLARE_ABI
