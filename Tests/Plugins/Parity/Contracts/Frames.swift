public import Backplane
import CBackplane

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
