/// The order in which waiting transfers start: by priority, and then by the owner with the fewest running transfers.
///
/// The numbers of transfers increase in the order in which they were added.
struct TransferQueue: Sendable {
    /// The waiting transfers of one owner with the same priority and host.
    private struct Line: Hashable, Sendable {
        var priority: Int
        var owner: ExactText
        var host: String
    }
    /// The numbers of a line, of which the first may already have been taken.
    private struct Waiting: Sendable {
        var numbers: [Int] = []
        var first = 0
    }
    private let concurrent: Int
    private let perHost: Int
    private var lines: [Line: Waiting] = [:]
    /// The line of each waiting transfer; a transfer that is missing has been removed.
    private var waiting: [Int: Line] = [:]
    private var running: [Int: Line] = [:]
    private var ofOwner: [ExactText: Int] = [:]
    private var ofHost: [String: Int] = [:]
    /// The number of transfers started so far, and that number when each owner's last one was started.
    private var turns = 0
    private var lastTurn: [ExactText: Int] = [:]

    init(concurrent: Int, perHost: Int) { (self.concurrent, self.perHost) = (max(1, concurrent), max(1, perHost)) }

    /// Adds a transfer at the end of its line.
    mutating func add(_ number: Int, priority: Int, owner: ExactText, host: String) {
        let line = Line(priority: priority, owner: owner, host: host)
        waiting[number] = line
        lines[line, default: Waiting()].numbers.append(number)
    }

    /// Removes a waiting transfer.
    mutating func remove(_ number: Int) { waiting[number] = nil }

    /// Returns the number of the next transfer to start, or `nil` if the limits permit none.
    mutating func next() -> Int? {
        guard running.count < concurrent else { return nil }
        var best: (line: Line, number: Int, rank: (Int, Int, Int, Int))?
        for line in lines.keys {
            guard let number = front(of: line), ofHost[line.host, default: 0] < perHost else { continue }
            let rank = (~line.priority, ofOwner[line.owner, default: 0], lastTurn[line.owner, default: 0], number)
            if best.map({ rank < $0.rank }) ?? true { best = (line, number, rank) }
        }
        guard let (line, number, _) = best else { return nil }
        waiting[number] = nil
        _ = front(of: line)  // drops the line with its last transfer
        running[number] = line
        ofOwner[line.owner, default: 0] += 1
        ofHost[line.host, default: 0] += 1
        turns += 1
        lastTurn[line.owner] = turns
        return number
    }

    /// Records that a transfer has ended.
    mutating func ended(_ number: Int) {
        guard let line = running.removeValue(forKey: number) else { return }
        ofOwner[line.owner] = ofOwner[line.owner].flatMap { $0 > 1 ? $0 - 1 : nil }
        ofHost[line.host] = ofHost[line.host].flatMap { $0 > 1 ? $0 - 1 : nil }
        if waiting.isEmpty, running.isEmpty { lastTurn = [:] }
    }

    /// Returns the first number of a line that is still waiting, and removes the numbers before it, or the line if it
    /// is empty.
    private mutating func front(of line: Line) -> Int? {
        guard var found = lines[line] else { return nil }
        while found.first < found.numbers.count, waiting[found.numbers[found.first]] != line { found.first += 1 }
        guard found.first < found.numbers.count else {
            lines[line] = nil
            return nil
        }
        if found.first > 64, found.first > found.numbers.count / 2 {
            found.numbers.removeFirst(found.first)
            found.first = 0
        }
        lines[line] = found
        return found.numbers[found.first]
    }
}
