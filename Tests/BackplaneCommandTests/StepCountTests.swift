#if arch(x86_64)
import Foundation
import Testing

@testable import BackplaneTerminal
@testable import BackplaneValidate

/// The instructions of an entry, counted one at a time (V15). Asked of the trial's own process, since `validate` takes the processor's
/// counters where it may.
@Suite(.timeLimit(.minutes(5)))
struct StepCountTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private struct Answer: Decodable { var facts: StepFacts }

    /// What is counted of an entry that does this before it answers.
    private func count(_ work: String) async throws -> StepFacts {
        try await count(compiled: try compile(work))
    }

    private func count(compiled path: String) async throws -> StepFacts {
        let outcome = try await tool.start(["validate-child", "steps", "--load-folder", tool.loads, "--", path]).end()
        try #require(outcome.status == 0, "\(outcome.status) \(outcome.output) \(outcome.errors)")
        let answer = try #require(outcome.output.split(separator: "\u{1E}").last).dropLast()
        return try JSONDecoder().decode(Answer.self, from: Data(answer.utf8)).facts
    }

    private func compile(_ work: String) throws -> String {
        try compile(source: "#define _GNU_SOURCE\n#define AT_ENTRY \(work);\n#include \"plugin.h\"\n")
    }

    private func compile(source text: String) throws -> String {
        let source = try tool.write(text, as: "entry.c"), path = tool.folder + "/libEntry.so"
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = [
            "clang", "-shared", "-fPIC", "-O1", "-I", Tool.manifests + "/../Sources/CBackplane/include", "-I", Tool.manifests + "/../Tests/Plugins/Hostile/Corpus",
            "-o", path, source,
        ]
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
        return path
    }

    /// - Returns: how many more instructions 200 rounds of it are than 100.
    private func growth(_ work: (_ rounds: Int) -> String) async throws -> Int {
        guard case .counted(let few) = try await count(work(100)), case .counted(let many) = try await count(work(200)) else {
            Issue.record("it is not counted to its end")
            return 0
        }
        return Int(many) - Int(few)
    }

    @Test func `every instruction counts, from the first of the entry to its return, and those of what it calls`() async throws {
        let path = try compile(source: """
            #define HAS_ENTRY
            #include "plugin.h"
            __asm__(".globl backplane_plugin_entry_v1\\n.type backplane_plugin_entry_v1, @function\\n"
                "backplane_plugin_entry_v1: nop; nop; call 1f; mov $1, %eax; ret\\n1: nop; ret\\n.size backplane_plugin_entry_v1, . - backplane_plugin_entry_v1");
            """)
        #expect(try await count(compiled: path) == .counted(7))
    }

    @Test func `the count grows by what the entry does, to the instruction`() async throws {
        #expect(try await growth { #"__asm__ volatile("mov $\#($0), %%ecx; 1: nop; nop; dec %%ecx; jnz 1b" : : : "ecx", "cc")"# } == 400)
    }

    @Test func `the same entry has the same count again`() async throws {
        let work = #"char text[64]; snprintf(text, sizeof text, "%d of %s", 42, answer->size > 8 ? "many" : "few")"#
        #expect(try await count(work) == count(work))
    }

    @Test func `a system call is one instruction, and so is the one behind it`() async throws {
        #expect(try await growth { #"__asm__ volatile("mov $\#($0), %%r8d; 1: mov $110, %%eax; syscall; dec %%r8d; jnz 1b" : : : "rax", "rcx", "r8", "r11", "cc", "memory")"# } == 400)
    }

    @Test func `an instruction that repeats itself is one`() async throws {
        let growth = try await growth { #"char room[200], *to = room; long times = \#($0); __asm__ volatile("rep stosb" : "+D"(to), "+c"(times) : "a"(0) : "memory")"# }
        #expect(growth == 0)
    }

    @Test func `a jump to itself is one each time`() async throws {
        #expect(try await growth { #"__asm__ volatile("mov $\#($0), %%ecx; 1: loop 1b" : : : "ecx", "cc")"# } == 100)
    }

    @Test func `of more than the limit no more is known`() async throws {
        #expect(try await count(#"__asm__ volatile("mov $\#(StepFacts.limit), %%ecx; 1: dec %%ecx; jnz 1b" : : : "ecx", "cc")"#) == .moreThan(StepFacts.limit))
    }

    @Test(arguments: [
        ("sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, NULL)", ["rt_sigprocmask"]),
        ("signal(SIGTRAP, SIG_IGN)", ["rt_sigaction"]),
        // Its start is made of several such calls, of which glibc chooses the first.
        ("start_thread(linger, NULL)", ["rt_sigaction", "rt_sigprocmask", "clone3", "clone"]),
        ("if (fork() == 0) _exit(0)", ["rt_sigprocmask", "clone", "fork"]),
        ("if (vfork() == 0) _exit(0)", ["vfork"]),
    ])
    func `what cannot go a step at a time goes freely, and the count says from where`(work: String, calls: [String]) async throws {
        let facts = try await count(work)
        guard case .before(let call, let count) = facts else {
            Issue.record("\(facts)")
            return
        }
        #expect(calls.contains(call) && count > 0)
    }

    @Test func `validate tells both the instructions and the time, and judges neither`() async throws {
        let path = try compile("start_thread(linger, NULL)")
        let outcome = try await tool.start(["validate", path, "--json", "--load-folder", tool.loads, "--timeout", "240"]).end()
        let row = try #require(try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8)).requirements.first { $0.id == "V15" })
        #expect(row.result == "passed" && row.details.count == 2)
        #expect(row.details.first?.contains(/\d+ instructions/) == true && row.details.last?.contains(/^\d+ µs on the processor$/) == true, "\(row.details)")
    }

    private struct Report: Decodable {
        struct Row: Decodable { var id, result: String, details: [String] }
        var requirements: [Row]
    }
}
#endif
