// abi.h: the inline namespace that every symbol of flare lives in.                    Public header.
// Threads:    none.
// Owns:       nothing.
// Bounds:     none.
// Errors:     none. A program that mixes two builds of the runtime fails to link.
// Ordering:   none.
// Invariants: none.
// Not here:   the choice of the build itself (base/sync.h, kernel/system_kernel.h).
// Source:     own design.
#pragma once

#ifndef FLARE_ABI
#define FLARE_ABI v0
#endif
