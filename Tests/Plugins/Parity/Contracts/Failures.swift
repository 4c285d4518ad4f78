public import Backplane

/// Throws on demand.
public struct Failures: Contract {
    public static let version: Version = "1.0.0"
    public let fail = AsyncMethod<FailureKind, Nothing>()
    public let failNow = SyncMethod<FailureKind, Nothing>()
    /// Throws an error with causes nested so deep.
    public let failDeep = AsyncMethod<Int, Nothing>()
    public init() {}
}

public enum FailureKind: String, Codable, Sendable, CaseIterable {
    /// A `BackplaneError` with every field, and causes with every field.
    case whole
    /// The same with nothing but a code that no version knows.
    case bare
    case component
    case componentWithoutDetails
    case plain
    case cancellation

    /// What arrives at the caller.
    public var error: BackplaneError {
        switch self {
        case .whole: Self.wholeError
        case .bare: BackplaneError(.init(rawValue: "later.invention"), "")
        case .component:
            BackplaneError(
                .componentFailed, "no — “nothing” \"fits\"\n\0",
                failure: .init(code: "parity.trouble", details: ["": "é", "where": "here"]))
        case .componentWithoutDetails: BackplaneError(.componentFailed, "", failure: .init(code: ""))
        case .plain: BackplaneError(.componentFailed, "Plain(number: 7)")
        case .cancellation: BackplaneError(.callCancelled, "the call was cancelled")
        }
    }

    private static let wholeError = BackplaneError(
        .configurationInvalid, "outer", at: "/managers/A/configuration",
        failure: .init(code: "own.code", details: ["a": "1"]),
        causes: [
            BackplaneError(
                .callDeadline, "first",
                causes: [BackplaneError(.pluginDamaged, "inner", at: "lib.so", failure: .init(code: "deep"))]),
            BackplaneError(.init(rawValue: "later.invention"), "second", at: ""),
        ])
}

extension BackplaneError {
    /// An error with so many errors in one another below it.
    public static func deep(_ levels: Int) -> BackplaneError {
        (0..<levels).reduce(BackplaneError(.componentFailed, "0")) {
            BackplaneError(.componentFailed, "\($1 + 1)", causes: [$0])
        }
    }
}
