/// A queue of requests that serves their senders in turn, and the requests of one sender in order.
struct FairQueue {
    private var waiting: [String?: [UInt64]] = [:]
    /// The senders with waiting requests, beginning with the next one.
    private var turns: [String?] = []
    private(set) var count = 0

    /// The request whose turn it is.
    var first: UInt64? { turns.first.flatMap { waiting[$0]?.first } }

    mutating func add(_ id: UInt64, from sender: String?) {
        if waiting[sender] == nil { turns.append(sender) }
        waiting[sender, default: []].append(id)
        count += 1
    }

    /// Removes the request whose turn it is; the next one of its sender comes after those of all others.
    mutating func removeFirst() -> UInt64? {
        guard let id = first else { return nil }
        let sender = turns.removeFirst()
        turns.append(sender)
        remove(id, from: sender)
        return id
    }

    /// Removes a request; returns `false` if it does not wait.
    mutating func remove(_ id: UInt64) -> Bool {
        guard let sender = turns.first(where: { waiting[$0]?.contains(id) == true }) else { return false }
        remove(id, from: sender)
        return true
    }

    /// Removes the newest request of the sender with the most; it is the given sender's if others do not have more.
    mutating func removeNewest(of sender: String?) -> UInt64? {
        func count(_ sender: String?) -> Int { waiting[sender]?.count ?? 0 }
        guard let longest = turns.max(by: { count($0) < count($1) }) else { return nil }
        let loser = count(longest) > count(sender) ? longest : sender
        guard let id = waiting[loser]?.last else { return nil }
        remove(id, from: loser)
        return id
    }

    private mutating func remove(_ id: UInt64, from sender: String?) {
        waiting[sender]?.removeAll { $0 == id }
        count -= 1
        guard waiting[sender]?.isEmpty == true else { return }
        waiting[sender] = nil
        turns.removeAll { $0 == sender }
    }
}
