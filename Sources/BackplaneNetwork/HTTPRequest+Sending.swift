package import Backplane
import FoundationEssentials

extension HTTPRequest {
    /// The URL as it may be printed: without credentials, query and fragment, where secrets are.
    public var printableURL: String {
        guard var address = URLComponents(string: url), address.host != nil || !url.contains("@") else { return "\(scheme):…" }
        (address.user, address.password, address.query, address.fragment) = (nil, nil, nil, nil)
        return address.string ?? "\(scheme):…"
    }

    /// The host and the port of the URL, as errors name them; empty without any.
    package var authority: String {
        guard let address = URLComponents(string: url), let host = address.host else { return "" }
        return host + (address.port.map { ":\($0)" } ?? "")
    }

    /// The request as an executor over a network sends it: checked, the URL free of what no server is sent.
    ///
    /// Credentials in the URL become an `Authorization` header unless there is one (RFC 7617). `Content-Length` and
    /// `Transfer-Encoding` are dropped, since framing the body is the executor's.
    ///
    /// - Throws: `network.refused` for a method or a field name that is no token, a field value with a control character
    ///   (RFC 9110, sections 5.5 and 5.6.2), or anything but an absolute `http:` or `https:` URL. No value is printed.
    package func readyToSend() throws(BackplaneError) -> HTTPRequest {
        guard method.isToken else { throw refused("the method is no token such as GET") }
        var ready = HTTPRequest(method, url, body: body)
        for field in headers.fields {
            guard field.name.isToken else { throw refused("the name of a header field has characters that no field name has") }
            guard field.value.isFieldValue else {
                throw refused("the value of the header field \(field.name) has a control character, such as a line break")
            }
            guard !["content-length", "transfer-encoding"].contains(field.name.lowercased()) else { continue }
            ready.headers.add(field.name, field.value)
        }
        guard var address = URLComponents(string: url), ["http", "https"].contains(scheme), address.host?.isEmpty == false else {
            throw refused("this is not a URL that HTTP can reach; write `http://` or `https://`, a host and a path")
        }
        if let user = address.user, ready.headers["Authorization"] == nil {
            let credentials = Data("\(user):\(address.password ?? "")".utf8)
            ready.headers.add("Authorization", "Basic \(credentials.base64EncodedString())")
        }
        (address.scheme, address.user, address.password, address.fragment) = (scheme, nil, nil, nil)
        ready.url = address.string ?? url
        return ready
    }

    private func refused(_ why: String) -> BackplaneError {
        BackplaneError(.networkRefused, why, at: printableURL)
    }
}

extension String {
    /// RFC 9110, section 5.6.2.
    fileprivate var isToken: Bool {
        !isEmpty && utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        }
    }

    /// RFC 9110, section 5.5: a tab is the only control character.
    fileprivate var isFieldValue: Bool {
        utf8.allSatisfy { $0 == UInt8(ascii: "\t") || $0 >= 0x20 && $0 != 0x7F }
    }
}
