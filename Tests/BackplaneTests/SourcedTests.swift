import FoundationEssentials
import Synchronization
import Testing

@testable import Backplane

@Suite struct SourcedTests {
    /// What a component has logged.
    final class Told: Sendable {
        struct Line: Equatable {
            var message: String
            var error: String?
            var trace: String?
        }
        private let all = Mutex<[Line]>([])
        var lines: [Line] { all.withLock(\.self) }
        var messages: [String] { lines.map(\.message) }

        var log: Log {
            Log(isEnabled: { $0 >= .warning }) { _, message, metadata, call in
                self.all.withLock {
                    $0.append(Line(message: message, error: metadata["error"], trace: call?.trace?.id))
                }
            }
        }
    }
    private let told = Told()
    struct Offline: Error, Equatable {}
    @Test func `what the network says is kept and marked`() async throws {
        var kept: [Int] = []
        let result = try await Sourced.networkFirst(Call(), log: told.log) { _ in
            7
        } keep: {
            kept.append($0)
        } kept: {
            nil
        }
        #expect(result == Sourced(7, from: .network))
        #expect(kept == [7] && told.lines.isEmpty)
    }

    @Test func `when the network fails what was kept is given with its age`() async throws {
        let result = try await Sourced<Int>.networkFirst(Call(), log: told.log) { _ in
            throw Offline()
        } keep: { _ in
            Issue.record("nothing came")
        } kept: {
            Kept(5, at: .now - 90)
        }
        #expect(result.value == 5)
        guard case .store(let age) = result.source else {
            Issue.record("from \(result.source)")
            return
        }
        #expect(age >= .seconds(90) && age < .seconds(180))
        #expect(told.messages == ["the network failed, and the stored value is returned"])
    }

    @Test func `the network's error is logged for the call when what was kept is the answer`() async throws {
        let call = Call(within: nil, traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
        let error = BackplaneError(.callDeadline, "books.example.org is slow")
        _ = try await Sourced<Int>.networkFirst(call, log: told.log) { _ in
            throw error
        } keep: { _ in
        } kept: {
            Kept(5)
        }
        #expect(told.lines.map(\.error) == ["\(error)"])
        #expect(told.lines.map(\.trace) == ["4bf92f3577b34da6a3ce929d0e0e4736"])
    }

    @Test func `when nothing was kept the network's error is the error`() async {
        await #expect(throws: Offline()) {
            try await Sourced<Int>.networkFirst(Call(), log: told.log) { _ in
                throw Offline()
            } keep: { _ in
            } kept: {
                nil
            }
        }
    }

    @Test(arguments: [CancellationError() as any Error, BackplaneError(.callCancelled, "")])
    func `a cancelled question is not answered from what was kept`(error: any Error) async {
        await #expect(throws: (any Error).self) {
            try await Sourced<Int>.networkFirst(Call(), log: told.log) { _ in
                throw error
            } keep: { _ in
            } kept: {
                Kept(5)
            }
        }
    }

    @Test func `a slow network leaves time for what was kept`() async throws {
        let call = Call(within: .seconds(100))
        _ = try await Sourced<Int>.networkFirst(call, log: told.log) { call in
            let time = try #require(call.timeLeft)
            #expect(time > .seconds(60) && time <= .seconds(75))
            throw BackplaneError(.callDeadline, "slow")
        } keep: { _ in
        } kept: {
            Kept(5)
        }
    }

    @Test func `a transformed value keeps its source`() {
        #expect(Sourced([1, 2], from: .network).map(\.count) == Sourced(2, from: .network))
        let stored = Sourced([1, 2], from: .store(age: .seconds(90)))
        #expect(stored.map(\.count) == Sourced(2, from: .store(age: .seconds(90))))
    }

    @Test(arguments: [
        (Sourced([1], from: .network), #"{"source":"network","value":[1]}"#),
        (Sourced([1], from: .store(age: .milliseconds(1_500))), #"{"age":1.5,"source":"store","value":[1]}"#),
    ])
    func `it crosses as JSON that says its source`(value: Sourced<[Int]>, json: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(value), as: UTF8.self) == json)
        #expect(try JSONDecoder().decode(Sourced<[Int]>.self, from: Data(json.utf8)) == value)
    }

    @Test func `an unknown source is refused`() {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Sourced<Int>.self, from: Data(#"{"source":"rumour","value":1}"#.utf8))
        }
    }
}
