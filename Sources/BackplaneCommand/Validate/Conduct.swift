import CBackplane

/// How a plugin kept to the rules that hold for every answer, in one trial.
struct Conduct: Codable, Sendable {
    /// What was answered more than once, and synchronous methods that took their time.
    var repeated: [String] = []
    /// Answers that are no text, or too much of it.
    var unreadable: [String] = []

    /// The most that an error may have to say, in bytes: what is beyond helps nobody who reads it.
    static let errorLimit = 65_536

    /// - Parameter isCreation: its payload means nothing where it succeeds.
    mutating func take(_ question: Question) {
        let answers = question.all
        if answers.count > 1 { repeated.append("it answered \(answers.count) times when \(question.what)") }
        for answer in answers.prefix(1) {
            if !answer.isOK, answer.payload.count > Self.errorLimit {
                unreadable.append("an error of \(answer.payload.count) bytes when \(question.what); \(Self.errorLimit) are enough for anybody")
            }
            if String(validating: answer.payload, as: UTF8.self) == nil { unreadable.append("it answered what is not UTF-8 when \(question.what)") }
            if !(Int32(BP_OK)...Int32(BP_ERROR)).contains(answer.status) {
                unreadable.append("it answered with status \(answer.status), which the header does not know, when \(question.what)")
            }
        }
    }

    static func verdicts(of all: [Conduct]) -> Verdicts {
        [
            .once: Verdict(findings: all.flatMap(\.repeated).uniqued),
            .texts: Verdict(findings: all.flatMap(\.unreadable).uniqued),
        ]
    }
}

extension [String] {
    /// Each once, in their order, and no more than anybody reads.
    fileprivate var uniqued: [String] {
        var seen: Set<String> = []
        let all = filter { seen.insert($0).inserted }
        return all.count > 12 ? all.prefix(12) + ["and \(all.count - 12) more"] : all
    }
}
