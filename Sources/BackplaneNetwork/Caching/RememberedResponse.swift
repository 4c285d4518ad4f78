package import FoundationEssentials
import Synchronization

/// A fresh response in the memory of this process, and the value that was decoded from it.
package struct RememberedResponse: Sendable {
    package let response: HTTPResponse
    private let body: Data
    let decoded: DecodedValue

    package init(_ response: HTTPResponse, body: Data, _ decoded: DecodedValue) {
        (self.response, self.body, self.decoded) = (response, body, decoded)
    }

    var size: Int { body.count }

    var whole: HTTPResponse {
        var whole = response
        whole.body = Array(body)
        return whole
    }
}

/// The value that was last decoded from a response in memory, so that it is not decoded for each load.
package final class DecodedValue: Sendable {
    private let last = Mutex<(value: any Sendable, type: ObjectIdentifier, decoder: any ResponseDecoder)?>(nil)

    package init() {}

    package var isKept: Bool { last.withLock { $0 != nil } }

    /// Returns the value if this decoder has returned one of exactly this type, and decodes it otherwise.
    ///
    /// Objects are not kept, since each load has its own. The value of a decoder that is not an object is not kept,
    /// since such decoders cannot be compared.
    func value<Value: Sendable>(by decoder: any ResponseDecoder, decode: () throws -> Value) rethrows -> Value {
        guard !(Value.self is AnyClass), type(of: decoder) is AnyClass else { return try decode() }
        let type = ObjectIdentifier(Value.self), last = last.withLock(\.self)
        if let last, last.type == type, last.decoder as AnyObject === decoder as AnyObject,
            let value = last.value as? Value
        {
            return value
        }
        let value = try decode()
        self.last.withLock { $0 = (value, type, decoder) }
        return value
    }
}

/// The acceptance of a response, which a cache requires to store it.
package final class CacheAcceptance: Sendable {
    private let accepted, dropped: @Sendable () -> Void
    private let decision = Once()

    /// - Parameters:
    ///   - accepted: A function that is called with the first acceptance.
    ///   - dropped: A function that is called if the response is released without an acceptance.
    package init(accepted: @escaping @Sendable () -> Void, dropped: @escaping @Sendable () -> Void = {}) {
        (self.accepted, self.dropped) = (accepted, dropped)
    }

    deinit { if decision.take() { dropped() } }

    /// Stores the response; later calls do nothing.
    package func accept() { if decision.take() { accepted() } }
}
