import Backplane
import BackplaneDocuments
import CBackplane
import Foundation

/// The answers of streams; the trial finishes only if every one of them can be closed.
struct StreamFacts: Codable, Sendable {
    /// The number of streams of the components that could be activated, and of all components.
    var streams = 0, declared = 0
    /// The components that could not be activated, with the reasons.
    var untried: [String] = []
    var findings: [String] = []
    var conduct = Conduct()

    var verdicts: Verdicts {
        if declared == 0 { return [.streams: .notApplicable("it has no streams")] }
        guard streams > 0 else {
            return [
                .streams: .skipped(
                    (["not checked, because no component with streams could be activated"] + untried).joined(
                        separator: "; "))
            ]
        }
        return [.streams: Verdict(findings: findings, remarks: untried.map { "not checked, because \($0)" })]
    }
}

extension ComponentProbe {
    func streams() throws(BackplaneError) -> StreamFacts {
        var facts = StreamFacts(declared: subjects.reduce(0) { $0 + $1.streams.count })
        // A second answer may come long after the first, so keep the instances for a while.
        facts.untried = withActive(patience: facts.declared == 0 ? 0 : 3) { instance in
            facts.streams += instance.subject.streams.count
            for method in instance.subject.streams {
                for input in ProbeInput.samples { facts.findings += read(method, input, instance) }
                for input in ProbeInput.malformed { facts.findings += refused(method, input, instance) }
            }
        }
        facts.findings = facts.findings.reduce(into: []) { all, finding in
            if !all.contains(finding) { all.append(finding) }
        }
        facts.conduct = conduct()
        return facts
    }

    /// Requests elements five times, or until there are no more, and closes the stream.
    private func read(_ method: Int, _ input: ProbeInput, _ instance: ProbedInstance) -> [String] {
        let name = name(of: method, instance), id = open(method, input, instance)
        var findings: [String] = [], pending: Question?
        for max in [1, 64, 2, 64, 64] as [UInt32] {
            let question = next(id, max, "`\(name)`, opened with \(input.name),", instance)
            // A stream may have nothing to give for any length of time.
            guard let answer = question.wait(until: .now + .milliseconds(200)) else {
                pending = question
                break
            }
            guard answer.isOK else { break }
            if let fault = Self.fault(of: answer.payload, asked: max) { findings.append("`\(name)` answered \(fault)") }
        }
        close(id, "`\(name)`", instance)
        // Closing ends the wait for elements.
        if let pending {
            candidate.note("`\(name)` was closed with a request for elements unanswered")
            _ = pending.wait()
        }
        return findings
    }

    /// Opens a stream with malformed JSON.
    private func refused(_ method: Int, _ input: ProbeInput, _ instance: ProbedInstance) -> [String] {
        let name = name(of: method, instance), id = open(method, input, instance)
        let question = next(id, 1, "`\(name)`, opened with \(input.name),", instance)
        let answer = question.wait(until: .now + .milliseconds(200))
        close(id, "`\(name)`", instance)
        if answer == nil { _ = question.wait() }
        guard let answer, answer.isOK || answer.status == Int32(BP_END) else { return [] }
        return ["`\(name)` accepted \(input.name); answer the first request for elements with BP_INVALID_INPUT"]
    }

    private func name(of method: Int, _ instance: ProbedInstance) -> String {
        "\(instance.subject.name).\(instance.subject.methods[method].name)"
    }

    private func open(_ method: Int, _ input: ProbeInput, _ instance: ProbedInstance) -> UInt64 {
        lastCall += 1
        candidate.note("`\(name(of: method, instance))` was opened with \(input.name)")
        var frame = bp_call()
        frame.size = UInt32(MemoryLayout<bp_call>.size)
        input.bytes.withBytes {
            instance.subject.component.open?(instance.pointer, UInt32(method), $0, &frame, lastCall)
        }
        return lastCall
    }

    private func next(_ id: UInt64, _ max: UInt32, _ stream: String, _ instance: ProbedInstance) -> Question {
        begin(.elements, "\(stream) was asked for \(max == 1 ? "an element" : "\(max) elements")") { question in
            instance.subject.component.next?(instance.pointer, id, max, Question.done, question.context)
        }
    }

    private func close(_ id: UInt64, _ stream: String, _ instance: ProbedInstance) {
        _ = ask(.step, "\(stream) was closed") { question in
            instance.subject.component.close?(instance.pointer, id, Question.done, question.context)
        }
    }

    private static func fault(of payload: [UInt8], asked max: UInt32) -> String? {
        guard case .array(let elements)? = try? JSONValue(parsing: Data(payload)) else {
            return "a request for elements with something else than a JSON array"
        }
        return (1...Int(max)).contains(elements.count)
            ? nil : "a request for \(max) element\(max == 1 ? "" : "s") with \(elements.count)"
    }
}
