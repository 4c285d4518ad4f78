import Backplane

/// All trials of one library, each in a separate process, and the resulting report.
package struct Validation: Sendable {
    package let path: String
    /// The folder in which trials may leave files.
    package let folder: String
    /// The time limit for each step, call and answer of a trial.
    package let limit: Duration

    package init(path: String, folder: String, limit: Duration) {
        (self.path, self.folder, self.limit) = (path, folder, limit)
    }

    package func report() async -> ValidationReport {
        var verdicts = await file()
        verdicts.take(await entry(after: verdicts))
        verdicts.take(await components(after: verdicts))
        return ValidationReport(path, verdicts)
    }

    private func file() async -> Verdicts {
        await observe(.image, ImageFacts.self).judged(Requirement.ofFile) { $0.verdicts }
    }

    private func entry(after before: Verdicts) async -> Verdicts {
        if let failure = before.failure(among: [.file, .entry, .identity]) {
            return Verdicts(Requirement.ofEntry, .skipped("a host does not load it, because of \(failure.id)"))
        }
        let answer = await observe(.answer, PluginReport.self)
        var verdicts = answer.judged([.answer]) { _ in [.answer: .passed()] }
        let others = Requirement.ofEntry.filter { $0 != .answer }
        if verdicts.failure(among: [.answer]) != nil {
            verdicts.take(Verdicts(others, .skipped("its entry returns no answer; see \(Requirement.answer.id)")))
            return verdicts
        }
        verdicts.take(await observe(.calls, CallFacts.self).judged([.quiet, .threads, .files]) { $0.verdicts })
        verdicts.take(await observe(.effort, EffortFacts.self).judged([.effort]) { $0.verdicts })
        verdicts.take(await observe(.copies, CopyFacts.self).judged([.stable]) { $0.verdicts(after: answer.facts) })
        verdicts.take(await observe(.bounds, BoundFacts.self).judged([.bounded]) { $0.verdicts })
        return verdicts
    }

    private func components(after before: Verdicts) async -> Verdicts {
        if let failure = before.failure(among: [.file, .entry, .identity, .answer]) {
            return Verdicts(Requirement.ofComponents, .skipped("there is nothing to check, because of \(failure.id)"))
        }
        let creation = await observe(.creation, CreationFacts.self)
        guard let made = creation.facts else {
            return creation.judged([.creation]) { $0.verdicts }.skipping(Requirement.ofComponents, because: .creation)
        }
        var verdicts = made.verdicts
        guard !made.made.isEmpty else { return verdicts.skipping(Requirement.ofComponents, because: .creation) }
        let life = await observe(.life, LifeFacts.self)
        guard let lived = life.facts else {
            verdicts.take(life.judged([.stop]) { $0.verdicts })
            return verdicts.skipping(Requirement.ofComponents, because: .stop)
        }
        let input = await observe(.input, InputFacts.self),
            cancellation = await observe(.cancellation, CancellationFacts.self)
        let streams = await observe(.streams, StreamFacts.self)
        let state = await observe(.state, StateFacts.self)
        verdicts.take(lived.verdicts)
        verdicts.take(input.judged([.malformed]) { $0.verdicts })
        verdicts.take(cancellation.judged([.cancellation]) { $0.verdicts })
        verdicts.take(streams.judged([.streams]) { $0.verdicts })
        verdicts.take(state.judged([.state]) { $0.verdicts })
        verdicts.take(
            Conduct.verdicts(
                of: [made.conduct, lived.conduct]
                    + [
                        input.facts?.conduct, cancellation.facts?.conduct, streams.facts?.conduct, state.facts?.conduct,
                    ].compactMap(\.self)))
        return verdicts
    }

    private func observe<Facts: Codable & Sendable>(_ trial: Trial, _: Facts.Type) async -> Observation<Facts> {
        await ValidationChild.observe(trial, path, in: folder, limit: limit)
    }
}

extension Requirement {
    static let ofFile = allCases.filter { $0.rawValue < 10 }
    static let ofEntry = allCases.filter { (10..<20).contains($0.rawValue) }
    static let ofComponents = allCases.filter { $0.rawValue > 20 }
}
