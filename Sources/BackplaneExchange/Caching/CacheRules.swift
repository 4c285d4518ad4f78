package import BackplaneNetwork
package import FoundationEssentials

extension CachedResponse {
    /// Returns whether the response answers a request: the fields by which it varies have the same values.
    package func answers(_ request: HTTPRequest) -> Bool {
        guard let names = CacheRules.varying(headers) else { return false }
        return CacheRules.values(of: names, in: request) == varying
    }
}

extension HTTPRequest {
    /// Whether a cache may answer the request: a `GET` with conditions that a cache can evaluate.
    var mayBeCached: Bool {
        method == "GET"
            && !["If-Match", "If-Range", "If-Unmodified-Since"].contains { headers[$0] != nil }
    }
}

/// The decision about a request for which a cache may have a response.
package enum CacheDecision: Equatable {
    /// The stored response is the answer.
    case reuse
    /// The stored response is the answer, and a request with these fields is made afterwards.
    case reuseAndRefresh(HTTPHeaders)
    /// A request is made with these fields, by which the server can confirm the stored response.
    case validate(HTTPHeaders)
    /// The request is made as it is.
    case fetch
    /// No request is made: only a stored response was asked for, and none is acceptable.
    case fail
}

/// The rules of caches (RFC 9111 and RFC 5861, or a policy's own lifetime), as functions of messages and times.
package struct CacheRules: Sendable {
    package var policy: CachePolicy
    /// Whether several users share the cache, so that it stores nothing private.
    package var isShared: Bool

    package init(_ policy: CachePolicy = .http, isShared: Bool = false) {
        (self.policy, self.isShared) = (policy, isShared)
    }

    /// Returns whether a response may be stored (RFC 9111, section 3).
    package func mayStore(_ response: HTTPResponse, to request: HTTPRequest) -> Bool {
        let control = control(of: response.headers)
        guard request.method == "GET", response.status != 206, response.status != 304,
            response.status == 200 || request.headers["Range"] == nil,  // the range may have caused an error
            !CacheControl(request.headers).has("no-store"), Self.varying(response.headers) != nil
        else { return false }
        if policy.lifetime != nil { return Self.heuristic.contains(response.status) }
        if control.has("must-understand") {
            guard Self.understood.contains(response.status) else { return false }
        } else if control.has("no-store") {
            return false
        }
        if isShared {
            guard !control.has("private") else { return false }
            let isAllowed = ["public", "must-revalidate", "s-maxage"].contains(where: control.has)
            guard request.headers["Authorization"] == nil || isAllowed else { return false }
        }
        return explicitLifetime(response.headers, at: .distantPast) != nil || control.has("public")
            || Self.heuristic.contains(response.status)
    }

    /// Returns the directives of a response; none if the policy has a lifetime.
    ///
    /// A shared cache follows `CDN-Cache-Control`, if present (RFC 9213).
    private func control(of headers: HTTPHeaders) -> CacheControl {
        if policy.lifetime != nil { return CacheControl([:]) }
        return isShared ? CacheControl(forSharedCaches: headers) ?? CacheControl(headers) : CacheControl(headers)
    }

    /// Returns the fields of a response without the ones that concern a connection (RFC 9111, section 3.1), for
    /// storing.
    ///
    /// A private cache stores no cookies, which would belong to the first sender.
    func storable(_ headers: HTTPHeaders) -> HTTPHeaders {
        let named = Set(headers.values("Connection").flatMap(\.listElements).map { $0.lowercased() })
        return headers.filter { name in
            !Self.ofConnection.contains(name) && !named.contains(name) && (isShared || name != "set-cookie")
        }
    }

    /// Returns the names in lower case of the request fields by which a response varies; `nil` if `Vary` contains `*`.
    static func varying(_ headers: HTTPHeaders) -> [String]? {
        let names = headers.values("Vary").flatMap(\.listElements).map { $0.lowercased() }
        return names.contains("*") ? nil : names
    }

    /// Returns the values of a request's fields, by their names in lower case, without fields that the request lacks.
    static func values(of names: [String], in request: HTTPRequest) -> [String: String] {
        var values: [String: String] = [:]
        for name in names {
            let lines = request.headers.values(name)
            if !lines.isEmpty { values[name] = lines.flatMap(\.listElements).joined(separator: ",") }
        }
        return values
    }

    private static let ofConnection: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]
    /// The statuses whose responses have a lifetime without saying so (RFC 9110, section 15.1).
    private static let heuristic: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]
    private static let understood: Set<Int> = heuristic.union([302, 303, 307, 400, 403, 500, 502, 503, 504])

    /// Returns the age of a response in seconds (RFC 9111, section 4.2.3).
    package func age(of stored: CachedResponse, at now: Date) -> Double {
        if policy.lifetime != nil { return now.timeIntervalSince(stored.received) }
        let delay = max(0, stored.received.timeIntervalSince(stored.requested))
        let date = stored.headers["Date"].flatMap { Date(httpDate: $0) }
        let apparent = date.map { max(0, stored.received.timeIntervalSince($0)) } ?? 0
        // The first member of a list counts; anything but a number is ignored (RFC 9111, section 5.1).
        let said = stored.headers["Age"].flatMap { $0.listElements.first?.wholeNumber } ?? 0
        return max(apparent, Double(said) + delay) + now.timeIntervalSince(stored.received)
    }

    /// Adds the age of a stored response to its answer (RFC 9111, section 5.1).
    func note(age stored: CachedResponse, at now: Date, in answer: inout HTTPResponse) {
        let age = max(0, age(of: stored, at: now))
        answer.age = .seconds(age)
        if policy.lifetime == nil { answer.headers["Age"] = "\(Int(min(age, 2_147_483_648)))" }
    }

    /// Returns the lifetime of a response in seconds, by the policy or by RFC 9111, section 4.2.1.
    package func lifetime(of stored: CachedResponse) -> Double {
        if let lifetime = policy.lifetime { return lifetime / .seconds(1) }
        if let explicit = explicitLifetime(stored.headers, at: stored.received) { return explicit }
        guard Self.heuristic.contains(stored.status) || control(of: stored.headers).has("public"),
            let changed = stored.headers["Last-Modified"].flatMap({ Date(httpDate: $0) })
        else { return 0 }
        // A tenth of the time since the last change (section 4.2.2), but at most a day.
        let date = stored.headers["Date"].flatMap { Date(httpDate: $0) } ?? stored.received
        return min(max(0, date.timeIntervalSince(changed) / 10), 86_400)
    }

    private func explicitLifetime(_ headers: HTTPHeaders, at received: Date) -> Double? {
        let control = control(of: headers)
        if isShared, let seconds = control.seconds("s-maxage") { return Double(seconds) }
        if let seconds = control.seconds("max-age") { return Double(seconds) }
        let expires = headers.values("Expires")
        guard let first = expires.first, !control.isForSharedCaches else { return nil }
        guard expires.count == 1, let end = Date(strictHTTPDate: first) else { return 0 }
        let date = headers["Date"].flatMap { Date(httpDate: $0) } ?? received
        return max(0, end.timeIntervalSince(date))
    }

    /// Decides what to do with a request (RFC 9111, section 4).
    ///
    /// - Parameter mustAsk: A Boolean value that indicates whether the server has to confirm even a fresh response.
    package func decide(
        _ request: HTTPRequest, _ stored: CachedResponse?, at now: Date, mustAsk: Bool = false
    ) -> CacheDecision {
        var asked = CacheControl(request.headers)
        if asked.isEmpty, request.headers.values("Pragma").flatMap(\.listElements).contains("no-cache") {
            asked = CacheControl(["Cache-Control": "no-cache"])
        }
        guard let stored, stored.answers(request) else { return asked.has("only-if-cached") ? .fail : .fetch }
        let control = control(of: stored.headers), age = age(of: stored, at: now), lifetime = lifetime(of: stored)
        let mustAsk = mustAsk || asked.has("no-cache") || control.has("no-cache")
        // A clock that was set back makes every age meaningless.
        let wasSetBack = now.timeIntervalSince(stored.received) < -1
        let isYoung = asked.seconds("max-age").map { age <= Double($0) } ?? true
        if !mustAsk, !wasSetBack, age < lifetime, isYoung, lifetime - age >= Double(asked.seconds("min-fresh") ?? 0) {
            return .reuse
        }
        let conditions = Self.conditions(for: stored), stale = age - lifetime
        if !mustAsk, !wasSetBack, !requiresValidation(control) {
            if isYoung, asked.has("max-stale"), stale <= asked.seconds("max-stale").map(Double.init) ?? .infinity {
                return .reuse
            }
            let window = max(
                Double(control.seconds("stale-while-revalidate") ?? -1),
                policy.staleWhileRevalidate > .zero ? policy.staleWhileRevalidate / .seconds(1) : -1)
            if stale <= window, asked.seconds("max-age") == nil, asked.seconds("min-fresh") == nil {
                return .reuseAndRefresh(conditions)
            }
        }
        if asked.has("only-if-cached") { return .fail }
        return conditions.fields.isEmpty ? .fetch : .validate(conditions)
    }

    /// Returns whether a stored response may answer after a request to the server has failed (RFC 5861, section 4).
    package func mayAnswer(_ request: HTTPRequest, _ stored: CachedResponse, afterFailureAt now: Date) -> Bool {
        let control = control(of: stored.headers)
        let asked = CacheControl(request.headers)
        guard stored.answers(request), !requiresValidation(control), !control.has("no-cache"), !asked.has("no-cache"),
            now.timeIntervalSince(stored.received) >= -1
        else { return false }
        let own = policy.staleIfError > .zero ? policy.staleIfError / .seconds(1) : -1
        let window = max(Double(control.seconds("stale-if-error") ?? -1), own)
        return window >= 0 && age(of: stored, at: now) - lifetime(of: stored) <= window
    }

    /// Returns the time from which a response that was just received can no longer be used.
    ///
    /// A response that a server can confirm is kept for thirty days after it becomes stale.
    package func expiry(of stored: CachedResponse) -> Date {
        let control = control(of: stored.headers)
        let windows: [Double] = [
            Double(control.seconds("stale-while-revalidate") ?? 0), Double(control.seconds("stale-if-error") ?? 0),
            policy.staleWhileRevalidate / .seconds(1), policy.staleIfError / .seconds(1),
            Self.conditions(for: stored).fields.isEmpty ? 0 : 30 * 86_400,
        ]
        let left = lifetime(of: stored) - age(of: stored, at: stored.received)
        return stored.received.addingTimeInterval(min(max(0, left) + windows.max()!, 1e9))
    }

    private func requiresValidation(_ control: CacheControl) -> Bool {
        control.has("must-revalidate")
            || isShared && (control.has("proxy-revalidate") || control.seconds("s-maxage") != nil)
    }

    /// Returns the fields by which a server can confirm a response (RFC 9111, section 4.3.1).
    private static func conditions(for stored: CachedResponse) -> HTTPHeaders {
        var headers: HTTPHeaders = [:]
        if let tag = stored.headers["ETag"] { headers["If-None-Match"] = tag }
        if let changed = stored.headers["Last-Modified"] { headers["If-Modified-Since"] = changed }
        return headers
    }

    /// Returns whether a response with the status 304 confirms a stored response: both have the same validator (RFC
    /// 9111, section 4.3.4).
    package func mayConfirm(_ stored: CachedResponse, _ headers: HTTPHeaders) -> Bool {
        guard let tag = headers["ETag"] else { return true }
        return stored.headers["ETag"].map { CachedResponse.weak($0) == CachedResponse.weak(tag) } ?? tag.hasPrefix("W/")
    }

    /// Returns a stored response that a server has confirmed with a status of 304 (RFC 9111, section 3.2).
    package func confirmed(
        _ stored: CachedResponse, by response: HTTPResponse, requested: Date, received: Date
    ) -> CachedResponse {
        var confirmed = stored
        for name in Set(storable(response.headers).fields.map { $0.name.lowercased() })
        where !Self.ofContent.contains(name) {
            confirmed.headers[name] = nil
            for value in response.headers.values(name) { confirmed.headers.add(name, value) }
        }
        if response.headers["Age"] == nil { confirmed.headers["Age"] = nil }
        (confirmed.requested, confirmed.received) = (requested, received)
        return confirmed
    }

    private static let ofContent: Set<String> = [
        "content-encoding", "content-length", "content-md5", "content-range", "content-type",
    ]

    /// Returns the URLs whose stored responses a response makes invalid (RFC 9111, section 4.4).
    package static func invalidated(by response: HTTPResponse, to request: HTTPRequest) -> [String] {
        let isSafe = ["GET", "HEAD", "OPTIONS", "TRACE"].contains(request.method)
        guard !isSafe, (200..<400).contains(response.status) else { return [] }
        let named = ["Location", "Content-Location"].compactMap { response.headers[$0] }
            .compactMap { WebURL(request.url)?.resolving($0)?.text }
            .filter { HTTPOrigin($0) == HTTPOrigin(request.url) }
        return [request.url] + named
    }
}

