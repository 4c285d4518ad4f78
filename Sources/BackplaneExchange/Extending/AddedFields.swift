import Backplane
import BackplaneNetwork

/// The rules for the fields that a filter adds to an attempt, which may neither vary the response nor replace other
/// fields.
enum AddedFields {
    /// Adds fields to a head.
    ///
    /// - Throws: `network.refused` for a field that the head already has, or that must not be added.
    static func add(_ fields: HTTPHeaders, to headers: inout HTTPHeaders) throws(BackplaneError) {
        let own = headers
        for field in fields.fields {
            guard own[field.name] == nil else {
                throw refused("it adds the field `\(field.name)`, which the request already has")
            }
            guard isHarmless(field.name.lowercased()) else {
                throw refused(
                    "it adds the field `\(field.name)` to an attempt, which would change the response; set it in `request`"
                )
            }
            headers.add(field.name, field.value)
        }
    }

    /// Adds credential fields to a head: any except those of the request and those that frame the message.
    ///
    /// - Throws: `network.refused` for a field that the head already has, or that must not be added.
    static func add(proof fields: HTTPHeaders, to headers: inout HTTPHeaders) throws(BackplaneError) {
        let own = headers
        for field in fields.fields {
            guard own[field.name] == nil else {
                throw refused("its proof has the field `\(field.name)`, which the request already has")
            }
            guard !framing.contains(field.name.lowercased()) else {
                throw refused(
                    "its proof has the field `\(field.name)`, which belongs to the exchange and not to a proof")
            }
            headers.add(field.name, field.value)
        }
    }

    private static func isHarmless(_ name: String) -> Bool {
        !names.contains(name) && !prefixes.contains(where: name.hasPrefix)
    }

    /// The names of fields that select a response, are credentials, or frame the message (RFC 9110, sections 6 to 14).
    private static let names: Set<String> = [
        "accept", "authorization", "cache-control", "connection", "content-encoding", "content-language",
        "content-length", "content-location", "content-range", "content-type", "cookie", "expect", "host", "keep-alive",
        "max-forwards", "pragma", "prefer", "proxy-authorization", "range", "te", "trailer", "transfer-encoding",
        "upgrade",
    ]
    /// The names of fields that frame the message or are sent by an account's cookie jar.
    private static let framing: Set<String> = [
        "connection", "content-length", "cookie", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding",
        "upgrade",
    ]
    private static let prefixes = ["accept-", "if-"]

    private static func refused(_ why: String) -> BackplaneError { BackplaneError(.networkRefused, why) }
}
