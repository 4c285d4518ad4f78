#include "debuggers.h"

#include <sys/prctl.h>

void bph_admit_debuggers(void) {
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);     /* fails where there is no Yama, and then nothing is needed */
}
