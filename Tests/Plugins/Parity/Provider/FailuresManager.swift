import Backplane
import ParityContracts

final class FailuresManager: Manager {
    typealias Provides = Failures

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.fail) { _, kind, _ in throw thrown(kind) }
        table.sync(\.failNow) { _, kind, _ in throw thrown(kind) }
        table.async(\.failDeep) { _, levels, _ in throw BackplaneError.deep(levels) }
    }

    static func thrown(_ kind: FailureKind) -> any Error {
        switch kind {
        case .whole, .bare: kind.error
        case .component:
            Trouble(code: "parity.trouble", message: kind.error.message, details: ["": "é", "where": "here"])
        case .componentWithoutDetails: Quiet()
        case .plain: Plain(number: 7)
        case .cancellation: CancellationError()
        }
    }

    private struct Trouble: ComponentError {
        var code: String
        var message: String
        var details: [String: String]
    }

    private struct Quiet: ComponentError {
        var code: String { "" }
        var message: String { "" }
    }

    private struct Plain: Error {
        var number: Int
    }
}
