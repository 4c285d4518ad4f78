public import Backplane
import Synchronization

/// What a manager may do wrong, and what it may be asked of its call.
public struct Trials: Contract {
    public static let version: Version = "2.1.0"
    /// Throws an error of its own.
    public let fail = AsyncMethod<String, Nothing>()
    public let failNow = SyncMethod<String, Nothing>()
    /// Answers infinity, which JSON does not have.
    public let infinity = AsyncMethod<Nothing, Double>()
    /// Waits so many seconds, or until it is cancelled.
    public let wait = AsyncMethod<Double, String>()
    /// How often `wait` was cancelled.
    public let cancellations = SyncMethod<Nothing, Int>()
    /// The numbers of the components that this call came through.
    public let path = SyncMethod<Nothing, [UInt16]>()
    /// Seconds until the call's deadline.
    public let timeLeft = SyncMethod<Nothing, Double?>()
    public init() {}
}

final class TrialManager: Manager {
    typealias Provides = Trials
    struct Configuration: Decodable, Sendable {
        var refusesToStart: Bool?
        var refusesToActivate: Bool?
        var neverStarts: Bool?
    }
    private let cancelled = Atomic(0)
    private let configuration: Configuration

    init(_ context: Context) async throws {
        configuration = context.configuration
        if configuration.refusesToStart == true { throw Trouble(text: "not today") }
        if configuration.neverStarts == true { try await Task.sleep(for: .seconds(3_600)) }
    }

    func activate() throws {
        if configuration.refusesToActivate == true { throw Trouble(text: "no port") }
    }

    static func methods(_ table: inout Methods) {
        table.async(\.fail) { _, text, _ in throw Trouble(text: text) }
        table.sync(\.failNow) { _, text, _ in throw Trouble(text: text) }
        table.async(\.infinity) { _, _, _ in .infinity }
        table.async(\.wait) { manager, seconds, _ in try await manager.wait(seconds) }
        table.sync(\.cancellations) { manager, _, _ in manager.cancelled.load(ordering: .sequentiallyConsistent) }
        table.sync(\.path) { _, _, call in call.path }
        table.sync(\.timeLeft) { _, _, call in call.timeLeft.map { $0 / .seconds(1) } }
    }

    private func wait(_ seconds: Double) async throws -> String {
        do {
            try await Task.sleep(for: .seconds(seconds))
            return "waited"
        } catch {
            cancelled.add(1, ordering: .sequentiallyConsistent)
            throw error
        }
    }

    struct Trouble: ComponentError {
        var text: String
        var code: String { "trial.trouble" }
        var message: String { text }
        var details: [String: String] { ["length": "\(text.count)"] }
    }
}

/// Passes on to another manager, to see what a call is when it arrives.
public struct Relay: Contract {
    public static let version: Version = "1.0.0"
    public let path = AsyncMethod<Nothing, [UInt16]>()
    public let timeLeft = AsyncMethod<Nothing, Double?>()
    public let fail = AsyncMethod<String, Nothing>()
    public let wait = AsyncMethod<Double, String>()
    public init() {}
}

final class RelayManager: Manager {
    typealias Provides = Relay
    struct Wires: Wiring {
        let trials: Wire<Trials>
    }
    private let wires: Wires

    init(_ context: Context) {
        wires = context.wires
    }

    static func methods(_ table: inout Methods) {
        table.async(\.path) { manager, _, call in try manager.wires.trials.path(call) }
        table.async(\.timeLeft) { manager, _, call in try manager.wires.trials.timeLeft(call) }
        table.async(\.fail) { manager, text, call in try await manager.wires.trials.fail(text, call) }
        table.async(\.wait) { manager, seconds, call in try await manager.wires.trials.wait(seconds, call) }
    }
}
