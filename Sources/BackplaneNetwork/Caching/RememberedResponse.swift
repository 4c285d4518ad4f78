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

    var whole: HTTPResponse {
        var whole = response
        whole.body = Array(body)
        return whole
    }
}

/// The value that a response in memory was last decoded into, so that it is not decoded for each load.
package final class DecodedValue: Sendable {
    private let last = Mutex<(value: any Sendable, decoder: any ResponseDecoder)?>(nil)

    package init() {}

    /// Returns the value if it was decoded by this very decoder, which must be an object.
    func value<Value>(as type: Value.Type, by decoder: any ResponseDecoder) -> Value? {
        last.withLock { last in
            guard let last, last.decoder as AnyObject === decoder as AnyObject else { return nil }
            return last.value as? Value
        }
    }

    func set(_ value: any Sendable, by decoder: any ResponseDecoder) { last.withLock { $0 = (value, decoder) } }
}
