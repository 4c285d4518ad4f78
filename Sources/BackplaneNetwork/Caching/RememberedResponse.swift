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

    /// Returns the value of exactly this type that this very decoder has returned, or decodes it.
    ///
    /// Neither an object is kept, since each load has its own, nor the value of a decoder that is no object, which
    /// could not be compared.
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
