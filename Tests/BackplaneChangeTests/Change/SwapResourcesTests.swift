import Backplane
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// The files that come with a library are a reason to swap it, as its code is.
@Suite(.timeLimit(.minutes(5)))
struct SwapResourcesTests {
    private let fixture: TurnstileFixture
    private var folder: TestFolder { fixture.folder }

    /// A host whose library came with two files, one of them in a folder below.
    init() async throws {
        fixture = try await TurnstileFixture()
        for name in ["app_Turnstile.resources", "app_Turnstile.resources/deep"] { _ = try folder.makeFolder(name) }
        for name in ["name.txt", "deep/name.txt"] {
            try folder.write(Array("first".utf8), as: "app_Turnstile.resources/" + name)
        }
        let came = try await fixture.host.swap(library: fixture.path)
        #expect(came.outcome == .changed, "there were none before")
    }

    private func swap() async throws -> ChangeReport.Outcome {
        try await fixture.host.swap(library: fixture.path).outcome
    }

    @Test func `a library with the same files, rewritten or not, is already active`() async throws {
        #expect(try await swap() == .unchanged)
        try folder.write(Array("first".utf8), as: "app_Turnstile.resources/name.txt")
        #expect(try await swap() == .unchanged)
        #expect(try await fixture.generations() == (2, 2), "nothing was loaded to find that out")
    }

    @Test(arguments: ["name.txt", "deep/name.txt"])
    func `other contents are a new generation, also of the same length`(name: String) async throws {
        for text in ["other", "longer than it was", ""] {
            try folder.write(Array(text.utf8), as: "app_Turnstile.resources/" + name)
            #expect(try await swap() == .changed)
            #expect(try await swap() == .unchanged)
        }
    }

    @Test func `a file that is new, gone or a folder now is a change`() async throws {
        try folder.write([], as: "app_Turnstile.resources/deep/new.txt")
        #expect(try await swap() == .changed)
        try FileManager.default.removeItem(atPath: folder.path + "/app_Turnstile.resources/deep/new.txt")
        #expect(try await swap() == .changed)
        try FileManager.default.removeItem(atPath: folder.path + "/app_Turnstile.resources/name.txt")
        _ = try folder.makeFolder("app_Turnstile.resources/name.txt")
        #expect(try await swap() == .changed)
        _ = try folder.makeFolder("app_Turnstile.resources/deep/empty")
        #expect(try await swap() == .changed)
        #expect(try await swap() == .unchanged)
        FileTree.remove(folder.path + "/app_Turnstile.resources")
        #expect(try await swap() == .changed)
        #expect(try await swap() == .unchanged)
    }
}
