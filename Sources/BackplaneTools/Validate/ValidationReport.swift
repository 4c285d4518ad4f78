package import Backplane

/// The findings of `validate`, in the format of `--json`.
package struct ValidationReport: Encodable, Sendable {
    var path: String
    /// A Boolean value that indicates whether no requirement failed; some may have been skipped.
    package var isValid: Bool
    var requirements: [RequirementRow]
    /// The reason why the library could not be examined.
    var problem: BackplaneError?

    struct RequirementRow: Encodable, Sendable {
        var id, requirement, result: String
        var details: [String]
    }

    init(_ path: String, _ verdicts: Verdicts) {
        self.path = path
        isValid = !verdicts.values.contains { $0.isFailure }
        requirements = Requirement.allCases.map { requirement in
            let verdict = verdicts[requirement] ?? .skipped("not checked")
            return RequirementRow(
                id: requirement.id, requirement: requirement.title, result: verdict.result, details: verdict.details)
        }
    }
}

extension ValidationReport {
    /// Creates the report on a library that was not found, or for which there is no load folder.
    package init(_ path: String, _ problem: BackplaneError) {
        (self.path, self.problem, isValid, requirements) = (path, problem, false, [])
    }

    package func printTable() {
        Output.line("path  \(path.printable)\n")
        var rows: [[Span]] = []
        for row in requirements {
            rows.append([Span(row.id), Span(row.result, row.style), Span(row.requirement)])
            rows += row.details.map { [Span(""), Span(""), Span("  " + $0.printable)] }
        }
        Output.table(Table(["ID", "RESULT", "REQUIREMENT"], rows))
        let results = ["passed", "failed", "not applicable", "skipped"].map { result in
            (result, requirements.count { $0.result == result })
        }
        Output.line("\n" + results.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }.joined(separator: ", "))
    }
}

extension ValidationReport.RequirementRow {
    fileprivate var style: Span.Style {
        switch result {
        case "passed": .good
        case "failed": .bad
        default: .faint
        }
    }
}
