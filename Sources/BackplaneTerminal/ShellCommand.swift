/// A command of this program as a message tells somebody to enter it.
struct ShellCommand: Sendable, Hashable {
    var name: String
    var words: [String]
    /// Options with their values, in their order.
    var options: [Option] = []

    struct Option: Sendable, Hashable {
        var name: String
        var value: String

        fileprivate var words: [String] { value.looksLikeOption ? ["\(name)=\(value)"] : [name, value] }
    }

    /// Each word as a shell reads it as one.
    var text: String {
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
