// bench_parts: what a request and a tick are made of, each by itself. See run.py for the bars.
//
// parse_render   a small request is read and its answer made: full parse, headers, Date; no socket, no handler
// parse_browser  the head of a browser's request is read
// registration   one is put into the table, found by its key, and taken out
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "flare/http/http_date.h"
#include "flare/http/request_reader.h"
#include "flare/http/response_writer.h"
#include "flare/reactor/registration_table.h"
#include "harness/requests.h"

namespace {

constexpr std::string_view kSmall = "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n";

void read_whole(std::string& data, const flare::HttpConfig& config, flare::HttpRequest& request,
                flare::RequestReader& reader) {
  if (reader.read(data.data(), data.size(), config, request) != flare::RequestReader::Result::kRequest) std::abort();
}

void parse_render(benchmark::State& state) {
  const flare::HttpConfig config;
  std::string data(kSmall);
  flare::HttpRequest request;
  flare::HttpResponse response;
  response.headers = {{"Content-Type", "text/plain"}};
  response.body = "hello, world\n";
  flare::DateCache date;
  std::string out;
  flare::MonoTime now{std::chrono::seconds(1000)};
  for (auto _ : state) {
    flare::RequestReader reader;
    read_whole(data, config, request, reader);
    now += std::chrono::microseconds(1);  // the text of a new second is made once in a million
    out.clear();
    if (flare::check_response(response) != nullptr) std::abort();
    flare::append_head(out, response, {.date = date.at(now), .version_minor = reader.info().version_minor});
    out += response.body;
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(parse_render);

void parse_browser(benchmark::State& state) {
  const flare::HttpConfig config;
  std::string data(flare::bench::kBrowser);
  flare::HttpRequest request;
  for (auto _ : state) {
    flare::RequestReader reader;
    read_whole(data, config, request, reader);
    benchmark::DoNotOptimize(request);
  }
}
BENCHMARK(parse_browser);

void registration(benchmark::State& state) {
  flare::RegistrationTable table;
  for (int fd = 3; fd < 1003; ++fd) table.insert(fd, 1, 1, false);
  for (auto _ : state) {
    const std::uint64_t key = table.next_key();
    table.insert(1003, 7, 1, false);
    benchmark::DoNotOptimize(table.current(key));
    table.erase(1003);
  }
}
BENCHMARK(registration);

}  // namespace
