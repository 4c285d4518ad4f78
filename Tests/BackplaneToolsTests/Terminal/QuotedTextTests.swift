import Backplane
import BackplaneHost
import Foundation
import Testing

@testable import BackplaneTools

@Suite struct ShellCommandTests {
    @Test(arguments: [
        ("m.json", "m.json"), ("größer", "größer"), ("", "''"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#),
        ("$(x)", "'$(x)'"), ("-x", "-x"), ("a\nb", #"'a\u{A}b'"#),
    ])
    func `a word is quoted where a shell would read it otherwise`(text: String, word: String) {
        #expect(text.shellWord == word)
    }

    /// Each as it stands, and with a mark on its first or its last character.
    @Test(
        arguments: [
            "F'; echo oops #", "'", "''", "a'b", "\"", "\\", "$x", "`x`", "*", "~", "a;b", "&", "#", "!", "(", "\t",
            "é",
        ], ["", "\u{301}"])
    func `a shell reads it as that one word`(text: String, mark: String) throws {
        for text in [text + mark, String(text.prefix(1)) + mark + String(text.dropFirst())] {
            let shell = Process(), output = Pipe()
            shell.executableURL = URL(filePath: "/bin/sh")
            shell.arguments = ["-c", "printf '%s|' \(text.shellWord)"]
            shell.standardOutput = output
            try shell.run()
            let said = try output.fileHandleForReading.readToEnd() ?? Data()
            shell.waitUntilExit()
            #expect(shell.terminationStatus == 0)
            #expect(Array(said) == Array((text.printable + "|").utf8), "\(text)")
        }
    }

    @Test func `what looks like an option stands after two dashes, and options before them`() {
        let options = [
            ShellCommand.Option(name: "--environment", value: "test bed"), .init(name: "--plugin-path", value: "-odd"),
        ]
        #expect(ShellCommand(name: "check", words: ["m.json"]).text == "backplane check m.json")
        #expect(
            ShellCommand(name: "check", words: ["m.json"], options: options).text
                == "backplane check m.json --environment 'test bed' --plugin-path=-odd")
        #expect(
            ShellCommand(name: "explain", words: ["m.json", "-x"], options: options).text
                == "backplane explain --environment 'test bed' --plugin-path=-odd -- m.json -x")
        #expect(ShellCommand(name: "explain", words: ["-\u{301}"]).text == "backplane explain -- '-\u{301}'")
    }
}

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
