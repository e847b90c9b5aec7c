// A target needs a source file; everything is in the header.
#include "clones.h"
