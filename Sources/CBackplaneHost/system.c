#define _GNU_SOURCE
#include "system.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

int32_t bph_share_contents(int32_t from, int32_t to) { return ioctl(to, FICLONE, from) == 0; }

int64_t bph_copy_inside(int32_t from, int32_t to, int64_t count) { return copy_file_range(from, NULL, to, NULL, (size_t)count, 0); }

int32_t bph_punch_hole(int32_t file, int64_t offset, int64_t length) {
    return fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length) == 0;
}

void bph_admit_debuggers(void) {
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);     /* fails where there is no Yama, and then nothing is needed */
}

int32_t bph_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1ul, 0ul, 0ul, 0ul) == 0; }

void bph_print_lines(void) { setvbuf(stdout, NULL, _IOLBF, 0); }
