import Backplane
import BackplaneNetwork
import FoundationEssentials

/// An exchange through a cache: the rules decide whether a request is made, and an accepted response is stored.
struct CachedExchange: Sendable {
    typealias Send = (HTTPRequest) async throws -> HTTPStreamedResponse
    let cache: ResponseCache
    let rules: CacheRules
    let place: CachePolicy.Place
    let key: CacheKey
    let request: HTTPRequest
    let options: HTTPOptions
    let date: @Sendable () -> Date
    /// A function that is called with the decision and its reason.
    let note: @Sendable (String) -> Void

    /// The statuses by which a server says that it failed (RFC 5861, section 4).
    private static let failures: Set<Int> = [500, 502, 503, 504]

    func run(_ send: Send) async throws -> HTTPStreamedResponse {
        let stored = await cache.response(to: request, key, in: place), now = date()
        cache.count(isHit: stored != nil, in: place)
        switch rules.decide(request, stored, at: now, mustAsk: options.refreshes) {
        case .reuse:
            note("\(age(of: stored!, at: now)), fresh")
            return answer(stored!, at: now)
        case .reuseAndRefresh:
            note("\(age(of: stored!, at: now)), stale; the next one is loaded")
            var answer = answer(stored!, at: now)
            answer.isStale = true
            return answer
        case .fail:
            note("nothing stored, and the request allows nothing else")
            return HTTPStreamedResponse(HTTPResponse(status: 504))
        case .validate(let conditions):
            note("\(age(of: stored!, at: now)), stale; the server is asked")
            return try await ask(send, conditions, insteadOf: stored)
        case .fetch:
            note(stored.map { "\(age(of: $0, at: now)), stale" } ?? "nothing stored")
            return try await ask(send, [:], insteadOf: stored)
        }
    }

    /// Makes the request with conditions, and falls back on the stored response if the server fails.
    private func ask(
        _ send: Send, _ conditions: HTTPHeaders, insteadOf stored: CachedResponse?
    ) async throws -> HTTPStreamedResponse {
        var asking = request
        if !conditions.fields.isEmpty || options.refreshes {  // the whole response replaces the stored one
            asking.headers = asking.headers.filter { !CachedResponse.conditions.contains($0) }
        }
        for field in conditions.fields { asking.headers.add(field.name, field.value) }
        let requested = date(), position = cache.position
        do {
            let response = try await send(asking), received = date()
            if let stored, response.status == 304, !conditions.fields.isEmpty {
                guard rules.mayConfirm(stored, response.headers) else {
                    note("the server confirmed another response")
                    return try await ask(send, [:], insteadOf: stored)
                }
                note("confirmed")
                var confirmed = rules.confirmed(stored, by: response.head, requested: requested, received: received)
                confirmed.expires = rules.expiry(of: confirmed)
                if rules.mayStore(HTTPResponse(status: stored.status, headers: confirmed.headers), to: request) {
                    let names = CacheRules.varying(confirmed.headers) ?? []
                    confirmed.varying = CacheRules.values(of: names, in: request)
                    await cache.store(confirmed, to: request, key, in: place, since: position)
                } else {
                    await cache.invalidate(request.url)
                }
                var answer = answer(confirmed, at: received)
                answer.timings = response.timings
                return answer
            }
            if let stored, Self.failures.contains(response.status), mayAnswer(stored, at: received) {
                note("the server failed with \(response.status)")
                return answer(stored, at: received)
            }
            return storable(response, requested: requested, received: received, since: position)
        } catch let error as BackplaneError where error.isConnectivity || error.code == .networkLimited {
            return try answer(stored, insteadOf: error)
        }
    }

    var mayFallBack: Bool {
        !options.refreshes && (rules.policy.staleIfError > .zero || rules.policy.lifetime == nil)
    }

    /// Returns the stale response that answers although a time limit has passed, or throws the error of the limit.
    func answer(insteadOf error: BackplaneError) async throws -> HTTPStreamedResponse {
        var answer = try answer(await cache.response(to: request, key, in: place), insteadOf: error)
        answer.isReceived = true
        return answer
    }

    private func answer(_ stored: CachedResponse?, insteadOf error: BackplaneError) throws -> HTTPStreamedResponse {
        let now = date()
        guard let stored, mayAnswer(stored, at: now) else { throw error }
        note("the server failed with \(error.code.rawValue)")
        return answer(stored, at: now)
    }

    private func mayAnswer(_ stored: CachedResponse, at now: Date) -> Bool {
        !options.refreshes && rules.mayAnswer(request, stored, afterFailureAt: now)
    }

    /// Returns the response with its acceptance, if it may be stored; the response to a redirected request belongs to
    /// another URL.
    private func storable(
        _ response: HTTPStreamedResponse, requested: Date, received: Date, since position: Int
    ) -> HTTPStreamedResponse {
        var head = response.head
        guard response.url == nil, response.source == .network, rules.mayStore(head, to: request),
            let bytes = response.body.bytes
        else { return response }
        (head.headers, head.body) = (rules.storable(head.headers), bytes)
        var entry = CachedResponse(
            key: "", url: request.printableURL, endpoint: options.endpoint, tags: options.cacheTags, head,
            requested: requested, received: received, expires: received,
            varying: CacheRules.values(of: CacheRules.varying(head.headers) ?? [], in: request))
        entry.expires = rules.expiry(of: entry)
        var response = response
        response.acceptance = CacheAcceptance { [self, entry] in
            // A cache in memory has the response at once, and one on the disk while it is being written.
            Task.immediate { await cache.store(entry, to: request, key, in: place, since: position) }
        }
        return response
    }

    private func answer(_ stored: CachedResponse, at now: Date) -> HTTPStreamedResponse {
        var whole = stored.answer(to: request)
        rules.note(age: stored, at: now, in: &whole)
        whole.source = place == .memory || cache.isOnlyInMemory ? .memory : .disk
        return HTTPStreamedResponse(whole)
    }

    private func age(of stored: CachedResponse, at now: Date) -> String {
        let age = rules.age(of: stored, at: now), lifetime = rules.lifetime(of: stored)
        return "\(Int(min(age, 1e9))) of \(Int(min(lifetime, 1e9))) seconds old"
    }
}
