#include "engine/settings.h"

namespace flare::sim {

Settings& settings() {
  static Settings all;
  return all;
}

}  // namespace flare::sim
