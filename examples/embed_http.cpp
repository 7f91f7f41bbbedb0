// embed_http.cpp: an HTTP server inside a program. It prints its address; SIGTERM drains it.
#include <csignal>
#include <iostream>

#include "flare/http/http_frontend.h"
#include "flare/scheduler/scheduler.h"

static flare::detail::SchedulerHandle* running = nullptr;

int main() {
  flare::HttpFrontend hello([](const flare::HttpRequest& request) {
    flare::HttpResponse response;
    response.body = "hello " + std::string(request.target) + "\n";
    return response;
  });
  auto scheduler = flare::Scheduler<decltype(hello)>::start(flare::SocketAddress::loopback_v4(0), hello, 2);
  running = &scheduler;
  std::signal(SIGTERM, [](int) { running->request_stop(); });
  std::cout << scheduler.addresses().front().to_string() << std::endl;
  scheduler.wait();
  return flare::adds_up(scheduler.drain(5000)) ? 0 : 1;
}
