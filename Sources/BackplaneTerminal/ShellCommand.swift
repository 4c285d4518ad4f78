/// A command of this program as a message tells somebody to enter it.
package struct ShellCommand: Sendable, Hashable {
    package var name: String
    package var words: [String]
    /// Options with their values, in their order.
    package var options: [Option]

    package init(name: String, words: [String], options: [Option] = []) { (self.name, self.words, self.options) = (name, words, options) }

    package struct Option: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(name: String, value: String) { (self.name, self.value) = (name, value) }

        fileprivate var words: [String] { value.looksLikeOption ? ["\(name)=\(value)"] : [name, value] }
    }

    /// Each word as a shell reads it as one.
    package var text: String {
        let options = options.flatMap(\.words)
        // What looks like an option is a word only after two dashes, and everything after them is one.
        let all = words.contains(where: \.looksLikeOption) ? options + ["--"] + words : words + options
        return (["backplane", name] + all.map(\.shellWord)).joined(separator: " ")
    }
}

extension String {
    /// By its first byte: a dash with a mark on it is still one.
    fileprivate var looksLikeOption: Bool { utf8.first == UInt8(ascii: "-") }
}
