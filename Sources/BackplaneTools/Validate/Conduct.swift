import Backplane
import BackplaneDocuments
import CBackplane
import Foundation

/// The compliance of a plugin with the rules for all answers, in one trial.
struct Conduct: Codable, Sendable {
    /// The requests that were answered more than once, and the synchronous methods that answered late.
    var repeated: [String] = []
    /// The answers whose payload does not match their status.
    var unreadable: [String] = []

    /// The maximum size of an error, in bytes; a host truncates a longer one.
    private static let errorLimit = 65_536

    mutating func take(_ question: Question) {
        let answers = question.all
        guard let first = answers.first else { return }
        if answers.count > 1 { repeated.append("it answered \(answers.count) times when \(question.what)") }
        if let fault = Self.fault(first, question.kind) {
            unreadable.append("it answered \(fault) when \(question.what)")
        }
    }

    private static func fault(_ answer: Question.Answer, _ kind: Question.Kind) -> String? {
        if kind == .elements, answer.status == Int32(BP_END) { return nil }
        guard (Int32(BP_OK)...Int32(BP_ERROR)).contains(answer.status) else {
            return "with the unknown status \(answer.status)"
        }
        if answer.isOK {
            return [.call, .elements].contains(kind) && !JSONCheck.isJSON(answer.payload)
                ? "a result that is not JSON" : nil
        }
        if answer.payload.count > errorLimit { return "an error of more than \(errorLimit) bytes" }
        guard let text = String(validating: answer.payload, as: UTF8.self) else { return "an error that is not UTF-8" }
        if answer.status == Int32(BP_ERROR) {
            return (try? JSONDecoder().decode(BackplaneError.self, from: Data(answer.payload))) == nil
                ? "BP_ERROR without the JSON of an error" : nil
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
    /// The distinct strings in their original order, truncated to four with the number of omitted ones.
    fileprivate var shortened: [String] {
        var seen: Set<String> = []
        let all = filter { seen.insert($0).inserted }
        return all.count > 4 ? all.prefix(4) + ["and \(all.count - 4) more"] : all
    }
}
