package import BackplaneNetwork
import FoundationEssentials

/// The directives of a message's `Cache-Control` fields (RFC 9111, section 5.2).
package struct CacheControl: Sendable {
    private var directives: [(name: String, value: String?)] = []

    private(set) var isForSharedCaches = false

    package init(_ headers: HTTPHeaders) {
        for element in headers.values("Cache-Control").flatMap(\.listElements) {
            let parts = element.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            directives.append((parts[0].lowercased(), parts.count == 2 ? String(parts[1]).unquoted : nil))
        }
    }

    /// Reads the field `CDN-Cache-Control`, which replaces `Cache-Control` and `Expires` in a shared cache (RFC 9213).
    ///
    /// Returns `nil` if the field is missing, or is not a dictionary of structured fields (RFC 8941, section 3.2).
    init?(forSharedCaches headers: HTTPHeaders) {
        for element in headers.values("CDN-Cache-Control").flatMap(\.listElements) {
            // Parameters have no meaning here.
            let parts = element.prefix { $0 != ";" }.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0]), value = parts.count == 2 ? String(parts[1]) : nil
            guard name.isStructuredKey, value?.isStructuredValue ?? true,
                !Self.ofSeconds.contains(name) || value?.wholeNumber != nil
            else { return nil }
            directives.append((name, value?.unquoted))
        }
        guard !directives.isEmpty else { return nil }
        isForSharedCaches = true
    }

    private static let ofSeconds: Set = ["max-age", "s-maxage", "stale-if-error", "stale-while-revalidate"]

    package var isEmpty: Bool { directives.isEmpty }

    /// Returns whether a directive occurs, with or without a value.
    package func has(_ name: String) -> Bool { directives.contains { $0.name == name } }

    /// Returns the argument of a directive in seconds; `nil` if the directive does not occur.
    ///
    /// The smallest of several arguments counts. An argument that is not a number counts as zero, which makes a
    /// response stale (RFC 9111, section 4.2.1).
    package func seconds(_ name: String) -> Int64? {
        directives.filter { $0.name == name }.map { Swift.min($0.value?.wholeNumber ?? 0, Self.longest) }.min()
    }

    /// The largest number of seconds: 2^31 (RFC 9111, section 1.2.2).
    package static let longest: Int64 = 1 << 31
}

extension String {
    /// The elements of a list, which commas separate outside quoted strings (RFC 9110, section 5.6.1).
    var listElements: [String] {
        var elements: [String] = [], element: [UInt8] = []
        var isQuoted = false, isEscaped = false
        for byte in utf8 {
            if byte == UInt8(ascii: ","), !isQuoted {
                elements.append(String(decoding: element, as: UTF8.self))
                element = []
                continue
            }
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
            element.append(byte)
        }
        elements.append(String(decoding: element, as: UTF8.self))
        return elements.map(\.trimmingBlanks).filter { !$0.isEmpty }
    }

    private static let ofStructuredKeys = Set("abcdefghijklmnopqrstuvwxyz0123456789_-.*".utf8)

    /// Whether the text is a key of a dictionary (RFC 8941, section 3.1.2).
    fileprivate var isStructuredKey: Bool {
        utf8.first.map { $0 == UInt8(ascii: "*") || $0 >= UInt8(ascii: "a") } ?? false
            && utf8.allSatisfy(Self.ofStructuredKeys.contains)
    }

    /// Whether the text is a quoted string, or begins like another item (RFC 8941, section 3.3): a number, a token,
    /// bytes or a Boolean.
    fileprivate var isStructuredValue: Bool {
        guard let first else { return false }
        return first == "\""
            ? utf8.count >= 2 && hasSuffix("\"")
            : first.isASCII && (first.isLetter || first.isNumber)
                || "-*:?".contains(first)
    }

    /// The content of a quoted string without escapes; any other text unchanged.
    fileprivate var unquoted: String {
        utf8.count >= 2 && hasPrefix("\"") && hasSuffix("\"") ? String(dropFirst().dropLast()) : self
    }
}

extension Date {
    /// Parses a date of HTTP in one of its three forms (RFC 9110, section 5.6.7), regardless of case; returns `nil` for
    /// anything else.
    ///
    /// Unlike ``init(httpDate:)``, this initializer accepts no other form: an `Expires` with any other text has passed.
    init?(strictHTTPDate text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let isDate =
            switch words.count {
            // Sun, 06 Nov 1994 08:49:37 GMT
            case 6 where words[0].hasSuffix(","):
                words[0].count == 4 && words[1].isDigits(2) && words[2].count == 3
                    && words[3].isDigits(4) && words[4].isClock && words[5].lowercased() == "gmt"
            // Sunday, 06-Nov-94 08:49:37 GMT
            case 4:
                words[0].hasSuffix("day,") && words[1].utf8.count == 9 && words[1].split(separator: "-").count == 3
                    && words[2].isClock && words[3].lowercased() == "gmt"
            // Sun Nov  6 08:49:37 1994
            case 5...: Self.isOfC(words)
            default: false
            }
        guard isDate else { return nil }
        self.init(httpDate: text)
    }

    private static func isOfC(_ words: [Substring]) -> Bool {
        let words = words.count == 6 && words[2].isEmpty ? Array(words[...1] + words[3...]) : words
        return words.count == 5 && words[0].count == 3 && words[1].count == 3
            && (words[2].isDigits(1) || words[2].isDigits(2)) && words[3].isClock && words[4].isDigits(4)
    }
}

extension Substring {
    fileprivate func isDigits(_ count: Int) -> Bool { utf8.count == count && utf8.allSatisfy(\.isDigit) }

    fileprivate var isClock: Bool {
        let parts = split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 3 && parts.allSatisfy { $0.isDigits(2) }
    }
}
