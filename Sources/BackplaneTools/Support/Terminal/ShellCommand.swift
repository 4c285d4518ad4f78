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
