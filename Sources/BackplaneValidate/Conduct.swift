import Backplane
import BackplaneDocuments
import BackplaneTerminal
import CBackplane
import Foundation

/// How a plugin kept to the rules that hold for every answer, in one trial.
struct Conduct: Codable, Sendable {
    /// What was answered more than once, and synchronous methods that took their time.
    var repeated: [String] = []
    /// Answers that are not what their status says.
    var unreadable: [String] = []

    /// The most that an error may have to say, in bytes: of more a host shows the beginning.
    private static let errorLimit = 65_536

    mutating func take(_ question: Question) {
        let answers = question.all
        guard let first = answers.first else { return }
        if answers.count > 1 { repeated.append("it answered \(answers.count) times when \(question.what)") }
        if let fault = Self.fault(first, question.kind) { unreadable.append("it answered \(fault) when \(question.what)") }
    }

    private static func fault(_ answer: Question.Answer, _ kind: Question.Kind) -> String? {
        guard (Int32(BP_OK)...Int32(BP_ERROR)).contains(answer.status) else { return "with status \(answer.status), which the header does not know," }
        if answer.isOK {
            return kind == .call && !JSONCheck.isJSON(answer.payload) ? "a result that is no JSON" : nil
        }
        if answer.payload.count > errorLimit { return "an error of more than \(errorLimit) bytes" }
        guard let text = String(validating: answer.payload, as: UTF8.self) else { return "an error that is not UTF-8" }
        if answer.status == Int32(BP_ERROR) {
            return (try? JSONDecoder().decode(BackplaneError.self, from: Data(answer.payload))) == nil ? "BP_ERROR without the JSON of an error" : nil
        }
        return text.printable == text ? nil : "an error with control characters"
    }

    static func verdicts(of all: [Conduct]) -> Verdicts {
        [
            .once: Verdict(findings: all.flatMap(\.repeated).shortened),
            .texts: Verdict(findings: all.flatMap(\.unreadable).shortened),
        ]
    }
}

extension [String] {
    /// Each once, in their order, and no more than anybody reads.
    fileprivate var shortened: [String] {
        var seen: Set<String> = []
        let all = filter { seen.insert($0).inserted }
        return all.count > 4 ? all.prefix(4) + ["and \(all.count - 4) more"] : all
    }
}
