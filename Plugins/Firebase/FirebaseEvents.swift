import Backplane
import BackplaneDocuments
import BackplaneNetwork
import FoundationEssentials

extension FirebaseCommunication {
    /// Sends the value at a path as server-sent events: the whole value now, and again after each change.
    ///
    /// The id of an event identifies the value. A reader that resumes after an id therefore misses no value and
    /// receives none twice. The reader restores interrupted connections, as `http.events` does.
    func follow(
        _ order: HTTPOrder, _ address: FirebaseAddress, _ parts: StreamSender<HTTPResponsePart>, _ call: Call
    ) async throws {
        var request = order.request(to: address.url), last = order.request.headers["Last-Event-ID"]
        request.headers["Accept"] = "text/event-stream"
        var endpoint = Endpoint<ServerEvent>("GET", request.url, headers: request.headers)
        endpoint.allowsFullURL = true
        endpoint.options = order.options()
        endpoint.retry = RetryPolicy(attempts: 1)
        var value = FollowedValue(), hasHead = false
        do {
            for try await event in http.events(endpoint, call) {
                if !hasHead {
                    let fields: HTTPHeaders = ["Content-Type": "text/event-stream", "Cache-Control": "no-store"]
                    try await parts.send(.head(HTTPHead(status: 200, headers: fields)))
                    hasHead = true
                }
                try value.apply(event)
                if let id = value.id, id != last {
                    last = id
                    try await parts.send(.body(Array("id: \(id)\nevent: value\ndata: \(value.text)\n\n".utf8)))
                } else {
                    // Without data, a reader would give up the connection.
                    try await parts.send(.body(Array(": \(event.name)\n\n".utf8)))
                }
            }
        } catch {
            guard !hasHead, error.code == .networkStatus, let status = error.httpStatus else { throw error }
            let type = error.httpBody?.first == UInt8(ascii: "<") ? "text/html" : "application/json"
            let refusal = try FirebaseAnswer.refusal(
                status, error.httpBody ?? [], ["Content-Type": type], address.service)
            try await parts.send(HTTPStreamedResponse(refusal))
        }
    }
}

/// The value at a path, to which the events of its stream are applied.
///
/// The events are described in firebase.google.com/docs/reference/rest/database, "Streaming from the REST API".
struct FollowedValue {
    /// The value; `nil` until the first event sets it.
    private(set) var value: DocumentValue?

    /// The value as JSON.
    var text: String { value?.text ?? "" }

    /// An identifier of the value, the same for equal values: FNV-1a of its JSON.
    var id: String? {
        guard value != nil else { return nil }
        let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return String(hash, radix: 16)
    }

    /// Applies an event.
    ///
    /// - Throws: `network.status` (403) if the rules no longer allow reading; `network.failed` if the token has
    ///   expired, so that the reader reconnects with another one; `network.malformed` for an invalid event.
    mutating func apply(_ event: ServerEvent) throws(BackplaneError) {
        switch event.name {
        case "put":
            let (keys, data) = try Self.change(event)
            guard value != nil || keys.isEmpty else { throw Self.malformed("a part of a value before the value") }
            value = (value ?? .null).setting(keys[...], to: data)
        case "patch":
            let (keys, data) = try Self.change(event)
            guard let old = value else { throw Self.malformed("a patch before the value that it changes") }
            guard case .dictionary(let members) = data else { throw Self.malformed("a patch that is not an object") }
            value = members.reduce(old) { value, member in
                value.setting((keys + Self.keys(member.key))[...], to: member.value)
            }
        case "cancel":
            throw BackplaneError(
                .networkStatus, "the rules of the database no longer allow reading this path",
                failure: .init(code: "firebase.permission-denied", details: ["status": "403"]))
        case "auth_revoked":
            throw BackplaneError(
                .networkFailed, "the stream has ended, because its token is no longer valid")
        default: break  // `keep-alive`, and events of later versions
        }
    }

    private static func change(_ event: ServerEvent) throws(BackplaneError) -> (keys: [String], data: DocumentValue) {
        guard case .dictionary(let change)? = try? DocumentValue(json: Data(event.data.utf8)),
            case .string(let path)? = change["path"], let data = change["data"]
        else { throw malformed("an event `\(event.name)` without `path` and `data`") }
        return (keys(path), data)
    }

    private static func keys(_ path: String) -> [String] { path.split(separator: "/").map(String.init) }

    private static func malformed(_ what: String) -> BackplaneError {
        BackplaneError(.networkMalformed, "the stream of the database sent \(what)")
    }
}

extension DocumentValue {
    /// Returns the value with a new value at a path of keys; `null` removes a member and all objects that become empty.
    fileprivate func setting(_ keys: ArraySlice<String>, to new: DocumentValue) -> DocumentValue {
        guard let key = keys.first else { return new.withoutNulls }
        guard children != nil || new.withoutNulls != .null else { return self }  // there is no child to remove
        var members = children ?? [:]
        members[key] = (members[key] ?? .null).setting(keys.dropFirst(), to: new)
        return Self.object(of: members)
    }

    /// The value as the service stores it, without `null` and empty objects.
    private var withoutNulls: DocumentValue { children.map { Self.object(of: $0.mapValues(\.withoutNulls)) } ?? self }

    /// The members of an object, or the elements of an array, keyed by their indexes; `nil` for any other value.
    private var children: [String: DocumentValue]? {
        switch self {
        case .dictionary(let own): own
        case .array(let own): Dictionary(uniqueKeysWithValues: own.enumerated().map { ("\($0)", $1) })
        default: nil
        }
    }

    private static func object(of members: [String: DocumentValue]) -> DocumentValue {
        let members = members.filter { $0.value != .null }
        return members.isEmpty ? .null : array(of: members) ?? .dictionary(members)
    }

    /// Returns the object as an array, or `nil` if the service would return it as an object.
    ///
    /// The service returns an array if all keys are numbers, and more than half of the numbers from 0 to the greatest
    /// key exist (firebase.blog/posts/2014/04/best-practices-arrays-in-firebase).
    private static func array(of members: [String: DocumentValue]) -> DocumentValue? {
        let numbers = members.keys.map { key in Int(key).flatMap { "\($0)" == key && $0 >= 0 ? $0 : nil } }
        guard !numbers.contains(nil), let last = numbers.compactMap(\.self).max(), members.count * 2 - 1 > last else {
            return nil
        }
        return .array((0...last).map { members["\($0)"] ?? .null })
    }
}
