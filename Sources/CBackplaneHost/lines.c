#include "lines.h"

#include <stdio.h>

void bph_print_lines(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
}
