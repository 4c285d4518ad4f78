import Backplane
import BackplaneHost
import Testing

@testable import BackplaneTools

struct PrintableErrorTests {
    private let error = BackplaneError(
        .componentFailed, "one\u{1B}[2J\ntwo", at: "/managers/a\u{7}",
        failure: .init(code: "x\u{8}", details: ["k\r": "v\u{9B}"]),
        causes: [
            BackplaneError(
                .manifestUnknownKey, "three\nbackplane: all is well",
                causes: [BackplaneError(.callDeadline, "\u{202E}four")])
        ])

    @Test func `an error is printed with only its own lines and indentation`() {
        #expect(
            error.reportLines == [
                #"/managers/a\u{7}: component.failed (x\u{8}): one\u{1B}[2J\u{A}two"#, #"  k\u{D}: v\u{9B}"#,
                #"  manifest.unknown-key: three\u{A}backplane: all is well"#, #"    call.deadline: \u{202E}four"#,
            ])
    }

    @Test func `what looks well is printed as an error describes itself`() {
        let plain = BackplaneError(
            .callDeadline, "a", failure: .init(code: "b", details: ["d": "1", "c": "2"]),
            causes: [BackplaneError(.callDeadline, "e", at: "f")])
        #expect(plain.reportLines.joined(separator: "\n") == plain.detailedDescription)
    }

    @Test func `so are the causes of a problem`() {
        let report = Problem(.error, manager: nil, BackplaneError(.manifestMalformed, "x", causes: [error])).report(
            in: "m.json")
        #expect(
            report.unicodeScalars.allSatisfy {
                $0 == "\n" || !$0.properties.isBidiControl && $0.properties.generalCategory != .control
            })
        #expect(
            report.split(separator: "\n").count == 5
                && report.split(separator: "\n").dropFirst().allSatisfy { $0.hasPrefix("  ") })
    }
}
