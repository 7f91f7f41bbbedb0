#pragma once
#include "flare/kernel/epoll_kernel.h"
namespace flare::inline FLARE_ABI {
using SystemKernel = EpollKernel;
}
