import Backplane
import Foundation
import Testing

@testable import BackplaneHost

/// The plugin of the step that brought streams, and log messages for calls: in C, loaded from a file.
@Suite(.timeLimit(.minutes(5)))
struct StreamsStepTests {
    private struct Numbers: Contract {
        static let version: Version = "1.0.0"
        let numbers = StreamMethod<Int, Int>()
    }

    private func with(_ body: (TestHost) async throws -> Void) async throws {
        let source = try String(contentsOfFile: CompatibilityFolder.path + "/Steps/streams.c", encoding: .utf8)
        let folder = try LoadingFixture.Folder()
        try folder.write(
            LoadingFixture.library(
                of: source, ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fvisibility=hidden"]),
            as: "libStreamsStep.so")
        let manifest = """
            {"manifestVersion": 1, "plugins": [{"library": "StreamsStep"}], "managers": {
                "Numbers": {"className": "NumbersManager"},
                "NumberReader": {"className": "NumberReaderManager", "uses": {"provider": "Numbers"}}
            }}
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

    @Test func `it gives a stream and reads one, whole and in order`() async throws {
        try await with { test in
            let provider: Remote<Numbers> = try await test.host.manager("Numbers")
            for count in [0, 1, 64, 250] {
                var numbers: [Int] = []
                for try await number in provider.numbers(count) { numbers.append(number) }
                #expect(numbers == Array(0..<count))
                let counted = try await test.call("NumberReader", "count", "\(count)")
                #expect(counted == "\(count)")
            }
            #expect(await error { try await test.call("NumberReader", "count", "\"many\"") }?.code == .callInvalidInput)
            await eventually { await test.host.coordinator.openStreams == 0 }
        }
    }

    @Test func `a message for a call has the id of its trace`() async throws {
        try await with { test in
            let call = test.host.begin()
            _ = try await test.host.call("NumberReader", "count", Array("3".utf8), call)
            let record = try #require(test.log.all.first { $0.message == "counted" })
            #expect(record.metadata == ["numbers": "3", "trace": try #require(call.trace?.id)])
        }
    }
}
