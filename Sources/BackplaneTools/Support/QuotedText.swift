/// A command line of this program, for messages that ask the user to enter it.
package struct ShellCommand: Sendable, Hashable {
    package var name: String
    package var words: [String]
    /// The options with their values, in order.
    package var options: [Option]

    package init(name: String, words: [String], options: [Option] = []) {
        (self.name, self.words, self.options) = (name, words, options)
    }

    package struct Option: Sendable, Hashable {
        package var name: String
        /// The value; `nil` for a flag.
        package var value: String?

        package init(name: String, value: String? = nil) { (self.name, self.value) = (name, value) }

        fileprivate var words: [String] {
            guard let value else { return [name] }
            return value.looksLikeOption ? ["\(name)=\(value)"] : [name, value]
        }
    }

    /// The command line, with every word quoted so that a shell reads it as one.
    package var text: String {
        let options = options.flatMap(\.words)
        // A word that looks like an option has to follow `--`, after which nothing is parsed as an option.
        let all = words.contains(where: \.looksLikeOption) ? options + ["--"] + words : words + options
        return (["backplane", name] + all.map(\.shellWord)).joined(separator: " ")
    }
}

extension String {
    /// A Boolean value that indicates whether the first byte is a dash.
    ///
    /// The first character may differ, because a dash with a combining mark is another character.
    fileprivate var looksLikeOption: Bool { utf8.first == UInt8(ascii: "-") }
}

extension String {
    /// The string as one word of a shell command, in quotes if it needs them.
    package var shellWord: String {
        guard isEmpty || !unicodeScalars.allSatisfy(\.isPlainInShell) else { return self }
        // A quote with a combining mark is one character, but still ends the word: hence scalars.
        return "'" + printable.unicodeScalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined() + "'"
    }
}

extension Unicode.Scalar {
    fileprivate var isPlainInShell: Bool {
        properties.isAlphabetic || properties.numericType != nil || "./_-+,:@%=".unicodeScalars.contains(self)
    }
}

extension String {
    /// The string with control characters escaped.
    ///
    /// Text from a manifest or a library then cannot start a new line, move the cursor or reverse the text.
    package var printable: String {
        guard unicodeScalars.contains(where: \.isTroublesome) else { return self }
        return unicodeScalars.map {
            $0.isTroublesome ? "\\u{\(String($0.value, radix: 16, uppercase: true))}" : String($0)
        }.joined()
    }

    /// The string with control characters escaped except tabs, for lines of source code.
    package var printableWithTabs: String {
        split(separator: "\t", omittingEmptySubsequences: false).map { String($0).printable }.joined(separator: "\t")
    }
}

extension Unicode.Scalar {
    fileprivate var isTroublesome: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: properties.isBidiControl
        }
    }
}

extension String {
    /// The text with the corresponding options of the command in place of the properties of a host.
    ///
    /// Errors of a host name these properties, because a program that embeds a host has no such options.
    package var namingOptions: String {
        guard contains("Options.") else { return self }
        return options.reduce(self) { text, pair in text.replacing("`\(pair.property)`", with: pair.option) }
    }
}

/// The properties of a host's options with corresponding options of the command.
private let options: [(property: String, option: String)] = [
    ("HostOptions.dataFolder", "--data"), ("HostOptions.loadFolder", "--load-folder"),
    ("HostOptions.pluginPaths", "--plugin-path"), ("ChangeOptions.allowsMissingMethods", "--allow-missing"),
    ("ChangeOptions.discardsState", "--discard-state"),
    ("ChangeOptions.trustsLibraries", "--trust"),
]

extension String {
    /// The string as a Swift string literal, in quotes.
    package var swiftLiteral: String {
        let escaped = unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            default: String(scalar).printable
            }
        }
        return "\"\(escaped.joined())\""
    }
}
