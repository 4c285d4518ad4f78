package import FoundationEssentials
import Synchronization

/// A fresh response in the memory of this process, and the value that was decoded from it.
package struct RememberedResponse: Sendable {
    /// The response without its body.
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

/// The value that a response in memory was last decoded into, so that it is not decoded for each load.
package final class DecodedValue: Sendable {
    private let last = Mutex<(value: any Sendable, type: ObjectIdentifier, decoder: any ResponseDecoder)?>(nil)

    package init() {}

    package var isKept: Bool { last.withLock { $0 != nil } }

    /// Returns the value of exactly this type that this very decoder has returned.
    func value<Value>(of type: Value.Type, by decoder: any ResponseDecoder) -> Value? {
        last.withLock { last in
            guard let last, last.type == ObjectIdentifier(type), last.decoder as AnyObject === decoder as AnyObject
            else { return nil }
            return last.value as? Value
        }
    }

    /// Keeps a value, unless it is an object, which each load has of its own, or the decoder is none, which could not
    /// be compared.
    func keep<Value: Sendable>(_ value: Value, by decoder: any ResponseDecoder) {
        guard !(Value.self is AnyClass), type(of: decoder) is AnyClass else { return }
        last.withLock { $0 = (value, ObjectIdentifier(Value.self), decoder) }
    }
}
