import Foundation
import Synchronization
import TestFixtures

/// The trials of an attack, one after the other or a few at a time.
struct Campaign: Sendable {
    let seed: UInt64
    /// The seconds for all attacks; `nil`: as long as it takes.
    var seconds: Double?
    /// The one trial to make; `nil`: all.
    var only: Int?
    /// The number of trials, instead of the attack's own.
    var count: Int?

    private final class Progress: Sendable {
        let next: Mutex<Int>
        let row: Mutex<Row>

        init(_ row: Row, from first: Int) {
            next = Mutex(first)
            self.row = Mutex(row)
        }
    }

    /// Makes an attack.
    func row<Kind: Attack>(of kind: Kind.Type) -> Row {
        let begun = Date.now
        var row = Row(name: Kind.name, what: Kind.what)
        do {
            let site = try Site(isKept: only != nil), attack = try Kind(at: site)
            let progress = Progress(row, from: only ?? 0)
            let last = only ?? (count ?? Kind.count) - 1
            let deadline = seconds.map { begun + $0 * Double(Kind.share) / 100 }
            let ended = DispatchGroup()
            for _ in 0..<(Kind.isParallel ? ProcessInfo.processInfo.activeProcessorCount : 1) {
                ended.enter()
                Thread.detachNewThread {
                    work(on: attack, progress, to: last, until: deadline)
                    ended.leave()
                }
            }
            ended.wait()
            row = progress.row.withLock { $0 }
            if let last = try attack.end() { Self.add(last, of: row.trials, to: &row) }
            if only != nil { say("  what was made is in \(site.path)") }
        } catch let error as NotPossible {
            row.skipped = error.description
        } catch {
            row.findings.append(Row.Finding(trial: -1, text: "the attack itself failed: \(error)"))
        }
        row.seconds = begun.distance(to: .now)
        return row
    }

    private func work(on attack: some Attack, _ progress: Progress, to last: Int, until deadline: Date?) {
        let name = type(of: attack).name
        while true {
            let trial = progress.next.withLock { next in
                defer { next += 1 }
                return next
            }
            guard trial <= last, deadline.map({ Date.now < $0 }) != false else { return }
            var numbers = SeededNumbers(Self.seed(seed, name, trial))
            let result: Trial, begun = Date.now
            do {
                result = try attack.attempt(trial, &numbers)
            } catch {
                result = Trial(outcome: "failed", findings: ["the attack itself failed: \(error)"])
            }
            for text in result.findings { say("  \(name) \(trial): \(text)") }
            let done = progress.row.withLock { row in
                Self.add(result, of: trial, to: &row)
                row.slowest = max(row.slowest, begun.distance(to: .now))
                return row.trials
            }
            if done % 100 == 0 { say("  \(name): \(done)") }
        }
    }

    private static func add(_ trial: Trial, of number: Int, to row: inout Row) {
        row.trials += 1
        row.outcomes[trial.outcome, default: 0] += 1
        row.findings += trial.findings.map { Row.Finding(trial: number, text: $0) }
    }

    /// The seed of one trial.
    private static func seed(_ seed: UInt64, _ name: String, _ trial: Int) -> UInt64 {
        let start = name.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        var numbers = SeededNumbers(start &+ UInt64(trial) &* 0x9E37_79B9_7F4A_7C15)
        return numbers.next()
    }
}

/// Says how far it is, where nobody takes it for the result.
func say(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
