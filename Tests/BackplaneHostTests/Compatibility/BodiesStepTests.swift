import Backplane
import BackplaneExchange
import BackplaneNetwork
import Foundation
import Testing

@testable import BackplaneHost

/// The plugin of the step that brought `backplane.bodies/1`: an executor in C, loaded from a file.
@Suite(.timeLimit(.minutes(5)))
struct BodiesStepTests {
    private func with(_ body: (TestHost) async throws -> Void) async throws {
        let source = try String(contentsOfFile: CompatibilityFolder.path + "/Steps/bodies.c", encoding: .utf8)
        let folder = try LoadingFixture.Folder()
        try folder.write(
            LoadingFixture.library(
                of: source, ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fvisibility=hidden"]),
            as: "libBodiesStep.so")
        let manifest = """
            {"manifestVersion": 1, "plugins": [{"library": "BodiesStep"}],
             "managers": {"BodiesStep": {"className": "BodiesStep"}}, "network": {"executors": {"echo": "BodiesStep"}}}
            """
        let test = try TestHost(manifest, linked: [], in: folder)
        do {
            try await body(test)
            await test.host.stop()
        } catch {
            await test.host.stop()
            throw error
        }
    }

    @Test(arguments: [0, 1, 60_000, 1_000_000])
    func `it answers with the body of the request, piece by piece, and a trailer`(count: Int) async throws {
        try await with { test in
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let response = try await test.host.network.send(HTTPRequest("POST", "echo:whale", body: .bytes(bytes)))
            #expect(response.status == 200 && response.headers["X-Echo"] == "1")
            #expect(response.body == bytes && response.trailers["X-Count"] == "\(count)")
            await eventually { await test.host.coordinator.openStreams == 0 }
        }
    }

    @Test func `a response that is released, and a body that fails, end their exchanges`() async throws {
        try await with { test in
            let bytes = [UInt8](repeating: 1, count: 1_000_000)
            let response = try await test.host.network.open(HTTPRequest("POST", "echo:whale", body: .bytes(bytes)))
            #expect(try await response.body.next()?.isEmpty == false)
            response.body.cancel()
            struct BodyFailure: Error {}
            let failing = HTTPBody.replayable {
                AsyncThrowingStream<[UInt8], any Error> { stream in
                    stream.yield([1, 2, 3])
                    stream.finish(throwing: BodyFailure())
                }
            }
            let failure = await error {
                try await test.host.network.send(HTTPRequest("POST", "echo:whale", body: failing))
            }
            #expect(failure?.code == .networkBody)
            await eventually { await test.host.coordinator.openStreams == 0 }
        }
    }
}
