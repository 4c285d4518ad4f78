import BackplaneNetwork

/// A cache in memory, from which the least recently used responses are removed beyond its size.
struct MemoryCache {
    private struct Slot {
        var key: String
        var response: CachedResponse
        let decoded = DecodedValue()
        /// Whether the decoded value counts, as much as the body.
        var hasValue = false
        var cost: Int
        /// The neighbours in the order of use; `nil` at its ends.
        var older, newer: Int?
    }
    let limit: Int
    private(set) var cost = 0
    private(set) var evictions = 0
    private var places: [String: Int] = [:]
    private var slots: [Slot?] = []
    private var free: [Int] = []
    private var oldest, newest: Int?
    /// The keys of the responses from a URL.
    private var keys: [String: Set<String>] = [:]

    init(limit: Int) { self.limit = limit }

    var count: Int { places.count }

    var responses: [CachedResponse] { slots.compactMap { $0?.response } }

    mutating func load(_ key: String) -> CachedResponse? { find(key)?.response }

    mutating func find(_ key: String) -> (response: CachedResponse, decoded: DecodedValue)? {
        guard let place = places[key] else { return nil }
        if newest != place {
            unlink(place)
            link(place)
        }
        if !slots[place]!.hasValue, slots[place]!.decoded.isKept {
            let size = slots[place]!.response.body.count
            slots[place]!.hasValue = true
            slots[place]!.cost += size
            makeRoom(for: size)
            cost += size
        }
        return slots[place].map { ($0.response, $0.decoded) }
    }

    mutating func store(_ response: CachedResponse, for key: String) {
        remove(key)
        let cost = response.cost + 2 * key.utf8.count
        guard cost <= limit else { return }
        makeRoom(for: cost)
        let slot = Slot(key: key, response: response, cost: cost), place: Int
        if let last = free.popLast() {
            (place, slots[last]) = (last, slot)
        } else {
            place = slots.count
            slots.append(slot)
        }
        places[key] = place
        keys[response.url, default: []].insert(key)
        self.cost += cost
        link(place)
    }

    /// Removes the least recently used responses, but not the one that was used last.
    private mutating func makeRoom(for cost: Int) {
        while self.cost + cost > limit, let oldest, count > 1 {
            remove(slots[oldest]!.key)
            evictions += 1
        }
    }

    mutating func remove(_ key: String) {
        guard let place = places.removeValue(forKey: key), let slot = slots[place] else { return }
        unlink(place)
        cost -= slot.cost
        slots[place] = nil
        free.append(place)
        keys[slot.response.url]?.remove(key)
        if keys[slot.response.url]?.isEmpty == true { keys[slot.response.url] = nil }
    }

    mutating func removeExpired(_ rule: CacheExpiry) -> Int {
        let candidates = rule.url.map { Array(keys[$0] ?? []) } ?? Array(places.keys)
        let selected = candidates.filter { key in places[key].map { rule.selects(slots[$0]!.response) } ?? false }
        for key in selected { remove(key) }
        return selected.count
    }

    private mutating func link(_ place: Int) {
        (slots[place]!.older, slots[place]!.newer) = (newest, nil)
        if let newest { slots[newest]!.newer = place }
        newest = place
        if oldest == nil { oldest = place }
    }

    private mutating func unlink(_ place: Int) {
        let slot = slots[place]!
        if let older = slot.older { slots[older]!.newer = slot.newer } else { oldest = slot.newer }
        if let newer = slot.newer { slots[newer]!.older = slot.older } else { newest = slot.older }
    }
}
