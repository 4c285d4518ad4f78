import TestFixtures

/// A kind of attack: many trials, each made from a seed of its own.
protocol Attack: Sendable {
    static var name: String { get }
    /// What it does, in a line.
    static var what: String { get }
    /// How many trials there are where nothing else is asked for.
    static var count: Int { get }
    /// Its part of the time where that is short, in hundredths.
    static var share: Int { get }
    /// Whether trials may run at the same time.
    static var isParallel: Bool { get }

    /// - Throws: ``NotPossible``.
    init(at site: Site) throws

    /// Makes one trial.
    func attempt(_ trial: Int, _ numbers: inout SeededNumbers) throws -> Trial

    /// Makes the last look, when all trials are over.
    func end() throws -> Trial?
}

extension Attack {
    static var isParallel: Bool { true }

    func end() throws -> Trial? { nil }
}

/// What came of one trial.
struct Trial {
    /// How the host took it, in a word: `refused`, `accepted`.
    var outcome: String
    /// What no host should do. The seed and the trial are added where it is reported.
    var findings: [String] = []
}

extension Trial {
    /// Judges the host that a process gave something hostile to.
    ///
    /// - Parameters:
    ///   - before: The most memory that the host had had before.
    ///   - library: The path of the hostile library that the host was told to activate. What its code does, the host
    ///     does, and that is no finding if the host's last words name the library.
    mutating func judge(
        _ host: HostProcess, _ subject: String, input: Int, before: Int, running library: String? = nil
    ) {
        if host.hasEnded() {
            outcome = "died"
            if let library, host.died(inCodeOf: library) {
                outcome = "died of the plugin's code"
            } else {
                findings.append("\(subject): the host \(host.ending!)\(host.lastWords)")
            }
        } else if host.peak - before > Swift.max(200 << 20, 20 * input) {
            findings.append("\(subject): the host used \((host.peak - before) >> 20) MB more")
        }
    }

    /// Judges a process that was to look at something hostile and end.
    ///
    /// - Parameters:
    ///   - subject: What was done, for findings.
    ///   - input: How large the hostile thing is.
    ///   - usual: The memory that the same takes where nothing is wrong.
    init(_ process: HostProcess, _ subject: String, input: Int, usual: Int) {
        let ending = process.ending ?? process.wait()
        let said = process.said
        outcome = ending == .exit(0) ? "accepted" : "refused"
        switch ending {
        case .exit(0), .exit(1): break
        default:
            outcome = "died"
            findings.append("\(subject): \(ending)\(process.lastWords)")
        }
        if ending == .exit(1) {
            if said.isEmpty { findings.append("\(subject): it was refused without a word") }
            if said.utf8.count > 1 << 16 { findings.append("\(subject): the refusal has \(said.utf8.count) bytes") }
            if let odd = said.unicodeScalars.first(where: { $0.value < 32 && $0 != "\n" && $0 != "\t" }) {
                findings.append("\(subject): the refusal has the control character \(odd.value) in it")
            }
        }
        let more = process.peak - usual
        if more > Swift.max(200 << 20, 20 * input) {
            findings.append("\(subject): it used \(more >> 20) MB more than usual, for \(input) bytes")
        }
    }
}
