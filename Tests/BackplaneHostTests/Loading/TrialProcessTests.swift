import Backplane
import Foundation
import Testing

@testable import BackplaneHost

/// The process in whose children libraries are opened: it says how each child ended, and outlives them all.
@Suite(.timeLimit(.minutes(5)))
struct TrialProcessTests {
    private let folder: LoadingFixture.Folder
    private let process = TrialProcess(isPossible: true)

    init() throws { folder = try LoadingFixture.Folder() }

    private func open(_ source: String, limit: Duration = .seconds(60), _ flags: String...) throws
        -> TrialProcess.Verdict
    {
        let bytes = try LoadingFixture.library(of: "#include <unistd.h>\n#include <stdlib.h>\n" + source, flags)
        return process.open(try folder.write(bytes, as: "lib\(UUID().uuidString).so"), limit: limit)
    }

    private static func constructor(_ body: String) -> String {
        "__attribute__((constructor)) static void loaded(void) { \(body) }"
    }

    private static func destructor(_ body: String) -> String {
        "__attribute__((destructor)) static void ended(void) { \(body) }"
    }

    @Test func `a library that does nothing wrong passes, and its constructors and destructors have run`() throws {
        let loaded = folder.path + "/loaded", ended = folder.path + "/ended"
        let source =
            #"#include <fcntl.h>"# + "\n" + Self.constructor(#"close(creat("\#(loaded)", 0600));"#)
            + Self.destructor(#"close(creat("\#(ended)", 0600));"#)
        #expect(try open(source) == .passed)
        #expect(LoadingFixture.exists(loaded) && LoadingFixture.exists(ended))
    }

    @Test func `whatever ends the child is told, with the stage and what it printed`() throws {
        #expect(
            try open(Self.constructor("abort();")) == .died(.signal(SIGABRT), stage: .loading, printed: ""))
        #expect(
            try open(Self.constructor("*(volatile int *)8 = 1;"))
                == .died(.signal(SIGSEGV), stage: .loading, printed: ""))
        #expect(try open(Self.constructor("_exit(0);")) == .died(.exit(0), stage: .loading, printed: ""))
        #expect(
            try open(Self.constructor(#"write(2, "no licence\n", 11); exit(7);"#))
                == .died(.exit(7), stage: .loading, printed: "no licence\n"))
        #expect(try open(Self.destructor("abort();")) == .died(.signal(SIGABRT), stage: .ending, printed: ""))
        #expect(try open(Self.destructor("_exit(9);")) == .died(.exit(9), stage: .ending, printed: ""))
    }

    @Test func `one that comes to no end is killed, with what it started`() throws {
        let mark = folder.path + "/mark"
        let source =
            "#include <fcntl.h>\n"
            + Self.constructor(
                #"if (fork() == 0) { sleep(2); close(creat("\#(mark)", 0600)); _exit(0); } for (;;) pause();"#)
        #expect(
            try open(source, limit: .milliseconds(300)) == .died(.overdue, stage: .loading, printed: ""))
        #expect(
            try open(Self.destructor("for (;;) {}"), limit: .milliseconds(300))
                == .died(.overdue, stage: .ending, printed: ""))
        Thread.sleep(forTimeInterval: 3)
        #expect(!LoadingFixture.exists(mark))
    }

    @Test func `what prints without end waits for nobody`() throws {
        let source = Self.constructor(#"for (int n = 0; n < 1000000; n++) write(2, "words ", 6); abort();"#)
        guard case .died(.signal(SIGABRT), .loading, let printed) = try open(source) else {
            Issue.record("it did not abort")
            return
        }
        #expect(printed.utf8.count > 1_000 && printed.utf8.count <= 2_048)
    }

    @Test func `an assertion of the loader's own ends the child alone`() throws {
        // A version that is wanted of a library which is not among those that are needed.
        var bytes = try LoadingFixture.library(of: "#include <stdio.h>\nvoid greet(void) { puts(\"\"); }", [])
        let name = Array("libc.so.6".utf8), found = try #require(bytes.firstRange(of: name))
        bytes.replaceSubrange(found, with: Array("libq.so.6".utf8))
        let image = try ELFImage(bytes), dynamic = try #require(image.range(ofSection: ".dynamic"))
        for place in stride(from: dynamic.lowerBound, to: dynamic.upperBound, by: 16) where bytes[place] == 1 {
            bytes[place] = 21  // DT_NEEDED becomes DT_DEBUG, which means nothing here.
        }
        let verdict = process.open(try folder.write(bytes, as: "libWanting.so"), limit: .seconds(60))
        guard case .died(.exit(127), .loading, let printed) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(printed.contains("ld.so") && printed.contains("Assertion"))
    }

    @Test func `what the loader refuses in good order is no death`() throws {
        let verdict = process.open(try folder.write([1, 2, 3], as: "libNone.so"), limit: .seconds(60))
        guard case .refused(let reason) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(reason.contains("libNone.so"))
    }

    @Test func `it stays the same process whatever its children come to, and another one takes its place`() throws {
        #expect(process.id == nil)
        #expect(try open("int one;") == .passed)
        let id = try #require(process.id)
        _ = try open(Self.constructor("abort();"))
        #expect(try open("int one;") == .passed)
        #expect(process.id == id)
        kill(id, SIGKILL)
        #expect(try open("int one;") == .passed)
        #expect(process.id != id)
    }

    @Test func `one that is given up ends, and its child with it`() throws {
        let mark = folder.path + "/mark"
        let bytes = try LoadingFixture.library(
            of: "#include <unistd.h>\n#include <fcntl.h>\n"
                + Self.constructor(#"close(creat("\#(mark)", 0600)); for (;;) pause();"#), [])
        let path = try folder.write(bytes, as: "libNever.so")
        #expect(process.open(path, limit: .seconds(600)) { LoadingFixture.exists(mark) } == .givenUp)
        #expect(process.id == nil)
        #expect(try open("int one;") == .passed)
    }

    @Test func `trials of several hosts at the same time come one after the other`() async throws {
        let good = try folder.write(LoadingFixture.library(of: "int one;", []), as: "libGood.so")
        let bad = try folder.write(
            LoadingFixture.library(of: Self.constructor("__builtin_trap();"), []), as: "libBad.so")
        let process = process
        let verdicts = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let verdict = process.open(number.isMultiple(of: 2) ? good : bad, limit: .seconds(60))
                    guard case .died(.signal, .loading, _) = verdict else {
                        return verdict == .passed && number % 2 == 0
                    }
                    return number % 2 == 1
                }
            }
            return await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(verdicts.allSatisfy { $0 })
    }
}
