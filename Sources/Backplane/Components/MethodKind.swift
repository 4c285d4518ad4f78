import CBackplane

/// The kind of a method, identified by its number in descriptors; later versions may add kinds.
package struct MethodKind: Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let async = MethodKind(rawValue: UInt32(BP_ASYNC))
    package static let sync = MethodKind(rawValue: UInt32(BP_SYNC))
    package static let stream = MethodKind(rawValue: UInt32(BP_STREAM))

    /// The word for the kind in the text of a contract's layouts; `nil` if this version does not support the kind.
    package var word: String? {
        switch rawValue {
        case Self.async.rawValue: "async"
        case Self.sync.rawValue: "sync"
        case Self.stream.rawValue: "stream"
        default: nil
        }
    }

    /// The kind in a sentence, such as "asynchronous".
    package var adjective: String {
        switch rawValue {
        case Self.async.rawValue: "asynchronous"
        case Self.sync.rawValue: "synchronous"
        case Self.stream.rawValue: "a stream"
        default: "of the unknown kind \(rawValue)"
        }
    }
}