extension CachedResponse {
    /// The names of the fields to which a stored response answers with the status 304, or with a part of its body.
    static let conditions: Set<String> = ["if-modified-since", "if-none-match", "range"]

    /// Returns the answer to a request: the whole response, a part of it, or its head with the status 304.
    ///
    /// The status 304 is for a sender that already has the response (RFC 9111, section 4.3.2). A part is for a request
    /// with a range (RFC 9110, section 14.2).
    package func answer(to request: HTTPRequest) -> HTTPResponse {
        var answer = HTTPResponse(status: status, headers: headers)
        guard status == 200 else {
            answer.body = Array(body)
            return answer
        }
        if isKnown(to: request) {
            answer.status = 304
            answer.headers = headers.filter { $0 == "content-location" || !$0.hasPrefix("content-") }
        } else if let part = request.headers.range(of: Int64(body.count)) {
            answer.headers["Content-Length"] = "\(part.count)"
            guard !part.isEmpty else {
                (answer.status, answer.headers["Content-Range"]) = (416, "bytes */\(body.count)")
                return answer
            }
            answer.status = 206
            answer.headers["Content-Range"] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(body.count)"
            answer.body = Array(body.dropFirst(Int(part.lowerBound)).prefix(part.count))
        } else {
            answer.body = Array(body)
        }
        return answer
    }

    /// Returns whether the conditions of a request say that its sender has the response.
    private func isKnown(to request: HTTPRequest) -> Bool {
        if let isListed = request.headers.ifNoneMatch(headers["ETag"]) { return isListed }
        guard let since = request.headers["If-Modified-Since"].flatMap({ Date(strictHTTPDate: $0) }) else {
            return false
        }
        let changed = headers["Last-Modified"] ?? headers["Date"]
        return (changed.map { Date(httpDate: $0) } ?? received).map { $0 <= since } ?? false
    }

    /// Returns an entity tag for a weak comparison (RFC 9110, section 8.8.3.2).
    static func weak(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
}
