import Backplane
import BackplaneExchange
import BackplaneNetwork
import Foundation
import Testing

@testable import BackplaneHost

/// The plugin of the step that brought `backplane.transfers/1`: in C, loaded from a file.
@Suite(.timeLimit(.minutes(5)))
struct TransfersStepTests {
    private func with(_ body: (TestHost) async throws -> Void) async throws {
        let source = try String(contentsOfFile: CompatibilityFolder.path + "/Steps/transfers.c", encoding: .utf8)
        let folder = try LoadingFixture.Folder()
        try folder.write(
            LoadingFixture.library(
                of: source, ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fvisibility=hidden"]),
            as: "libTransfersStep.so")
        let test = try TestHost(
            """
            {"manifestVersion": 1, "plugins": [{"library": "TransfersStep"}],
             "managers": {"TransfersStep": {"className": "TransfersStepManager",
               "communicationController": {"className": "TransfersStepCommunication"}}}}
            """, linked: [], in: folder
        ) { options in
            options.executors = [
                MemoryExecutor { request, _ in
                    let sent = try await request.body.open().collect(upTo: 100)
                    let text = sent.isEmpty ? "from \(request.url)" : String(decoding: sent, as: UTF8.self)
                    return HTTPStreamedResponse(HTTPResponse(status: 200, body: Array(text.utf8)))
                }
            ]
        }
        do {
            try await body(test)
            await test.host.stop()
        } catch {
            await test.host.stop()
            throw error
        }
    }

    private func state(_ json: String) throws -> TransferState {
        try JSONDecoder().decode(TransferState.self, from: Data(json.utf8))
    }

    @Test func `it has a file downloaded to its folder, and follows that to the end`() async throws {
        try await with { test in
            let last = try state(try await test.call("TransfersStep", "fetch", #""http://books.test/whale""#))
            #expect(last.phase == .succeeded && last.id == "parcel 0" && last.progress == 1)
            let file = try #require(last.storedFile)
            #expect(file.path.hasSuffix("/@network/TransfersStep@communicationController/parcel.txt"))
            #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "from http://books.test/whale")
            // It is found again, and there is nothing more to do.
            let again = try state(try await test.call("TransfersStep", "fetch", #""http://books.test/whale""#))
            #expect(again.phase == .succeeded && again.file == file.path)
        }
    }

    @Test func `it uploads pieces, and reads the answer`() async throws {
        try await with { test in
            let last = try state(try await test.call("TransfersStep", "send", #""http://books.test/whale""#))
            #expect(last.phase == .succeeded && last.isUpload && last.status == 200)
            #expect(last.response == Array("two pieces".utf8))
        }
    }

    @Test func `mistakes are answers`() async throws {
        try await with { test in
            let outside = await error { try await test.call("TransfersStep", "escape", #""http://books.test/whale""#) }
            #expect(outside?.code == .networkRefused, "\(String(describing: outside))")
            let unknown = await error { try await test.call("TransfersStep", "pause", #""nothing""#) }
            #expect(unknown?.code == .transferUnknown && unknown?.location?.hasSuffix("/nothing") == true)
            let manager = await error { try await test.call("TransfersStep", "pause", #""mine""#) }
            #expect(manager?.code == .roleForbidden)
        }
    }
}
