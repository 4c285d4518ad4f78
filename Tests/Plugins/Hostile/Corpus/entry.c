/* Side effects of the entry. */
#if defined(ABORTS)
#define AT_ENTRY fprintf(stderr, "all is lost\n"); abort();
#elif defined(FAULTS)
#define AT_ENTRY *(volatile int *)8 = 1;
#elif defined(NEVER)
#define AT_ENTRY linger(NULL);
#elif defined(SPINS)
#define AT_ENTRY for (volatile int turns = 0;; turns = 1) {}
#elif defined(EXITS)
#define AT_ENTRY _exit(0);
#elif defined(PRINTS)
#define AT_ENTRY (void)!write(1, "{\"facts\": 1}", 12);
#elif defined(OPENS)
#define AT_ENTRY (void)!open("/dev/null", O_RDONLY);
#endif

#include "plugin.h"
