/*
 * lastwords.h: the plugin whose code was running when a signal ends this process, and whether memory is left.
 *
 * In C, because a signal handler must not allocate, take locks or enter the Swift runtime. Only the host links this; no
 * plugin contains it.
 */
#ifndef BACKPLANE_LASTWORDS_H
#define BACKPLANE_LASTWORDS_H

/* The part of the file name of every plugin copy that precedes the number of its generation. */
#define BPH_GENERATION "generation-"

/* Registers the id of a copy's plugin, for the line about a crash. The id is kept, because no copy is unloaded. */
void bph_name_plugin(const char *copy, const char *id);

/* Installs signal handlers that name the plugin in a crash.
 *
 * A handler acts when a thread raises SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS or SIGTRAP while code of a
 * plugin's copy is on its stack, or while the system gives the process no more memory. It writes one line to standard
 * error with the plugin, its generation and the copy, and passes the signal on to the earlier handler. Other threads
 * that raise such a signal in the meantime wait. A thread whose stack is exhausted reports nothing. SIGPIPE no longer
 * ends the process; a handler that was installed before is kept.
 */
void bph_keep_last_words(void);

/* Ends the process after the line about a plugin, instead of passing the signal on to an earlier handler: Swift's takes
 * many seconds for a backtrace, as it reads the debug information of everything that is loaded. */
void bph_end_untraced(void);

#endif
