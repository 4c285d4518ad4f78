import Foundation
import Testing

@testable import BackplaneHost

/// A plugin that keeps every thread of Swift's pool is named in the log, while it does and once it is over.
@Suite(.timeLimit(.minutes(10)), .disabled(if: FeastProgram.isSanitized, FeastProgram.sanitized))
struct WatchdogTests {
    private let folder: LoadingFixture.Folder

    init() throws { folder = try LoadingFixture.Folder() }

    /// The lines that the host program `feast` prints: who occupied the pool, what the log said when it was over, and more.
    private func feast(_ arguments: String...) async throws -> [String] {
        try await FeastProgram.lines(arguments, in: folder)
    }

    @Test(arguments: ["devour", "doze"])
    func `the plugin, its library, its threads and the function are named, and that it is over`(method: String) async throws {
        let lines = try await feast("library", method, folder.path, "glutton")
        let by = try #require(lines.first?.wholeMatch(of: /(.*?): (\d+) threads?, in (.*)/))
        #expect(by.1 == "org.backplane.tests.glutton 1.3.0 (lib_Glutton.so)")
        #expect(Int(by.2) == ProcessInfo.processInfo.activeProcessorCount)
        #expect(by.3.hasSuffix("GluttonModule.Glutton.\(method)(until: Swift.String) -> ()"), "optimised code says how it was specialised before that")
        #expect(lines.dropFirst() == ["\(PoolReport.over): \(by.0)"])
    }

    @Test func `a plugin that is linked into the program is the program's code`() async throws {
        let lines = try await feast("linked", "devour", folder.path, "devour")
        let by = try #require(lines.first)
        #expect(by.hasPrefix("feast, which is no plugin of this host: "))
        #expect(by.hasSuffix(", in GluttonModule.Glutton.devour(until: Swift.String) -> ()"))
        #expect(lines.dropFirst() == ["\(PoolReport.over): \(by)"])
    }

    @Test func `a signal handler of the program's own is left alone, and the pool is said to be occupied all the same`() async throws {
        let lines = try await feast("library", "devour", folder.path, "looked at", "profiled")
        let by = try #require(lines.first)
        #expect(by.hasSuffix("threads that could not be looked at, SIGPROF being blocked or in use"))
        #expect(lines.dropFirst() == ["\(PoolReport.over): \(by)"], "and nothing of a handler that was replaced")
    }

    @Test func `while the pool is free nothing is said`() async throws {
        #expect(try await feast("idle") == ["nothing more"])
    }
}
