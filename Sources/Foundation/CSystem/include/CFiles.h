// What Swift's Glibc module leaves out.

#pragma once

/// Exchanges the files or directories at two paths of one file system, in one step. Returns 0, or
/// -1 with errno set; not every file system can.
int files_exchange(const char *path, const char *other);
