import Foundation

/// The command that attacks hosts, with trials derived from a seed, and reports findings.
@main
enum AttackCommand {
    private static let attacks = [
        Entry(DamagedLibraries.self), Entry(HostileManifests.self), Entry(KilledRenames.self),
    ]

    /// An attack in the list.
    private struct Entry: Sendable {
        let name, what: String
        let count, share: Int
        let row: @Sendable (Campaign) -> Row

        init<Kind: Attack>(_ kind: Kind.Type) {
            (name, what, count, share) = (Kind.name, Kind.what, Kind.count, Kind.share)
            row = { $0.row(of: Kind.self) }
        }
    }

    private static var usage: String {
        """
        attack [ATTACK…] [--seed N] [--seconds N] [--count N] [--trial N] [--json FILE]

        Attack hosts in processes of their own. A host that dies, hangs, uses too much memory, refuses without a clear
        message or loses data that it has acknowledged is a finding; with findings, the exit code is 1. Without names, all
        attacks run:

        \(attacks.map { "    \($0.name.padding(toLength: 13, withPad: " ", startingAt: 0))\($0.what); \($0.count) trials" }.joined(separator: "\n"))

        --seed      Repeat the trials of a seed. By default the seed is taken from the clock, and printed.
        --seconds   End after about this time, even if trials are left.
        --count     The number of trials of each attack.
        --trial     Run this trial only, and keep its files.
        --json      Also write the report to a file, as JSON.
        """
    }

    static func main() {
        signal(SIGPIPE, SIG_IGN)
        var words = Array(CommandLine.arguments.dropFirst())
        if words.contains("--help") {
            print(usage)
            return
        }
        let file = value(of: "--json", in: &words)
        let numbers = ["--seed", "--seconds", "--count", "--trial"].map { name -> UInt64? in
            guard let text = value(of: name, in: &words) else { return nil }
            guard let number = UInt64(text) else { refuse("\(name): expected a number, found `\(text)`") }
            return number
        }
        if let odd = words.first(where: { word in !attacks.contains { $0.name == word } }) {
            refuse("there is no attack `\(odd)`; there is: \(attacks.map(\.name).joined(separator: ", "))")
        }
        let seed = numbers[0] ?? UInt64(Date.now.timeIntervalSince1970 * 1_000)
        let chosen = attacks.filter { words.isEmpty || words.contains($0.name) }
        let campaign = Campaign(
            seed: seed, seconds: numbers[1].map { Double($0) * 100 / Double(chosen.reduce(0) { $0 + $1.share }) },
            only: numbers[3].map { Int(clamping: $0) }, count: numbers[2].map { Int(clamping: $0) })
        print("seed \(seed)")
        fflush(nil)
        var report = Report(seed: seed)
        for attack in chosen {
            say("\(attack.name): \(attack.what)")
            report.attacks.append(attack.row(campaign))
        }
        print(report.table)
        for row in report.attacks {
            for finding in row.findings.prefix(20) { print("\(row.name) \(finding.trial): \(finding.text)") }
            if row.findings.count > 20 { print("\(row.name): and \(row.findings.count - 20) more") }
        }
        if let file { try? Data((report.json + "\n").utf8).write(to: URL(filePath: file)) }
        if report.hasFindings {
            print("again: make attack SEED=\(seed), and one: .build/debug/attack ATTACK --seed \(seed) --trial N")
        }
        exit(report.hasFindings ? 1 : 0)
    }

    /// Removes an option and its value from the words, and returns the value.
    private static func value(of name: String, in words: inout [String]) -> String? {
        guard let place = words.firstIndex(of: name) else { return nil }
        guard place + 1 < words.count else { refuse("\(name): expected a value, found nothing") }
        defer { words.removeSubrange(place...place + 1) }
        return words[place + 1]
    }

    private static func refuse(_ text: String) -> Never {
        say("attack: \(text)\n\n\(usage)")
        exit(64)
    }
}
