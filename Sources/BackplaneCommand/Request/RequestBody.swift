import Backplane
import BackplaneDocuments
import BackplaneNetwork
import FoundationEssentials

/// The body described by the options of `backplane request`.
enum RequestBody: Sendable {
    case none
    case text(String)
    case json(String)
    case form([Field])
    case file(String)

    /// A field of a form, `name=value` or `name=@path`.
    struct Field: Sendable {
        var name: String
        var value: String
        var isFile: Bool { value.hasPrefix("@") }
        var text: String { "\(name)=\(value)" }

        init(_ text: String) throws(Misuse) {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw Misuse(description: "--form: expected NAME=VALUE or NAME=@FILE, found `\(text)`")
            }
            (name, value) = (String(parts[0]), String(parts[1]))
        }
    }

    /// Creates the body; at most one kind may be specified.
    init(text: String?, json: String?, form: [String], file: String?) throws(Misuse) {
        var kinds: [RequestBody] = []
        if let text { kinds.append(.text(text)) }
        if let json {
            do { _ = try JSONValue(parsing: Data(json.utf8)) } catch {
                throw Misuse(description: "--json: expected JSON, found `\(json.prefix(60))`: \(error)")
            }
            kinds.append(.json(json))
        }
        if !form.isEmpty {
            var fields: [Field] = []
            for text in form { fields.append(try Field(text)) }
            kinds.append(.form(fields))
        }
        if let file { kinds.append(.file(file)) }
        guard kinds.count < 2 else {
            throw Misuse(description: "expected one of --data, --json, --form and --file, found \(kinds.count)")
        }
        self = kinds.first ?? .none
    }

    /// The default method of a request with this body.
    var method: String {
        if case .none = self { "GET" } else { "POST" }
    }

    /// The body to send.
    var body: HTTPBody {
        switch self {
        case .none: .none
        case .text(let text): .text(text)
        case .json(let text): .bytes(Array(text.utf8), type: "application/json")
        case .file(let path): .file(path, type: "application/octet-stream")
        case .form(let fields) where fields.contains { $0.isFile }:
            .multipart(
                fields.map {
                    $0.isFile ? .file($0.name, String($0.value.dropFirst())) : .text($0.name, $0.value)
                })
        case .form(let fields): .form(fields.map { ($0.name, $0.value) })
        }
    }

    /// Returns the header fields of `NAME: VALUE` arguments.
    static func headers(_ texts: [String]) throws(Misuse) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        for text in texts {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw Misuse(description: "--header: expected `NAME: VALUE`, found `\(text)`")
            }
            fields.append((String(parts[0]), String(parts[1].drop { $0 == " " || $0 == "\t" })))
        }
        return fields
    }
}
