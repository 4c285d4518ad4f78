import Backplane

/// The requirements that a plugin must meet.
///
/// They are checked in this order, those of a part in one process. A rule is skipped where one that it needs failed.
package struct Rule: Sendable {
    /// The identifier in reports and documentation, such as `V01`.
    let id: String
    let title: String
    /// The rules that must pass first.
    let needs: [String]
    let check: Check

    /// The check of a rule, whose thrown error is a failure.
    enum Check: Sendable {
        /// A check of the file, which runs none of its code.
        case file(@Sendable (LibraryFacts) -> Verdict)
        /// A check of the entry function.
        case entry(@Sendable (Candidate) throws(BackplaneError) -> Verdict)
        /// A check of the components.
        case components(@Sendable (ComponentProbe) -> Verdict)
    }

    /// The parts of the table, each of which is checked in a process of its own.
    package enum Part: String, CaseIterable, Sendable { case file, entry, components }

    var part: Part {
        switch check {
        case .file: .file
        case .entry: .entry
        case .components: .components
        }
    }

    private init(_ id: String, _ title: String, needs: [String] = [], _ check: Check) {
        (self.id, self.title, self.needs, self.check) = (id, title, needs, check)
    }

    private static let loading = ["V01", "V02", "V03"]

    static let all = [
        Rule("V01", "the file is a complete library for this machine that a host trusts", .file(\.isTrusted)),
        Rule("V02", "it exports the entry function", needs: ["V01"], .file(\.hasEntry)),
        Rule("V03", "its identity section fits this host", needs: ["V01"], .file(\.hasIdentity)),
        Rule(
            "V04", "it exports nothing that could be confused with another library's symbols", needs: ["V01"],
            .file(\.exportsNothingElse)),
        Rule(
            "V05", "it needs no libraries except the toolchain's and libc", needs: ["V01"], .file(\.needsNoStrangers)),
        Rule("V06", "it has no retroactive conformances", needs: ["V01"], .file(\.hasNoRetroactiveConformances)),

        Rule(
            "V11", "it loads, and a host accepts the answer of its entry", needs: loading,
            .entry { candidate throws(BackplaneError) in try candidate.answer() }),
        Rule(
            "V12", "two copies of it return the same answer", needs: ["V11"],
            .entry { candidate throws(BackplaneError) in try candidate.repeats() }),
        Rule(
            "V13", "its entry writes only the fields that an older host provides", needs: ["V11"],
            .entry { candidate throws(BackplaneError) in try candidate.staysInBounds() }),

        Rule(
            "V21", "components can be created, including two of the same class", needs: loading + ["V11"],
            .components { $0.create() }),
        Rule(
            "V22", "components activate, suspend, resume and stop in time", needs: ["V21"], .components { $0.live() }),
        Rule(
            "V23", "stopped components leave no processes or files", needs: ["V22"],
            .components { $0.leaveNothing() }),
        Rule(
            "V24", "methods answer malformed JSON with an error", needs: ["V22"],
            .components { $0.refuseMalformedInput() }),
        Rule(
            "V25", "calls are answered, at the latest when they are cancelled", needs: ["V22"],
            .components { $0.heedCancellation() }),
        Rule(
            "V26", "state that was exported and imported is exported again unchanged", needs: ["V22"],
            .components { $0.carryState() }),
        Rule(
            "V27", "streams answer with the requested elements, their end or an error, and can be closed",
            needs: ["V22"], .components { $0.stream() }),
        Rule(
            "V28", "everything is answered once, and as its status says", needs: ["V21"],
            .components { $0.answerOnce() }),
    ]

    /// Returns the verdict that follows from those on the rules that this one needs; `nil` if it is to be checked.
    func verdict(after verdicts: [String: Verdict]) -> Verdict? {
        for id in needs {
            guard let verdict = verdicts[id], verdict.result != .passed else { continue }
            return verdict.result == .failed ? .skipped("\(id) must pass first") : verdict
        }
        return nil
    }
}

/// The result of checking a rule.
package struct Verdict: Codable, Sendable, Hashable {
    package enum Result: String, Codable, Sendable {
        case passed, failed
        case notApplicable = "not applicable"
        /// The rule could not be checked.
        case skipped
    }
    package var result: Result
    /// The findings of a failure, the remarks of a success, or the reason of another result.
    package var details: [String] = []

    static let passed = Verdict(result: .passed)
    static func failed(_ findings: [String]) -> Verdict { Verdict(result: .failed, details: findings) }
    static func notApplicable(_ reason: String) -> Verdict { Verdict(result: .notApplicable, details: [reason]) }
    static func skipped(_ reason: String) -> Verdict { Verdict(result: .skipped, details: [reason]) }

    /// Returns a failure if there are findings.
    static func judging(_ findings: [String], remarks: [String] = []) -> Verdict {
        Verdict(result: findings.isEmpty ? .passed : .failed, details: findings + remarks)
    }

    /// Returns the verdict on the calls of methods, or of streams, given how many of the declared ones could be tried.
    ///
    /// - Parameter untried: The components that could not be activated, with the reasons.
    static func judging(
        _ tried: Int, of declared: Int, _ what: String, _ untried: [String], _ findings: [String],
        remarks: [String] = []
    ) -> Verdict {
        if declared == 0 { return .notApplicable("it has no \(what)") }
        guard tried > 0 else {
            return .skipped(
                (["not checked, because no component with \(what) could be activated"] + untried)
                    .joined(separator: "; "))
        }
        return .judging(findings, remarks: untried.map { "not checked, because \($0)" } + remarks)
    }
}
