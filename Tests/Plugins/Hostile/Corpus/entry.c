/* What the entry does besides answering. */
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
#elif defined(READS)
#define AT_ENTRY char some[4]; int file = open("/etc/hostname", O_RDONLY); (void)!read(file, some, sizeof some); close(file);
#elif defined(OPENS)
#define AT_ENTRY (void)!open("/dev/null", O_RDONLY);
#elif defined(THREAD)
#define AT_ENTRY start_thread(linger, NULL);
#elif defined(FORKS)
#define AT_ENTRY if (fork() == 0) _exit(0);
#elif defined(UNWATCHED)
#define AT_ENTRY signal(SIGSYS, SIG_IGN); (void)!write(-1, "x", 1);
#endif

#include "plugin.h"
