// Anchors the support library; its parts are in the other files of this folder.
#include "support/wait_until.h"
