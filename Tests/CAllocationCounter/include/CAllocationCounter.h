#pragma once

/// How often the calling thread has asked for memory.
long allocations_of_this_thread(void);
