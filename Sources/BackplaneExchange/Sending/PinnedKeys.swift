package import Backplane
package import BackplaneNetwork
import FoundationEssentials

extension TLSSettings {
    /// Returns the hashes of the pinned keys, for which the certificate files are read.
    ///
    /// - Throws: `network.insecure` if a file has no certificate, or there is no backup key.
    package func pinnedKeys() throws(BackplaneError) -> Set<CertificatePin> {
        var keys: Set<CertificatePin> = []
        for pin in pins { keys.insert(try pin.key()) }
        guard keys.count != 1 else {
            throw BackplaneError(
                .networkInsecure,
                "there is one pinned key; add the pin of a backup key, with which it can be replaced")
        }
        return keys
    }
}

extension CertificatePin {
    /// Creates the pin of a certificate's key; returns `nil` if its encoding does not follow RFC 5280, section 4.1.
    ///
    /// The key is hashed as encoded in the certificate, even if its algorithm is unknown.
    ///
    /// - Parameter bytes: The certificate in the Distinguished Encoding Rules.
    package init?(certificate bytes: [UInt8]) {
        var outer = DERReader(bytes[...])
        guard let whole = outer.next() else { return nil }
        outer = DERReader(whole.content)
        guard let signed = outer.next() else { return nil }
        var fields = DERReader(signed.content)
        guard var field = fields.next() else { return nil }
        if field.tag == 0xa0 {  // a version, which precedes the serial number
            guard let serial = fields.next() else { return nil }
            field = serial
        }
        for _ in 0..<5 {  // the algorithm of the signature, the issuer, the validity, the subject, and the key
            guard let next = fields.next() else { return nil }
            field = next
        }
        self = .key(sha256: ContentDigest.sha256(of: Array(field.bytes)))
    }

    fileprivate func key() throws(BackplaneError) -> CertificatePin {
        guard let path else { return self }
        guard let file = FileManager.default.contents(atPath: path),
            let certificate = String(decoding: file, as: UTF8.self).firstCertificate,
            let pin = CertificatePin(certificate: certificate)
        else {
            throw BackplaneError(
                .networkInsecure, "the certificate `\(path)` of a pin cannot be read; expected PEM")
        }
        return pin
    }
}

extension String {
    /// The bytes of the first certificate in PEM (RFC 7468, section 5); `nil` if there is none.
    fileprivate var firstCertificate: [UInt8]? {
        guard let begin = firstRange(of: "-----BEGIN CERTIFICATE-----") else { return nil }
        let rest = self[begin.upperBound...]
        guard let end = rest.firstRange(of: "-----END CERTIFICATE-----") else { return nil }
        let base64 = String(rest[..<end.lowerBound].filter { !$0.isWhitespace })
        return Data(base64Encoded: base64).map { Array($0) }
    }
}

/// A reader of consecutive elements in the Distinguished Encoding Rules (X.690).
private struct DERReader {
    struct Element {
        var tag: UInt8
        var content: ArraySlice<UInt8>
        /// The tag, the length and the content.
        var bytes: ArraySlice<UInt8>
    }
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Reads the next element; returns `nil` if there is no complete one.
    mutating func next() -> Element? {
        guard rest.count >= 2 else { return nil }
        let start = rest.startIndex
        var content = start + 2, length = Int(rest[start + 1])
        if length >= 0x80 {  // the number of bytes of the length
            let count = length - 0x80
            guard (1...4).contains(count), rest.count >= 2 + count else { return nil }
            length = rest[content..<content + count].reduce(0) { $0 << 8 | Int($1) }
            content += count
        }
        guard length <= rest.endIndex - content else { return nil }
        let end = content + length
        defer { rest = rest[end...] }
        return Element(tag: rest[start], content: rest[content..<end], bytes: rest[start..<end])
    }
}
