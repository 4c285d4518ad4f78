import BackplaneManagers
import FoundationEssentials
import Testing

@testable import Backplane

@Suite struct SourcedTests {
    struct Offline: Error, Equatable {}
    struct DiskFull: Error, Equatable {}

    @Test func `what the network says is kept and marked`() async throws {
        var kept: [Int] = []
        let result = try await Sourced.networkFirst(Call()) { _ in
            7
        } keep: {
            kept.append($0)
        } kept: {
            nil
        } unkept: {
            Issue.record($0)
        }
        #expect(result == Sourced(7, from: .network))
        #expect(kept == [7])
    }

    @Test func `when the network fails what was kept is given with its age`() async throws {
        let result = try await Sourced<Int>.networkFirst(Call()) { _ in
            throw Offline()
        } keep: { _ in
            Issue.record("nothing came")
        } kept: {
            Kept(5, at: .now - 90)
        } unkept: {
            Issue.record($0)
        }
        #expect(result.value == 5)
        guard case .store(let age) = result.source else {
            Issue.record("from \(result.source)")
            return
        }
        #expect(age >= .seconds(90) && age < .seconds(180))
    }

    @Test func `when nothing was kept the network's error is the error`() async {
        await #expect(throws: Offline()) {
            try await Sourced<Int>.networkFirst(Call()) { _ in
                throw Offline()
            } keep: { _ in
            } kept: {
                nil
            } unkept: {
                Issue.record($0)
            }
        }
    }

    @Test func `what was kept and cannot be read is told, and the network's error is the error`() async {
        var told: [any Error] = []
        await #expect(throws: Offline()) {
            try await Sourced<Int>.networkFirst(Call()) { _ in
                throw Offline()
            } keep: { _ in
            } kept: {
                throw DiskFull()
            } unkept: {
                told.append($0)
            }
        }
        #expect(told.map { $0 is DiskFull } == [true])
    }

    @Test func `an answer that could not be kept is an answer all the same`() async throws {
        var told: [any Error] = []
        let result = try await Sourced.networkFirst(Call()) { _ in
            7
        } keep: { _ in
            throw DiskFull()
        } kept: {
            nil
        } unkept: {
            told.append($0)
        }
        #expect(result == Sourced(7, from: .network))
        #expect(told.map { $0 is DiskFull } == [true])
    }

    @Test(arguments: [CancellationError() as any Error, BackplaneError(.callCancelled, "")])
    func `a cancelled question is not answered from what was kept`(error: any Error) async {
        await #expect(throws: (any Error).self) {
            try await Sourced<Int>.networkFirst(Call()) { _ in
                throw error
            } keep: { _ in
            } kept: {
                Kept(5)
            } unkept: {
                Issue.record($0)
            }
        }
    }

    @Test func `a slow network leaves time for what was kept`() async throws {
        let call = Call(within: .seconds(100))
        _ = try await Sourced<Int>.networkFirst(call) { call in
            let time = try #require(call.timeLeft)
            #expect(time > .seconds(60) && time <= .seconds(75))
            throw BackplaneError(.callDeadline, "slow")
        } keep: { _ in
        } kept: {
            Kept(5)
        } unkept: {
            Issue.record($0)
        }
    }

    @Test(arguments: [1e300, -1e300, -1, 0]) func `no age is too long or too short`(age: Double) throws {
        let json = #"{"source":"store","age":\#(age),"value":1}"#
        let found = try JSONDecoder().decode(Sourced<Int>.self, from: Data(json.utf8))
        guard case .store(let age) = found.source else {
            Issue.record("from \(found.source)")
            return
        }
        #expect(age >= .zero)
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
