import Backplane
import ParityContracts
import Testing

@testable import BackplaneHost

/// The same providers in two hosts, one that calls them natively and one that encodes.
struct BothLanes {
    /// One of the two.
    struct Lane {
        let test: TestHost
        let isNative: Bool
        fileprivate let values: Remote<Values>
        fileprivate let taskContext: Remote<TaskContext>
        fileprivate let failures: Remote<Failures>
        fileprivate let sequences: Remote<Sequences>
        fileprivate let watch: Remote<SequenceWatch>
    }
    typealias Outcome<Value> = Result<Value, BackplaneError>
    private let native, encoded: Lane

    static func with(_ body: (BothLanes) async throws -> Void) async throws {
        try await withLane(.fastest) { native in
            try await withLane(.encoded) { encoded in try await body(BothLanes(native: native, encoded: encoded)) }
        }
    }

    private static func withLane(_ lanes: LaneRule, _ body: (Lane) async throws -> Void) async throws {
        let managers =
            #"""
            "Values": {"className": "ValuesManager"}, "TaskContext": {"className": "TaskContextManager"},
            "Failures": {"className": "FailuresManager"}, "Sequences": {"className": "SequencesManager"},
            "Watch": {"className": "SequenceWatchManager"}
            """#
        try await TestHost.with(parity: managers, lanes: lanes) { test in
            let lane = Lane(
                test: test, isNative: lanes == .fastest, values: try await test.host.manager("Values"),
                taskContext: try await test.host.manager("TaskContext"),
                failures: try await test.host.manager("Failures"),
                sequences: try await test.host.manager("Sequences"), watch: try await test.host.manager("Watch"))
            let wires = await test.host.wires
            #expect(wires.count == 5 && wires.allSatisfy { ($0.lane == .native) == lane.isNative })
            try await body(lane)
        }
    }

    /// How calls end in each lane.
    func values<Value>(_ body: (Remote<Values>) async throws -> Value) async throws -> (
        native: Outcome<Value>, encoded: Outcome<Value>
    ) {
        (try await outcome { try await body(native.values) }, try await outcome { try await body(encoded.values) })
    }

    func taskContext<Value>(_ body: (Lane, Remote<TaskContext>) async throws -> Value) async throws -> (
        native: Outcome<Value>, encoded: Outcome<Value>
    ) {
        (
            try await outcome { try await body(native, native.taskContext) },
            try await outcome { try await body(encoded, encoded.taskContext) }
        )
    }

    func failures<Value>(_ body: (Remote<Failures>) async throws -> Value) async throws -> (
        native: Outcome<Value>, encoded: Outcome<Value>
    ) {
        (try await outcome { try await body(native.failures) }, try await outcome { try await body(encoded.failures) })
    }

    func sequences<Value>(_ body: (Lane, Remote<Sequences>, Remote<SequenceWatch>) async throws -> Value) async throws
        -> (native: Outcome<Value>, encoded: Outcome<Value>)
    {
        (
            try await outcome { try await body(native, native.sequences, native.watch) },
            try await outcome { try await body(encoded, encoded.sequences, encoded.watch) }
        )
    }

    private func outcome<Value>(_ body: () async throws -> Value) async throws -> Outcome<Value> {
        do { return .success(try await body()) } catch let error as BackplaneError { return .failure(error) }
    }
}

extension Result where Failure == BackplaneError {
    var error: BackplaneError? {
        if case .failure(let error) = self { error } else { nil }
    }

    var code: BackplaneError.Code? { error?.code }
}
