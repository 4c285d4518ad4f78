import BackplaneDocuments
import Foundation

extension String {
    var isKey: Bool { !isEmpty && !contains { ".#$[]/".contains($0) } && utf8.count <= 768 }
}

extension DocumentValue {
    /// The members of an object, or of an array by their numbers.
    var members: [String: DocumentValue] {
        switch self {
        case .dictionary(let members): members
        case .array(let values): Dictionary(uniqueKeysWithValues: values.enumerated().map { ("\($0)", $1) })
        default: [:]
        }
    }
    var etag: String { self == .null ? "null_etag" : "\(json.hashValue)" }
    /// A Boolean value that indicates whether all keys may be in a database.
    var hasKeys: Bool {
        guard case .dictionary(let members) = self else { return members.values.allSatisfy(\.hasKeys) }
        return members.allSatisfy { $0.key.isKey && $0.value.hasKeys }
    }

    subscript(path: [String]) -> DocumentValue { path.reduce(self) { $0.members[$1] ?? .null } }

    func setting(_ path: ArraySlice<String>, _ value: DocumentValue) -> DocumentValue {
        guard let key = path.first else { return value.kept }
        var members = members
        members[key] = (members[key] ?? .null).setting(path.dropFirst(), value)
        return DocumentValue.dictionary(members).kept
    }

    /// What a database keeps of the value: no null members, and so nothing that has no others.
    private var kept: DocumentValue {
        switch self {
        case .dictionary(let members):
            let members = members.mapValues(\.kept).filter { $0.value != .null }
            return members.isEmpty ? .null : .dictionary(members)
        case .array(let values):
            let values = values.map(\.kept)
            return values.allSatisfy { $0 == .null } ? .null : .array(values)
        default: return self
        }
    }

    struct Refused: Error, CustomStringConvertible {
        var description: String
    }

    /// Returns the children that a query asks for.
    func filtered(_ query: [String: String]) throws -> DocumentValue {
        func json(_ name: String) throws -> DocumentValue? {
            guard let text = query[name] else { return nil }
            guard let value = try? DocumentValue(json: Data(text.utf8)) else {
                throw Refused(description: "Constraint index field must be a JSON primitive")
            }
            return value
        }
        let limits = ["startAt", "endAt", "equalTo", "limitToFirst", "limitToLast"].filter { query[$0] != nil }
        if query["shallow"] == "true" {
            guard limits.isEmpty, query["orderBy"] == nil else {
                throw Refused(description: "Mixing 'shallow' and querying parameters is not supported")
            }
            guard !members.isEmpty else { return self }
            return .dictionary(members.mapValues { _ in true })
        }
        guard let order = try json("orderBy") else {
            guard limits.isEmpty else {
                throw Refused(description: "orderBy must be defined when other query parameters are defined")
            }
            return self
        }
        guard case .string(let child) = order else {
            throw Refused(description: "orderBy must be a valid JSON encoded path")
        }
        func rank(_ member: (key: String, value: DocumentValue)) -> DocumentValue {
            child == "$key"
                ? .string(member.key) : child == "$value" ? member.value : member.value.members[child] ?? .null
        }
        var kept = members.sorted { (rank($0).order, $0.key) < (rank($1).order, $1.key) }
        if let first = try json("startAt") { kept = kept.filter { rank($0).order >= first.order } }
        if let last = try json("endAt") { kept = kept.filter { rank($0).order <= last.order } }
        if let only = try json("equalTo") { kept = kept.filter { rank($0) == only } }
        if let count = query["limitToFirst"].flatMap({ Int($0) }) { kept = Array(kept.prefix(count)) }
        if let count = query["limitToLast"].flatMap({ Int($0) }) { kept = kept.suffix(count) }
        return .dictionary(Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) }))
    }

    /// A text in the order of values: null, booleans, numbers, texts.
    private var order: String {
        switch self {
        case .bool(let flag): "1\(flag)"
        case .integer(let number): String(format: "2%020d", number)
        case .string(let text): "3\(text)"
        default: "0"
        }
    }
}
