/* A plugin whose method goes deep, leaves many addresses of its code on the stack, and returns. */
#define ID "org.backplane.tests.innocent"
#define CLASS BP_TEXT("Innocent")
#define WORK do { sum = deep(900); done(context, BP_OK, text("1")); } while (0)

static volatile int sum;
static int deep(int depth);

#include "../Corpus/plugin.h"

__attribute__((noinline)) static int deep(int depth) {
    if (depth == 0) return 1;
    const int below = deep(depth - 1);
    sum += below;
    return below + 1;
}
