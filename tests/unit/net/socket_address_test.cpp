#include "flare/net/socket_address.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "flare/base/network_error.h"

namespace flare::testing {
namespace {

// proves: C-NET-01
TEST(SocketAddress, ParsesBothFamilies) {
  const auto v4 = SocketAddress::parse("127.0.0.1:8080");
  EXPECT_EQ(AF_INET, v4.family());
  EXPECT_EQ(8080, v4.port());
  EXPECT_EQ(sizeof(sockaddr_in), v4.length());
  const auto v6 = SocketAddress::parse("[::1]:0");
  EXPECT_EQ(AF_INET6, v6.family());
  EXPECT_EQ(0, v6.port());
  EXPECT_EQ(sizeof(sockaddr_in6), v6.length());
  EXPECT_EQ("0.0.0.0:65535", SocketAddress::parse("0.0.0.0:65535").to_string());
  EXPECT_EQ("[::]:1", SocketAddress::parse("[0:0:0:0:0:0:0:0]:1").to_string());
  EXPECT_EQ("127.0.0.1:0", SocketAddress().to_string());
}

struct BadText {
  std::string text;
  std::string why;
  // As the error shows it; the same as text where every character prints.
  std::string shown = text;
};

// proves: C-NET-01
TEST(SocketAddress, ARefusalNamesTheTextAndWhatWasExpected) {
  const std::vector<BadText> texts{
      BadText{"", "empty"},
      BadText{"8080", "port is missing"},
      BadText{"127.0.0.1", "port is missing"},
      BadText{"127.0.0.1:", "port is missing"},
      BadText{":80", "not an IPv4 address"},
      BadText{"localhost:80", "not an IPv4 address"},
      BadText{"127.0.0:80", "not an IPv4 address"},
      BadText{"256.0.0.1:80", "not an IPv4 address"},
      BadText{" 127.0.0.1:80", "not an IPv4 address"},
      BadText{"127.0.0.1:80 ", "not a number"},
      BadText{"127.0.0.1:+80", "not a number"},
      BadText{"127.0.0.1:-1", "not a number"},
      BadText{"127.0.0.1:8a", "not a number"},
      BadText{"127.0.0.1:65536", "not 0 to 65535"},
      BadText{"127.0.0.1:100000", "not 0 to 65535"},
      BadText{"127.0.0.1:080", "not 0 to 65535"},
      BadText{"::1:80", "needs []"},
      BadText{"[::1]", "port is missing"},
      BadText{"[::1]80", "port is missing"},
      BadText{"[::1", "] is missing"},
      BadText{"[127.0.0.1]:80", "not an IPv6 address"},
      BadText{"[]:80", "not an IPv6 address"},
      BadText{"[fe80::1%lo]:80", "not an IPv6 address"},
      BadText{std::string("127.0.0.1\0:80", 13), "not an IPv4 address", "127.0.0.1\\x00:80"},
      BadText{std::string(200, '1'), "port is missing", std::string(100, '1') + "..."}};
  for (const BadText& bad : texts) {
    try {
      const auto address = SocketAddress::parse(bad.text);
      ADD_FAILURE() << bad.shown << " was taken for " << address.to_string();
    } catch (const NetworkError& error) {
      EXPECT_EQ(EINVAL, error.code().value());
      const std::string what = error.what();
      EXPECT_NE(std::string::npos, what.find("\"" + bad.shown + "\"")) << what;
      EXPECT_NE(std::string::npos, what.find(bad.why)) << what;
      EXPECT_NE(std::string::npos, what.find("expected IPV4:PORT or [IPV6]:PORT")) << what;
    }
  }
}

// proves: C-NET-01
TEST(SocketAddress, APartOfALongerTextIsReadToItsOwnEnd) {
  EXPECT_EQ(80, SocketAddress::parse(std::string_view("127.0.0.1:8080").substr(0, 12)).port());
  EXPECT_THROW(static_cast<void>(SocketAddress::parse(std::string_view("[::1]:80").substr(0, 5))), NetworkError);
}

// proves: C-NET-01
TEST(SocketAddress, WhatItPrintsItParses) {
  EXPECT_TRUE(rc::check("parse(to_string(a)) == a, for IPv4 and IPv6", [] {
    const bool v6 = *rc::gen::arbitrary<bool>();
    const auto port = *rc::gen::arbitrary<std::uint16_t>();
    const auto bytes = *rc::gen::container<std::array<std::uint8_t, 16>>(rc::gen::arbitrary<std::uint8_t>());
    sockaddr_storage storage{};
    if (v6) {
      auto& address = reinterpret_cast<sockaddr_in6&>(storage);
      address.sin6_family = AF_INET6;
      address.sin6_port = htons(port);
      std::copy(bytes.begin(), bytes.end(), std::begin(address.sin6_addr.s6_addr));
    } else {
      auto& address = reinterpret_cast<sockaddr_in&>(storage);
      address.sin_family = AF_INET;
      address.sin_port = htons(port);
      std::copy(bytes.begin(), bytes.begin() + 4, reinterpret_cast<std::uint8_t*>(&address.sin_addr));
    }
    const auto address = SocketAddress::from_sockaddr(storage);
    RC_ASSERT(SocketAddress::parse(address.to_string()) == address);
    RC_ASSERT(address.port() == port);
  }));
}

TEST(SocketAddress, NoTextCrashesTheParser) {
  EXPECT_TRUE(rc::check("any text gives an address that prints, or a NetworkError", [] {
    const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123456789.:[]af% +-")));
    try {
      const auto address = SocketAddress::parse(text);
      RC_ASSERT(SocketAddress::parse(address.to_string()) == address);
    } catch (const NetworkError& error) {
      RC_ASSERT(error.code().value() == EINVAL);
    }
  }));
}

TEST(SocketAddress, ComparesFamilyHostAndPort) {
  const auto a = SocketAddress::parse("127.0.0.1:1");
  EXPECT_TRUE(a == SocketAddress::loopback_v4(1));
  EXPECT_FALSE(a == a.with_port(2));
  EXPECT_FALSE(a == SocketAddress::parse("127.0.0.2:1"));
  EXPECT_FALSE(SocketAddress::parse("0.0.0.0:1") == SocketAddress::parse("[::]:1"));
  EXPECT_EQ("[::1]:9", SocketAddress::parse("[::1]:0").with_port(9).to_string());
}

// Without its zone a link-local address can't be connected to.
TEST(SocketAddress, KeepsTheZoneOfALinkLocalPeer) {
  sockaddr_storage storage{};
  auto& from = reinterpret_cast<sockaddr_in6&>(storage);
  from.sin6_family = AF_INET6;
  from.sin6_addr = {{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}};
  from.sin6_scope_id = 7;
  sockaddr_in6 kept{};
  std::memcpy(&kept, SocketAddress::from_sockaddr(storage).data(), sizeof kept);
  EXPECT_EQ(7U, kept.sin6_scope_id);
}

TEST(SocketAddress, RefusesAnotherFamily) {
  sockaddr_storage storage{};
  storage.ss_family = AF_UNIX;
  EXPECT_THROW(SocketAddress::from_sockaddr(storage), NetworkError);
}

}  // namespace
}  // namespace flare::testing
