public import Backplane
import CBackplane
import FoundationEssentials

/// What the code that is called finds around it.
public struct TaskContext: Contract {
    public static let version: Version = "1.0.0"
    public let priority = AsyncMethod<Nothing, UInt8>()
    public init() {}
}

/// Tells what the call was when it arrived, through as many components as are wired behind one another.
public struct Frames: Contract {
    public static let version: Version = "1.1.0"
    public let frame = AsyncMethod<Nothing, Frame>()
    public let frameNow = SyncMethod<Nothing, Frame>()
    public init() {}
}

/// The same, as somebody knows it who was compiled with an earlier version.
public struct EarlierFrames: Contract {
    public static let name = "Frames"
    public static let version: Version = "1.0.0"
    public let frame = AsyncMethod<Nothing, Frame>()
    public let frameNow = SyncMethod<Nothing, Frame>()
    public init() {}
}

/// A call frame, as values.
public struct Frame: Codable, Sendable, Hashable {
    public var deadline: Int64
    public var path: [UInt16]
    public var trace: [UInt8]

    package init(_ call: Call) {
        let trace = call.withC { frame in withUnsafeBytes(of: frame.pointee.trace) { Array($0) } }
        (deadline, path, self.trace) = (call.deadline?.nanoseconds ?? 0, call.path, trace)
    }
}

/// A value as another library saw it: that its storage came back alone would not show that it was understood.
public struct Seen<Value: Codable & Sendable>: Codable, Sendable {
    public var value: Value
    public var text: String

    public init(_ value: Value) {
        (self.value, text) = (value, described(value))
    }
}

/// All that is in a value; what has no order is sorted.
private func described(_ value: Any) -> String {
    switch value {
    case let data as Data: return "data \(Array(data))"
    case let date as Date: return "date \(date.timeIntervalSinceReferenceDate)"
    case let string as String: return "\(Array(string.unicodeScalars.map(\.value)))"
    default: break
    }
    let mirror = Mirror(reflecting: value), parts = mirror.children.map { "\($0.label ?? "")=\(described($0.value))" }
    switch mirror.displayStyle {
    case .set, .dictionary: return "{\(mirror.children.map { described($0.value) }.sorted().joined(separator: ", "))}"
    case .collection, .tuple, .optional: return "[\(parts.joined(separator: ", "))]"
    case .enum where !parts.isEmpty, .struct where !parts.isEmpty && !(value is any CustomStringConvertible):
        return "\(type(of: value))(\(parts.joined(separator: ", ")))"
    default: return String(reflecting: value)
    }
}

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

/// Throws an error of its own, from methods of every kind.
public struct Loans: Contract {
    public typealias Failure = LoanError
    public static let version: Version = "1.0.0"
    public let borrow = AsyncMethod<LoanError, Nothing>()
    public let borrowNow = SyncMethod<LoanError, Nothing>()
    /// One title, and then the error.
    public let titles = StreamMethod<LoanError, String>()
    /// Throws an error that is none of the contract's.
    public let fail = AsyncMethod<FailureKind, Nothing>()
    public init() {}
}

public enum LoanError: ContractError, Equatable {
    case lent(book: String, to: String?)
    case closed
    /// Has another code than one version of the contract believes.
    case renamed

    public var code: String { if case .renamed = self { "loans.renamed" } else { "loans.refused" } }
    public var message: String { "the loan is refused" }
}

/// The same contract as it was before it told an error from another.
public struct EarlierLoans: Contract {
    public static let name = "Loans"
    public static let version: Version = "1.0.0"
    public let borrow = AsyncMethod<LoanError, Nothing>()
    public let borrowNow = SyncMethod<LoanError, Nothing>()
    public let titles = StreamMethod<LoanError, String>()
    public let fail = AsyncMethod<FailureKind, Nothing>()
    public init() {}

    public enum Failure: ContractError, Equatable {
        case closed
        case renamed

        public var code: String { "loans.refused" }
        public var message: String { "" }
    }
}

/// The same contract without an error of its own.
public struct UntypedLoans: Contract {
    public static let name = "Loans"
    public static let version: Version = "1.0.0"
    public let borrow = AsyncMethod<LoanError, Nothing>()
    public let borrowNow = SyncMethod<LoanError, Nothing>()
    public let titles = StreamMethod<LoanError, String>()
    public let fail = AsyncMethod<FailureKind, Nothing>()
    public init() {}
}

extension BackplaneError {
    /// An error with so many errors in one another below it.
    public static func deep(_ levels: Int) -> BackplaneError {
        (0..<levels).reduce(BackplaneError(.componentFailed, "0")) {
            BackplaneError(.componentFailed, "\($1 + 1)", causes: [$0])
        }
    }
}

/// Streams of every kind.
public struct Sequences: Contract {
    public static let version: Version = "1.0.0"
    /// The numbers from 0 up to this one.
    public let count = StreamMethod<Int, Int>()
    /// So many volumes.
    public let volumes = StreamMethod<Int, Volume>()
    /// Two numbers, and then an error.
    public let fail = StreamMethod<FailureKind, Int>()
    /// The numbers from 0, without end.
    public let endless = StreamMethod<Nothing, Int>()
    /// Nothing, until it is cancelled.
    public let silent = StreamMethod<Nothing, Int>()
    /// One number; then it ignores its cancellation until it is let go.
    public let stubborn = StreamMethod<Nothing, Int>()
    /// A number that JSON has, one that it does not have, and another one.
    public let unusual = StreamMethod<Nothing, Double>()
    /// The path of the call that the body received, and whether that has a deadline.
    public let frame = StreamMethod<Nothing, SequenceFrame>()
    public init() {}
}

public struct SequenceFrame: Codable, Sendable, Equatable {
    public var components: Int
    public var hasDeadline: Bool

    public init(components: Int, hasDeadline: Bool) { (self.components, self.hasDeadline) = (components, hasDeadline) }
}

/// The bodies of all streams of one copy of the provider's library.
public struct SequenceWatch: Contract {
    public static let version: Version = "1.0.0"
    public let counts = SyncMethod<Nothing, SequenceCounts>()
    /// Lets go the bodies that ignore their cancellation.
    public let letGo = SyncMethod<Nothing, Nothing>()
    public init() {}
}

public struct SequenceCounts: Codable, Sendable, Equatable {
    /// The bodies that have begun, are running and were cancelled.
    public var begun = 0, running = 0, cancelled = 0
    /// The elements whose `send` has returned.
    public var sent = 0
    /// The instances that were released.
    public var released = 0
    public init() {}
}
