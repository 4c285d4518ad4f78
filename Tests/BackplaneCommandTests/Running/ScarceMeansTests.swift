import Foundation
import TestFixtures
import Testing

/// The command where the system gives it few open files or threads: it answers, or says what it lacks, and never dies.
@Suite(.nightly, .timeLimit(.minutes(20)))
struct ScarceMeansTests {
    /// Runs a command through a shell that sets a limit first.
    private func run(_ limit: String, _ tool: Tool, _ arguments: [String]) async throws -> Tool.Outcome {
        let command = ([Tool.built + "/backplane"] + arguments + ["--load-folder", tool.loads])
            .map { "'\($0)'" }.joined(separator: " ")
        let process = try RunningTool(
            ["-c", "\(limit); exec \(command)"], of: "/bin/sh", input: nil,
            environment: ["XDG_RUNTIME_DIR": tool.folder, "SWIFT_BACKTRACE": "enable=no"])
        // A host that is up stays until it is told to stop.
        if arguments[0] == "run", await process.says("up;") { process.signal(SIGTERM) }
        return await process.end()
    }

    /// - Returns: whether it answered.
    private func expectAnswer(
        _ limit: String, _ tool: Tool, _ arguments: [String], location: SourceLocation = #_sourceLocation
    ) async throws -> Bool {
        let outcome = try await run(limit, tool, arguments)
        #expect(
            [0, 1].contains(outcome.status),
            "\(limit): \(arguments[0]) ended with \(outcome.status): \(outcome.errors)",
            sourceLocation: location)
        guard outcome.status != 0 else { return true }
        #expect(
            ["host.exhausted", "Too many open files", "cannot be started a second time"].contains {
                (outcome.output + outcome.errors).contains($0)
            },
            "\(limit): \(arguments[0]) said \(outcome.output)\(outcome.errors)", sourceLocation: location)
        return false
    }

    private static let call = ["call", Tool.almanac, "AlmanacManager", "on", "\"07-20\""]
    private static let check = ["check", Tool.almanac]
    private static let host = ["run", Tool.almanac]
    private static let inspect = ["inspect", Tool.built + "/libClock.so"]

    @Test(arguments: [call, check, host, inspect])
    func `few open files`(_ arguments: [String]) async throws {
        let tool = try Tool(), rest = arguments[0] == "inspect" ? [] : ["--data", tool.data]
        for limit in 10...30 { _ = try await expectAnswer("ulimit -n \(limit)", tool, arguments + rest) }
        // Foundation takes descriptors above 200 for a child process, and some are inherited from the tests.
        #expect(try await expectAnswer("ulimit -n \(rest.isEmpty ? 1024 : 48)", tool, arguments + rest))
    }

    /// A library that is preloaded, and lets a process have only so many threads besides its first at the same time.
    ///
    /// It stands for the limits on processes (`ulimit -u`, a container's pids), which make `pthread_create` fail alike.
    /// Those bind no process of root, or need a container, and count what else the user runs.
    private static let threadLimit = #"""
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <pthread.h>
        #include <stdatomic.h>
        #include <stdlib.h>

        typedef struct start { void *(*body)(void *); void *context; } start;
        static atomic_int running;

        static void ended(void *nothing) { (void)nothing; atomic_fetch_sub(&running, 1); }

        static void *run(void *context) {
            start own = *(start *)context;
            void *result;
            free(context);
            pthread_cleanup_push(ended, NULL);
            result = own.body(own.context);
            pthread_cleanup_pop(1);
            return result;
        }

        __attribute__((visibility("default")))
        int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *context) {
            typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
            static _Atomic(create *) next;
            const char *limit = getenv("THREAD_LIMIT");
            if (!next) next = (create *)dlsym(RTLD_NEXT, "pthread_create");
            if (limit && atomic_load(&running) >= atoi(limit)) return EAGAIN;
            start *own = malloc(sizeof *own);
            own->body = body, own->context = context;
            atomic_fetch_add(&running, 1);
            const int status = next(thread, attributes, run, own);
            if (status != 0) ended(NULL), free(own);
            return status;
        }
        """#

    @Test(arguments: [call, check, host])
    func `few threads`(_ arguments: [String]) async throws {
        let tool = try Tool(), library = try tool.library("threads", of: Self.threadLimit)
        let most = 16 + 2 * ProcessInfo.processInfo.activeProcessorCount
        for limit in [0, 1, 2, 3, 5, 8, 11, most - 5, most - 4, most - 3] {
            _ = try await expectAnswer(
                "export LD_PRELOAD='\(library)' THREAD_LIMIT=\(limit)", tool, arguments + ["--data", tool.data])
        }
        #expect(
            try await expectAnswer(
                "export LD_PRELOAD='\(library)' THREAD_LIMIT=\(most)", tool, arguments + ["--data", tool.data]))
    }

    @Test func `a program with a host in it is told that there is no thread, and its host stops all the same`()
        async throws
    {
        let tool = try Tool(), limit = try tool.library("threads", of: Self.threadLimit)
        let plugin = try tool.library(
            "Turnstile", by: "clang", [Tool.package + "/Tests/Plugins/Hostile/Culprit/culprit.c"])
        let program = try RunningTool(
            ["host", plugin], of: Tool.built + "/hostile", input: nil,
            environment: ["LD_PRELOAD": limit, "THREAD_LIMIT": "1", "SWIFT_BACKTRACE": "enable=no"])
        let outcome = await program.end()
        #expect(outcome.output.contains("host.exhausted"), "\(outcome.output)\(outcome.errors)")
        #expect(outcome.status == 0 && outcome.output.hasSuffix("stopped\n"), "\(outcome.output)\(outcome.errors)")
    }
}
