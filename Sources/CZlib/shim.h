// The system's zlib, which Swift on Linux needs as well.
#include <zlib.h>
