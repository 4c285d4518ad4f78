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
