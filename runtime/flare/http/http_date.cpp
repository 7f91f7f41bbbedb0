#include "flare/http/http_date.h"

#include <algorithm>

#include "flare/kernel/system_kernel.h"

namespace flare::inline FLARE_ABI {

namespace {

void put_name(char* to, std::string_view names, std::int64_t index) {
  std::copy_n(names.data() + index * 3, 3, to);
}

void put_number(char* to, std::int64_t value, int digits) {
  for (int i = digits - 1; i >= 0; --i, value /= 10) to[i] = static_cast<char>('0' + value % 10);
}

struct Number {
  int at;  // in the text
  std::int64_t value;
  int digits;
};

}  // namespace

std::array<char, kHttpDateBytes> format_http_date(std::int64_t seconds) {
  seconds = std::clamp<std::int64_t>(seconds, 0, 253402300799);
  const std::int64_t days = seconds / 86400;
  const std::int64_t second = seconds % 86400;
  // Days to a date in years that begin in March, so that the leap day is the last one (era: 400 years).
  const std::int64_t shifted = days + 719468;
  const std::int64_t era = shifted / 146097;
  const std::int64_t day_of_era = shifted % 146097;
  const std::int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t march_month = (5 * day_of_year + 2) / 153;
  const std::int64_t month = march_month < 10 ? march_month + 2 : march_month - 10;  // 0: January
  const std::int64_t year = year_of_era + era * 400 + (month < 2 ? 1 : 0);

  std::array<char, kHttpDateBytes> out;
  std::copy_n("ddd, dd mmm yyyy hh:mm:ss GMT", kHttpDateBytes, out.data());
  put_name(out.data(), "ThuFriSatSunMonTueWed", days % 7);
  put_name(out.data() + 8, "JanFebMarAprMayJunJulAugSepOctNovDec", month);
  const Number numbers[] = {{5, day_of_year - (153 * march_month + 2) / 5 + 1, 2},
                            {12, year, 4},
                            {17, second / 3600, 2},
                            {20, second / 60 % 60, 2},
                            {23, second % 60, 2}};
  for (const Number& number : numbers) put_number(out.data() + number.at, number.value, number.digits);
  return out;
}

std::string_view DateCache::at(MonoTime now) {
  if (now != read_at_) {
    read_at_ = now;
    const std::int64_t seconds = SystemKernel::wall_seconds();
    if (seconds != seconds_) {
      seconds_ = seconds;
      text_ = format_http_date(seconds);
    }
  }
  return {text_.data(), text_.size()};
}

}  // namespace flare::inline FLARE_ABI
