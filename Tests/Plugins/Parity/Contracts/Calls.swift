public import Backplane
import CBackplane
import FoundationEssentials

/// The properties of the task in which a method runs.
public struct TaskContext: Contract {
    public static let version: Version = "1.0.0"
    public let priority = AsyncMethod<Nothing, UInt8>()
    public init() {}
}

/// The frame of a call that has arrived, through any number of components.
public struct Frames: Contract {
    public static let version: Version = "1.1.0"
    public let frame = AsyncMethod<Nothing, Frame>()
    public let frameNow = SyncMethod<Nothing, Frame>()
    public init() {}
}

/// An earlier version of ``Frames``, as callers compiled with it know the contract.
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

/// A value with its description by another library, which proves more than the returned storage alone.
public struct Seen<Value: Codable & Sendable>: Codable, Sendable {
    public var value: Value
    public var text: String

    public init(_ value: Value) {
        (self.value, text) = (value, described(value))
    }
}

/// Returns a description of everything in a value, with unordered contents sorted.
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

/// Methods that throw an error on demand.
public struct Failures: Contract {
    public static let version: Version = "1.0.0"
    public let fail = AsyncMethod<FailureKind, Nothing>()
    public let failNow = SyncMethod<FailureKind, Nothing>()
    /// Throws an error with causes of the given depth.
    public let failDeep = AsyncMethod<Int, Nothing>()
    public init() {}
}

public enum FailureKind: String, Codable, Sendable, CaseIterable {
    /// A `BackplaneError` with all fields, and causes with all fields.
    case whole
    /// A `BackplaneError` with only a code that no version knows.
    case bare
    case component
    case componentWithoutDetails
    case plain
    case cancellation

    /// The error that arrives at the caller.
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

/// Methods of every kind that throw the contract's error.
public struct Loans: Contract {
    public typealias Failure = LoanError
    public static let version: Version = "1.0.0"
    public let borrow = AsyncMethod<LoanError, Nothing>()
    public let borrowNow = SyncMethod<LoanError, Nothing>()
    /// Streams one title, followed by the error.
    public let titles = StreamMethod<LoanError, String>()
    /// Throws an error that does not belong to the contract.
    public let fail = AsyncMethod<FailureKind, Nothing>()
    public init() {}
}

public enum LoanError: ContractError, Equatable {
    case lent(book: String, to: String?)
    case closed
    /// An error with a different code in another version of the contract.
    case renamed

    public var code: String { if case .renamed = self { "loans.renamed" } else { "loans.refused" } }
    public var message: String { "the loan is refused" }
}

/// An earlier version of ``Loans``, in which all errors have the same code.
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

/// The contract ``Loans`` without its own error type.
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
    /// Returns an error with a chain of causes of the given length.
    public static func deep(_ levels: Int) -> BackplaneError {
        (0..<levels).reduce(BackplaneError(.componentFailed, "0")) {
            BackplaneError(.componentFailed, "\($1 + 1)", causes: [$0])
        }
    }
}

/// Streams of every kind.
public struct Sequences: Contract {
    public static let version: Version = "1.0.0"
    /// Streams the numbers from 0 up to the input.
    public let count = StreamMethod<Int, Int>()
    /// Streams the given number of volumes.
    public let volumes = StreamMethod<Int, Volume>()
    /// Streams two numbers, followed by an error.
    public let fail = StreamMethod<FailureKind, Int>()
    /// Streams the numbers from 0 without end.
    public let endless = StreamMethod<Nothing, Int>()
    /// Streams nothing until it is cancelled.
    public let silent = StreamMethod<Nothing, Int>()
    /// Streams one number, and then ignores its cancellation until ``SequenceWatch/letGo``.
    public let stubborn = StreamMethod<Nothing, Int>()
    /// Streams three numbers, the second of which JSON cannot represent.
    public let unusual = StreamMethod<Nothing, Double>()
    /// Streams the length of the path of the body's call, and whether the call has a deadline.
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
    /// Lets the bodies that ignore their cancellation return.
    public let letGo = SyncMethod<Nothing, Nothing>()
    public init() {}
}

public struct SequenceCounts: Codable, Sendable, Equatable {
    /// The numbers of bodies that have begun, are running, and were cancelled.
    public var begun = 0, running = 0, cancelled = 0
    /// The number of elements whose `send` has returned.
    public var sent = 0
    /// The number of released instances.
    public var released = 0
    public init() {}
}
