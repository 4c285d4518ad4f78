/// The `Authorization` field that answers a challenge of the scheme Digest (RFC 7616, section 3.4).
struct DigestField {
    let challenge: DigestChallenge
    let user, password: String
    /// The current nonce: that of the challenge, or of a later response.
    var nonce: String
    /// The number of requests with this nonce, including this one.
    var count: UInt32
    /// The nonce of the client, which remains the same for one challenge.
    var clientNonce: String

    init(
        _ challenge: DigestChallenge, user: String, password: String, nonce: String, count: UInt32,
        clientNonce: String
    ) {
        (self.challenge, self.user, self.password) = (challenge, user, password)
        (self.nonce, self.count, self.clientNonce) = (nonce, count, clientNonce)
    }

    /// Returns the field's value.
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - target: The path and the query of the request's URL.
    ///   - body: The content of the request, which is used only if the challenge requires it.
    func value(_ method: String, _ target: String, body: [UInt8]) -> String {
        let number = hexadecimal(count), quality = challenge.quality.rawValue
        var key = hash("\(user):\(challenge.realm):\(password)")
        if challenge.isSession { key = hash("\(key):\(challenge.nonce):\(clientNonce)") }
        var act = "\(method):\(target)"
        if challenge.quality == .body { act += ":\(hash(body))" }
        let response = hash("\(key):\(nonce):\(number):\(clientNonce):\(quality):\(hash(act))")
        var fields = [
            name, "realm=\(challenge.realm.quoted)", "nonce=\(nonce.quoted)", "uri=\(target.quoted)",
            "response=\"\(response)\"",
            "algorithm=\(challenge.algorithm.rawValue)\(challenge.isSession ? "-sess" : "")",
            "cnonce=\(clientNonce.quoted)", "qop=\(quality)", "nc=\(number)",
        ]
        if let opaque = challenge.opaque { fields.append("opaque=\(opaque.quoted)") }
        if challenge.hashesUser { fields.append("userhash=true") }
        return "Digest " + fields.joined(separator: ", ")
    }

    /// The user's name: unchanged, as a digest, or encoded if it is not ASCII (RFC 8187).
    private var name: String {
        if challenge.hashesUser { return "username=\"\(hash("\(user):\(challenge.realm)"))\"" }
        if user.utf8.allSatisfy({ $0 < 0x80 }) { return "username=\(user.quoted)" }
        return "username*=UTF-8''\(user.utf8.map(\.asAttributeCharacter).joined())"
    }

    private func hash(_ text: String) -> String { hash(Array(text.utf8)) }

    private func hash(_ bytes: [UInt8]) -> String {
        ContentDigest.digest(of: bytes, by: challenge.algorithm).hexadecimal
    }

    private func hexadecimal(_ number: UInt32) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }
}

extension String {
    /// The text as a quoted string (RFC 9110, section 5.6.4).
    fileprivate var quoted: String {
        "\"" + replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

extension UInt8 {
    /// The byte in the encoding of an extended parameter (RFC 8187, section 3.2.1).
    fileprivate var asAttributeCharacter: String {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            String(UnicodeScalar(self))
        case _ where "!#$&+-.^_`|~".utf8.contains(self): String(UnicodeScalar(self))
        default: "%" + (self < 16 ? "0" : "") + String(self, radix: 16, uppercase: true)
        }
    }
}
