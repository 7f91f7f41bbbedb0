// beast PORT: Boost.Beast on one thread, a peer of bench/http, in the shape of its own async example.
#include <utility>  // first: asio 1.74 forgets it

#include <boost/asio.hpp>
#include <boost/beast.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Tcp = asio::ip::tcp;

class Session : public std::enable_shared_from_this<Session> {
 public:
  explicit Session(Tcp::socket socket) : stream_(std::move(socket)) {}

  void read() {
    request_ = {};
    http::async_read(stream_, buffer_, request_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (!error) self->answer();
    });
  }

 private:
  void answer() {
    response_ = http::response<http::string_body>(http::status::ok, request_.version());
    response_.set(http::field::content_type, "text/plain");
    response_.keep_alive(request_.keep_alive());
    response_.body() = "hello, world\n";
    response_.prepare_payload();
    http::async_write(stream_, response_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (error) return;
      if (self->response_.need_eof()) {
        self->stream_.socket().shutdown(Tcp::socket::shutdown_send, error);
        return;
      }
      self->read();
    });
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> response_;
};

void accept(Tcp::acceptor& acceptor) {
  acceptor.async_accept([&acceptor](beast::error_code error, Tcp::socket socket) {
    if (!error) {
      socket.set_option(Tcp::no_delay(true), error);
      std::make_shared<Session>(std::move(socket))->read();
    }
    accept(acceptor);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: beast PORT\n", stderr), 2;
  asio::io_context context(1);
  Tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), static_cast<unsigned short>(std::atoi(argv[1]))});
  accept(acceptor);
  context.run();
}
