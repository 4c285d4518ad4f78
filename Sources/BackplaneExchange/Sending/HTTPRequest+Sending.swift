package import Backplane
package import BackplaneNetwork

extension HTTPRequest {
    /// Returns the request as sent by a network executor: validated, with the URL reduced to the parts that servers
    /// receive.
    ///
    /// Credentials in the URL become an `Authorization` field unless there is one (RFC 7617). `Content-Length` and
    /// `Transfer-Encoding` are dropped, because the executor frames the body. The body's media type becomes the
    /// `Content-Type` unless there is one.
    package func readyToSend() throws(BackplaneError) -> HTTPRequest {
        var ready = try withValidHead()
        guard var address = WebURL(url), ["http", "https"].contains(address.scheme), address.host?.isEmpty == false
        else {
            throw refused("this is not an HTTP URL; write `http://` or `https://`, a host and a path")
        }
        if let port = address.port, !(0...Int(UInt16.max)).contains(port) {
            throw refused("expected a port up to \(UInt16.max), found \(port)")
        }
        if let (user, password) = address.credentials, ready.headers["Authorization"] == nil {
            ready.headers.add("Authorization", BasicField.value(user: user, password: password))
        }
        address.userInfo = nil
        ready.url = address.text
        return ready
    }

    /// Returns the request as sent by an executor with its own URL scheme.
    ///
    /// A URL of that scheme stays unchanged, unless the scheme is `http` or `https`.
    package func readyToSend(by scheme: String) throws(BackplaneError) -> HTTPRequest {
        guard self.scheme == scheme, !["http", "https"].contains(scheme) else { return try readyToSend() }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw refused("the URL contains a space or a control character; write it percent-encoded")
        }
        return try withValidHead()
    }

    /// Returns the request with a head that any executor can send, regardless of its URL.
    private func withValidHead() throws(BackplaneError) -> HTTPRequest {
        guard method.isToken else { throw refused("the method is not a token such as GET") }
        var ready = HTTPRequest(method, url, body: body)
        for field in headers.fields {
            guard field.name.isToken else {
                throw refused("the name of a header field contains characters that are not allowed")
            }
            guard field.value.isFieldValue else {
                throw refused(
                    "the value of the header field \(field.name) contains a control character, such as a line break")
            }
            guard !HTTPHeaders.ofFraming.contains(field.name.lowercased()) else { continue }
            ready.headers.add(field.name, field.value)
        }
        if let type = body.mediaType, ready.headers["Content-Type"] == nil {
            guard type.isFieldValue else {
                throw refused("the media type of the body contains a control character, such as a line break")
            }
            ready.headers.add("Content-Type", type)
        }
        return ready
    }

    private func refused(_ why: String) -> BackplaneError {
        BackplaneError(.networkRefused, why, at: printableURL)
    }
}

extension String {
    /// Whether the text is a token (RFC 9110, section 5.6.2).
    fileprivate var isToken: Bool { !isEmpty && utf8.allSatisfy(\.isTokenCharacter) }

    /// Whether the text is a field value (RFC 9110, section 5.5).
    ///
    /// A tab is the only control character allowed.
    fileprivate var isFieldValue: Bool {
        utf8.allSatisfy { $0 == UInt8(ascii: "\t") || $0 >= 0x20 && $0 != 0x7F }
    }
}
