import Backplane
import BackplaneDocuments
import BackplaneNetwork
import FoundationEssentials

/// The URLs of Firebase's services.
struct FirebaseConfiguration: Decodable, Sendable {
    /// The URL of all databases, such as `http://127.0.0.1:9000` of an emulator; by default, each has its own host.
    var database: String?
    /// The URL of Cloud Storage; `https://firebasestorage.googleapis.com` by default.
    var storage: String?
}

/// The REST resource that an order is for.
struct FirebaseAddress {
    enum Service {
        case database, storage
    }
    private(set) var service = Service.database
    /// The URL of the resource.
    private(set) var url: String
    /// The number of keys of a database path.
    private(set) var depth = 0
    /// The bucket and the name of an object; `nil` for all other resources.
    private(set) var object: (bucket: String, name: String)?
    /// The URL without an object's name, at which uploads begin.
    private(set) var uploads = ""
    /// A Boolean value that indicates whether the response is a file's content, of any type.
    private(set) var isContent = false
    /// A Boolean value that indicates whether the order has a URL of the REST interface, which is used unchanged.
    private(set) var isVerbatim = false

    /// Creates the address of an order.
    ///
    /// - Throws: `network.invalid-request` for a URL that is not valid in Firebase, before anything is sent.
    init(_ order: HTTPOrder, _ configuration: FirebaseConfiguration) throws(BackplaneError) {
        url = order.url
        guard let mark = order.url.firstRange(of: "://") else { throw .address("the URL has no host", order.url) }
        let scheme = order.url[..<mark.lowerBound].lowercased(), rest = order.url[mark.upperBound...]
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0].prefix { $0 != "/" }), path = parts[0].dropFirst(name.count)
        let query = parts.count > 1 ? parts[1] : ""
        let isREST = scheme == "http" || scheme == "https"
        guard isREST || !name.isEmpty && name.utf8.allSatisfy(\.isHostCharacter) else {
            throw .address("expected the name of a database or a bucket after `//`", order.url)
        }
        switch scheme {
        case "firebase": try become(database: name, path, query, configuration, order.url)
        case "firebase-storage": try become(bucket: name, path, query, configuration, order)
        default:
            // The order names this executor, and its request is already one to the REST interface.
            isVerbatim = true
            guard path.hasPrefix("/v0/b/") else { return }
            service = .storage
            isContent = query.split(separator: "&").contains("alt=media")
        }
    }

    // MARK: Realtime Database

    /// The maximum number of keys in a path; a key has at most 768 bytes of UTF-8, without the characters below
    /// (firebase.google.com/docs/database/usage/limits and …/web/structure-data).
    static let mostDepth = 32
    private static let mostKeyBytes = 768
    private static let refusedInKeys = Set(".#$[]/".unicodeScalars)

    private mutating func become(
        database: String, _ path: Substring, _ query: Substring, _ configuration: FirebaseConfiguration, _ order: String
    ) throws(BackplaneError) {
        guard !order.contains("#") else { throw .address("a path must not contain `#`", order) }
        var keys: [String] = []
        for part in path.split(separator: "/") {
            let key = try Self.decoded(part, order)
            if let refused = key.unicodeScalars.first(where: Self.refusedInKeys.contains) {
                throw .address(
                    "a path must not contain `\(refused)`\(key.hasSuffix(".json") ? "; leave out `.json`" : "")", order)
            }
            guard key.utf8.count <= Self.mostKeyBytes,
                key.unicodeScalars.allSatisfy({ $0.value > 31 && $0.value != 127 })
            else {
                throw .address("a key has at most \(Self.mostKeyBytes) bytes, and no control characters", order)
            }
            keys.append(key)
        }
        guard keys.count <= Self.mostDepth else {
            throw .address("a path has at most \(Self.mostDepth) keys, found \(keys.count)", order)
        }
        var fields = try Self.fields(query, order) { name, value throws(BackplaneError) in
            try Self.databaseValue(of: name, value, order)
        }
        let base: String
        if let emulator = configuration.database {
            base = emulator
            // The emulator has all databases at one address (firebase.google.com/docs/emulator-suite/connect_rtdb).
            fields.insert("ns=\(database)", at: 0)
        } else {
            base = "https://" + (database.contains(".") ? database : database + ".firebaseio.com")
        }
        url = "\(base)/\(keys.map(\.percentEncoded).joined(separator: "/")).json"
        if !fields.isEmpty { url += "?" + fields.joined(separator: "&") }
        depth = keys.count
    }

    /// Returns the value of a parameter, as JSON if filters require it; `nil` for an unknown parameter
    /// (firebase.google.com/docs/database/rest/retrieve-data).
    private static func databaseValue(
        of name: String, _ value: String, _ order: String
    ) throws(BackplaneError) -> String? {
        let known = try? DocumentValue(json: Data(value.utf8))
        switch name {
        case "orderBy":
            if case .string? = known { return value }
            return DocumentValue.string(value).text
        case "startAt", "startAfter", "endAt", "endBefore", "equalTo":
            switch known {
            case .null, .bool, .integer, .number, .string: return value
            default: return DocumentValue.string(value).text
            }
        case "limitToFirst", "limitToLast":
            guard let count = Int(value), count > 0 else {
                throw .address("`\(name)` is a number from 1, found `\(value)`", order)
            }
            return value
        case "shallow", "print", "format", "timeout", "writeSizeLimit": return value
        default: return nil
        }
    }

    // MARK: Cloud Storage

    private mutating func become(
        bucket: String, _ path: Substring, _ query: Substring, _ configuration: FirebaseConfiguration,
        _ order: HTTPOrder
    ) throws(BackplaneError) {
        guard !order.url.contains("#") else { throw .address("write `#` in an object's name as `%23`", order.url) }
        let name = try Self.decoded(path.dropFirst(), order.url)
        guard name.utf8.count <= 1_024, name.utf8.allSatisfy({ $0 > 31 && $0 != 127 }) else {
            throw .address("an object's name has at most 1,024 bytes, and no control characters", order.url)
        }
        // Servers and clients resolve the segments `.` and `..` of a URL.
        guard ![name, bucket].contains(where: { $0 == "." || $0 == ".." }) else {
            throw .address("neither a bucket nor an object has the name `.` or `..`", order.url)
        }
        let isList = name.isEmpty || name.hasSuffix("/")
        let known = isList ? ["maxResults", "pageToken"] : ["alt", "generation"]
        var fields = try Self.fields(query, order.url) { name, value in known.contains(name) ? value : nil }
        uploads = "\(configuration.storage ?? "https://firebasestorage.googleapis.com")/v0/b/\(bucket)/o"
        url = uploads
        service = .storage
        if isList {
            guard order.method == "GET" else {
                throw .address("expected the name of an object after the bucket's; only GET lists objects", order.url)
            }
            if !name.isEmpty { fields.append("prefix=\(name.percentEncoded)") }
            fields.append("delimiter=%2F")
        } else {
            url += "/\(name.percentEncoded)"
            object = (bucket, name)
            if order.method == "GET", !fields.contains(where: { $0.hasPrefix("alt=") }) { fields.append("alt=media") }
            isContent = fields.contains("alt=media")
        }
        if !fields.isEmpty { url += "?" + fields.joined(separator: "&") }
    }

    // MARK: URLs

    /// Returns the fields of a query with the values that a function returns.
    ///
    /// A name for which the function returns `nil` is an error, including `auth` and `access_token`, which belong in a
    /// credential.
    private static func fields(
        _ query: Substring, _ order: String,
        _ value: (String, String) throws(BackplaneError) -> String?
    ) throws(BackplaneError) -> [String] {
        var fields: [String] = []
        for field in query.split(separator: "&") {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = try decoded(parts[0], order)
            guard let value = try value(name, try decoded(parts.count > 1 ? parts[1] : "", order)) else {
                throw .address("unknown query parameter `\(name.prefix(40))`", order)
            }
            fields.append("\(name)=\(value.percentEncoded)")
        }
        return fields
    }

    private static func decoded(_ text: Substring, _ order: String) throws(BackplaneError) -> String {
        var bytes: [UInt8] = [], rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { throw .address("`%` is not followed by two hexadecimal digits", order) }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else { throw .address("expected UTF-8", order) }
        return decoded
    }
}

extension BackplaneError {
    fileprivate static func address(_ why: String, _ url: String) -> BackplaneError {
        BackplaneError(.networkInvalidRequest, why, at: HTTPRequest("GET", url).printableURL)
    }
}

extension DocumentValue {
    /// The value as JSON text.
    var text: String { String(decoding: json, as: UTF8.self) }
}

extension String {
    /// The text with all bytes percent-encoded except for the unreserved ones (RFC 3986, section 2.3).
    var percentEncoded: String {
        var text = ""
        for byte in utf8 {
            if byte.isHostCharacter || byte == UInt8(ascii: "~") {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return text
    }
}

extension UInt8 {
    /// A Boolean value that indicates whether names of databases, buckets and hosts may have the character.
    fileprivate var isHostCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
