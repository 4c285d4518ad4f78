import Foundation

/// Attacks hosts with what is hostile, from a seed, and shows which of them did what no host should.
@main
enum AttackCommand {
    private static let attacks = [
        Entry(DamagedLibraries.self), Entry(HostileManifests.self), Entry(Kills.self), Entry(OverwrittenPages.self),
        Entry(RudeClients.self), Entry(FullDisks.self), Entry(FewThreads.self), Entry(FewDescriptors.self),
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

        Attacks hosts in processes of their own, and ends with exit code 1 where one died, hung, took too much memory, refused
        without a clear message or lost what it had acknowledged. Without names, with all of these:

        \(attacks.map { "    \($0.name.padding(toLength: 13, withPad: " ", startingAt: 0))\($0.what); \($0.count) trials" }.joined(separator: "\n"))

        --seed      makes the same trials again; the clock gives one otherwise, which is printed
        --seconds   ends in about that time, whatever was tried until then
        --count     the trials of each attack
        --trial     makes this trial alone, and leaves what it made
        --json      writes what was found to a file as well
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

    /// Takes an option and its value out of the words.
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
